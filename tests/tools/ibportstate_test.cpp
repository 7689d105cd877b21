// SPDX-License-Identifier: MIT
// ibportstate_test.cpp - ibportstate compared with infiniband-diags on ibsim subnets, operation by operation. In a
// simulated subnet: refused operations, values read back and hidden keys. Also SubnSet by the command query.
#include "program/ibtool_subnet.hpp"

#include <fmt/format.h>

namespace ibtool_ibportstate_test {

using namespace ibtool_rig;

namespace {

/// Returns the JSON output of a command.
nlohmann::json json_from(const process_result& r) {
    INFO("stderr: " << r.err);
    CAPTURE(r.out);
    return nlohmann::json::parse(r.out);
}

// ibtool runs at a CA, and so does the subnet manager.
const std::string tree_alone = "sim:fattree2,radix=4,time=virtual";
const words tree{"--fabric", tree_alone + ",sm=1"};

/// The port through which a route enters its last node, and another cabled port of a switch.
struct ports_of {
    std::string entry, other;
};
/// Returns two ports of the last node of a route.
ports_of ports_at(const std::string& route) {
    const auto node = json_from(run(words{"smpquery", "NI", route, "--json"} + tree));
    const unsigned entry = node["localPortNum"], count = node["numPorts"];
    return {std::to_string(entry), std::to_string(entry % count + 1)};
}

/// Returns the bytes of the last Set in a capture.
nlohmann::json set_in(const std::string& capture) {
    nlohmann::json found;
    for (const auto& packet : objects_of(run({"decode", "--json", capture}).out))
        for (const auto& part : packet)
            if (part.is_object() && part.value("method", 0) == 2) found = part["data"];
    REQUIRE(found.is_object());
    return found;
}

/// Returns true if the trace of a command contains a Set.
bool sends_a_set(const process_result& r) { return r.err.find("MAD_METHOD_SET") != r.err.npos; }

} // namespace

TEST_CASE("ibportstate prints what infiniband-diags' ibportstate prints, including the peer port") {
    const subnet s;
    for (const words& place : {words{"0", "1"}, words{"0", "17"}, words{"0", "0"}, words{"0", "5"}, words{"0,1", "1"},
                               words{"0,17", "3"}, words{"0,20,1", "2"}})
        compare(s, words{"ibportstate", "-D"} + place);
    compare(s, {"ibportstate", "-K", "-D", "0", "1"});
    compare(s, {"ibportstate", s.lid_at("0,1"), "1", "query"});
    compare(s, {"ibportstate", "-G", "0xc002", "2"});
    for (const char* route : {"0", "0,1"}) compare(s, {"ibportstate", "-D", route, "query"}); // without a port argument

    // For the LID of a switch, infiniband-diags fails if the fabric does not carry routes that start at a LID, as in
    // ibsim. ibtool queries the SA instead.
    const words by_lid{"ibportstate", s.lid_at("0"), "17"};
    const process_result theirs = s.peer(by_lid + words{"-t", "200"});
    CHECK(theirs.status != 0);
    const process_result ours = s.ours(by_lid + words{"-t", "200ms", "--retries", "0"});
    check_success(ours);
    const std::string here = theirs.out.substr(0, theirs.out.find("ibportstate: iberror")); // printed on stdout
    CHECK(here.size() < theirs.out.size());
    const process_result there = s.ours({"ibportstate", s.lid_at("0,17"), "3", "--sa"});
    check_success(there);
    const std::string far = there.out.substr(0, there.out.find("Peer "));
    CHECK(ours.out == here + "Peer PortInfo:\n" + far.substr(far.find('#')));
    check_failure(s.ours({"ibportstate", "-D", "0", "21"}), 1, "has no port 21: its last port is 20");
}

namespace {

/// Replaces the LIDs that infiniband-diags invents for ports without a LID (4660, its 0x1234).
std::string without_invented_lids(std::string text) {
    for (std::size_t at = text.find(".4660\n"); at != text.npos; at = text.find(".4660\n")) text.replace(at, 5, ".0");
    return text;
}

/// Runs an operation with both programs, each in its own subnet. If the port reads back another value than written, ibtool
/// reports a failure, and infiniband-diags only prints the value.
void compare_operation(const subnet& a, const subnet& b, const words& command) {
    CAPTURE(command);
    const process_result theirs = a.peer(words{"ibportstate", "-D"} + command);
    const process_result ours = b.ours(words{"ibportstate", "--force", "-D"} + command);
    CAPTURE(theirs.out, ours.err);
    CHECK(theirs.status == 0);
    CHECK(ours.out == without_invented_lids(theirs.out));
    if (ours.status != 0) {
        CHECK(ours.status == 3);
        CHECK_THAT(ours.err, Contains("not set: "));
    }
}

} // namespace

TEST_CASE("the operations of ibportstate print what infiniband-diags' operations print") {
    const subnet a(topology, manager::leaves), b(topology, manager::leaves);
    const auto both = [&](const words& command) { compare_operation(a, b, command); };
    // A CA whose only route crosses the port.
    for (const words& operation :
         {words{"arm"}, words{"active"}, words{"speed", "1"}, words{"width", "1"}, words{"speed", "15", "width", "255"},
          words{"espeed", "1"}, words{"espeed", "30"}, words{"fdr10", "1"}, words{"vls", "2", "mtu", "3"},
          words{"lid", "77", "smlid", "1", "lmc", "1"}, words{"mkeylease", "10", "mkeyprot", "1"},
          words{"mkey", "5", "-K"}, words{"on"}, words{"down"}})
        both(words{"0,2", "1"} + operation);
    // A port of a switch.
    for (const char* operation : {"down", "reset", "off", "on", "on", "disable", "enable"}) both({"0", "1", operation});
    both({"0", "17", "speed", "4", "disable"});
    both({"0", "5", "fdr10", "0"});
}

TEST_CASE("ibportstate reads a port back and reports changes that ibsim did not apply") {
    const subnet s(topology, manager::leaves);
    const process_result r = s.ours({"ibportstate", "-D", "0,1", "1", "mkeylease", "10"});
    CHECK(r.status == 3);
    CHECK_THAT(r.err, Contains("not set: MKeyLeasePeriod is 4089, but 10 was requested"));
    CHECK_THAT(r.out, Contains("\nAfter PortInfo set:\n"));
}

TEST_CASE("ibportstate changes the requested values and reads them back, and --dry-run changes nothing") {
    const std::string port = ports_at("0,1").other;
    const words there{"ibportstate", "-D", "0,1", port};
    const auto done = json_from(run(there + words{"speed", "1", "width", "1", "disable", "--json"} + tree));
    CHECK(done["PortInfo"]["portPhysicalState"] == 5); // 5 is LinkUp
    CHECK(done["set"] == nlohmann::json({"linkSpeedEnabled=1", "linkWidthEnabled=1", "portPhysicalState=Disabled"}));
    CHECK(done["after"]["PortInfo"]["portPhysicalState"] == 3);
    CHECK(done["after"]["PortInfo"]["linkSpeedEnabled"] == 1);
    CHECK(done["after"]["PortInfo"]["linkWidthEnabled"] == 1);
    CHECK(done["after"]["PortInfo"]["VLStallCount"] == done["PortInfo"]["VLStallCount"]);

    const process_result dry = run(there + words{"disable", "--dry-run", "-d"} + tree);
    CHECK(dry.status == 0);
    CHECK_THAT(dry.out, EndsWith("\nWithout --dry-run this would be set:\nportPhysicalState=Disabled\n"));
    CHECK_FALSE(sends_a_set(dry));
    CHECK(sends_a_set(run(there + words{"disable", "-d"} + tree)));

    const process_result on = run(there + words{"on", "-d"} + tree);
    CHECK_THAT(on.out, EndsWith("Port is already in enable state\n"));
    CHECK_FALSE(sends_a_set(on));
    // infiniband-diags ignores the arguments after `on`.
    CHECK(json_from(run(there + words{"on", "width", "1", "--json"} + tree))["after"]["PortInfo"]["linkWidthEnabled"] ==
          1);

    const auto query = json_from(run(there + words{"--json"} + tree));
    CHECK(query["route"] == nlohmann::json({0, 1}));
    CHECK(query["peer"]["route"] == nlohmann::json({0, 1, std::stoi(port)}));
    CHECK(query["complaints"].empty());
    CHECK_FALSE(query["peer"]["PortInfo"].contains("MKey"));
    check_success(run({"ibportstate", "2", "1", "--sa", "--fabric", tree[1]}));
}

TEST_CASE("ibportstate refuses to disable the port that its MADs cross or the subnet manager's port") {
    const ports_of ports = ports_at("0,1");
    for (const char* operation : {"disable", "off"}) {
        CAPTURE(operation);
        const process_result r = run({"ibportstate", "-D", "0,1", ports.entry, operation, "-d", "--fabric", tree[1]});
        CHECK(r.status == 1);
        CHECK_THAT(r.err, Contains("through its own link, which would stay down") && Contains("--force"));
        CHECK_FALSE(sends_a_set(r));
    }
    // The subnet manager runs at the local port. The command detects the port in every form of target.
    for (const words& own : {words{"0,", "0"}, words{"0,", "1"}, words{"1", "1"}})
        check_failure(run(words{"ibportstate"} + own + words{"disable"} + tree), 1,
                      "the subnet manager runs on this port");
    // A LID-routed request cannot follow the port to its new LID. With a directed route, only the LID of the subnet
    // manager's port matters.
    check_failure(run(words{"ibportstate", "2", "1", "lid", "99"} + tree), 1, "no route leads to the new LID");
    check_failure(run(words{"ibportstate", "-D", "0", "1", "lid", "99"} + tree), 1, "its LID would become unreachable");
    check_failure(run(words{"ibportstate", "-D", "0", "1", "mkey", "99", "mkeyprot", "2"} + tree), 1,
                  "does not have the new M_Key");
    for (const words& harmless : {words{"mkey", "99"}, words{"smlid", "1"}, words{"reset"}, words{"enable"}})
        CHECK(run(words{"ibportstate", "-D", "0", "1"} + harmless + tree).status == 0);
    // Settings that apply only after the link trains again are not dangerous, and --force permits everything.
    check_success(run(words{"ibportstate", "-D", "0", "1", "speed", "1"} + tree));
    const process_result forced = run(words{"ibportstate", "-D", "0", "1", "lid", "99", "--force"} + tree);
    check_success(forced);
    CHECK_THAT(forced.out, Contains("\nAfter PortInfo set:\n") && Contains("\nLid:.............................99\n"));

    // The reply to this Set is lost with the LID. The port reports its state afterwards unless the link is down.
    const process_result moved = run(words{"ibportstate", "2", "1", "lid", "99", "--force"} + tree);
    CHECK(moved.status == 0);
    CHECK_THAT(moved.out, EndsWith("ProtectBits:.....................0\n") &&
                              Contains("\nAfter PortInfo set:\n# Port info: Lid 2 port 1\n") && Contains("....99\n"));
    CHECK_THAT(moved.err, Contains("no reply to the Set"));
    const process_result cut_off = run(words{"ibportstate", "-D", "0,1", ports.entry, "disable", "--force"} + tree);
    CHECK(cut_off.status == 3);
    CHECK_THAT(cut_off.err, Contains("port " + ports.entry + ": unknown whether it changed: route 0,1 did not reply"));

    // If the subnet manager runs elsewhere, its port at the switch is protected like its own port.
    const auto subnet = json_from(run(words{"ibnetdiscover", "--json"} + tree));
    const auto& nodes = subnet["nodes"];
    const auto far = std::find_if(nodes.rbegin(), nodes.rend(), [](const auto& n) { return n["nodeType"] == "CA"; });
    REQUIRE(far != nodes.rend());
    std::string route = (*far)["route"].dump();
    route = route.substr(1, route.size() - 2);
    const words elsewhere{"--fabric", tree_alone + ",sm=" + (*far)["description"].get<std::string>()};
    const std::size_t last = route.rfind(',');
    const std::string its_switch = route.substr(0, last), its_port = route.substr(last + 1);
    check_failure(run(words{"ibportstate", "-D", its_switch, its_port, "disable"} + elsewhere), 1,
                  "the subnet manager runs on the neighbor of this port");
    const process_result disabled = run(words{"ibportstate", "-D", its_switch, its_port, "disable"} + tree);
    check_success(disabled);
}

TEST_CASE("ibportstate refuses to disable the port that carries a switch's replies") {
    const subnet s;
    const std::string far = s.lid_at("0,17");
    const auto table = [&](const std::string& port) {
        check_success(s.ours({"query", "SubnSet", "LinearForwardingTable", "-D", "0,17", "-f",
                              "portBlock[" + s.lid_at("0") + "]=" + port}));
    };
    // S2 has two cables to our switch, at its ports 3 and 4. Requests enter S2 through one port, and replies leave S2
    // through the port in its table.
    for (const char* answers_by : {"3", "4"}) {
        table(answers_by);
        check_failure(s.ours({"ibportstate", far, answers_by, "disable", "--dry-run"}), 1,
                      "through its own link, which would stay down");
    }
}

TEST_CASE("ibportstate prints no M_Key without -K, and reads back with the new M_Key") {
    const std::string key = "1122334455667788", route = "0,1," + ports_at("0,1").other;
    const words set{"ibportstate", "-D", route, "0", "mkey", "0x" + key, "mkeyprot", "2", "--force"};
    for (const words& how : {words{}, words{"--json"}, words{"--dry-run"}, words{"--json", "--dry-run"}, words{"-d"}}) {
        CAPTURE(how);
        const process_result r = run(set + how + tree);
        CHECK(r.status == 0);
        CHECK_THAT(r.out + r.err, !Contains(key));
    }
    const auto shown = json_from(run(set + words{"--json", "-K"} + tree));
    CHECK(shown["after"]["PortInfo"]["MKey"] == "0x" + key);
    CHECK(shown["after"]["PortInfo"]["MKeyProtectBits"] == 2);
    // A key that is not a number causes a prompt, and no message contains an invalid key.
    const words without_terminal{"IBTOOL_FABRIC=", "setsid", "-w", ibtool_program()};
    const process_result typed =
        run_process(without_terminal + words{"ibportstate", "-D", route, "0", "mkey", "s3cret"} + tree);
    CHECK(typed.status == 2);
    CHECK_THAT(typed.err, Contains("the M_Key must be a 64-bit number") && !Contains("s3cret"));
}

// Devices of other vendors have the device ID of a Mellanox device, but not FDR10. infiniband-diags stops at such a
// device.
TEST_CASE("ibportstate prints both ends of a link even if a device refuses the Mellanox attribute") {
    const directory files;
    const std::string topology =
        files.write("two.topo", "vendid=0x15b3\ndevid=0xcf08\nswitchguid=0x20(20)\n"
                                "Switch 2 \"S-0000000000000020\" # \"odd\" base port 0 lid 2 lmc 0\n"
                                "[1] \"H-0000000000000010\"[1](11) # \"host\" lid 1 4xSDR\n\n"
                                "caguid=0x10\nCa 1 \"H-0000000000000010\" # \"host\"\n"
                                "[1](11) \"S-0000000000000020\"[1] # lid 1 lmc 0 \"odd\" lid 2 4xSDR\n");
    const words fabric{"--fabric", "sim:" + topology + ",sm=host,at=host,time=virtual"};
    CHECK_THAT(run(words{"smpquery", "MEPI", "2", "1"} + fabric).err, Contains("refused MlnxExtPortInfo"));
    const process_result r = run(words{"ibportstate", "2", "1"} + fabric);
    check_success(r);
    CHECK_THAT(r.out,
               StartsWith("Switch PortInfo:\n# Port info: Lid 2 port 1\nLinkState:.......................Active\n") &&
                   Contains("\nPeer PortInfo:\n") && !Contains("MLNX"));
    check_failure(run(words{"ibportstate", "2", "1", "fdr10", "1"} + fabric), 1, "MlnxExtPortInfo");
}

TEST_CASE("ibportstate refuses invalid operations with a one-line message") {
    struct {
        words operations;
        std::string what;
    } const lines[] = {
        {{"frobnicate"}, "unknown operation 'frobnicate'; the nearest are "},
        {{"disable", "enable"}, "disable and enable exclude each other"},
        {{"query", "speed", "1"}, "query cannot be combined"},
        {{"speed"}, "speed requires a value"},
        {{"speed", "1", "speed", "2"}, "speed is given twice"},
        {{"speed", "16"}, "must be a number up to 15"},
        {{"espeed", "64"}, "must be a number up to 63"},
        {{"width", "32"}, "the value of width is 32"},
        {{"vls", "0"}, "the value of vls must be 1..5"},
        {{"mtu", "6"}, "must be a number up to 5"},
        {{"lid", "0"}, "the value of lid must be 1..49151"},
        {{"smlid", "0xc000"}, "must be a number up to 49151"},
        {{"lmc", "8"}, "must be a number up to 7"},
        {{"mkeyprot", "4"}, "must be a number up to 3"},
        {{"disable", "--sa"}, "--sa supports only the operation query"},
    };
    for (const auto& line : lines) {
        CAPTURE(line.operations);
        check_failure(run(words{"ibportstate", "0,1", "1"} + line.operations + tree), 2, line.what);
    }
    check_failure(run(words{"ibportstate", "0,1", "1", "mkey", "1"} + tree), 1, "a switch has them only on port 0");
    check_failure(run(words{"ibportstate", "0,1", "1", "lmc", "1"} + tree), 1, "a switch has them only on port 0");
    check_failure(run(words{"ibportstate", "0,1", "255"} + tree), 2, "the port must be a number up to 254, not '255'");
    // A writing operation never guesses its port.
    check_failure(run(words{"ibportstate", "0,1", "disable"} + tree), 2,
                  "the port must be a number up to 254, not 'disable'");
    check_failure(run(words{"ibportstate", "0,1", "query", "disable"} + tree), 2,
                  "the port must be a number up to 254, not 'query'");
}

TEST_CASE("query SubnSet changes only the named fields") {
    const words CA{"0,"};
    const auto before = json_from(run(words{"query", "SubnGet", "PortInfo", "--json"} + CA + tree));
    auto after = json_from(run(words{"query", "SubnSet", "PortInfo", "-f", "HOQLife=3", "--json"} + CA + tree));
    REQUIRE(before["LID"] != 0);
    REQUIRE(before["HOQLife"] != 3);
    CHECK(after["HOQLife"] == 3);
    after["HOQLife"] = before["HOQLife"];
    CHECK(after == before);
    // With --raw, fields that are not named are 0.
    CHECK(json_from(run(words{"query", "SubnSet", "PortInfo", "-f", "HOQLife=3", "--raw", "--json"} + CA +
                        tree))["LID"] == 0);
    check_failure(run(words{"query", "SubnGet", "PortInfo", "--raw"} + CA + tree), 2,
                  "--raw requires a Set that first reads");
    check_failure(run(words{"query", "PerformanceSet", "PortCounters", "1", "--raw"} + tree), 2, "--raw");

    // In the request, command fields stay 0 (IBA 14.2.5.6: no change), and all other fields keep their values.
    const directory files;
    const std::string capture = files / "set.pcap";
    check_success(run(words{"query", "SubnSet", "PortInfo", "-f", "HOQLife=3", "--pcap", capture} + CA + tree));
    const auto sent = set_in(capture);
    for (const char* order : {"portState", "portPhysicalState", "linkDownDefaultState", "linkWidthEnabled",
                              "linkSpeedEnabled", "linkSpeedExtEnabled"}) {
        CAPTURE(order);
        REQUIRE(before[order] != 0);
        CHECK(sent[order] == 0);
    }
    for (const char* kept : {"LID", "masterSMLID", "LMC", "subnetTimeOut", "neighborMTU", "operationalVLs"}) {
        CAPTURE(kept);
        CHECK(sent[kept] == before[kept]);
    }
    // The Set does not clear a state change that the switch must report: 1 would clear it (IBA 14.2.5.4).
    check_success(
        run(words{"query", "SubnSet", "SwitchInfo", "0,1", "-f", "lifeTimeValue=9", "--pcap", capture} + tree));
    CHECK(set_in(capture)["portStateChange"] == 0);
    // Table elements that are not named also keep their values.
    const auto table =
        json_from(run(words{"query", "SubnGet", "SLToVLMappingTable", "0,1", "-a", "0x102", "--json"} + tree));
    auto mapped = json_from(run(
        words{"query", "SubnSet", "SLToVLMappingTable", "0,1", "-a", "0x102", "-f", "SLtoVL[3]=1", "--json"} + tree));
    CHECK(mapped["SLtoVL"][3] == 1);
    mapped["SLtoVL"][3] = table["SLtoVL"][3];
    CHECK(mapped == table);
    // If a node cannot be read, the command does not write to it.
    const process_result silent = run(
        {"query", "SubnSet", "PortInfo", "77", "-f", "HOQLife=3", "-d", "--fabric", "sim:single,sm=1,time=virtual"});
    CHECK(silent.status == 1);
    CHECK_THAT(silent.err, Contains("nothing was written"));
    CHECK_FALSE(sends_a_set(silent));
}

} // namespace ibtool_ibportstate_test
