// SPDX-License-Identifier: MIT
// data_counters_test.cpp - ibdatacounts, ibdatacounters, ibclearcounters and ibclearerrors on an ibsim subnet, compared
// with infiniband-diags' perfquery before and after.
#include "program/ibtool_subnet.hpp"

#include <fmt/format.h>

#include <map>
#include <sstream>

namespace ibtool_data_counters_test {

using namespace ibtool_rig;
using nlohmann::json;

namespace {

/// A subnet whose counters infiniband-diags' perfquery can print.
struct reported_subnet : counted_subnet {
    /// Returns a counter of a port as infiniband-diags' perfquery prints it.
    std::uint64_t value_of(const words& how, const std::string& label) const {
        const std::string text = peer(words{"perfquery"} + how).out;
        CAPTURE(text, label);
        const std::size_t at = text.find("\n" + label + ":");
        REQUIRE(at != text.npos);
        return std::stoull(text.substr(text.find_first_not_of('.', at + label.size() + 2)));
    }
};

/// Returns the heading and the data and packet lines from the output of perfquery.
std::string data_lines(const std::string& text) {
    std::string kept;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        for (const char* label : {"# Port ", "PortXmitData:", "PortRcvData:", "PortXmitPkts:", "PortRcvPkts:"})
            if (line.starts_with(label)) kept += line + '\n';
    return kept;
}

// 4 leaves and 2 spines with 4 ports each, and 8 hosts.
const std::string tree = "sim:fattree2,radix=4,sm=1,time=virtual,counters=9";

} // namespace

TEST_CASE("ibdatacounts prints the data and packet counters that perfquery prints for the port") {
    reported_subnet s;
    for (std::uint64_t n = 5'000'000'000;
         const char* field : {"PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts"})
        s.set("\"S1\"[3]", std::string("PortCountersExtended.") + field, n++);
    const std::string here = s.lid_at("0");
    const auto compare = [&](const words& ours, const words& theirs) {
        CAPTURE(ours);
        const process_result r = s.ours(words{"ibdatacounts"} + ours);
        check_success(r);
        const std::string expected = data_lines(s.peer(words{"perfquery", "-x"} + theirs).out);
        CHECK(std::count(expected.begin(), expected.end(), '\n') == 5);
        CHECK(r.out == expected);
    };
    compare({here, "3"}, {here, "3"});
    compare({here, "4"}, {here, "4"});
    compare({"-L", here, "255"}, {"-a", here});
    compare({here}, {"-a", here}); // for a switch: all its ports
    compare({"0,", "3"}, {here, "3"});
    const json object = json::parse(s.ours({"ibdatacounts", here, "3", "--json"}).out);
    CHECK(object == json::parse(fmt::format(R"({{"LID": {}, "port": 3, "attribute": "PortCountersExtended", "counters":
          {{"portXmitData": 5000000000, "portRcvData": 5000000001, "portXmitPkts": 5000000002,
            "portRcvPkts": 5000000003}}}})",
                                            here)));

    // For a CA, ibdatacounts reads the port that the target leads to. The other port has no cable, and ibsim refuses
    // queries for it.
    const std::string A = s.lid_at("0,1");
    CHECK_THAT(s.ours({"ibdatacounts", A}).out, StartsWith("# Port extended counters: Lid " + A + " port 1 "));
    check_failure(s.ours({"ibdatacounts", A, "2"}), 1, "(status 0x1c)");
    const process_result both = s.ours({"ibdatacounts", A, "255"});
    CHECK(both.status == 3);
    CHECK_THAT(both.out, StartsWith("# Port extended counters: Lid " + A + " port 255 "));
    CHECK_THAT(both.err, StartsWith("ibtool: port 2: ") && Contains("(status 0x1c)"));
    check_failure(s.ours({"ibdatacounts", here, "x"}), 2, "the port must be a number up to 255, not 'x'");
    check_failure(s.ours({"ibdatacounts", here, "256"}), 2, "must be a number up to 255");
    check_failure(s.ours({"ibdatacounts", "0x3fff", "-t", "50ms", "--retries", "0"}), 1, "did not reply");
}

