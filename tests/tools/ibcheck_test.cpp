// SPDX-License-Identifier: MIT
// ibcheck_test.cpp - the ibcheck commands and ibswportwatch on simulated subnets with known faults. The expected
// counters come from another command of ibtool.
#include "program/ibtool_subnet.hpp"

#include <csignal>
#include <map>
#include <sstream>

using namespace ibtool_rig;
using nlohmann::json;

namespace {

// 4 leaves and 2 spines with 4 ports each, and 8 hosts.
const std::string tree = "sim:fattree2,radix=4,sm=1,time=virtual";

const words subnet_checks{"ibchecknet", "ibcheckstate", "ibcheckwidth", "ibcheckerrors"};

// Values that ibsim enables: w=1 is 1x and w=8 is 12x; s=1 is 2.5 Gb/s per lane and s=4 is 10. All ends support 12x and
// 10 Gb/s.
constexpr std::string_view uneven = R"(
switchguid=0x5000
Switch	4 "S1"	# "first switch" enhanced port 0 lid 0 lmc 0
[1]	"A"[1] w=1 s=4
[2]	"B"[1] w=8 s=4
[3]	"C"[1] w=8 s=1

caguid=0xa000
Hca	2 "A"	# "host A"
[1]	"S1"[1] w=1 s=4

caguid=0xb000
Hca	1 "B"	# "host B"
[1]	"S1"[2] w=8 s=4

caguid=0xc000
Hca	1 "C"	# "host C"
[1]	"S1"[3] w=8 s=1
)";

} // namespace

TEST_CASE("the ibcheck commands print only the counts for a healthy subnet") {
    const std::string head = "\n## Summary: 14 nodes checked, 0 bad nodes found\n##          32 ports checked, ";
    const auto out_of = [](const std::string& command) {
        const process_result r = run({command, "--fabric", tree});
        check_success(r);
        return r.out;
    };
    CHECK(out_of("ibchecknet") == head + "0 bad ports found\n##          0 ports have errors beyond threshold\n");
    CHECK(out_of("ibcheckstate") == head + "0 ports with bad state found\n");
    CHECK(out_of("ibcheckwidth") == head + "0 ports with less width than possible found\n");
    CHECK(out_of("ibcheckerrors") == head + "0 ports have errors beyond threshold\n");
    const auto all = objects_of(run({"ibchecknet", "--json", "--fabric", tree}).out);
    REQUIRE(all.size() == 1);
    CHECK(
        all[0] ==
        json::parse(
            R"({"schema": "comad.checks/1", "nodes": 14, "bad_nodes": 0, "ports": 32, "bad_ports": 0, "ports_with_errors": 0,
                                    "complete": true})"));
}

TEST_CASE("the option -v of the ibcheck commands also prints good results, node by node") {
    const process_result r = run({"ibchecknet", "-v", "--fabric", "sim:single,sm=1,time=virtual"});
    CHECK(r.status == 0);
    const words shown = lines_in_order(r.out);
    REQUIRE(shown.size() == 2 * 5 + 4);
    for (const std::size_t node : {0u, 1u}) {
        const std::string LID = std::to_string(node + 1);
        CHECK(shown[5 * node].empty());
        CHECK_THAT(shown[5 * node + 1], StartsWith("# Checking Ca: nodeguid 0x"));
        CHECK(shown[5 * node + 2] == "Node check lid " + LID + ": OK");
        CHECK(shown[5 * node + 3] == "Port check lid " + LID + " port 1: OK");
        CHECK_THAT(shown[5 * node + 4], StartsWith("Error check on lid " + LID + " (") && EndsWith(") port 1: OK"));
    }
    CHECK_THAT(r.err, Contains(" MADs sent, "));
    CHECK(objects_of(run({"ibchecknet", "-v", "--json", "--fabric", "sim:single,sm=1,time=virtual"}).out).size() ==
          2 * 3 + 1);
}

TEST_CASE("the ibcheck commands report every node and port of a subnet without a subnet manager") {
    const process_result r = run({"ibcheckstate", "--fabric", "sim:fattree2,radix=4,time=virtual"});
    CHECK(r.status == 1);
    CHECK(r.err.empty());
    CHECK_THAT(r.out, EndsWith("\n## Summary: 14 nodes checked, 14 bad nodes found\n"
                               "##          32 ports checked, 32 ports with bad state found\n"));
    CHECK_THAT(r.out,
               Contains("#warn: Logical link state is Initialize  lid 0 port 1\nPort check lid 0 port 1: FAILED\n"));
    CHECK_THAT(r.out, Contains("#warn: Lid is not configured lid 0\n") && Contains("\n# Switch: nodeguid 0x") &&
                          Contains("\n# Ca: nodeguid 0x"));
    const process_result brief = run({"ibcheckstate", "-b", "--fabric", "sim:fattree2,radix=4,time=virtual"});
    CHECK(brief.status == 1);
    CHECK_THAT(brief.out, !Contains("#warn") && Contains("Port check lid 0 port 1: FAILED\n"));
}

