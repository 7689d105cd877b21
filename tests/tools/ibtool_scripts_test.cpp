// SPDX-License-Identifier: MIT
// ibtool_scripts_test.cpp - what were scripts of infiniband-diags: ibfindnodesusing, ibidsverify, ibprintca and the like beside the
// scripts themselves or what they read; other names of commands; the state of many ports.
#include "program/ibtool_subnet.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <regex>
#include <set>

namespace ibtool_scripts_test { // compiled together with others

using namespace ibtool_rig;

namespace {

// Numbers at the ends of names are for ranges; the two cables between the switches for routes around one of them.
constexpr std::string_view hosts = R"(
switchguid=0x5000
Switch	8 "S1"	# "first switch" enhanced port 0 lid 0 lmc 0
[1]	"A"[1]
[2]	"B"[1]
[5]	"S2"[3]
[6]	"S2"[6]

switchguid=0x6000
Switch	6 "S2"	# "second switch" base port 0 lid 0 lmc 0
[1]	"C"[1]
[2]	"D"[1]
[3]	"S1"[5]
[4]	"E"[1]
[6]	"S1"[6]

caguid=0xa000
Hca	2 "A"	# "node-09"
[1]	"S1"[1]

caguid=0xb000
Hca	1 "B"	# "node-10"
[1]	"S1"[2]

caguid=0xc000
Hca	1 "C"	# "node-01"
[1]	"S2"[1]

caguid=0xd000
Hca	1 "D"	# "node-03"
[1]	"S2"[2]

caguid=0xe000
Hca	1 "E"	# "host E"
[1]	"S2"[4]
)";

/// A script of infiniband-diags, which reads the topology that it keeps from this directory instead of the machine's.
words script(const std::string& name, const std::string& cache, const words& arguments) {
    const std::string run_it = "$IBswcountlimits::cache_dir = shift; $0 = '" + name +
                               "'; my ($f) = grep { -x } map { \"$_/" + name +
                               "\" } split ':', $ENV{PATH}; do $f; die $@ if $@";
    return words{"perl", "-MIBswcountlimits", "-e", run_it, "--", cache} + arguments;
}

/// The stanza of a node in a topology file.
std::string stanza_with(const std::string& topology, const std::string& id) {
    const std::size_t at = topology.find("\t" + id), begin = topology.rfind("\n\n", at) + 2;
    return topology.substr(begin, topology.find("\n\n", at) + 1 - begin);
}

} // namespace

