// SPDX-License-Identifier: MIT
// comparison_test.cpp - compares sweeps of two runs: fabrics, cleared counters and restarts. All numbers were calculated by hand.
#include "subnet/made_subnet.hpp"
#include "support/catch.hpp"
#include <comad/counters/detail/comparison.hpp>

#include <initializer_list>
#include <utility>

namespace comparison_test {

using namespace comad;
using namespace comad::counters;
using namespace std::chrono_literals;
using state = counter_change::state;

namespace {

using values = std::initializer_list<std::pair<counter, u64>>;

sample sample_of(values list, mad::duration at) {
    sample s{mad::time_point(at), {}};
    for (const auto& [c, number] : list) REQUIRE(s.counters.set(c, number, true));
    return s;
}

/// Two sweeps of one port, a day apart.
struct two_sweeps {
    two_sweeps(values before_list, values after_list) {
        before.ports = {{{0, 1}, true, sample_of(before_list, 0s), {}}};
        now.ports = {{{0, 1}, true, sample_of(after_list, 24h), {}}};
        history = history_of(before.ports[0].counters, now.ports[0].counters);
        prepare_comparison(now, before, about);
    }
    counter_change change(counter c) const { return change_of(c, before.ports[0].counters, now.ports[0].counters); }
    sweep before, now;
    earlier_sweep about;
    port_history history;
};

discovery::subnet nodes(std::initializer_list<u64> guids, iba::NodeType type = iba::NodeType::CA) {
    discovery::subnet s;
    for (const u64 g : guids) {
        s.by_guid.emplace(iba::guid{g}, static_cast<u32>(s.nodes.size()));
        discovery::node& n = s.nodes.emplace_back();
        n.info.nodeGUID = iba::guid{g};
        n.info.nodeType = type;
    }
    return s;
}

} // namespace

TEST_CASE("two subnets are of one fabric if they share half of the nodes of the smaller one") {
    CHECK(is_same_fabric(nodes({1, 2, 3, 4}), nodes({1, 2, 3, 4})));
    CHECK(is_same_fabric(nodes({1, 2, 3, 4, 5, 6, 7}), nodes({6, 7, 8, 9}))); // a fabric that grew
    CHECK_FALSE(is_same_fabric(nodes({1, 2, 3, 4, 5, 6, 7}), nodes({7, 8, 9})));
    CHECK_FALSE(is_same_fabric(nodes({1, 2}), nodes({1, 2}, iba::NodeType::Switch)));
    CHECK(is_same_fabric(nodes({}), nodes({1})));
}

TEST_CASE("increases over a day have the rate of a day") {
    const two_sweeps s({{counter::portXmitData, 1000}, {counter::symbolErrorCounter, 5}},
                       {{counter::portXmitData, 1000 + 86400 * 25}, {counter::symbolErrorCounter, 5}});
    CHECK(s.history == port_history::counted);
    CHECK(s.change(counter::portXmitData).what == state::counted);
    CHECK(rate_of(counter::portXmitData, s.change(counter::portXmitData), 24h) ==
          Approx(100)); // 25 words are 100 bytes
    CHECK(s.about.new_ports + s.about.cleared_ports + s.about.restarted_ports == 0);
}

TEST_CASE("after a restart, a counter that passed its earlier value again has an unknown increase") {
    const two_sweeps s({{counter::portXmitData, 9000},
                        {counter::portRcvData, 100},
                        {counter::portXmitPkts, 90},
                        {counter::symbolErrorCounter, 50}},
                       {{counter::portXmitData, 500},
                        {counter::portRcvData, 400},
                        {counter::portXmitPkts, 5},
                        {counter::symbolErrorCounter, 2}});
    CHECK(s.history == port_history::restarted);
    CHECK(s.about.restarted_ports == 1);
    CHECK(s.about.cleared_ports == 0);
    CHECK(s.change(counter::portXmitData) == counter_change{state::reset, 500});
    CHECK(s.change(counter::portRcvData).what == state::unknown);
    CHECK(s.change(counter::symbolErrorCounter) == counter_change{state::reset, 2});
}

TEST_CASE("cleared error counters leave traffic exact") {
    const two_sweeps s({{counter::portXmitData, 9000}, {counter::symbolErrorCounter, 50}, {counter::portRcvErrors, 7}},
                       {{counter::portXmitData, 9500}, {counter::symbolErrorCounter, 2}, {counter::portRcvErrors, 0}});
    CHECK(s.history == port_history::cleared);
    CHECK(s.about.cleared_ports == 1);
    CHECK(s.change(counter::portXmitData) == counter_change{state::counted, 500});
    CHECK(s.change(counter::portRcvErrors) == counter_change{state::reset, 0});
}

TEST_CASE("a single cleared counter leaves the other counters of its group exact") {
    const two_sweeps s({{counter::portXmitData, 9000}, {counter::portRcvData, 100}, {counter::portXmitPkts, 90}},
                       {{counter::portXmitData, 500}, {counter::portRcvData, 400}, {counter::portXmitPkts, 95}});
    CHECK(s.history == port_history::cleared);
    CHECK(s.change(counter::portRcvData) == counter_change{state::counted, 300});
    CHECK(s.change(counter::portXmitPkts) == counter_change{state::counted, 5});
}

TEST_CASE("a lower 64-bit counter after a year is a reset, because no counter wraps in a year") {
    const sample before = sample_of({{counter::portXmitData, 1'000'000}}, 0s);
    const sample after = sample_of({{counter::portXmitData, 400}}, 365 * 24h);
    CHECK(change_of(counter::portXmitData, before, after) == counter_change{state::reset, 400});
}

TEST_CASE("the increases of a sweep replace its counters, and ports without an earlier sample are left out") {
    two_sweeps s({{counter::symbolErrorCounter, 5}, {counter::portRcvErrors, 8}},
                 {{counter::symbolErrorCounter, 12}, {counter::portRcvErrors, 8}, {counter::linkDownedCounter, 3}});
    s.now.ports.push_back({{0, 2}, true, sample_of({{counter::symbolErrorCounter, 1}}, 24h), {}});
    s.before.ports.push_back({{0, 2}, false, {}, {}});
    const sweep grown = increases_of(s.now, s.before);
    const counter_values& first = grown.ports[0].counters.counters;
    CHECK(first[counter::symbolErrorCounter] == 7);
    CHECK(first.has(counter::portRcvErrors));
    CHECK(first[counter::portRcvErrors] == 0);
    CHECK_FALSE(first.has(counter::linkDownedCounter));
    CHECK_FALSE(grown.ports[1].valid);
}

TEST_CASE("a port is new if the earlier sweep does not contain it, but not if that sweep could not read it") {
    const discovery::subnet now = nodes({1, 2}), then = nodes({3, 2});
    sweep a, b;
    a.ports = {{{0, 1}, true, {}, {}}, {{1, 1}, true, {}, {}}, {{1, 2}, true, {}, {}}, {{1, 3}, false, {}, {}}};
    b.ports = {{{0, 1}, true, {}, {}}, {{1, 1}, true, {}, {}}, {{1, 2}, false, {}, {}}};
    CHECK(new_ports(a, now, b, then) == 1); // port 1 of node 1
}

TEST_CASE("a port is gone if it does not exist any more and the options select its node") {
    discovery::subnet now = nodes({1, 2});
    const discovery::subnet then = nodes({3, 2});
    now.nodes[1].ports.resize(4);
    now.nodes[1].ports[1].info.emplace();
    sweep before;
    before.ports = {{{0, 1}, true, {}, {}}, {{1, 1}, true, {}, {}}, {{1, 2}, true, {}, {}}, {{1, 3}, false, {}, {}}};
    CHECK(gone_ports(now, before, then) == 2); // port 1 of node 3, and port 2 of node 2
    const auto gone_of = [&](u64 GUID) {
        return gone_ports(now, before, then, [&](const discovery::node& n) { return value(n.info.nodeGUID) == GUID; });
    };
    CHECK(gone_of(1) == 0);
    CHECK(gone_of(2) == 1);
    CHECK(gone_of(3) == 1);
    now.nodes[1].ports[2].peer = {0, 1}; // the neighbor was found, although the PortInfo could not be read
    CHECK(gone_ports(now, before, then) == 1);
}

TEST_CASE("a port of a switch exists even if its PortInfo could not be read") {
    discovery::subnet now = nodes({2}, iba::NodeType::Switch);
    const discovery::subnet then = nodes({2}, iba::NodeType::Switch);
    now.nodes[0].ports.resize(3);
    sweep before;
    before.ports = {{{0, 1}, true, {}, {}}, {{0, 2}, true, {}, {}}, {{0, 3}, true, {}, {}}};
    CHECK(gone_ports(now, before, then) == 1); // port 3
}

TEST_CASE("the earlier sweep is described in one line") {
    // 1764079200 s after 1970 is 2025-11-25 14:00:00 UTC (date -u -d @1764079200).
    const earlier_sweep e{"a\nb", 3, 1764079200.25, 86400, 1, 2, 3, 4};
    CHECK(earlier_text(e) ==
          "sweep 3 of 'a\\x0ab', 2025-11-25 14:00:00 UTC, 24.0 h before: 1 port new, 2 gone, 3 cleared, "
          "4 restarted");
}

} // namespace comparison_test