TEST_CASE("narrow and slow links are reported at both ends, for the subnet and for a single port") {
    const subnet s(uneven);
    const std::string S1 = s.lid_at("0"), A = s.lid_at("0,1"); // ibtool runs at the switch
    const process_result r = s.ours({"ibcheckwidth"});
    CHECK(r.status == 1);
    CHECK(r.err.empty());
    CHECK_THAT(r.out, Contains("#warn: Link configured as 1X, could be 12X  lid " + S1 + " port 1\nPort check lid " +
                               S1 + " port 1: FAILED\n# Checked Switch: nodeguid 0x0000000000005000 with failure\n"));
    CHECK_THAT(r.out, Contains("#warn: Link configured as 1X, could be 12X  lid " + A + " port 1\nPort check lid " + A +
                               " port 1: FAILED\n# Checked Ca: nodeguid 0x000000000000a000 with failure\n"));
    CHECK_THAT(r.out, EndsWith("##          6 ports checked, 2 ports with less width than possible found\n"));
    const auto all = objects_of(s.ours({"ibcheckwidth", "--json"}).out);
    REQUIRE(all.size() == 2 + 1);
    for (const json& o : {all[0], all[1]}) {
        CHECK(o["check"] == "port");
        CHECK(o["ok"] == false);
        CHECK(o["findings"] == json::parse(R"([{"severity": "warning", "attribute": "linkWidthActive", "is": "1X",
                                                "expected": "12X"}])"));
    }
    CHECK(s.ours({"ibcheckstate"}).status == 0);
    CHECK_THAT(s.ours({"ibchecknet"}).out,
               Contains("#warn: Link runs at 2.5 Gbps, could be 10.0 Gbps  lid " + S1 + " port 3\n") &&
                   Contains("##          6 ports checked, 4 bad ports found\n"));
    // A port without a cable is down. The commands report such a port only on request.
    const process_result down = s.ours({"ibcheckstate", "--down"});
    CHECK(down.status == 1);
    CHECK_THAT(down.out, Contains("#error: Physical link state is Polling  lid " + S1 + " port 4\n") &&
                             EndsWith("##          7 ports checked, 1 ports with bad state found\n"));

    // For a LID the SA reports the peer; for a directed route the command queries the peer.
    for (const words& target :
         {words{S1}, words{"0,"}, words{"-G", "0x5000"}, words{S1, "--sa"}, words{"0,", "--sa"}}) {
        CAPTURE(target);
        const process_result one = s.ours(words{"ibcheckportwidth"} + target + words{"1"});
        CHECK(one.status == 1);
        CHECK(one.out == "#warn: Link configured as 1X, could be 12X  lid " + S1 + " port 1\nPort check lid " + S1 +
                             " port 1: FAILED\n");
        CHECK(one.err.empty());
        check_success(s.ours(words{"ibcheckportwidth"} + target + words{"2"}));
    }
    CHECK(s.ours({"ibcheckportwidth", "0,1", "1"}).status == 1); // a CA whose peer is a hop of the route
    check_success(s.ours({"ibcheckport", "0,2", "1"}));
    check_success(s.ours({"ibcheckportwidth", S1, "3"}));
    const process_result slow = s.ours({"ibcheckport", S1, "3", "--json"});
    CHECK(slow.status == 1);
    CHECK(json::parse(slow.out)["findings"] ==
          json::parse(R"([{"severity": "warning", "attribute": "linkSpeedActive", "is": "2.5 Gbps",
                           "expected": "10.0 Gbps"}])"));
    check_success(s.ours({"ibcheckportstate", S1, "1"}));
    check_success(s.ours({"ibcheckport", S1, "0"}));
    const process_result good = s.ours({"ibcheckport", "-v", S1, "2"});
    CHECK(good.status == 0);
    CHECK(good.out == "Port check lid " + S1 + " port 2: OK\n");
    const process_result off = s.ours({"ibcheckport", S1, "4"});
    CHECK(off.status == 1);
    CHECK(off.out ==
          "#error: Physical link state is Polling  lid " + S1 + " port 4\nPort check lid " + S1 + " port 4: FAILED\n");
    const process_result other = s.ours({"ibcheckport", A, "2"});
    CHECK(other.status == 1);
    CHECK_THAT(other.out, Contains("#error: localPortNum is 1, expected 2  lid " + A + " port 2\n"));
    check_failure(s.ours({"ibcheckport", S1, "9"}), 1, "has no port 9");
    check_failure(s.ours({"ibcheckport", A, "0"}), 1, "has no port 0");
    check_failure(s.ours({"ibcheckport", S1}), 2, "port is required");
    check_success(s.ours({"ibchecknode", A}));
}

