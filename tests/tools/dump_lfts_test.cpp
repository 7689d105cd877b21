// SPDX-License-Identifier: MIT
// dump_lfts_test.cpp - the tables of a subnet that OpenSM routed. The test compares dump_lfts and dump_mfts with
// dump_fts of infiniband-diags, and the tables of the SA with the tables of the switches.
#include "program/ibtool_subnet.hpp"

#include <algorithm>
#include <fstream>
#include <map>

namespace ibtool_routes_test {

using namespace ibtool_rig;

namespace {

/// Returns the stanzas of all switches in any order. The first line of each stanza contains `first`.
words stanzas_of(const std::string& text, std::string_view first = " of switch ") {
    words all;
    for (const std::string& line : lines_in_order(text)) {
        if (line.find(first) != line.npos) all.emplace_back();
        REQUIRE_FALSE(all.empty());
        all.back() += line + '\n';
    }
    std::ranges::sort(all);
    return all;
}

/// Checks that both commands print equal stanzas in any order.
void compare_tables(const subnet& s, const words& theirs, const words& ours) {
    CAPTURE(ours);
    const process_result peer = s.peer(theirs), r = s.ours(ours);
    REQUIRE(peer.status == 0);
    REQUIRE_FALSE(peer.out.empty());
    check_success(r);
    CHECK(stanzas_of(r.out) == stanzas_of(peer.out));
}

} // namespace

TEST_CASE("dump_lfts and dump_mfts print the tables as dump_fts of infiniband-diags prints them") {
    const subnet s;
    compare_tables(s, {"dump_fts"}, {"dump_lfts"});
    compare_tables(s, {"dump_fts", "-n"}, {"dump_lfts", "-n"});
    compare_tables(s, {"dump_fts", "-a"}, {"dump_lfts", "-a", "-D"});
    compare_tables(s, {"dump_fts", "2", "4"}, {"dump_lfts", "2", "4"});
    compare_tables(s, {"dump_fts", "3"}, {"dump_lfts", "3"});
    compare_tables(s, {"dump_fts", "-M"}, {"dump_mfts"});
    compare_tables(s, {"dump_fts", "-M", "-n"}, {"dump_lfts", "-M", "-n"});
    compare_tables(s, {"dump_fts", "-M", "-a", "0xc000", "0xc021"}, {"dump_mfts", "-a", "0xc000", "0xc021"});
}

TEST_CASE("check_lft_balance counts the host LIDs at each port that leads to a switch") {
    // Two cables connect ports 17 and 20 of the first switch with ports 3 and 4 of the second. Two hosts are at the
    // first switch and one host is at the second.
    const unsigned LMC = GENERATE(0u, 1u);
    CAPTURE(LMC);
    const subnet s(topology, manager::leaves, {"-l", std::to_string(LMC)});
    const auto ports_of = [&](const std::string& name, const process_result& r) {
        std::map<unsigned, unsigned> ports;
        for (const auto& line : objects_of(r.out))
            if (line["description"] == name)
                for (const auto& p : line["ports"]) ports[p["port"]] = p["LIDs"];
        return ports;
    };
    const process_result good = s.ours({"check_lft_balance", "--json", "-v"});
    CHECK(good.status == 0);
    CHECK(objects_of(good.out).size() == 2);
    const auto first = ports_of("first switch", good), second = ports_of("second switch", good);
    REQUIRE((first.size() == 2 && second.size() == 2));
    CHECK(first.at(17) + first.at(20) == 1u << LMC);
    CHECK((second == std::map<unsigned, unsigned>{{3, 1u << LMC}, {4, 1u << LMC}}));
    CHECK(s.ours({"check_lft_balance"}).out.empty());

    // All routes use the first cable.
    const std::string LID = s.lid_at("0,17");
    for (const std::string& route : {std::string("0,1"), std::string("0,2")}) {
        const unsigned host = static_cast<unsigned>(std::stoul(s.lid_at(route)));
        for (unsigned l = host; l < host + (1u << LMC); ++l)
            check_success(s.ours(
                {"query", "SubnSet", "LinearForwardingTable", LID, "-f", "portBlock[" + std::to_string(l) + "]=3"}));
    }
    const process_result bad = s.ours({"check_lft_balance", "--json"});
    CHECK(bad.status == 1);
    CHECK((ports_of("second switch", bad) == std::map<unsigned, unsigned>{{3, 2u << LMC}, {4, 0}}));
    CHECK(ports_of("first switch", bad).empty()); // the first switch is still balanced
    CHECK_THAT(s.ours({"check_lft_balance"}).out,
               StartsWith("Unbalanced Switch Port Usage: second switch, 0x0000000000006000\n"
                          "Port 003: " +
                          std::to_string(2u << LMC) + "\nPort 004: 0\n"));
}

TEST_CASE("check_lft_balance judges dumped tables as infiniband-diags' script does, without a fabric") {
    // With two hosts at each of four leaves, no port to a switch has as few routes as a port to a host. The original
    // script fails in that case.
    const std::string described = run({"ibnetdiscover", "--fabric", "sim:fattree2,radix=4,time=virtual"}).out;
    const subnet s(described, manager::leaves);
    const std::string cache = s.files() / "cache", tables = s.files() / "tables";
    REQUIRE(s.peer({"ibnetdiscover", "--cache", cache}).status == 0);
    const auto compare = [&](const words& options) {
        CAPTURE(options);
        std::ofstream(tables) << s.peer({"dump_fts"}).out;
        const words line = words{"check_lft_balance", "-l", tables, "-i", cache} + options;
        const process_result peer = s.peer(line), r = run(line); // our command runs without a fabric
        REQUIRE(peer.status == 0);
        CHECK(stanzas_of(r.out, "Switch Port Usage") == stanzas_of(peer.out, "Switch Port Usage"));
        return r;
    };
    CHECK(compare({}).out.empty());
    const process_result good = compare({"-v"});
    CHECK(good.status == 0);
    CHECK(stanzas_of(good.out, "Switch Port Usage").size() == 6);

    // All routes from the second leaf to the hosts of the first leaf use the first spine, which already carries one of
    // these routes.
    std::map<std::string, std::string> lids;
    const auto discovered = nlohmann::json::parse(s.ours({"ibnetdiscover", "--json"}).out);
    for (const auto& n : discovered["nodes"])
        for (const auto& p : n["ports"])
            if (p.contains("LID")) lids[n["description"]] = std::to_string(p["LID"].get<unsigned>());
    for (const char* host : {"h-0001 HCA-1", "h-0002 HCA-1"})
        check_success(s.ours({"query", "SubnSet", "LinearForwardingTable", lids.at("leaf-0002"), "-f",
                              "portBlock[" + lids.at(host) + "]=3"}));
    const process_result bad = compare({});
    CHECK(bad.status == 1);
    CHECK_THAT(bad.out, StartsWith("Unbalanced Switch Port Usage: leaf-0002, "));
    compare({"-e", "-v"});
    // With dumps of all routes, ibcheckroutes needs no fabric. Its result equals the result from the tables in the
    // switches.
    const process_result of_files = run({"ibcheckroutes", "--tables", tables, "--load-cache", cache});
    // Only switches report whether they use adaptive routing, and switches of ibsim do not reply to that query.
    CHECK(of_files.out + "##          6 switches did not report whether they use adaptive routing\n" ==
          s.ours({"ibcheckroutes"}).out);
    CHECK_THAT(of_files.out, Contains("## Summary: 56 routes checked, 0 cut"));
}

TEST_CASE("dump_lfts reports a table of the SA that ibsim truncates after the first MAD") {
    const subnet s;
    for (const words& command :
         {words{"dump_lfts"}, words{"dump_lfts", "-n", "1", "3"}, words{"check_lft_balance", "--json"}}) {
        CAPTURE(command);
        const process_result by_smp = s.ours(command), by_sa = s.ours(command + words{"--sa"});
        check_success(by_smp);
        check_failure(by_sa, 1, "the RMPP transfer ended after the first segment, which is not the last one");
    }
    check_failure(s.ours({"ibcheckroutes", "--sa"}), 2, "--sa is not supported by ibcheckroutes");
}

} // namespace ibtool_routes_test
