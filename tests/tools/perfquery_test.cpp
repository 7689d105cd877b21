// SPDX-License-Identifier: MIT
// perfquery_test.cpp - perfquery compared with infiniband-diags on an ibsim subnet with constant counters; sums,
// clears, JSON output and refused arguments.
#include "program/ibtool_subnet.hpp"

#include <fmt/format.h>

#include <map>
#include <sstream>

namespace ibtool_perfquery_test {

using namespace ibtool_rig;

namespace {

const words PortCounters_fields{"SymbolErrorCounter",
                                "LinkErrorRecoveryCounter",
                                "LinkDownedCounter",
                                "PortRcvErrors",
                                "PortRcvRemotePhysicalErrors",
                                "PortRcvSwitchRelayErrors",
                                "PortXmitDiscards",
                                "PortXmitConstraintErrors",
                                "PortRcvConstraintErrors",
                                "LocalLinkIntegrityErrors",
                                "ExcessiveBufferOverrunErrors",
                                "PortXmitData",
                                "PortRcvData",
                                "PortXmitPkts",
                                "PortRcvPkts",
                                "PortXmitWait"};

/// A subnet in which the test sets all counters of PortCounters.
struct settable_subnet : counted_subnet {
    /// Sets the counters of PortCounters to 1, 2, 3 and so on. 4-bit counters get at most 11.
    void set_PortCounters(const std::string& port) {
        for (std::size_t i = 0; i < PortCounters_fields.size(); ++i)
            set(port, "PortCounters." + PortCounters_fields[i], i + 1);
    }
};

/// Returns the only JSON object of a command that must succeed.
nlohmann::json json_of(const process_result& r) {
    check_success(r);
    CAPTURE(r.out);
    CHECK(std::count(r.out.begin(), r.out.end(), '\n') == 1);
    return nlohmann::json::parse(r.out);
}

/// Returns the line of a label; empty if it is missing.
std::string line_of(const std::string& text, const std::string& label) {
    const std::size_t begin = text.find(label + ":");
    return begin == text.npos ? std::string() : text.substr(begin, text.find('\n', begin) - begin);
}

} // namespace

TEST_CASE("perfquery prints what infiniband-diags' perfquery prints") {
    settable_subnet s;
    s.set_PortCounters("\"S1\"[3]");
    s.set("\"S1\"[4]", "PortCounters.SymbolErrorCounter", 65535);
    s.set("\"S1\"[4]", "PortCounters.LocalLinkIntegrityErrors", 15);
    s.set("\"S1\"[4]", "PortCounters.PortXmitWait", 4'000'000'000);
    s.set("\"S1\"[4]", "PortCounters.PortXmitData", 4'294'967'295);
    const char* wide[] = {"PortXmitData",        "PortRcvData",        "PortXmitPkts",         "PortRcvPkts",
                          "PortUnicastXmitPkts", "PortUnicastRcvPkts", "PortMultiCastXmitPkts"};
    for (std::uint64_t n = 5'000'000'000; const char* field : wide)
        s.set("\"S1\"[3]", std::string("PortCountersExtended.") + field, n++);
    for (unsigned n = 1; const char* field : {"PortInactiveDiscards", "PortNeighborMTUDiscards",
                                              "PortSwLifetimeLimitDiscards", "PortSwHOQLifetimeLimitDiscards"})
        s.set("\"S1\"[3]", std::string("PortXmitDiscardDetails.") + field, n++);
    for (unsigned n = 11;
         const char* field : {"PortLocalPhysicalErrors", "PortMalformedPacketErrors", "PortBufferOverrunErrors",
                              "PortDLIDMappingErrors", "PortVLMappingErrors", "PortLoopingErrors"})
        s.set("\"S1\"[3]", std::string("PortRcvErrorDetails.") + field, n++);
    s.set("\"S1\"[3]", "PortOpRcvCounters.PortOpRcvPkts", 3'000'000'000);
    s.set("\"S1\"[3]", "PortOpRcvCounters.PortOpRcvData", 2);
    s.set("\"S1\"[3]", "PortFlowCtlCounters.PortXmitFlowPkts", 3);
    s.set("\"S1\"[3]", "PortFlowCtlCounters.PortRcvFlowPkts", 4);

    const std::string here = s.lid_at("0");
    compare(s, {"perfquery"});
    compare(s, {"perfquery", here});
    compare(s, {"perfquery", "-x"});
    const words details{"-D",
                        "-E",
                        "--xmtdisc",
                        "--rcverr",
                        "--oprcvcounters",
                        "--flowctlcounters",
                        "--vloppackets",
                        "--vlopdata",
                        "--vlxmitflowctlerrors",
                        "--vlxmitcounters"};
    for (const std::string& group : words{"-L", "-x", "--extended"} + details) {
        compare(s, {"perfquery", group, here, "3"});
        compare(s, {"perfquery", group, here, "255"});
        compare(s, {"perfquery", "-a", group, here});
    }
    for (const char* group : {"-L", "-x"}) {
        for (const char* ports : {"1-6", "3,4", "4,3", "0x3", "6"}) {
            compare(s, {"perfquery", group, here, ports});
            compare(s, {"perfquery", group, "-l", here, ports});
            compare(s, {"perfquery", group, "--all_ports", here, ports});
            // infiniband-diags ignores the ports in this case and reads all ports.
            CHECK(s.ours({"perfquery", group, "-a", "-l", here, ports}).out ==
                  s.ours({"perfquery", group, "-l", here, ports}).out);
        }
        compare(s, {"perfquery", group, "-a", "--loop_ports", here}); // starts at port 0, which is enhanced
        compare(s, {"perfquery", group, "-l", here, "255"});
    }
    // For another attribute, infiniband-diags uses only the first port.
    const std::string third = s.ours({"perfquery", "-E", here, "3"}).out;
    const std::string fourth = s.ours({"perfquery", "-E", here, "4"}).out;
    CHECK(s.ours({"perfquery", "-E", here, "3-4"}).out == third + fourth);
    const auto sum = json_of(s.ours({"perfquery", "-E", "-a", here, "3,4,3", "--json"}));
    CHECK(sum["counters"]["portLocalPhysicalErrors"] == 22);
    CHECK(sum["counters"]["portLoopingErrors"] == 32);

    // A CA whose PMA has no AllPortSelect, and a switch with base port 0.
    const std::string LID = s.lid_at("0,2");
    for (const words& command : {words{"-a"}, words{"-x", "-a"}, words{"-a", "-l"}}) {
        const process_result theirs = s.peer(words{"perfquery"} + command + words{LID}, {"SIM_HOST=B"});
        REQUIRE(theirs.status == 0);
        const process_result r = run(words{"perfquery"} + command + words{LID, "--fabric", s.fabric() + ",B"});
        check_success(r);
        CHECK(r.out == theirs.out);
    }
    const std::string there = s.lid_at("0,5");
    const process_result theirs = s.peer({"perfquery", "-a", "-l", there}, {"SIM_HOST=S2"});
    CHECK_THAT(theirs.out, StartsWith("# Port counters: Lid " + there + " port 1 "));
    for (const words& how : {words{"-a", "-l"}, words{"-l"}}) // infiniband-diags ignores -l without -a here
        CHECK(run(words{"perfquery"} + how + words{there, "--fabric", s.fabric() + ",S2"}).out == theirs.out);
}

TEST_CASE("perfquery accepts the counter names of python-rdma") {
    const words place{"13", "4", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,counters=3"};
    const std::pair<const char*, const char*> names[] = {{"-F", "--flowctlcounters"},
                                                         {"--vl-xmit-errs", "--vlxmitflowctlerrors"},
                                                         {"--vl-xmit-wait", "--vlxmitcounters"},
                                                         {"--vl-congestion", "--swportvlcong"}};
    for (const auto& [theirs, ours] : names) {
        CAPTURE(theirs);
        const process_result r = run(words{"perfquery", theirs} + place);
        check_success(r);
        CHECK(r.out == run(words{"perfquery", ours} + place).out);
    }
}

TEST_CASE("perfquery prints equal results for a GUID, a directed route and target options") {
    const subnet s;
    compare(s, {"perfquery", "-G", "0x6000", "2"});
    compare(s, {"perfquery", "-L", s.lid_at("0,17"), "2"});
    const std::string expected = s.ours({"perfquery", "-G", "0x6000", "2"}).out;
    for (const char* target : {"0,17", "fe80::6000", "0000:0000:0000:6000"})
        CHECK(s.ours({"perfquery", target, "2"}).out == expected);
}

TEST_CASE("perfquery reads QP1Dropped at its own offset, unlike infiniband-diags 44") {
    settable_subnet s;
    s.set("\"S1\"[3]", "PortCounters.VL15Dropped", 7);
    const words command{"perfquery", s.lid_at("0"), "3"};
    std::string theirs = s.peer(command).out;
    const std::string wrong = "QP1Dropped:......................7";
    REQUIRE(line_of(theirs, "QP1Dropped") == wrong);
    theirs.replace(theirs.find(wrong), wrong.size(), "QP1Dropped:......................0");
    CHECK(s.ours(command).out == theirs);
}

TEST_CASE("perfquery without a port argument reads the port that the target leads to") {
    const subnet s(quiet_topology, manager::leaves);
    const auto head = [](const std::string& text) { return text.substr(0, text.find(" (")); };
    CHECK(head(s.ours({"perfquery", s.lid_at("0,5")}).out) == "# Port counters: Lid " + s.lid_at("0,5") + " port 0");
    CHECK(head(s.ours({"perfquery", s.lid_at("0,1")}).out) == "# Port counters: Lid " + s.lid_at("0,1") + " port 1");
    CHECK(head(run({"perfquery", "--fabric", s.fabric() + ",B"}).out) ==
          "# Port counters: Lid " + s.lid_at("0,2") + " port 1");
    // infiniband-diags ignores -a in this case.
    CHECK(head(s.ours({"perfquery", "-a"}).out) == "# Port counters: Lid " + s.lid_at("0") + " port 255");
}

TEST_CASE("perfquery clears only the requested counters") {
    settable_subnet s;
    const std::string here = s.lid_at("0"), capture = s.files() / "reset.pcap";
    const auto read = [&](const words& how) { return json_of(s.ours(words{"perfquery", "--json"} + how)); };
    // Returns the first Set in the capture, because a Get before it may be retried if ibsim is slow.
    const auto sent = [&] {
        std::istringstream lines(run({"decode", "--json", capture}).out);
        for (std::string line; std::getline(lines, line);) {
            nlohmann::json mad = nlohmann::json::parse(line)["PMFormat"];
            if (mad["method"] == 2) return mad;
        }
        FAIL("no Set was sent");
        return nlohmann::json();
    };
    s.set_PortCounters("\"S1\"[3]");
    s.set_PortCounters("\"S1\"[4]");

    // Only the first and the fourth counter of port 3.
    const process_result quiet = s.ours({"perfquery", "-R", here, "3", "0x9", "--pcap", capture});
    check_success(quiet);
    CHECK(quiet.out.empty());
    const auto set = sent();
    CHECK(set["data"]["portSelect"] == 3);
    CHECK(set["data"]["counterSelect"] == 9);
    CHECK(set["data"]["counterSelect2"] == 0);
    const auto left = read({here, "3"})["counters"];
    CHECK(left["symbolErrorCounter"] == 0);
    CHECK(left["linkErrorRecoveryCounter"] == 2);
    CHECK(left["linkDownedCounter"] == 3);
    CHECK(left["portRcvErrors"] == 0);
    CHECK(left["portXmitWait"] == 16);
    CHECK(read({here, "4"})["counters"]["symbolErrorCounter"] == 1);

    // Clears all counters of PortCounters after reading them. The mask has the device's counters without QP1Dropped.
    const auto before = read({"-r", here, "3-4", "-a"});
    CHECK(before["summed"] == nlohmann::json({3, 4}));
    CHECK(before["counters"]["linkDownedCounter"] == 6);
    CHECK(before["reset"] == 0x1ffff);
    for (const char* port : {"3", "4"}) {
        const nlohmann::json reported = read({here, port});
        for (const auto& [name, value] : reported["counters"].items()) {
            CAPTURE(port, name);
            CHECK(value == 0);
        }
    }

    // After a clear both programs leave equal counters.
    s.set_PortCounters("\"S1\"[3]");
    const process_result theirs = s.peer({"perfquery", "-r", here, "3"});
    s.set_PortCounters("\"S1\"[3]");
    CHECK(s.ours({"perfquery", "-r", here, "3"}).out == theirs.out);
    compare(s, {"perfquery", here, "3"});

    // ibtool also applies a mask to 64-bit counters. infiniband-diags would clear the error counters as well.
    check_success(s.ours({"perfquery", "-x", "-R", here, "3", "0x3", "--pcap", capture}));
    CHECK(sent()["data"]["counterSelect"] == 3);
    CHECK(sent()["data"]["counterSelect2"] == 0);
    check_success(s.ours({"perfquery", "-x", "-R", here, "3", "--pcap", capture}));
    CHECK(sent()["data"]["counterSelect"] == 0xff);
    CHECK(sent()["data"]["counterSelect2"] == 0); // ibsim's PMA does not have these counters
    CHECK(json_of(s.ours({"perfquery", "-E", "-R", here, "3", "--json"})) ==
          nlohmann::json(
              {{"attribute", "PortRcvErrorDetails"}, {"LID", std::stoi(here)}, {"port", 3}, {"reset", 0xffff}}));
}

TEST_CASE("perfquery omits unresponsive ports from the result and exits with 3") {
    const subnet s(quiet_topology, manager::leaves);
    const std::string A = s.lid_at("0,1"); // port 2 of A has no cable, and ibsim refuses queries for it
    for (const words& how : {words{"-a"}, words{"-l", "-a"}, words{"1,2"}}) {
        CAPTURE(how);
        const process_result r = s.ours(words{"perfquery", A} + how);
        CHECK(r.status == 3);
        CHECK_THAT(r.out, StartsWith("# Port counters: Lid " + A + " port ") && !Contains(" port 2 "));
        CHECK_THAT(r.err, StartsWith("ibtool: PortCounters port 2: ") && Contains("(status 0x1c)"));
        CHECK(std::count(r.err.begin(), r.err.end(), '\n') == 1);
    }
    CHECK(s.ours({"perfquery", A, "-a", "--json"}).out.find("\"summed\":[1]") != std::string::npos);
    // One of several requested counter groups does not exist.
    const words quick{"-t", "50ms", "--retries", "0"};
    const process_result r = s.ours(words{"perfquery", "-E", "-X", A} + quick);
    CHECK(r.status == 3);
    CHECK_THAT(r.out, StartsWith("# PortRcvErrorDetails counters: Lid " + A + " port 1\n"));
    CHECK_THAT(r.err, StartsWith("ibtool: PortXmitDataSL: ") && Contains("timed out"));

    check_failure(s.ours({"perfquery", s.lid_at("0,5"), "5"}), 1, "(status 0x1c)");
    check_failure(s.ours({"perfquery", "-R", s.lid_at("0,5"), "5"}), 1, "(status 0x1c)");
    check_failure(s.ours({"perfquery", A, "9"}), 1,
                  "port 9 is out of range: the node has 2 ports: LID " + A + " refused");
    check_failure(s.ours(words{"perfquery", "-X", A} + quick), 1, "did not reply to PortXmitDataSL (");
    check_failure(s.ours(words{"perfquery", "0x3fff"} + quick), 1, "LID 16383 did not reply to ClassPortInfo (");
    check_failure(s.ours({"perfquery", "-R", A, "1", "0x1000000"}), 1,
                  "the reset mask 0x1000000 selects counters that ");
}

namespace {

/// Returns the largest value of a counter of PortCounters.
std::uint64_t highest(const std::string& name) {
    static const std::map<std::string, unsigned> bits{{"linkErrorRecoveryCounter", 8},
                                                      {"linkDownedCounter", 8},
                                                      {"portXmitConstraintErrors", 8},
                                                      {"portRcvConstraintErrors", 8},
                                                      {"counterSelect2", 8},
                                                      {"localLinkIntegrityErrors", 4},
                                                      {"excessiveBufferOverrunErrors", 4},
                                                      {"portXmitData", 32},
                                                      {"portRcvData", 32},
                                                      {"portXmitPkts", 32},
                                                      {"portRcvPkts", 32},
                                                      {"portXmitWait", 32}};
    const auto known = bits.find(name);
    return (std::uint64_t{1} << (known == bits.end() ? 16 : known->second)) - 1;
}

} // namespace

TEST_CASE("perfquery's sum equals the sum of the single ports") {
    // The ports of this spine have counted packets. In virtual time both commands send equal MADs and read equal
    // counters.
    const words to_spine{"13", "1-4", "--json", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,counters=3"};
    for (const char* group : {"-L", "-x"}) {
        std::map<std::string, std::uint64_t> by_hand;
        std::istringstream lines(run(words{"perfquery", group, "-l"} + to_spine).out);
        int ports = 0;
        for (std::string line; std::getline(lines, line); ++ports) {
            const auto reported = nlohmann::json::parse(line);
            CHECK(reported["port"] == ports + 1);
            for (const auto& [name, value] : reported["counters"].items()) by_hand[name] += value.get<std::uint64_t>();
        }
        REQUIRE(ports == 4);
        CHECK(by_hand["portXmitData"] > 0);
        const bool is_narrow = group == std::string("-L");
        const auto sum = json_of(run(words{"perfquery", group, "-a"} + to_spine));
        CHECK(sum["port"] == 255);
        CHECK(sum["summed"] == nlohmann::json({1, 2, 3, 4}));
        for (const auto& [name, value] : sum["counters"].items()) {
            CAPTURE(group, name);
            CHECK(value == (is_narrow ? std::min(by_hand[name], highest(name)) : by_hand[name]));
        }
    }
}

TEST_CASE("perfquery reports an unresponsive node and refuses invalid arguments") {
    check_failure(run({"perfquery", "13", "1", "--fabric", "sim:fattree2,radix=4,sm=1,time=virtual,dead=spine-0001"}),
                  1, "LID 13 did not reply to ClassPortInfo (");
    struct {
        words arguments;
        std::string what;
    } const lines[] = {
        {{"1", "x"}, "the port must be a number up to 254, not 'x'"},
        {{"1", "1-"}, "the port must be a number up to 254, not ''"},
        {{"1", "3-1"}, "invalid port range '3-1'"},
        {{"1", "1,255"}, "the port must be a number up to 254, not '255'"},
        {{"1", "256"}, "the port must be a number up to 254, not '256'"},
        {{"1", "1", "1"}, "a reset mask requires -r or -R"},
        {{"-R", "1", "1", "0"}, "must be a number above 0, not '0'"},
        {{"-R", "1", "1", "all"}, "must be a number above 0, not 'all'"},
        {{"-r", "-R", "1"}, "excludes"},
        {{"-c", "-R", "1"}, "PortSamplesControl has no counters"},
        {{"0xc000"}, "0xc000"},
        {{"-G", "0,1"}, "is not a GUID"},
    };
    for (const auto& line : lines) {
        CAPTURE(line.arguments);
        check_failure(run(words{"perfquery"} + line.arguments + words{"--fabric", "sim:single"}), 2, line.what);
    }
}

} // namespace ibtool_perfquery_test
