// SPDX-License-Identifier: MIT
// ibcheckroutes_text_test.cpp - findings about the routes, LIDs, groups and credit loops of a constructed subnet, as
// text and as JSON.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include "text/ibcheckroutes_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace route_text_test {

using namespace comad;
using namespace comad::discovery;
using ibtool::findings_of;
using ibtool::lid_ranges;

namespace {

const subnet made = test::made_subnet();
const std::string sw = name_of(made.nodes[0]), host = name_of(made.nodes[1]), router = name_of(made.nodes[2]);

/// Returns the finding about a route fault.
ibtool::route_finding finding_of(route_fault f) {
    route_check check;
    check.faults.push_back(std::move(f));
    const auto all = findings_of(made, {}, check);
    REQUIRE(all.size() == 1);
    return all[0];
}

/// Returns the text of a loop with this number of ports.
std::string circle_of(std::size_t length) {
    std::string text = finding_of({route_fault::kind::loop, {0, 3}, std::vector(length, port_ref{0, 3}), {9}, 1}).text;
    return text.substr(text.find("circulate: ") + 11);
}

} // namespace

TEST_CASE("consecutive LIDs print as a range, and LIDs after eight ranges are only counted") {
    CHECK(lid_ranges({}).empty());
    CHECK(lid_ranges({5}) == "5");
    CHECK(lid_ranges({5, 6}) == "5-6");
    CHECK(lid_ranges({5, 6, 7, 9, 11, 12}) == "5-7, 9, 11-12");
    CHECK(lid_ranges({1, 3, 5, 7, 9, 11, 13, 15, 16}) == "1, 3, 5, 7, 9, 11, 13, 15-16");
    CHECK(lid_ranges({1, 3, 5, 7, 9, 11, 13, 15, 17, 18, 20}) == "1, 3, 5, 7, 9, 11, 13, 15 and 3 more");
}

TEST_CASE("a route fault names its location, the unreachable LIDs and the number of routes") {
    using enum route_fault::kind;
    const auto text = [](const route_fault& f) { return finding_of(f).text; };
    CHECK(text({no_entry, {0, 0}, {}, {7}, 1}) == sw + ": no output port for LID 7: 1 route broken");
    CHECK(text({no_link, {0, 4}, {}, {7, 8}, 2}) ==
          sw + "[4]: no link, but it is the output port for LIDs 7-8: 2 routes broken");
    CHECK(text({wrong_end, {0, 0}, {}, {7}, 3}) ==
          sw + ": keeps packets for LID 7, which it does not have: 3 routes broken");
    CHECK(text({wrong_end, {0, 3}, {}, {7}, 1}) ==
          sw + "[3]: leads to " + host + "[2], which does not have LID 7: 1 route broken");
    CHECK(text({loop, {0, 3}, {{0, 3}, {2, 1}}, {7}, 1}) ==
          fmt::format("loop: packets for LID 7 circulate: {0}[3] -> {1}[1] -> {0}[3]: 1 route broken", sw, router));
    CHECK(text({others, {}, {}, {7, 9}, 4}) == "more faults, not listed individually: LIDs 7, 9: 4 routes broken");

    const auto json = nlohmann::json::parse(finding_of({loop, {0, 3}, {{0, 3}, {2, 1}}, {7}, 5}).json);
    CHECK(json["finding"] == "loop");
    CHECK(json["LIDs"] == nlohmann::json::array({7}));
    CHECK(json["cut"] == 5);
    CHECK(json["location"]["port"] == 3);
    REQUIRE(json["circle"].size() == 2);
    CHECK(json["circle"][1]["description"] == "made router");
}

TEST_CASE("a loop of more than twelve ports prints only its first ports") {
    const auto ports = [](std::size_t count) {
        std::string all;
        for (std::size_t i = 0; i < count; ++i) all += sw + "[3] -> ";
        return all;
    };
    CHECK(circle_of(12) == ports(12) + sw + "[3]: 1 route broken");
    CHECK(circle_of(14) == ports(12) + "2 more -> " + sw + "[3]: 1 route broken");
}

