// SPDX-License-Identifier: MIT
// ibtool_commands_test.cpp - properties that every command has: help, --json, --sa and every form of target.
#include "program/ibtool_subnet.hpp"
#include "support/made_file.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <regex>
#include <sstream>

using namespace ibtool_rig;

namespace {

/// Returns all commands with their names and summaries.
std::map<std::string, std::string> commands() {
    const process_result r = run({"help", "--json"});
    check_success(r);
    std::map<std::string, std::string> all;
    for (const auto& o : objects_of(r.out)) all[o.at("command")] = o.at("summary");
    return all;
}

// A subnet whose nodes have LIDs, with a subnet manager and its SA. ibtool runs at a CA.
const words managed_tree{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"};

/// A command line of each command that works in any subnet. Other commands have their own tests, because they need
/// local devices or replies that the simulator does not give.
const std::map<std::string, words> examples{
    {"ibnetdiscover", {}},
    {"ibhosts", {}},
    {"ibswitches", {}},
    {"ibnodes", {}},
    {"iblinkinfo", {}},
    {"summary", {}},
    {"export", {"--format", "json"}},
    {"smpquery", {"NodeInfo", "1"}},
    {"saquery", {"NR"}},
    {"query", {"SubnAdmGetTable", "NodeRecord"}},
    {"sminfo", {}},
    {"ibaddr", {"1"}},
    {"ibroute", {"0,1"}},
    {"ibtracert", {"1", "2"}},
    {"dump_lfts", {}},
    {"dump_mfts", {}},
    {"ibcheckroutes", {}},
    {"smpdump", {"1", "0x11"}},
    {"ibportstate", {"0,1", "1"}},
    {"set_port_state", {"--disable", "0,1@1", "--dry-run", "--force"}},
    {"init_all_ports", {"--dry-run"}},
    {"ibprintca", {"-l"}},
    {"ibprintswitch", {"0,1"}},
    {"ibfindnodesusing", {"0,1", "3"}},
    {"set_sminfo", {"1", "handover"}},
    {"perfquery", {"-a", "-l", "1"}},
    {"ibdatacounts", {"1"}},
    {"ibdatacounters", {}},
    {"ibclearcounters", {}},
    {"ibclearerrors", {}},
    {"ibswportwatch", {"-n", "1", "1"}},
    {"sample", {"1"}},
    {"ibchecknet", {}},
    {"ibcheckstate", {}},
    {"ibcheckwidth", {}},
    {"ibcheckerrors", {}},
    {"ibchecknode", {"1"}},
    {"ibcheckport", {"1", "1"}},
    {"ibcheckportstate", {"1", "1"}},
    {"ibcheckportwidth", {"1", "1"}},
    {"ibcheckerrs", {"1"}},
    {"vendstat", {"-N", "1"}},
    {"doctor", {}},
    {"ibccquery", {"SP", "9"}},
    {"ibccconfig", {"--all", "CS", "1", "1", "150", "0", "0", "0"}},
    {"ibsendtrap", {}},
    {"bench", {"--rpc", "SubnAdmGet", "--attribute", "NodeRecord", "-f", "LID=1", "-c", "10"}},
    {"decode", {"--struct", "SMPLedInfo", "80000000"}},
    {"encode", {"--struct", "SMPLedInfo", "ledMask=1"}},
    {"describe", {"SMPLedInfo"}},
    {"help", {}},
};

} // namespace

TEST_CASE("help lists every command, and --help prints the complete text of a command") {
    const auto all = commands();
    REQUIRE(all.size() >= 70);
    const process_result list = run({"help"});
    check_success(list);
    sampled sample;
    for (const auto& [name, summary] : all) {
        if (sample.skips()) continue;
        CAPTURE(name);
        CHECK_THAT(list.out, Contains(name) && Contains(" " + summary + "\n"));
        const process_result help = run({"help", name});
        check_success(help);
        CHECK_THAT(help.out, StartsWith(summary + "\n\nUsage: ibtool " + name));
        for (const char* section : {"Sends and writes", "Output", "Exit status", "Examples", "See also"})
            CHECK_THAT(help.out, Contains(fmt::format("\n{}:\n  ", section)));
        const bool has_target = help.out.find("\n  target\n") != help.out.npos || name == "ibtracert";
        CHECK((help.out.find("Targets:\n  A target is a LID (7, 0x1f), a directed route (0,1,4)") != help.out.npos) ==
              has_target);
        CHECK(run({name, "--help"}).out == help.out);
    }
    check_failure(run({"help", "smpqery"}), 2, "unknown command 'smpqery'; similar: smpquery");
    check_failure(run({"smpqery"}), 2, "unknown command 'smpqery'; similar: smpquery");
}

TEST_CASE("every command prints JSON on request") {
    const auto all = commands();
    for (const auto& [name, arguments] : examples) {
        CAPTURE(name);
        CHECK(all.count(name) == 1);
        const process_result r = run(words{name} + arguments + words{"--json"} + managed_tree);
        check_success(r);
        CHECK_FALSE(r.out.empty());
        if (name == "ibnetdiscover" || name == "export" || name == "summary")
            CHECK_NOTHROW(nlohmann::json::parse(r.out)); // one object
        else CHECK_NOTHROW(objects_of(r.out));
    }
    sampled sample;
    for (const auto& [name, description] : all) {
        if (sample.skips()) continue;
        CAPTURE(name);
        CHECK_THAT(run({"help", name}).out, Contains("--json"));
    }
    const auto nodes = objects_of(run(words{"ibnodes", "--json"} + managed_tree).out); // 8 CAs and 6 switches
    REQUIRE(nodes.size() == 8 + 6);
    CHECK(nodes.front()["nodeType"] == "CA");
    CHECK(nodes.back()["nodeType"] == "Switch");
    CHECK(nodes.back()["LID"] > 0);
    CHECK(objects_of(run(words{"ibhosts", "--json"} + managed_tree).out).size() == 8);
    CHECK(objects_of(run(words{"ibswitches", "--json"} + managed_tree).out).size() == 6);
    CHECK(run({"encode", "--struct", "SMPLedInfo", "--json", "ledMask=1"}).out ==
          "{\"struct\":\"SMPLedInfo\",\"data\":\"0x80000000\"}\n");
}

TEST_CASE("every command with --sa sends no SMP or refuses the option") {
    const words refuse{"smpdump",       "ibstat",         "ibchecknet",       "ibcheckstate",
                       "ibcheckwidth",  "ibcheckerrors",  "ibstatus",         "ibv_devices",
                       "ibsendtrap",    "decode",         "encode",           "describe",
                       "help",          "set_port_state", "init_all_ports",   "ibprintca",
                       "ibprintswitch", "ibprintrt",      "ibfindnodesusing", "ibidsverify",
                       "set_nodedesc",  "set_sminfo",     "rdma_bw",          "vumad",
                       "ibcheckroutes"};
    for (const std::string& name : refuse) {
        CAPTURE(name);
        const auto arguments = examples.find(name);
        check_failure(run(words{name} + (arguments == examples.end() ? words{} : arguments->second) + words{"--sa"} +
                          managed_tree),
                      2, "--sa is not supported by " + name);
    }
    for (const auto& [name, arguments] : examples) {
        if (std::find(refuse.begin(), refuse.end(), name) != refuse.end()) continue;
        CAPTURE(name);
        const process_result r = run(words{name} + arguments + words{"--sa", "-d"} + managed_tree);
        CHECK(r.status == 0);
        if (name != "vendstat" && name != "iblinkinfo") // their -d has another meaning
            CHECK_THAT(r.err, Contains(" SAFormat(3.2) "));
        CHECK_THAT(r.err, !Contains("SMPFormat"));
    }
    check_failure(run(words{"query", "SubnGet", "NodeInfo", "1", "--sa"} + managed_tree), 2,
                  "--sa is not supported by SubnGet");
}

TEST_CASE("a discovery by SA finds the subnet of directed routes, and commands that check LIDs refuse it") {
    for (const std::string name : {"ibnetdiscover", "iblinkinfo", "ibnodes"}) {
        CAPTURE(name);
        const words json = words{name, "--json"} + managed_tree;
        const process_result by_sa = run(json + words{"--discovery", "SA", "--debug"});
        CHECK(by_sa.status == 0);
        CHECK_THAT(by_sa.err, Contains(" SANodeRecord") && !Contains("SMPFormat"));
        CHECK(by_sa.out == run(json + words{"--discovery", "DR"}).out);
    }
    check_failure(run(words{"ibchecknet", "--discovery", "SA"} + managed_tree), 2,
                  "--discovery SA is not supported by ibchecknet");
    check_failure(run({"ibnodes", "--discovery", "SA", "--fabric", "sim:fattree2,radix=4,time=virtual"}), 1,
                  "the local port has no LID: ");
}

// A responder sends its response to the LID of the requester. A port that no subnet manager has configured has no LID.
// So a LID-routed request from this port gets no response, whatever its target LID is.
TEST_CASE("commands with a LID as target refuse a local port without a LID at once, with the reason") {
    const words unmanaged{"--fabric", "sim:fattree2,radix=4,time=virtual"};
    for (const words& line : {words{"perfquery", "3"},
                              words{"perfquery"},
                              words{"smpquery", "nodeinfo", "3"},
                              words{"smpquery", "-c", "ni", "3", "0,1"},
                              words{"ibping", "-c", "1", "3"},
                              words{"ibsysstat", "3"},
                              words{"ibaddr", "3"},
                              words{"ibroute", "3"},
                              words{"ibtracert", "1", "2"},
                              words{"ibportstate", "3", "1"},
                              words{"vendstat", "-N", "3"},
                              words{"sminfo", "3"},
                              words{"sminfo"},
                              words{"saquery", "NR"},
                              words{"smpquery", "ni", "-G", "0x0002c90300000300"},
                              words{"ibccquery", "CongestionInfo", "3"},
                              words{"smpdump", "3", "0x11"},
                              words{"ibcheckport", "3", "1"},
                              words{"ibcheckerrs", "3", "1"},
                              words{"ibswportwatch", "3", "1"},
                              words{"query", "SubnGet", "SMPNodeInfo", "3"},
                              words{"perfquery", "-D", "0,1"}}) {
        CAPTURE(line);
        const process_result r = run(line + unmanaged);
        check_failure(r, 1, "the local port has no LID: ");
        CHECK_THAT(r.err, Contains("no subnet manager has configured it; start one (opensm), or use a "
                                   "directed route (-D 0,1)"));
    }
    check_success(run(words{"smpquery", "-D", "nodeinfo", "0,1"} + unmanaged));
    check_success(run(words{"ibaddr"} + unmanaged));
}

TEST_CASE("a GMP to the end of a directed route fails with a message if the port there has no LID") {
    // A subnet manager that found only its own switch. The file contains only the LIDs of these two nodes.
    const made_file file(
        "Switch\t4 \"S-1\"\t\t# \"near\" base port 0 lid 2 lmc 0\n[1]\t\"H-1\"[1](101)\t\t# \"host\" lid 1 4xEDR\n"
        "[2]\t\"S-2\"[1]\t\t# \"far\" lid 0 4xEDR\n\nSwitch\t4 \"S-2\"\t\t# \"far\" base port 0 lid 0 lmc 0\n\n"
        "caguid=0x100\nCa\t1 \"H-1\"\t\t# \"host\"\n[1](101)\t\"S-1\"[1]\t\t# lid 1 lmc 0 \"near\" lid 2 4xEDR\n");
    check_failure(run({"perfquery", "-D", "0,1,2", "--fabric", "sim:" + file.name}), 1,
                  "the port at the end of route 0,1,2 has no LID: no subnet manager has configured it");
}

TEST_CASE("every form of target names one port in every command") {
    // The other forms of target name the port at the end of the route.
    const std::string route = "0,1,1";
    const auto address = objects_of(run(words{"ibaddr", "--json", route} + managed_tree).out).at(0);
    const auto switch_address = objects_of(run(words{"ibaddr", "--json", "0,1"} + managed_tree).out).at(0);
    const auto forms_of = [](const nlohmann::json& at, const std::string& by_route) {
        const std::string LID = std::to_string(at["LID"].get<unsigned>());
        const std::string GID = at["GID"];
        std::ostringstream hex;
        hex << "0x" << std::hex << at["LID"].get<unsigned>();
        std::string path = "IBDRPath(drPath=" + by_route + ",)";
        std::replace(path.begin(), path.end() - 1, ',', ':');
        const std::string GUID =
            objects_of(run(words{"smpquery", "NI", "--json", LID} + managed_tree).out).at(0)["portGUID"];
        std::string digits = GUID;
        digits.erase(std::remove(digits.begin(), digits.end(), ':'), digits.end());
        return words{LID,
                     hex.str(),
                     by_route + (by_route == "0" ? "," : ""),
                     path,
                     GID,
                     GUID,
                     digits,
                     "IBPath(DLID=" + LID + ")",
                     "IBPath(DGID=" + GID + ")"};
    };
    const words CA = forms_of(address, route), sw = forms_of(switch_address, "0,1");
    struct {
        words before, after;
        const words& targets;
    } const lines[] = {
        {{"smpquery", "NodeInfo", "--json"}, {}, CA},
        {{"smpquery", "NodeDesc"}, {}, CA},
        {{"smpquery", "PortInfo", "--json"}, {"1"}, CA},
        {{"smpquery", "SwitchInfo", "--json"}, {}, sw},
        {{"ibaddr"}, {}, CA},
        {{"smpdump", "--json"}, {"0x10"}, CA},
        {{"ibroute", "-n", "--json"}, {}, sw},
        {{"ibtracert", "1"}, {}, CA},
        {{"ibtracert"}, {"1"}, CA},
        {{"query", "SubnGet", "NodeInfo"}, {}, CA},
        {{"query", "SubnGet", "NodeInfo"}, {}, sw},
    };
    for (const auto& line : lines) {
        const auto send_query = [&](const std::string& target) {
            return run(line.before + words{target} + line.after + managed_tree);
        };
        CAPTURE(line.before);
        const process_result first = send_query(line.targets.front());
        check_success(first);
        CHECK_FALSE(first.out.empty());
        for (const std::string& target : line.targets) {
            CAPTURE(target);
            const process_result r = send_query(target);
            check_success(r);
            if (line.before[0] == "smpdump") { // with a directed route, the status has the direction bit
                CHECK(objects_of(r.out).at(0)["data"] == objects_of(first.out).at(0)["data"]);
                continue;
            }
            CHECK(r.out == first.out);
        }
    }
    // The subnet manager runs at the local port, which every form of target can name.
    const auto own = objects_of(run(words{"ibaddr", "--json"} + managed_tree).out).at(0);
    for (const std::string& target : forms_of(own, "0")) {
        CAPTURE(target);
        const process_result r = run(words{"sminfo", "--json", target} + managed_tree);
        check_success(r);
        CHECK(r.out == run(words{"sminfo", "--json"} + managed_tree).out);
    }
    // A GID with a scope names a port of a local device, and a simulated subnet has no local devices.
    for (const char* command : {"ibaddr", "ibroute", "sminfo"})
        check_failure(run(words{command, address["GID"].get<std::string>() + "%mlx5_0/1"} + managed_tree), 2,
                      "the target names the local port 'mlx5_0/1'");
}

TEST_CASE("every alias runs its command, and the documentation lists the alias") {
    const process_result page = run({"help", "--markdown"});
    check_success(page);
    const std::regex row(R"(\| `([^`]*)` \| \[`([^`]*)`\]\(.*\.md\) \|)");
    unsigned count = 0;
    for (const std::string& line : lines_in_order(page.out)) {
        std::smatch m;
        if (!std::regex_match(line, m, row)) continue;
        CAPTURE(line);
        ++count;
        const process_result help = run({std::string(m[1]), "--help"});
        check_success(help);
        CHECK(help.out == run({"help", std::string(m[2])}).out);
        CHECK_THAT(help.out, Contains("Also called " + std::string(m[1]) + ".\n"));
    }
    CHECK(count >= 10);
    CHECK(run(words{"iblinkinfo.pl", "-l"} + managed_tree).out == run(words{"iblinkinfo", "-l"} + managed_tree).out);
    CHECK(run({"decode_mad", "--struct", "SMPLedInfo", "80000000"}).out ==
          run({"decode", "--struct", "SMPLedInfo", "80000000"}).out);
}