TEST_CASE("ibfindnodesusing prints what infiniband-diags' script prints, and more if asked for") {
    const subnet s(hosts);
    for (const char* port : {"5", "6", "1"}) { // two cables to the other switch, one to a host
        CAPTURE(port);
        const process_result theirs =
            s.peer(script("ibfindnodesusing", s.files() / "kept", {"0x0000000000005000", port}));
        CAPTURE(theirs.err);
        REQUIRE_THAT(theirs.out, Contains("<<=="));
        const process_result r = s.ours({"ibfindnodesusing", "0x0000000000005000", port});
        check_success(r);
        CHECK(r.out == theirs.out);
    }
    // By all forms of a target, and by name.
    const std::string out = s.ours({"ibfindnodesusing", "0x0000000000005000", "5"}).out;
    for (const char* target : {"0,", "first switch", "first", "0000:0000:0000:5000"})
        CHECK(s.ours({"ibfindnodesusing", target, "5"}).out == out);
    CHECK(s.ours({"ibfindnodesusing.pl", s.lid_at("0,"), "5"}).out == out);

    // Both cables together lead to the hosts of the other switch, and back.
    std::set<std::string> there, back;
    for (const char* port : {"5", "6"}) {
        const auto o = nlohmann::json::parse(s.ours({"ibfindnodesusing", "first", port, "--json", "-a"}).out);
        for (const auto& p : o["out"]) there.insert(p["description"]);
        for (const auto& p : o["back"]) back.insert(p["description"]);
    }
    CHECK(there == std::set<std::string>{"node-01", "node-03", "host E", "second switch"});
    CHECK(back == std::set<std::string>{"node-09", "node-10", "first switch"});
    const process_result details = s.ours({"ibfindnodesusing", "first", "1", "-v"});
    CHECK_THAT(details.out, Contains(fmt::format("0x000000000000a001 lid {} \"node-09\"\n", s.lid_at("0,1"))));

    check_failure(s.ours({"ibfindnodesusing", "0,1", "1"}), 1, "'0,1' is not a switch");
    check_failure(s.ours({"ibfindnodesusing", "first", "9"}), 1, "'first' has no port 9; valid ports: 1..8");
    check_failure(s.ours({"ibfindnodesusing", "first", "7"}), 1, "port 7 of 'first' has no link");
    check_failure(s.ours({"ibfindnodesusing", "switch", "1"}), 1, "'switch' matches 2 nodes, such as");
    check_failure(s.ours({"ibfindnodesusing", "third", "1"}), 1, "the subnet has no node 'third'");

    // Of one node what ibnetdiscover has of it; lists as those of ibhosts.
    const std::string topology_file = s.peer({"ibnetdiscover"}).out;
    CHECK(s.ours({"ibprintswitch", "0x0000000000006000"}).out ==
          stanza_with(topology_file + '\n', "6 \"S-0000000000006000"));
    CHECK(s.ours({"ibprintca", "host E"}).out == stanza_with(topology_file + '\n', "1 \"H-000000000000e000"));
    CHECK(s.ours({"ibprintca.pl", "0,1"}).out == stanza_with(topology_file + '\n', "2 \"H-000000000000a000"));
    CHECK(lines_of(s.ours({"ibprintca", "-l"}).out) == lines_of(s.peer({"ibhosts"}).out));
    CHECK(lines_of(s.ours({"ibprintswitch", "-l"}).out) == lines_of(s.peer({"ibswitches"}).out));
    CHECK(s.ours({"ibprintrt", "-l"}).out.empty());
    CHECK(nlohmann::json::parse(s.ours({"ibprintca", "host E", "--json"}).out)["nodeGUID"] == "0000:0000:0000:e000");
    check_failure(s.ours({"ibprintca", "first"}), 1, "'first' is a Switch, not a Channel Adapter");
    check_failure(s.ours({"ibprintrt"}), 2, "no target given");

    // iblinkinfo of one node, by any target.
    const process_result links = s.peer({"iblinkinfo", "-D", "0,5"});
    REQUIRE_THAT(links.out, Contains("second switch"));
    for (const std::string& target : {std::string("0,5"), std::string("second switch"), s.lid_at("0,5")})
        CHECK(s.ours({"iblinkinfo", target}).out == links.out);
    words up = lines_of(s.ours({"iblinkinfo", "-l", "--up"}).out);
    const words down = lines_of(s.peer({"iblinkinfo", "-l", "--down"}).out);
    CHECK(up.size() == 5 * 2 + 2 * 2); // both ends of five cables to hosts, of two between switches
    CHECK(down.size() == 8 - 4 + 6 - 5);
    up.insert(up.end(), down.begin(), down.end());
    std::sort(up.begin(), up.end());
    CHECK(up == lines_of(s.peer({"iblinkinfo", "-l"}).out));
    CHECK_THAT(s.ours({"iblinkinfo", "first", "-g"}).out,
               Contains("      0x0000000000005000 ") && Contains("==>  0x000000000000a001 "));
    check_failure(s.ours({"iblinkinfo", "first", "-D", "0,1"}), 2, "a target excludes -G and -D");

    // The table that ibroute shows, and beginnings of operations.
    const auto table = nlohmann::json::parse(s.ours({"smpquery", "LFT", "0,5", "--json"}).out);
    const process_result routes = s.peer({"ibroute", "-D", "0,5", "-n", "-a"});
    std::vector<unsigned> ports;
    const std::regex row("0x([0-9a-f]{4}) ([0-9]{3})");
    for (const std::string& line : lines_in_order(routes.out))
        if (std::smatch m; std::regex_search(line, m, row)) ports.push_back(static_cast<unsigned>(std::stoul(m[2])));
    REQUIRE(ports.size() == 8); // LID 0, and those of seven nodes
    CHECK(table["ports"] == ports);
    CHECK(table["linearFDBTop"] == 7);
    CHECK(s.ours({"smpquery", "LinearF", "0,5"}).out ==
          fmt::format("   0: 0x{:02x}\n{} LFT capacity for this port, top is 7\n", fmt::join(ports, " 0x"),
                      table["linearFDBCap"].get<unsigned>()));
    CHECK(s.ours({"smpquery", "nodei", "0,1"}).out == s.ours({"smpquery", "NodeInfo", "0,1"}).out);
    check_failure(s.ours({"smpquery", "node", "0,1"}), 2,
                  "operation 'node' is ambiguous; it can mean NodeInfo, NodeDesc");
    check_failure(s.ours({"smpquery", "LFT", "0,1"}), 1, "is not a switch");
}