TEST_CASE("duplicate LIDs are reported, and switches or cabled ports without a LID are reported") {
    lid_index lids;
    lids.add({0, 0}, iba::lid{}, 0);
    lids.add({1, 1}, iba::lid{}, 0); // a port without a cable
    lids.add({1, 2}, iba::lid{5}, 0);
    lids.add({2, 1}, iba::lid{4}, 1);
    const auto with_double = findings_of(made, lids);
    REQUIRE(with_double.size() == 2);
    CHECK(with_double[0].text == fmt::format("LID 5: assigned to both {}[2] and {}[1]", host, router));
    CHECK(with_double[1].text == sw + ": no LID");
    const auto json = nlohmann::json::parse(with_double[0].json);
    CHECK(json["finding"] == "duplicate_LID");
    CHECK(json["LID"] == 5);
    CHECK(json["locations"].size() == 2);

    lid_index none;
    none.add({2, 1}, iba::lid{}, 0);
    REQUIRE(findings_of(made, none).size() == 1);
    CHECK(findings_of(made, none)[0].text == router + "[1]: no LID");
    CHECK(nlohmann::json::parse(findings_of(made, none)[0].json)["finding"] == "no_LID");
}

TEST_CASE("problems of a multicast group are reported by kind") {
    using enum group_fault::kind;
    group_check check;
    check.faults = {{loop, 0xc001, {0, 3}},
                    {apart, 0xc002, {1, 1}, {0, 0}},
                    {dropped, 0xc003, {0, 1}},
                    {apart, 0xc002, {1, 1}, {0, 0}, false, true},
                    {apart, 0xc002, {1, 1}, {0, 0}, true, false}};
    const auto all = findings_of(made, check);
    REQUIRE(all.size() == 5);
    CHECK(all[3].text == "multicast LID 0xc002: " + host + "[1]: packets from " + sw + " do not reach it");
    CHECK(all[4].text == "multicast LID 0xc002: " + host + "[1]: its packets do not reach " + sw);
    const auto apart_json = nlohmann::json::parse(all[3].json);
    CHECK(apart_json["is_reached"] == false);
    CHECK(apart_json["reaches"] == true);
    CHECK(apart_json["from"]["port"] == 0);
    CHECK(all[0].text == "multicast LID 0xc001: " + sw + "[3]: closes a loop of links");
    CHECK(all[1].text == "multicast LID 0xc002: " + host + "[1]: is cut off from " + sw);
    CHECK(all[2].text == "multicast LID 0xc003: " + sw + "[1]: leads to a switch that drops the packets");
    for (std::size_t i = 0; const char* word : {"multicast_loop", "multicast_apart", "multicast_dropped"}) {
        const auto json = nlohmann::json::parse(all[i].json);
        CHECK(json["finding"] == word);
        CHECK(json["MLID"] == 0xc001 + i);
        ++i;
    }
}

TEST_CASE("the VL of a credit loop is reported if there is more than one VL") {
    credit_check check;
    check.loops = {{3, {{{0, 3}, 1}, {{2, 1}, 0}}}};
    const std::string circle = fmt::format("{0}[3] -> {1}[1] -> {0}[3]", sw, router);
    CHECK(findings_of(made, check).at(0).text == "credit loop among 3 channels: " + circle);
    check.VLs = 2;
    const auto found = findings_of(made, check).at(0);
    CHECK(found.text == "credit loop among 3 channels of VL 1: " + circle);
    const auto json = nlohmann::json::parse(found.json);
    CHECK(json["lanes"] == 3);
    REQUIRE(json["circle"].size() == 2);
    CHECK(json["circle"][0]["VL"] == 1);
    CHECK(json["circle"][1]["VL"] == 0);
    CHECK(json["circle"][1]["port"] == 1);
}

} // namespace route_text_test
