// SPDX-License-Identifier: MIT
// difference_text_test.cpp - the differences between two constructed subnets, as text and as JSON.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include "text/difference_text.hpp"

#include <nlohmann/json.hpp>

namespace difference_text_test {

using namespace comad;
using discovery::difference;
using discovery::subnet;
using kind = difference::kind;
using subject = difference::subject;

namespace {

const subnet was = test::made_subnet(); // a switch, two ports of a host, one port of a router, two links

/// Returns the subnet without the host.
subnet smaller() {
    subnet s = was;
    s.nodes[1] = s.nodes[2];
    s.nodes.pop_back();
    s.nodes[0].ports[3].peer = {};
    s.nodes[0].ports[1].peer = {1, 1};
    return s;
}

/// Returns a difference at port 7 of GUID 0x10 with the peer port 8 of GUID 0x20.
difference one(subject of, kind what, std::string place, std::string before = {}, std::string now = {}) {
    difference d;
    d.of = of;
    d.what = what;
    d.nodeGUID = iba::guid{0x10};
    d.port = 7;
    d.peer_nodeGUID = iba::guid{0x20};
    d.peer_port = 8;
    d.place = std::move(place);
    d.was = std::move(before);
    d.is = std::move(now);
    return d;
}

} // namespace

TEST_CASE("differences are grouped by subject with the counts before and after") {
    CHECK(ibtool::format_difference(was, smaller(),
                                    {one(subject::node, kind::removed, "a"), one(subject::link, kind::removed, "b"),
                                     one(subject::link, kind::added, "c"),
                                     one(subject::LID, kind::changed, "d", "LID 7 LMC 0", "LID 8 LMC 0")}) ==
          "nodes (3 and 2): 1 difference\n"
          "  removed: a\n"
          "end ports (4 and 2): no difference\n"
          "links (2 and 1): 2 differences\n"
          "  removed: b\n"
          "  added: c\n"
          "rates: no difference\n"
          "LIDs: 1 difference\n"
          "  changed: d: 'LID 8 LMC 0', was 'LID 7 LMC 0'\n"
          "descriptions: no difference\n"
          "states: no difference\n");
}

TEST_CASE("the JSON of a difference contains the port and peer fields that the subject has") {
    const auto all = nlohmann::json::parse(ibtool::difference_json(
        was, smaller(),
        {one(subject::node, kind::removed, "a"), one(subject::description, kind::changed, "b", "old", "new"),
         one(subject::end_port, kind::added, "c"), one(subject::rate, kind::changed, "d", "4x EDR", "1x EDR")}));
    CHECK(all["reference"] == nlohmann::json{{"complete", true}, {"nodes", 3}, {"end_ports", 4}, {"links", 2}});
    CHECK(all["current"] == nlohmann::json{{"complete", true}, {"nodes", 2}, {"end_ports", 2}, {"links", 1}});
    const auto& list = all["differences"];
    REQUIRE(list.size() == 4);
    CHECK(list[0] ==
          nlohmann::json{
              {"subject", "node"}, {"kind", "removed"}, {"nodeGUID", "0000:0000:0000:0010"}, {"location", "a"}});
    CHECK(list[1] == nlohmann::json{{"subject", "description"},
                                    {"kind", "changed"},
                                    {"nodeGUID", "0000:0000:0000:0010"},
                                    {"location", "b"},
                                    {"was", "old"},
                                    {"is", "new"}});
    CHECK(list[2] == nlohmann::json{{"subject", "end port"},
                                    {"kind", "added"},
                                    {"nodeGUID", "0000:0000:0000:0010"},
                                    {"port", 7},
                                    {"location", "c"}});
    CHECK(list[3] == nlohmann::json{{"subject", "rate"},
                                    {"kind", "changed"},
                                    {"nodeGUID", "0000:0000:0000:0010"},
                                    {"port", 7},
                                    {"peer", {{"nodeGUID", "0000:0000:0000:0020"}, {"port", 8}}},
                                    {"location", "d"},
                                    {"was", "4x EDR"},
                                    {"is", "1x EDR"}});
}

} // namespace difference_text_test
