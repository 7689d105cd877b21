// SPDX-License-Identifier: MIT
// ibtool_chassis_test.cpp - chassis of all vendors that libibnetdisc recognizes, compared with infiniband-diags on
// ibsim: ibnetdiscover -g, and the external ports of iblinkinfo and ibqueryerrors.
#include "program/ibtool_subnet.hpp"
#include "program/without_date.hpp"
#include "subnet/chassis_fabric.hpp"

#include <algorithm>
#include <set>

namespace ibtool_chassis_test {

using namespace ibtool_rig;
using comad::test::chassis_fabric;

namespace {

/// A report without its head, which contains the time. The chassis are in order, and the nodes without a chassis are a
/// set.
struct grouped {
    std::vector<std::string> chassis;
    std::set<std::string> others;
};

/// Splits a report into its chassis and its other nodes.
grouped grouped_of(const std::string& text) {
    grouped all;
    bool is_chassis = true;
    std::string stanza;
    for (const std::string& line : lines_in_order(without_date(text))) {
        if (line == "Non-Chassis Nodes") is_chassis = false;
        if (line == "#") continue;
        if (is_chassis) all.chassis.push_back(line);
        else if (line.empty()) all.others.insert(std::exchange(stanza, {}));
        else stanza += line + '\n';
    }
    all.others.insert(stanza);
    return all;
}

} // namespace

TEST_CASE("ibnetdiscover -g prints chassis and external ports as infiniband-diags' ibnetdiscover does") {
    subnet s(chassis_fabric(), manager::leaves);
    const std::string cache = s.files() / "cache", map = s.files().write("names", "0x0013970202000a10 \"boss\"\n");

    for (const words& how : {words{"-g"}, {"--grouping", "-f"}}) {
        CAPTURE(how);
        const process_result theirs = s.peer(words{"ibnetdiscover"} + how), ours = s.ours(words{"ibnetdiscover"} + how);
        REQUIRE(theirs.status == 0);
        check_success(ours);
        const grouped expected = grouped_of(theirs.out), got = grouped_of(ours.out);
        // Eight chassis are Voltaire's. The others are of Mellanox, Topspin, InfiniCon and Xsigo, a host and a switch.
        CHECK(std::ranges::count_if(expected.chassis, [](const auto& l) { return l.starts_with("Chassis "); }) == 14);
        CHECK(expected.others.size() > 20);
        CHECK(got.chassis == expected.chassis);
        CHECK(got.others == expected.others);
    }
    // Without -g, ibnetdiscover prints the cards of a Xsigo chassis but not the chassis. Other reports print neither.
    for (const words& how : {words{}, {"-f"}, {"-g", "-l"}, {"-g", "-S"}, {"-g", "-H"}, {"-g", "-R"}, {"-g", "-p"}}) {
        CAPTURE(how);
        const process_result theirs = s.peer(words{"ibnetdiscover"} + how), ours = s.ours(words{"ibnetdiscover"} + how);
        REQUIRE(theirs.status == 0);
        check_success(ours);
        CHECK(grouped_of(ours.out).chassis.size() == grouped_of(theirs.out).chassis.size());
        CHECK(lines_of(without_date(ours.out)) == lines_of(without_date(theirs.out)));
    }
    for (const words& command : {words{"iblinkinfo"}, {"iblinkinfo", "-l"}}) {
        CAPTURE(command);
        const process_result theirs = s.peer(command), ours = s.ours(command);
        REQUIRE(theirs.status == 0);
        check_success(ours);
        CHECK_THAT(theirs.out, Contains("[18]") && Contains("[ 1]"));
        CHECK(lines_of(ours.out) == lines_of(theirs.out));
    }
    // The report of a cache equals the report of the subnet.
    check_success(s.ours({"ibnetdiscover", "--cache", cache}));
    const auto live = grouped_of(s.ours({"ibnetdiscover", "-g"}).out),
               kept = grouped_of(run({"ibnetdiscover", "-g", "--load-cache", cache}).out);
    CHECK(kept.chassis == live.chassis);
    CHECK(kept.others == live.others);
    // The host name of a Xsigo's management server comes from the name map.
    CHECK_THAT(s.ours({"ibnetdiscover", "-g", "--node-name-map", map}).out, Contains("Hostname: boss\n"));
}

TEST_CASE("ibqueryerrors prints external ports as infiniband-diags' ibqueryerrors does") {
    using namespace comad::test;
    described_fabric f;
    f.add_ca("start", 1, 0x1000);
    add_voltaire(f, "ISR2012", voltaire_wirings.at("ISR2012"), 0x0008f10000000000);
    f.link("start", 1, "ISR2012-line-1.2", 24);
    counted_subnet s(f.text());
    s.set("\"ISR2012-line-1.2\"[24]", "PortCounters.SymbolErrorCounter", 77);
    s.set("\"ISR2012-line-3.1\"[20]", "PortCounters.SymbolErrorCounter", 78);
    s.set("\"ISR2012-line-3.1\"[1]", "PortCounters.SymbolErrorCounter", 79);
    const words command{"ibqueryerrors", "--skip-sl", "-r"};
    const process_result theirs = s.peer(command), ours = s.ours(command);
    CAPTURE(theirs.out);
    CHECK_THAT(theirs.out, Contains("  24[12] ==(") && Contains("  20[20] ==(") && Contains("   1[  ] ==("));
    CHECK(lines_of(ours.out) == lines_of(theirs.out));
}

TEST_CASE("the option --hierarchy requires --json and queries only nodes that support hierarchy information") {
    const words fabric{"--fabric", "sim:fattree2,radix=4,sm=1,time=virtual"};
    // If no node supports hierarchy information, ibtool sends no further SMP.
    CHECK(run(words{"ibnetdiscover", "--json", "--hierarchy"} + fabric).out ==
          run(words{"ibnetdiscover", "--json"} + fabric).out);
    check_failure(run(words{"ibnetdiscover", "--hierarchy"} + fabric), 2, "--hierarchy");
    check_failure(run(words{"ibnetdiscover", "--json", "--hierarchy", "--sa"} + fabric), 2,
                  "--sa is not supported with --hierarchy");
}

} // namespace ibtool_chassis_test