TEST_CASE("the ibcheck commands report a LID that leads to another node and a contradicting SA record") {
    const directory files;
    // Hosts B and C have the same LID.
    const std::string file = files.write("twice.topo", R"(
switchguid=0x5000(5000)
Switch	4 "S-0000000000005000"	# "the switch" enhanced port 0 lid 1 lmc 0
[1]	"H-000000000000a000"[1](a001)	# "host A" lid 2 4xEDR
[2]	"H-000000000000b000"[1](b001)	# "host B" lid 3 4xEDR
[3]	"H-000000000000c000"[1](c001)	# "host C" lid 3 4xEDR

caguid=0xa000
Ca	1 "H-000000000000a000"	# "host A"
[1](a001)	"S-0000000000005000"[1]	# lid 2 lmc 0 "the switch" lid 1 4xEDR

caguid=0xb000
Ca	1 "H-000000000000b000"	# "host B"
[1](b001)	"S-0000000000005000"[2]	# lid 3 lmc 0 "the switch" lid 1 4xEDR

caguid=0xc000
Ca	1 "H-000000000000c000"	# "host C"
[1](c001)	"S-0000000000005000"[3]	# lid 3 lmc 0 "the switch" lid 1 4xEDR
)");
    const process_result r = run({"ibcheckstate", "--fabric", "sim:" + file + ",time=virtual"});
    CHECK(r.status == 1);
    CHECK_THAT(r.out, Contains(", expected 0000:0000:0000:") && Contains("Node check lid 3: FAILED\n") &&
                          Contains("\n## Summary: 4 nodes checked, 1 bad nodes found\n"));
}

TEST_CASE("ibcheckerrors reports each counter above its threshold at its port") {
    const words fabric{"--fabric", tree + ",counters=9"};
    // The test computes the expected findings from the counters that sweep prints.
    const std::map<std::string, unsigned long long> limits{{"symbolErrorCounter", 10},
                                                           {"linkErrorRecoveryCounter", 10},
                                                           {"linkDownedCounter", 10},
                                                           {"portRcvErrors", 10},
                                                           {"portRcvRemotePhysicalErrors", 100},
                                                           {"portRcvSwitchRelayErrors", 100},
                                                           {"portXmitDiscards", 100},
                                                           {"portXmitConstraintErrors", 100},
                                                           {"portRcvConstraintErrors", 100},
                                                           {"localLinkIntegrityErrors", 10},
                                                           {"excessiveBufferOverrunErrors", 10},
                                                           {"VL15Dropped", 100}};
    std::size_t bad = 0;
    std::string bad_lid, bad_port;
    words expected;
    for (const json& port : objects_of(run(words{"sweep", "--json"} + fabric).out)) {
        if (!port.contains("counters")) continue;
        bool is_bad = false;
        for (const auto& [name, limit] : limits) {
            const auto value = port["counters"][name].get<unsigned long long>();
            if (value <= limit) continue;
            is_bad = true;
            std::string label = name;
            label[0] = static_cast<char>(std::toupper(label[0]));
            expected.push_back("#warn: counter " + label + " = " + std::to_string(value) + " \t(threshold " +
                               std::to_string(limit) + ") lid " + std::to_string(port["LID"].get<int>()) + " port " +
                               std::to_string(port["port"].get<int>()));
        }
        bad += is_bad;
        if (is_bad) {
            bad_lid = std::to_string(port["LID"].get<int>());
            bad_port = std::to_string(port["port"].get<int>());
        }
    }
    REQUIRE(bad > 0);
    REQUIRE(bad < 32);
    REQUIRE_FALSE(bad_lid.empty());
    const process_result r = run(words{"ibcheckerrors"} + fabric);
    CHECK(r.status == 1);
    CHECK_THAT(r.out, EndsWith("\n## Summary: 14 nodes checked, 0 bad nodes found\n##          32 ports checked, " +
                               std::to_string(bad) + " ports have errors beyond threshold\n"));
    words warned = lines_of(r.out);
    std::erase_if(warned, [](const std::string& line) { return !line.starts_with("#warn"); });
    std::sort(expected.begin(), expected.end());
    CHECK(warned == expected);

    // The lines for one node and for one port are equal to the lines for the subnet.
    const process_result one = run(words{"ibcheckerrs", bad_lid, bad_port} + fabric);
    CHECK(one.status == 1);
    CHECK_THAT(one.out, EndsWith(") port " + bad_port + ": FAILED\n"));
    for (const std::string& line : lines_of(one.out))
        if (line.starts_with("#warn")) CHECK(std::find(expected.begin(), expected.end(), line) != expected.end());
    const process_result node = run(words{"ibcheckerrs", bad_lid} + fabric);
    CHECK(node.status == 1);
    CHECK_THAT(node.out, Contains(one.out) && !Contains("port all"));
    CHECK_THAT(run(words{"ibcheckerrs", "-b", bad_lid, bad_port} + fabric).out,
               !Contains("#warn") && Contains("FAILED"));

    // With higher thresholds, no counter exceeds its threshold.
    const directory files;
    std::string all_allowed;
    for (const auto& [name, limit] : limits) all_allowed += name + "=0\n";
    const words allowed{"-T", files.write("thresholds", all_allowed)};
    CHECK(run(words{"ibcheckerrors"} + allowed + fabric).status == 0);
    const process_result good = run(words{"ibcheckerrs", "-v", bad_lid} + allowed + fabric);
    CHECK(good.status == 0);
    CHECK_THAT(good.out, StartsWith("Error check on lid " + bad_lid + " (") && EndsWith("OK\n"));
    check_failure(run(words{"ibcheckerrs", "1", "-T", files.write("bad", "X=1\n")} + fabric), 1,
                  "unknown error counter 'X'");
    const process_result shown = run({"ibcheckerrs", "-s", "-T", files.write("more", "VL15Dropped=7 # so few\n")});
    check_success(shown);
    CHECK_THAT(shown.out, StartsWith("SymbolErrorCounter=10\n") && EndsWith("VL15Dropped=7\n"));
    CHECK(run({"ibcheckerrors", "-s"}).out == run({"ibchecknet", "-s"}).out);
}