TEST_CASE(
    "ibidsverify says of a topology what infiniband-diags' script says, of the subnet the same, and LIDs by LMC") {
    const directory files;
    const std::string kept = files / "kept";
    const auto theirs = [&](const std::string& topology) {
        (void)files.write("kept/ibnetdiscover--.topology", topology);
        return run_process(script("ibidsverify", kept, {}));
    };
    // A node's LID twice, a port GUID twice, one that is another node's, a LID 0.
    const std::string wrong = R"(
vendid=0x2c9
devid=0xb924
sysimgguid=0x6000
switchguid=0x6000(6000)
Switch	8 "S-0000000000006000"		# "second switch" base port 0 lid 2 lmc 0
[1]	"H-000000000000c000"[1](c001) 		# "C" lid 3 4xSDR
[2]	"H-000000000000d000"[1](c001) 		# "D" lid 3 4xSDR
[3]	"H-000000000000e000"[1](6000) 		# "E" lid 0 4xSDR

vendid=0x2c9
devid=0x1
sysimgguid=0xc000
caguid=0xc000
Ca	1 "H-000000000000c000"		# "C"
[1](c001) 	"S-0000000000006000"[1]		# lid 3 lmc 0 "second switch" lid 2 4xSDR

vendid=0x2c9
devid=0x1
sysimgguid=0xd000
caguid=0xd000
Ca	1 "H-000000000000d000"		# "D"
[1](c001) 	"S-0000000000006000"[2]		# lid 3 lmc 0 "second switch" lid 2 4xSDR

vendid=0x2c9
devid=0x1
sysimgguid=0xe000
caguid=0xe000
Ca	1 "H-000000000000e000"		# "E"
[1](6000) 	"S-0000000000006000"[3]		# lid 0 lmc 0 "second switch" lid 2 4xSDR
)";
    const process_result said = theirs(wrong);
    CAPTURE(said.err);
    CHECK(said.status == 1);
    CHECK(lines_of(said.out).size() == 4);
    const process_result ours = run({"ibidsverify", files.write("wrong", wrong)});
    CHECK(ours.status == 1);
    CHECK(ours.out == said.out);
    CHECK(ours.err.empty());
    words findings;
    for (const auto& line : objects_of(run({"ibidsverify", "--json", files / "wrong"}).out))
        findings.push_back(line["description"].get<std::string>() + ": " + line["finding"].get<std::string>());
    CHECK(findings == words{"D: duplicate_LID", "D: duplicate_portGUID", "E: no_LID", "E: duplicate_portGUID"});

    // Nobody has LIDs; then OpenSM gives them.
    ibsim_server server(hosts);
    const words fabric{"--fabric", "ibsim:" + server.sockname()};
    const process_result without = run(words{"ibidsverify"} + fabric);
    CHECK(without.status == 1);
    CHECK(lines_of(without.out).size() == 7);
    CHECK(without.out == theirs(run(words{"ibnetdiscover"} + fabric).out).out);
    CHECK(run(words{"ibidsverify", "--json"} + fabric).status == 1);
    const subnet configured(hosts, manager::leaves);
    const process_result well = configured.ours({"ibidsverify.pl"});
    check_success(well);
    CHECK(well.out.empty());

    // The second LID of one is the first of the other, which the script does not see.
    std::string by_lmc = wrong.substr(0, wrong.find("vendid=0x2c9\ndevid=0x1\nsysimgguid=0xd000"));
    by_lmc.replace(by_lmc.find("lid 3 lmc 0"), 11, "lid 1 lmc 1");
    by_lmc.erase(by_lmc.find("[2]"), by_lmc.find("\n\nvendid=0x2c9\ndevid=0x1") - by_lmc.find("[2]") + 1);
    CHECK(theirs(by_lmc).out.empty());
    const process_result doubled = run({"ibidsverify", files.write("LMC", by_lmc)});
    CHECK(doubled.status == 1);
    CHECK(doubled.out == "LID 2 already defined for NodeGUID 0x6000\n");
}

