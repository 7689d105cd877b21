// SPDX-License-Identifier: MIT
// queries_test.cpp - ibtool's queries compared with infiniband-diags line by line, on one ibsim subnet that OpenSM
// configured; queries through the SA; refused arguments.
#include "subnet/two_switches.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba/parse.hpp>
#include <comad/iba/sa.hpp>
#include <comad/sa/client.hpp>

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <regex>

namespace ibtool_queries_test {

using namespace ibtool_rig;

namespace {

const std::string switch_route = "0", far_switch_route = "0,17", ca_route = "0,1", far_ca_route = "0,20,1";

/// Returns the only JSON object of a command that must succeed.
nlohmann::json json_from(const process_result& r) {
    check_success(r);
    CAPTURE(r.out);
    CHECK(std::count(r.out.begin(), r.out.end(), '\n') == 1);
    return nlohmann::json::parse(r.out);
}

} // namespace

TEST_CASE("smpquery prints what infiniband-diags' smpquery prints") {
    const subnet s;
    for (const std::string& route : {switch_route, far_switch_route, ca_route, far_ca_route}) {
        const std::string LID = s.lid_at(route);
        for (const words& place : {words{"-D", route}, words{LID}}) {
            for (const char* operation : {"nodeinfo", "ND", "portinfo", "pkeys", "SL2VL", "vlarb", "GUIDInfo"})
                compare(s, words{"smpquery", operation} + place);
            const bool is_switch = &route == &switch_route;
            compare(s, words{"smpquery", "-K", "PI"} + place + words{is_switch ? "17" : "1"});
            compare(s, words{"smpquery", "PKeyTable"} + place + words{"1"});
            compare(s, words{"smpquery", "SL2VL"} + place + words{"1"});
            compare(s, words{"smpquery", "VLArb"} + place + words{"1"});
            compare(s, words{"smpquery", "MEPI"} + place + words{"1"});
        }
    }
    compare(s, {"smpquery", "SwitchInfo", "-D", switch_route});
    compare(s, {"smpquery", "si", s.lid_at(far_switch_route)});
    compare(s, {"smpquery", "NodeInfo", "-G", "0xa001"});
    compare(s, {"smpquery", "si", s.lid_at(far_switch_route), "0"}); // SwitchInfo has no port
    compare(s, {"smpquery", "nodedesc", "-D", ca_route, "1"});
    compare(s, {"smpquery", "-x", "PortInfo", "-D", ca_route, "1"});
    const std::string map = s.files().write("names", "0x5000 \"called so\"\n");
    compare(s, {"smpquery", "nodedesc", "-D", switch_route, "--node-name-map", map});
}

TEST_CASE("sminfo, ibaddr and smpdump print what infiniband-diags' commands print") {
    const subnet s;
    // The activity count of the manager increases, so the test compares it separately.
    const auto without_count = [](std::string text) {
        const std::size_t from = text.find("activity count ");
        REQUIRE(from != text.npos);
        return text.erase(from, text.find(" priority") - from);
    };
    const std::string LID = s.lid_at(switch_route);
    for (const words& command : {words{"sminfo"}, words{"sminfo", LID}, words{"sminfo", "-D", switch_route},
                                 words{"sminfo", "-G", "0x5000"}}) {
        CAPTURE(command);
        const process_result theirs = s.peer(command), r = s.ours(command);
        REQUIRE(theirs.status == 0);
        check_success(r);
        CHECK(without_count(r.out) == without_count(theirs.out));
    }

    compare(s, {"ibaddr"});
    for (const std::string& route : {switch_route, ca_route, far_ca_route}) {
        compare(s, {"ibaddr", "-D", route});
        compare(s, {"ibaddr", s.lid_at(route)});
        for (const char* only : {"-g", "-l", "-L"}) compare(s, {"ibaddr", only, s.lid_at(route)});
        compare(s, {"smpdump", "-D", route, "0x11"});
        compare(s, {"smpdump", "-D", "-s", route, "16"});
        compare(s, {"smpdump", s.lid_at(route), "0x15", "1"});
    }
    compare(s, {"ibaddr", "-G", "0xa001"});
}

TEST_CASE("ibroute and ibtracert print what infiniband-diags' commands print") {
    const subnet s;
    for (const std::string& route : {switch_route, far_switch_route}) {
        for (const words& place : {words{"-D", route}, words{s.lid_at(route)}}) {
            compare(s, words{"ibroute"} + place);
            compare(s, words{"ibroute", "-n"} + place);
            compare(s, words{"ibroute", "-a"} + place);
            compare(s, words{"ibroute"} + place + words{"2", "4"});
            compare(s, words{"ibroute", "-M", "-a"} + place + words{"0xc000", "0xc021"});
            compare(s, words{"ibroute", "-M", "-a", "-n"} + place + words{"0xc000", "0xc021"});
            compare(s, words{"ibroute", "-M"} + place);
        }
    }
    const words routes{switch_route, far_switch_route, ca_route, far_ca_route};
    for (const std::string& from : routes) {
        for (const std::string& to : routes) {
            compare(s, {"ibtracert", s.lid_at(from), s.lid_at(to)});
            compare(s, {"ibtracert", "-n", s.lid_at(from), s.lid_at(to)});
        }
    }
    compare(s, {"ibtracert", "-G", "0xa001", "0xc002"});

    // Ranges beyond the multicast LIDs are truncated with a message.
    const std::pair<words, const char*> beyond[] = {
        {{"5", "0xc003"}, "0x5 is not a multicast LID; the output starts at 0xc000"},
        {{"0xc000", "0xffff"}, "0xffff is not a multicast LID; the output ends at 0xfffe"}};
    for (const auto& [range, printed] : beyond) {
        const words command = words{"ibroute", "-M", "-a", s.lid_at(switch_route)} + range;
        const process_result r = s.ours(command);
        CHECK(r.status == 0);
        CHECK(r.out == s.peer(command).out);
        CHECK_THAT(r.err, Contains(printed));
    }
}

TEST_CASE("set_sminfo prints what infiniband-diags' sminfo with a modifier prints") {
    const subnet s;
    const std::string LID = s.lid_at(switch_route);
    const auto state_of = [](const std::string& text) { return text.substr(text.find(" priority ")); };
    // OpenSM accepts a handover only from a Master.
    const process_result theirs = s.peer({"sminfo", "-s", "3", LID, "1"});
    const process_result ours = s.ours({"set_sminfo", LID, "handover", "-s", "3"});
    REQUIRE(theirs.status == 0);
    check_success(ours);
    CHECK_THAT(ours.out, StartsWith("sminfo: sm lid " + LID + " sm guid 0x5000, activity count "));
    CHECK(state_of(ours.out) == state_of(theirs.out));
    CHECK(s.peer({"sminfo", LID, "1"}).status != 0);
    check_failure(s.ours({"set_sminfo", LID, "1"}), 1,
                  "refused Set of SMInfo: status 0x700"); // an invalid modifier
    // Checks the fields of the Set.
    const directory files;
    const std::string capture = files / "set.pcap";
    const words simulated{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual", "--pcap", capture, "--pcap-keys"};
    const auto stands_by = json_from(
        run(words{"set_sminfo", "1", "acknowledge", "-s", "1", "-p", "9", "-a", "77", "--smkey", "0x55", "--json"} +
            simulated));
    CHECK(stands_by["SMState"] == 2); // Standby
    nlohmann::json sent;
    for (const auto& packet : objects_of(run({"decode", "--json", capture}).out))
        for (const auto& part : packet)
            if (part.is_object() && part.value("method", 0) == 2) sent = part;
    CHECK(sent["attributeModifier"] == 2);
    CHECK(sent["data"]["SMState"] == 1);
    CHECK(sent["data"]["priority"] == 9);
    CHECK(sent["data"]["actCount"] == 77);
    CHECK(sent["data"]["SMKey"] == "0x0000000000000055");
    check_failure(run(words{"set_sminfo", "1", "standby"} + simulated), 1,
                  "invalid attribute or attribute modifier"); // a master refuses this state
}

TEST_CASE("smpquery accepts every form of target") {
    const subnet s;
    const std::string LID = s.lid_at(far_ca_route);
    const std::string expected = s.ours({"ibaddr", LID}).out;
    REQUIRE_THAT(expected, StartsWith("GID fe80::c002 LID start "));
    std::ostringstream hex;
    hex << "0x" << std::hex << std::stoul(LID);
    for (const char* target : {"0,20,1", "IBDRPath(drPath=0:17:1:)", "fe80::c002", "0000:0000:0000:c002",
                               "000000000000c002", "IBPath(DGID=fe80::c002)"}) {
        CAPTURE(target);
        const process_result r = s.ours({"ibaddr", target});
        check_success(r);
        CHECK(r.out == expected);
    }
    CHECK(s.ours({"ibaddr", hex.str()}).out == expected);
    CHECK(s.ours({"ibaddr", "IBPath(DLID=" + LID + ", SL=0)"}).out == expected);
    CHECK(s.ours({"ibaddr", "-G", "0xc002"}).out == expected);
    CHECK(s.ours({"ibaddr", "-G", "49154"}).out == expected);
    CHECK(run({"ibaddr", "0xc002", "-G", "--fabric", s.fabric() + ",A"}).out == expected);
    CHECK(s.ours({"smpquery", "-L", "ni", LID}).out == s.ours({"smpquery", "ni", LID}).out);
}

TEST_CASE("queries with --sa print equal results and send no SMP") {
    const subnet s;
    const std::string LID = s.lid_at(switch_route), CA = s.lid_at(far_ca_route);
    const words commands[] = {
        {"smpquery", "NodeInfo", CA},
        {"smpquery", "NodeDesc", CA},
        {"smpquery", "NodeDesc", "0,20,1"},
        {"smpquery", "PortInfo", LID, "17"},
        {"smpquery", "SwitchInfo", LID},
        {"smpquery", "SL2VL", LID, "1"},
        {"smpquery", "PKeys", CA, "--smkey", "1"}, // OpenSM returns P_Keys only with its SM_Key
        {"smpquery", "VLArb", LID, "1"},
        {"smpquery", "GUIDInfo", "fe80::c002"},
        {"ibaddr"},
        {"ibaddr", CA},
        {"ibroute", LID},
        {"ibtracert", CA, LID},
        {"ibtracert", "0,1", "0,20,1"},
    };
    for (const words& command : commands) {
        CAPTURE(command);
        const process_result by_smp = s.ours(command), by_sa = s.ours(command + words{"--sa", "-d"});
        check_success(by_smp);
        CAPTURE(by_sa.err);
        CHECK(by_sa.status == 0);
        // LocalPort is the port through which a request enters. For the SA it is the SA's own port.
        const auto comparable = [](const std::string& text) {
            words lines = lines_of(text);
            std::erase_if(lines, [](const std::string& line) { return line.starts_with("LocalPort:"); });
            return lines;
        };
        CHECK(comparable(by_sa.out) == comparable(by_smp.out));
        CHECK_THAT(by_sa.err, StartsWith("D: Using end port ") && Contains("\nD: RPC ") && Contains(" SAFormat(3.2) "));
        CHECK_THAT(by_sa.err, !Contains("SMPFormat"));
    }
    check_failure(s.ours({"smpquery", "PKeys", CA, "--sa"}), 1, "invalid request (status 0x200)");
    check_failure(s.ours({"smpquery", "MEPI", CA, "--sa"}), 2, "the SA has no records of MlnxExtPortInfo");
    check_failure(s.ours({"smpdump", CA, "0x11", "--sa"}), 2, "--sa is not supported by");
    check_failure(s.ours({"ibchecknet", "--sa"}), 2, "--sa is not supported by");
}

TEST_CASE("structures are printed with IBA names or as annotated words on request") {
    const subnet s;
    const std::string CA = s.lid_at(ca_route);
    const auto lines = [&](const words& command) { return s.ours(words{"smpquery"} + command).out; };
    CHECK_THAT(lines({"NodeInfo", CA, "--int-names"}),
               StartsWith("# Node info: Lid " + CA + "\nBaseVersion......................1\n") &&
                   Contains("\nPortGUID.........................0000:0000:0000:a001\n"));
    CHECK_THAT(
        lines({"NodeInfo", CA, "-vv"}),
        StartsWith("# Node info: Lid " + CA + "\n  0 01010102 baseVersion=1,classVersion=1,nodeType=1,numPorts=2\n") &&
            Contains("portGUID=GUID('0000:0000:0000:a001')"));
    CHECK(lines({"NodeDesc", CA, "--int-names"}) == "NodeString.......................'host A'\n");
    CHECK_THAT(lines({"SwitchInfo", s.lid_at(switch_route), "--int-names"}), Contains("\nLinearFDBCap."));
    CHECK_THAT(lines({"PortInfo", CA, "1", "--int-names"}),
               Contains("\nMKey.............................<not displayed>\n") &&
                   Contains("\nMKeyLeasePeriod............"));
    CHECK_THAT(lines({"PortInfo", CA, "1", "--int-names", "-K"}),
               Contains("\nMKey.............................0x0000000000000000\n"));
    CHECK_THAT(lines({"PortInfo", CA, "1", "-vv"}), Contains("\n  0 00000000 MKey=<not displayed>\n"));
    const std::string counters = s.ours({"perfquery", CA, "1"}).out;
    const auto below_heading = [](const std::string& text) { return text.substr(text.find('\n') + 1); };
    CHECK_THAT(counters, Contains("\nSymbolErrorCounter:"));
    CHECK_THAT(s.ours({"perfquery", CA, "1", "--int-names"}).out,
               StartsWith(counters.substr(0, counters.find('\n') + 1) + "PortSelect.......................1\n") &&
                   Contains("\nSymbolErrorCounter."));
    CHECK_THAT(below_heading(s.ours({"perfquery", CA, "1", "-vv"}).out), StartsWith("  0 00010"));
    CHECK_THAT(s.ours({"query", "SubnGet", "NodeInfo", CA, "-vv"}).out, StartsWith("  0 01010102 baseVersion=1,"));
}

TEST_CASE("queries print JSON on request") {
    const subnet s;
    const std::string LID = s.lid_at(switch_route), CA = s.lid_at(ca_route);
    const auto json = [&](const words& command) { return json_from(s.ours(command + words{"--json"})); };
    CHECK(json({"smpquery", "NI", "0,1"})["nodeGUID"] == "0000:0000:0000:a000");
    CHECK(json({"smpquery", "ND", CA})["nodeString"] == "host A");
    CHECK(json({"smpquery", "PI", CA, "1"})["LID"] == std::stoi(CA));
    CHECK_FALSE(json({"smpquery", "PI", CA, "1"}).contains("MKey"));
    CHECK(json({"smpquery", "-K", "PI", CA, "1"})["MKey"] == "0x0000000000000000");
    CHECK(json({"smpquery", "SI", LID})["linearFDBTop"] >= 5);
    CHECK(json({"smpquery", "PKeys", CA})["PKeys"][0] == 0xffff);
    CHECK(json({"smpquery", "PKeys", CA})["PKeys"].size() == 64);
    CHECK(json({"smpquery", "SL2VL", LID, "2"}).size() == 21);
    CHECK(json({"smpquery", "SL2VL", LID, "2"})[20]["in"] == 20);
    CHECK(json({"smpquery", "VLArb", LID, "2"})["low"].size() == 8);
    CHECK(json({"smpquery", "VLArb", LID})["low"].empty());
    CHECK(json({"smpquery", "GI", CA})["GUIDs"].size() == 32);
    CHECK(json({"smpquery", "MEPI", CA, "1"})["LinkSpeedActive"] == 0);
    CHECK(json({"sminfo"})["SMState"] == 3);
    CHECK(json({"ibaddr", CA}) == nlohmann::json({{"schema", "comad.address/1"},
                                                  {"GID", "fe80::a001"},
                                                  {"LID", std::stoi(CA)},
                                                  {"last_LID", std::stoi(CA)}}));
    const auto table = json({"ibroute", LID});
    CHECK(table["entries"].size() == 5);
    CHECK(table["description"] == "first switch");
    CHECK(table["entries"][0]["nodeType"] == "Switch");
    CHECK(json({"ibroute", "-M", LID})["entries"].empty());
    const auto way = json({"ibtracert", CA, s.lid_at(far_ca_route)});
    CHECK(way["hops"].size() == 3);
    CHECK(way["hops"][2]["portGUID"] == "0000:0000:0000:c002");
    CHECK(way["hops"][1]["nodeType"] == "Switch");
    CHECK(way["hops"][1]["description"] == "second switch");
    CHECK(json({"smpdump", CA, "0x11"})["status"] == 0);
    CHECK(json({"smpdump", "-p", CA, "0x11"})["decoded"] == json({"smpquery", "NI", CA}));
    const process_result unknown =
        run({"smpdump", "-p", "1", "0xff77", "--json", "--fabric", "sim:fattree2,radix=4,sm=1"});
    CHECK_FALSE(json_from(unknown).contains("decoded"));
    CHECK_THAT(s.ours({"smpdump", "--decode", CA, "0x11"}).out, Contains("nodeGUID") && Contains("SMPNodeInfo"));
}

TEST_CASE("queries report errors with a one-line message") {
    const subnet s;
    const std::string CA = s.lid_at(ca_route);
    const words quick{"-t", "50ms", "--retries", "0"};
    check_failure(s.ours(words{"smpquery", "ni", "0x3fff"} + quick), 1,
                  "ibtool: LID 16383 did not reply to NodeInfo (1 attempt, ");
    check_failure(s.ours(words{"smpquery", "pi", CA, "9"}), 1,
                  "port 9 is out of range: the node has 2 ports: LID " + CA + " refused PortInfo");
    check_failure(s.ours(words{"smpquery", "-D", "ni", "0,1,1"} + quick), 1, "route 0,1,1 did not reply to NodeInfo (");
    check_failure(s.ours({"ibaddr", "fe80::dead"}), 1, "cannot resolve fe80::dead");
    check_failure(s.ours({"smpquery", "si", CA}), 1, "SwitchInfo");
    check_failure(s.ours({"smpquery", "pkeys", CA, "9"}), 1, "has no port 9; its highest port is 2");
    check_failure(s.ours({"smpquery", "PIE", CA, "1"}), 1, "does not support PortInfoExtended");
    check_failure(s.ours({"ibroute", CA}), 1, "is a Channel Adapter, not a switch");
    check_failure(s.ours(words{"ibtracert", CA, "0x3fff"} + quick), 1, "did not reply");
    check_failure(s.ours(words{"vendstat", "-N", CA} + quick), 1, "MlxGeneralInfo");
    check_failure(run(words{"smpquery", "ni", "7", "--fabric", "sim:single,sm=1"} + quick), 1, "did not reply");
    check_failure(run({"smpquery", "ni", "7", "--fabric", "sim:single"}), 1, "the local port has no LID");
    check_failure(run({"smpquery", "ni", "fe80::7", "--fabric", "sim:single"}), 1,
                  "no subnet manager has configured it");
    check_failure(run({"smpquery", "ni", "0,1", "--sa", "--fabric", "sim:single"}), 1,
                  "no subnet manager has configured it");
    check_failure(run({"sminfo", "--fabric", "sim:single"}), 1, "no subnet manager has configured it");

    struct {
        words arguments;
        std::string what;
    } const lines[] = {
        {{"smpquery"}, "operation"},
        {{"smpquery", "ni"}, "no target given"},
        {{"smpquery", "frobnicate", "1"}, "unknown operation 'frobnicate'; the nearest are "},
        {{"smpquery", "ni", "1", "1", "2"}, "unexpected argument '2': NodeInfo takes at most a target and a port"},
        {{"smpquery", "ni", "1", "here"}, "the port must be a number up to 255, not 'here'"},
        {{"smpquery", "pi", "1", "256"}, "the port must be a number up to 255, not '256'"},
        {{"smpquery", "ni", "1..2"}, "invalid target '1..2'"},
        {{"smpquery", "ni", "0xc000"}, "0xc000"},
        {{"smpquery", "-D", "ni", "0,300"}, "300"},
        {{"smpquery", "-G", "ni", "0,1"}, "is not a GUID"},
        {{"smpquery", "-L", "ni", "0,1"}, "is not a LID"},
        {{"smpquery", "-D", "ni", "fe80::1"}, "is not a directed route"},
        {{"smpquery", "-D", "-G", "ni", "1"}, "exclude each other"},
        {{"smpquery", "ni", "IBPath(SL=1)"}, "neither a DLID nor a DGID"},
        {{"smpquery", "ni", "fe80::1%mlx5_0/1"}, "'mlx5_0/1'"},
        {{"smpquery", "ni", "1", "--frobnicate"}, "--frobnicate"},
        {{"sminfo", "1", "2"}, "sminfo only reads"},
        {{"ibaddr", "1", "2", "3"}, "3"},
        {{"ibroute"}, "target"},
        {{"ibroute", "1", "x"}, "the first LID must be a number up to 49151, not 'x'"},
        {{"ibroute", "-M", "1", "0x10000"}, "the first LID must be a number up to 65534, not '0x10000'"},
        {{"ibtracert"}, "no destination given"},
        {{"ibtracert", "1", "--ports-file", "pairs"}, "excludes targets on the command line"},
        {{"set_sminfo", "1", "frobnicate"}, "unknown transition 'frobnicate'; expected "},
        {{"set_sminfo", "1", "disable", "-p", "16"}, "the priority must be a number up to 15, not '16'"},
        {{"smpdump", "1"}, "attribute"},
        {{"smpdump", "1", "0x10000"}, "the attribute must be a number up to 65535, not '0x10000'"},
        {{"vendstat", "1"}, "-N"},
    };
    for (const auto& line : lines) {
        CAPTURE(line.arguments);
        check_failure(run(line.arguments + words{"--fabric", "sim:single"}), 2, line.what);
    }
}

TEST_CASE("smpquery -d prints each MAD, -dd its words and -v counts, and errors have details") {
    const words local{"smpquery", "-D", "ni", "0", "--fabric", "sim:single"};
    CHECK(run(local).err.empty());
    const words shown = lines_in_order(run(local + words{"-d"}).err);
    REQUIRE(shown.size() == 2);
    CHECK_THAT(shown[0], StartsWith("D: Using end port "));
    CHECK_THAT(run({"ibaddr", "-g", "--fabric", "sim:single"}).out,
               Catch::Equals("GID " + shown[0].substr(shown[0].rfind(' ') + 1) + " \n"));
    CHECK(shown[1] ==
          "D: RPC MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPNodeInfo(17) completed to 'DR Path (0)' len 256.");
    const std::string words_of = run(local + words{"-dd"}).err;
    for (const std::string& line : lines_of(words_of)) CHECK_THAT(line, StartsWith("D: "));
    CHECK_THAT(words_of, Contains("nodeGUID"));
    CHECK_THAT(run(local + words{"-v"}).err, StartsWith("1 MADs sent, 0 retries, 0 timeouts"));

    const words nowhere{"smpquery", "ni", "7", "--fabric", "sim:single,sm=1,time=virtual"};
    CHECK(run(nowhere + words{"-t", "400", "--retries", "2"}).err ==
          "ibtool: LID 7 did not reply to NodeInfo (3 attempts, 1.2 s)\n");
    CHECK_THAT(run(nowhere + words{"-v"}).err,
               Contains("\nibtool: RPC MAD_METHOD_GET(1) SMPFormat(1.1) SMPNodeInfo(17) timed "
                        "out to 'Path 0 -> 7 SL=0 PKey=0xffff DQPN=1'\n"));
    CHECK_THAT(run(nowhere + words{"-d"}).err, Contains("ibtool: +MAD path was IBPath(DLID=7)\n"));
    CHECK_THAT(run(nowhere + words{"-dd"}).err, Contains("Request"));
}

TEST_CASE("a key file has one key per port, -y applies to other ports, and only the owner may read the file") {
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"};
    const auto GUID = nlohmann::json::parse(run(words{"smpquery", "--json", "ni", "2"} + fabric).out)["portGUID"];
    const directory files;
    const std::string keys = files.write("keys", GUID.get<std::string>() + " M_Key 0x1122334455667788\n"
                                                                           "default CC_Key 0x99\n");
    namespace fs = std::filesystem;
    fs::permissions(keys, fs::perms::owner_read);
    const std::string capture = files / "keys.pcap";
    const auto sent = [&](const words& command) {
        run(command + words{"--key-file", keys, "--retries", "0", "--pcap", capture, "--pcap-keys"} + fabric);
        return run({"decode", "--dump", capture}).out;
    };
    // Words 24 and 28 of an SMP (IBA 14.2.1.1) and of a MAD of congestion control (A10.4.2).
    const auto check_key = [&](const words& command, const std::string& high, const std::string& low) {
        const std::string words_of = sent(command);
        CHECK_THAT(words_of, Contains(" 24 " + high + ' '));
        CHECK_THAT(words_of, Contains(" 28 " + low + ' '));
    };
    check_key({"smpquery", "ni", "2"}, "11223344", "55667788");
    check_key({"smpquery", "ni", "0,1", "-y", "0x77"}, "00000000", "00000077");
    check_key({"smpquery", "ni", "IBPath(DLID=2, MKey=0x55)"}, "00000000", "00000055");
    check_key({"query", "CongestionControlGet", "CongestionInfo", "2"}, "00000000", "00000099");

    fs::permissions(keys, fs::perms::group_read, fs::perm_options::add);
    check_failure(run(words{"smpquery", "ni", "2", "--key-file", keys} + fabric), 1,
                  "other users have access to it (mode 0440)");
}

TEST_CASE("the multicast table contains the ports that joined the group") {
    using namespace comad;
    const subnet s;
    transports::ibsim_transport a(s.at("A")), b(s.at("B"));
    const std::pair<transports::ibsim_transport*, iba::guid> members[] = {{&a, iba::guid{0xa001}},
                                                                          {&b, iba::guid{0xb001}}};
    for (const auto& [port, GUID] : members) {
        coro::blocking_transactor umad(*port);
        iba::smp::PortInfo info;
        iba::decode(info, port->port_info().data());
        umad.schedule().set_sa_path(sa::sa_path_of(info));
        using iba::sa::MCMemberRecord;
        // The IPv4 broadcast group of the default partition, which OpenSM creates without a request (RFC 4391, 4).
        auto join =
            iba::query<MCMemberRecord>{}.where<&MCMemberRecord::MGID>(*iba::parse_gid("ff12:401b:ffff::ffff:ffff"));
        join.where<&MCMemberRecord::portGID>(iba::gid(info.GIDPrefix, GUID));
        join.where<&MCMemberRecord::joinState>(comad::u8{1});
        const auto joined = umad.SubnAdmSet(join);
        INFO((joined ? "" : to_string(joined.error())));
        REQUIRE(joined);
    }
    const std::string first = s.lid_at(switch_route);
    // OpenSM replies first and then programs the switches.
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    nlohmann::json ports;
    while (ports.size() < 2) {
        REQUIRE(std::chrono::steady_clock::now() < deadline);
        const auto entries = json_from(s.ours({"ibroute", "-M", first, "--json"}))["entries"];
        if (!entries.empty()) ports = entries[0]["ports"];
    }
    CHECK(ports == nlohmann::json({1, 2}));
    for (const std::string& LID : {first, s.lid_at(far_switch_route)}) {
        compare(s, {"ibroute", "-M", LID});
        compare(s, {"ibroute", "-M", "-n", LID});
    }
}

TEST_CASE("smpquery prints forwarding tables as ibroute does, and accepts prefixes of operations") {
    const subnet s(two_switches);
    const auto table = nlohmann::json::parse(s.ours({"smpquery", "LFT", "0,5", "--json"}).out);
    const process_result routes = s.peer({"ibroute", "-D", "0,5", "-n", "-a"});
    std::vector<unsigned> ports;
    const std::regex row("0x([0-9a-f]{4}) ([0-9]{3})");
    for (const std::string& line : lines_in_order(routes.out))
        if (std::smatch m; std::regex_search(line, m, row)) ports.push_back(static_cast<unsigned>(std::stoul(m[2])));
    REQUIRE(ports.size() == 8); // LID 0 and the LIDs of seven nodes
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

} // namespace ibtool_queries_test