TEST_CASE("ibdatacounters prints each node once, and the sum of all ports for a switch") {
    const process_result r = run({"ibdatacounters", "--json", "--fabric", tree});
    check_success(r);
    const auto all = objects_of(r.out);
    REQUIRE(all.size() == 6 + 8 + 1);
    CHECK(all.back() == json::parse(R"({"nodes": 14, "bad_nodes": 0, "ports": 32})"));
    const auto by_port = objects_of(run({"ibdatacounters", "--json", "--ports", "--fabric", tree}).out);
    REQUIRE(by_port.size() == 6 * 4 + 8 + 1);
    // The counts before the test are much larger than the counts that the queries add.
    std::map<std::string, double> sums;
    for (const json& o : by_port)
        if (o.contains("LID")) sums[o["nodeGUID"]] += o["counters"]["portXmitData"].get<double>();
    int switches = 0;
    for (const json& o : all) {
        if (!o.contains("LID")) continue;
        CAPTURE(o);
        const bool is_switch = o["nodeType"] == "Switch";
        switches += is_switch;
        CHECK(o["port"] == (is_switch ? 255 : 1));
        CHECK(o["attribute"] == "PortCountersExtended");
        CHECK(o["counters"].size() == 4);
        REQUIRE(sums[o["nodeGUID"]] > 1e6);
        CHECK(o["counters"]["portXmitData"].get<double>() == Approx(sums[o["nodeGUID"]]).epsilon(1e-3));
    }
    CHECK(switches == 6);
}

TEST_CASE("ibdatacounters prints node names and counts nodes and ports") {
    const words shown =
        lines_in_order(run({"ibdatacounters", "-v", "--fabric", "sim:single,sm=1,time=virtual,pma=basic"}).out);
    REQUIRE(shown.size() == 2 * (2 + 5) + 3);
    CHECK(shown[0].empty());
    CHECK_THAT(shown[1], StartsWith("# Checking Ca: nodeguid 0x"));
    CHECK_THAT(shown[2], StartsWith("# Port counters: Lid 1 port 1 (CapMask: "));
    CHECK_THAT(shown[3], StartsWith("PortXmitData:....................")); // the PMA has only 32-bit counters
    CHECK_THAT(shown[9], StartsWith("# Port counters: Lid 2 port 1 (CapMask: "));
    CHECK(shown[14].empty());
    CHECK(shown[15] == "## Summary: 2 nodes checked, 0 bad nodes found");
    CHECK(shown[16] == "##          2 ports checked");
}

