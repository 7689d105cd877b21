// SPDX-License-Identifier: MIT
// ibswportwatch_groups_test.cpp - counters of any attribute that changed, were cleared or saturated, checked by hand.
#include "support/catch.hpp"
#include "text/ibswportwatch_groups.hpp"
#include <comad/iba/detail/codec.hpp>

#include <nlohmann/json.hpp>

namespace group_changes_test {

using namespace comad;
using namespace ibtool;

namespace {

/// Returns PortVLXmitWaitCounters with values for VL 0 and VL 3.
std::vector<u8> waited(u16 first, u16 fourth) {
    iba::pm::PortVLXmitWaitCounters c;
    c.portVLXmitWait[0] = first;
    c.portVLXmitWait[3] = fourth;
    c.portSelect = 7;
    c.counterSelect = 0xffff;
    const auto bytes = iba::encode(c);
    return {bytes.begin(), bytes.end()};
}

} // namespace

TEST_CASE("changed counters of a group are printed with a remark if they were cleared or saturated") {
    const auto between = [](std::vector<u8> a, std::vector<u8> b) {
        return changes_of(group_of<iba::pm::PortVLXmitWaitCounters>, {}, a, b);
    };
    CHECK(between(waited(5, 6), waited(5, 6)).empty());
    CHECK(format_changes(between(waited(5, 6), waited(5, 106)), 4) ==
          "PortVLXmitWait[3]:...............106 (+25.0/s)\n");
    CHECK(format_changes(between(waited(5, 6), waited(1, 6)), 2) ==
          "PortVLXmitWait[0]:...............1 (+0.5/s or more: it was cleared)\n");
    CHECK(format_changes(between(waited(5, 6), waited(0, 6)), 2) ==
          "PortVLXmitWait[0]:...............0 (+0.0/s or more: it was cleared)\n");
    CHECK(format_changes(between(waited(0xfffe, 6), waited(0xffff, 6)), 1) ==
          "PortVLXmitWait[0]:...............65535 (+1.0/s or more: it is saturated)\n");

    const auto state_of = [&](const std::vector<u8>& now) {
        return changes_json(between(waited(5, 6), now), 2)["portVLXmitWait[0]"]["state"];
    };
    CHECK(state_of(waited(7, 6)) == "counted");
    CHECK(state_of(waited(1, 6)) == "reset");
    CHECK(state_of(waited(0xffff, 6)) == "saturated");

    group_change_totals totals;
    totals.add(between(waited(5, 6), waited(7, 6)), 1);
    totals.add(between(waited(7, 6), waited(1, 16)), 1);
    CHECK(totals.text() == "PortVLXmitWait[0]:...............+3 (1.5/s or more)\n"
                           "PortVLXmitWait[3]:...............+10 (5.0/s)\n");
    CHECK(totals.json()["portVLXmitWait[0]"] ==
          nlohmann::ordered_json({{"value", 3}, {"per_second", 1.5}, {"exact", false}}));
}

TEST_CASE("counters that a PMA does not support are never reported as changed") {
    iba::pm::PortCounters c;
    const auto before = iba::encode(c);
    c.portXmitWait = 9;
    c.symbolErrorCounter = 1;
    const auto after = iba::encode(c);
    iba::ClassPortInfo info;
    CHECK(changes_of(group_of<iba::pm::PortCounters>, info, before, after).size() == 1);
    info.capabilityMask = 0x1000; // IBA 16.1.3.1: PortCountersXmitWaitSupported
    CHECK(changes_of(group_of<iba::pm::PortCounters>, info, before, after).size() == 2);
}

} // namespace group_changes_test