TEST_CASE("every other name of a command means that command, and the documentation lists it") {
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
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"};
    CHECK(run(words{"iblinkinfo.pl", "-l"} + fabric).out == run(words{"iblinkinfo", "-l"} + fabric).out);
    CHECK(run({"decode_mad", "--struct", "SMPLedInfo", "80000000"}).out ==
          run({"decode", "--struct", "SMPLedInfo", "80000000"}).out);
}

namespace {

bool is_disabled(const subnet& s, const std::string& route, const std::string& port) {
    return s.peer({"smpquery", "-D", "PortInfo", route, port}).out.find("PhysLinkState:...................Disabled") !=
           std::string::npos;
}

} // namespace

TEST_CASE("set_port_state changes ports by routes around them, all or none of them, and reads them back") {
    const subnet s(hosts, manager::leaves);
    // The port by which the second switch is entered, and one that leads to a host.
    const words both{"second@3", "0,5@1"};
    const process_result dry = s.ours(words{"set_port_state", "--disable", "--dry-run", "-d"} + both);
    CHECK(dry.status == 0);
    const std::string second = "Switch 0x0000000000006000 \"second switch\" port ";
    const std::string would = ": Active/LinkUp; without --dry-run portPhysicalState=Disabled would be set\n";
    CHECK(dry.out == second + "3" + would + second + "1" + would);
    CHECK_THAT(dry.err, !Contains("MAD_METHOD_SET"));
    CHECK_FALSE(is_disabled(s, "0,6", "3"));

    const process_result done = s.ours(words{"set_port_state", "--disable"} + both);
    check_success(done);
    CHECK_THAT(done.out, StartsWith(second + "3: Active/LinkUp -> Active/Disabled\n")); // ibsim keeps portState
    CHECK(is_disabled(s, "0,6", "3"));
    CHECK(is_disabled(s, "0,6", "1"));
    CHECK(s.ours({"set_port_state", "--disable", "second@3"}).out == second + "3: Active/Disabled: nothing to do\n");

    // Now there is one cable left.
    check_failure(s.ours({"set_port_state", "--disable", "second@6"}), 1,
                  "'second@6' not disabled: it can be reached only through links that this command would disable");
    CHECK_FALSE(is_disabled(s, "0,6", "6"));

    const process_result on = s.ours({"set_port_state", "--enable", "--json", "second@3", "second@1"});
    CHECK(on.status == 3); // a disabled port of ibsim stays Active: discovery misses what is behind it
    const auto enabled = objects_of(on.out);
    REQUIRE(enabled.size() == 2);
    CHECK(enabled[0]["set"] == nlohmann::json{"portPhysicalState=Polling"});
    CHECK_FALSE(is_disabled(s, "0,6", "3"));
    CHECK_FALSE(is_disabled(s, "0,6", "1"));

    check_failure(s.ours({"set_port_state", "second@3"}), 2, "one of --disable, --enable and --init");
    check_failure(s.ours({"set_port_state", "--init", "second"}), 2, "invalid port 'second'; expected NODE@PORT");
    check_failure(s.ours({"set_port_state", "--init", "second@7"}), 1, "valid ports: 1..6");
    check_failure(run({"set_port_state", "--disable", "0,@1", "--fabric", "sim:fattree2,radix=4,sm=1"}), 1,
                  "the subnet manager would be disconnected");
}

TEST_CASE("init_all_ports brings each link back to Initialize, and goes on where a node does not answer") {
    const subnet s(hosts, manager::leaves);
    const auto states = [&] {
        std::map<std::string, unsigned> count;
        for (const auto& link : objects_of(s.ours({"iblinkinfo", "--json"}).out)) ++count[link["portState"]];
        return count;
    };
    CHECK(states()["Active"] == 14);
    const process_result dry = s.ours({"init_all_ports", "--dry-run"});
    check_success(dry);
    CHECK(lines_of(dry.out).size() == 7); // a line for each link
    CHECK(states()["Active"] == 14);
    const process_result done = s.ours({"init_all_ports"});
    check_success(done);
    CHECK(lines_of(done.out).size() == 7);
    CHECK(states()["Active"] == 0);
    CHECK(s.ours({"init_all_ports"}).out.empty());
    const process_result silent =
        run({"init_all_ports", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,dead=spine-0001"});
    CHECK(silent.status == 3);
    CHECK(lines_of(silent.out).size() == 8 + 4 + 4); // cables to hosts, to the other spine, to the one that is silent
}

} // namespace ibtool_scripts_test