TEST_CASE("ibclearerrors clears the error counters and ibclearcounters clears all counters of every node") {
    reported_subnet s;
    const std::string here = s.lid_at("0"), B = s.lid_at("0,2");
    const words errors{"SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter", "PortRcvErrors",
                       "PortXmitDiscards",   "LocalLinkIntegrityErrors", "VL15Dropped"};
    const words data{"PortXmitData", "PortRcvData", "PortXmitPkts", "PortRcvPkts", "PortXmitWait"};
    for (const std::string& field : errors + data) {
        s.set("\"S1\"[3]", "PortCounters." + field, 9);
        s.set("\"S1\"[4]", "PortCounters." + field, 9);
        s.set("\"B\"[1]", "PortCounters." + field, 9);
    }
    s.set("\"S1\"[3]", "PortCountersExtended.PortXmitData", 5'000'000'000);

    const process_result before = s.ours({"ibdatacounters", "--ports"});
    check_success(before);
    CHECK_THAT(before.out, EndsWith("\n## Summary: 4 nodes checked, 0 bad nodes found\n##          6 ports checked\n"));
    const process_result r = s.ours({"ibclearerrors", "-v"});
    CHECK(r.status == 0);
    CHECK_THAT(r.out, Contains("# Cleared Switch: nodeguid 0x0000000000005000 lid " + here + " port 255\n") &&
                          Contains("# Cleared Ca: nodeguid 0x000000000000b000 lid " + B + " port 1\n") &&
                          EndsWith("\n## Summary: 4 nodes cleared 0 errors\n##          6 port counters cleared\n"));
    for (const words& port : {words{here, "3"}, words{here, "4"}, words{B, "1"}}) {
        CAPTURE(port);
        for (const std::string& label : errors) CHECK(s.value_of(port, label) == 0);
        for (const std::string& label : data) CHECK(s.value_of(port, label) >= 9);
    }
    CHECK(s.value_of({"-x", here, "3"}, "PortXmitData") == 5'000'000'000);

    // ibsim does not clear PortRcvPkts of PortCountersExtended, and every port has counted packets.
    const process_result all = s.ours({"ibclearcounters"});
    CHECK(all.status == 3);
    CHECK(all.out == "\n## Summary: 0 nodes cleared 6 errors\n##          0 port counters cleared\n");
    const words kept = lines_of(all.err);
    CHECK(kept.size() == 6);
    for (const std::string& line : kept)
        CHECK_THAT(line, Contains("]: not cleared: PortCountersExtended portRcvPkts is ") && !Contains(", port"));
    for (const char* port : {"3", "4"})
        for (const std::string& label : errors + data) {
            CAPTURE(port, label);
            CHECK(s.value_of({here, port}, label) == 0);
        }
    CHECK(s.value_of({"-x", here, "3"}, "PortXmitData") == 0);
    CHECK(s.value_of({B, "1"}, "PortXmitWait") == 0);
}

TEST_CASE("each clear sends one Set and is reported in the JSON output") {
    const directory files;
    const std::string capture = files / "clear.pcap";
    const process_result r = run({"ibclearerrors", "--json", "--pcap", capture, "--fabric", tree + ",pma=full"});
    check_success(r);
    const auto all = objects_of(r.out);
    REQUIRE(all.size() > 8u + 1);
    CHECK(all.back() == json::parse(R"({"nodes_cleared": 14, "ports_cleared": 32, "failures": 0})"));
    // All 12 error counters and QP1Dropped: bits 0 to 11 and 17. In the second mask, the bits of counterSelect2 are
    // above the 16 bits of counterSelect.
    CHECK(all[0]["cleared"] == json::parse(R"({"PortCounters": 135167, "PortCountersExtended": 805240832})"));
    std::size_t sets = 0;
    for (const json& packet : objects_of(run({"decode", "--json", capture}).out)) {
        if (!packet.contains("PMFormat")) continue;
        const json& mad = packet["PMFormat"];
        if (mad["method"] != 2) continue;
        ++sets;
        CHECK(mad["data"]["counterSelect"].get<unsigned>() == (mad["attributeID"] == 0x12 ? 0x0fffu : 0u));
    }
    CHECK(sets == 2 * (all.size() - 1));
}

TEST_CASE("ports in use are cleared one by one if a node cannot clear all its ports at once") {
    const auto all = objects_of(run({"ibclearcounters", "--json", "--fabric", tree + ",pma=basic"}).out);
    REQUIRE(all.size() == 6 * 4 + 8 + 1);
    for (std::size_t i = 0; i + 1 < all.size(); ++i)
        CHECK(all[i]["cleared"] == json::parse(R"({"PortCounters": 65535})"));
    CHECK(all.back() == json::parse(R"({"nodes_cleared": 14, "ports_cleared": 32, "failures": 0})"));
}

TEST_CASE("an unresponsive node is reported, and all other nodes are cleared and counted") {
    const std::string fabric = tree + ",dead=h-0003 HCA-1";
    for (const char* command : {"ibclearcounters", "ibdatacounters"}) {
        CAPTURE(command);
        const process_result r = run({command, "--fabric", fabric});
        CHECK(r.status == 3);
        CHECK_THAT(r.out, Contains("\n## Summary: 13 nodes "));
        CHECK_THAT(r.err, StartsWith("ibtool: ") && Contains("no reply"));
    }
}

} // namespace ibtool_data_counters_test