TEST_CASE("ibchecknode checks that a node replies and is the node that the SA reports") {
    const words fabric{"--fabric", tree};
    const process_result good = run(words{"ibchecknode", "-v", "3"} + fabric);
    CHECK(good.status == 0);
    CHECK(good.out == "Node check lid 3: OK\n");
    check_success(run(words{"ibchecknode", "0,1"} + fabric));
    const process_result no_node = run(words{"ibchecknode", "200"} + fabric);
    CHECK(no_node.status == 1);
    CHECK(no_node.out == "#error: no reply  lid 200\nNode check lid 200: FAILED\n");
    CHECK(objects_of(run(words{"ibchecknode", "--json", "3"} + fabric).out).at(0) ==
          json::parse(R"({"check": "node", "nodeGUID": "0002:c903:0000:0300", "LID": 3, "ok": true, "findings": []})"));
}

TEST_CASE("an ibcheck command reports an unresponsive node, checks all other nodes and exits with 3") {
    for (const std::string& command : subnet_checks) {
        CAPTURE(command);
        const process_result r = run({command, "--fabric", tree + ",dead=h-0003 HCA-1"});
        CHECK(r.status == 3);
        CHECK_THAT(r.out,
                   Contains("\n## Summary: 13 nodes checked, 0 bad nodes found\n##          31 ports checked, 0 "));
        CHECK_THAT(r.err, StartsWith("ibtool: ") && Contains("leaf-0002") && Contains("no reply"));
    }
}

TEST_CASE("ibcheckerrs reads ports one by one if the node reports no total or the total exceeds a threshold") {
    const auto checked = [](const std::string& capabilities) {
        const process_result r = run({"ibcheckerrs", "-v", "13", "--fabric", tree + ",pma=" + capabilities});
        CHECK(r.status == 0);
        return lines_in_order(r.out);
    };
    const words each = checked("basic");
    REQUIRE(each.size() == 4);
    CHECK_THAT(each[0], StartsWith("Error check on lid 13 (spine-0001") && EndsWith(") port 1: OK"));
    CHECK_THAT(each[3], EndsWith(") port 4: OK"));
    const words sum = checked("all");
    REQUIRE(sum.size() == 1);
    CHECK_THAT(sum[0], EndsWith(") port all: OK"));
}
