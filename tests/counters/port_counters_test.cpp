// SPDX-License-Identifier: MIT
// port_counters_test.cpp - narrow and wide counters as one set, and the difference of two readings. All numbers were
// calculated by hand.
#include "support/catch.hpp"
#include <comad/counters/port_counters.hpp>
#include <comad/iba/detail/enums.hpp>

#include <vector>

namespace port_counters_test {

using namespace comad;
using namespace comad::counters;
using namespace std::chrono_literals;
using iba::pm::PortCounters;
using iba::pm::PortCountersExt;
using state = counter_change::state;

namespace {

constexpr capabilities none{};
constexpr capabilities all{true, true, true, true, true, true, true};

sample look(const PortCounters& values, mad::duration at = 0s) {
    sample s{mad::time_point(at), {}};
    s.counters.take(values, all);
    return s;
}
sample look(const PortCountersExt& values, mad::duration at = 0s) {
    sample s{mad::time_point(at), {}};
    s.counters.take(values, all);
    return s;
}

} // namespace

TEST_CASE("PMA capabilities are the bits of ClassPortInfo") {
    iba::ClassPortInfo info;
    CHECK(capabilities::of(info) == none);
    info.capabilityMask = 0x0100; // IBA 16.1.3.1: AllPortSelect
    CHECK(capabilities::of(info).all_ports);
    info.capabilityMask = 0x0200; // ExtendedWidth
    CHECK((capabilities::of(info).extended && capabilities::of(info).unicast && !capabilities::of(info).additional));
    info.capabilityMask = 0x0400; // ExtendedWidth without the IETF counters
    CHECK((capabilities::of(info).extended && !capabilities::of(info).unicast));
    info.capabilityMask2 = 2; // AdditionalPortCountersExtended
    CHECK(capabilities::of(info).additional);
    info.capabilityMask = 0x9000; // QP1Dropped, PortCountersXmitWait
    CHECK(
        (capabilities::of(info).xmit_wait && capabilities::of(info).qp1_dropped && !capabilities::of(info).additional));
    CHECK_FALSE(capabilities::of(info).RS_FEC);
    info.capabilityMask = 0x4000; // RSFECMode
    CHECK(capabilities::of(info).RS_FEC);
}

TEST_CASE("each counter comes from the field of its name and has the width of that field") {
    PortCounters narrow;
    narrow.symbolErrorCounter = 1;
    narrow.linkDownedCounter = 2;
    narrow.localLinkIntegrityErrors = 3;
    narrow.portXmitData = 4;
    narrow.portXmitWait = 5;
    narrow.QP1Dropped = 6;
    const counter_values n = look(narrow).counters;
    CHECK((n[counter::symbolErrorCounter] == 1 && n.width(counter::symbolErrorCounter) == 16));
    CHECK((n[counter::linkDownedCounter] == 2 && n.width(counter::linkDownedCounter) == 8));
    CHECK((n[counter::localLinkIntegrityErrors] == 3 && n.width(counter::localLinkIntegrityErrors) == 4));
    CHECK((n[counter::portXmitData] == 4 && n.width(counter::portXmitData) == 32));
    CHECK((n[counter::portXmitWait] == 5 && n.width(counter::portXmitWait) == 32));
    CHECK((n[counter::QP1Dropped] == 6 && n.width(counter::QP1Dropped) == 16));
    CHECK_FALSE(n.has(counter::portUnicastXmitPkts));
    CHECK(name_of(counter::portXmitData) == "portXmitData");
    CHECK(name_of(counter::portMulticastRcvPkts) == "portMulticastRcvPkts");
    CHECK(name_of(counter::QP1Dropped) == "QP1Dropped");

    PortCountersExt wide;
    wide.portRcvData = u64{1} << 40;
    wide.portMulticastRcvPkts = 8;
    wide.VL15Dropped = 9;
    const counter_values w = look(wide).counters;
    CHECK((w[counter::portRcvData] == u64{1} << 40 && w.width(counter::portRcvData) == 64));
    CHECK(w[counter::portMulticastRcvPkts] == 8);
    CHECK((w[counter::VL15Dropped] == 9 && w.width(counter::VL15Dropped) == 64));
}

TEST_CASE("sums of port counters saturate at the largest value of their field") {
    PortCounters a, b;
    a.symbolErrorCounter = 0xfff0;
    b.symbolErrorCounter = 0x10;
    a.localLinkIntegrityErrors = 9;
    b.localLinkIntegrityErrors = 5;
    a.portXmitData = 3'000'000'000;
    b.portXmitData = 1'000'000'000;
    counter_values sum = look(a).counters;
    sum += look(b).counters;
    CHECK(sum[counter::symbolErrorCounter] == 0xffff);
    CHECK(sum[counter::localLinkIntegrityErrors] == 14);
    CHECK(sum[counter::portXmitData] == 4'000'000'000);
    sum += look(b).counters;
    CHECK(sum[counter::portXmitData] == 0xffffffff);

    PortCountersExt c, d;
    c.portXmitData = ~u64{0} - 1;
    d.portXmitData = 1;
    c.portUnicastXmitPkts = 7;
    counter_values wide = look(c).counters;
    wide += look(d).counters;
    CHECK(wide[counter::portXmitData] == ~u64{0});
    CHECK(wide[counter::portUnicastXmitPkts] == 7);
    wide += look(a).counters; // without unicast packets
    CHECK_FALSE(wide.has(counter::portUnicastXmitPkts));
    CHECK(wide[counter::portXmitData] == ~u64{0});
}

TEST_CASE("counters that the PMA does not support are absent, whatever its reply contains") {
    counter_values c;
    PortCounters narrow;
    narrow.portXmitWait = 77;
    narrow.QP1Dropped = 78;
    c.take(narrow, none);
    CHECK(c.has(counter::portXmitData));
    CHECK_FALSE(c.has(counter::portXmitWait));
    CHECK_FALSE(c.has(counter::QP1Dropped));

    capabilities without_ietf{.extended = true};
    PortCountersExt wide;
    wide.portUnicastXmitPkts = wide.symbolErrorCounter = 5;
    counter_values d;
    d.take(wide, without_ietf);
    CHECK(d.has(counter::portXmitPkts));
    CHECK_FALSE(d.has(counter::portUnicastXmitPkts));
    CHECK_FALSE(d.has(counter::symbolErrorCounter));
    // The narrow counters replace only what the wide ones do not have.
    narrow.symbolErrorCounter = 6;
    narrow.portXmitPkts = 1;
    wide.portXmitPkts = 1000;
    d.take(wide, without_ietf);
    d.take(narrow, without_ietf);
    CHECK(d[counter::symbolErrorCounter] == 6);
    CHECK(d[counter::portXmitPkts] == 1000);
}

TEST_CASE("a counter between two samples is counting, saturated, cleared or wrapped") {
    const auto narrow_change = [](u16 before, u16 after) {
        PortCounters a, b;
        a.symbolErrorCounter = before;
        b.symbolErrorCounter = after;
        return change_of(counter::symbolErrorCounter, look(a), look(b, 1s));
    };
    CHECK(narrow_change(10, 10) == counter_change{state::counted, 0});
    CHECK(narrow_change(10, 15) == counter_change{state::counted, 5});
    CHECK(narrow_change(10, 0xfffe) == counter_change{state::counted, 0xfff4});
    CHECK(narrow_change(0xfff0, 0xffff) == counter_change{state::saturated, 15});
    CHECK(narrow_change(0xffff, 0xffff) == counter_change{state::saturated, 0});
    CHECK(narrow_change(10, 3) == counter_change{state::reset, 3});
    CHECK(narrow_change(0xffff, 0) == counter_change{state::reset, 0});

    const auto wide_change = [](u64 before, u64 after, mad::duration between) {
        PortCountersExt a, b;
        a.portXmitData = before;
        b.portXmitData = after;
        return change_of(counter::portXmitData, look(a), look(b, between));
    };
    constexpr u64 last = ~u64{0};
    CHECK(wide_change(7, 1'000'007, 1s) == counter_change{state::counted, 1'000'000});
    CHECK(wide_change(last - 9, 5, 1s) == counter_change{state::wrapped, 15});
    CHECK(wide_change(last, last, 1s) == counter_change{state::counted, 0}); // a wide counter does not saturate
    CHECK(wide_change(1'000'000, 5, 1s) == counter_change{state::reset, 5});
    // 2^42 words: no link transfers them in one second, but some might in ten.
    CHECK(wide_change(last - (u64{1} << 42), 0, 1s) == counter_change{state::reset, 0});
    CHECK(wide_change(last - (u64{1} << 42), 0, 10s) == counter_change{state::wrapped, (u64{1} << 42) + 1});
    CHECK(counter_change{state::counted, 1}.is_exact());
    CHECK(counter_change{state::wrapped, 1}.is_exact());
    for (const state s : {state::saturated, state::reset, state::unknown}) CHECK_FALSE(counter_change{s, 1}.is_exact());
}

TEST_CASE("a counter of different width, or missing in one sample, has an unknown change") {
    PortCounters narrow;
    narrow.portXmitData = 1;
    PortCountersExt wide;
    wide.portXmitData = 2;
    CHECK(change_of(counter::portXmitData, look(narrow), look(wide, 1s)).what == state::unknown);
    CHECK(change_of(counter::portUnicastXmitPkts, look(narrow), look(narrow, 1s)).what == state::unknown);
    CHECK(change_of(counter::portUnicastXmitPkts, look(wide), look(wide, 1s)).what == state::counted);
}

TEST_CASE("counter rates are per second, and data rates are in bytes") {
    CHECK(rate_of(counter::portXmitData, {state::counted, 1000}, 2s) == 2000.0);
    CHECK(rate_of(counter::portXmitPkts, {state::counted, 1000}, 500ms) == 2000.0);
    CHECK(rate_of(counter::portXmitPkts, {state::counted, 1000}, 0s) == 0.0);
}

TEST_CASE("counter_set::all contains every counter and nothing else") {
    counter_set each;
    for (unsigned c = 0; c < counters::counter_count; ++c) each.add(static_cast<counter>(c));
    CHECK(each.without(counter_set::all()).empty());
    CHECK(counter_set::all().without(each).empty());
}

TEST_CASE("clearing selects exactly the requested counters in each attribute that supports them") {
    const auto of = [](std::initializer_list<counter> which) {
        counter_set set;
        for (const counter c : which) set.add(c);
        return set;
    };
    // Bits of counterSelect and counterSelect2: IBA 16.1.3.5, 16.1.4.11.
    const clearing errors =
        clearing_of(of({counter::symbolErrorCounter, counter::VL15Dropped, counter::portXmitWait}), all, 7);
    REQUIRE((errors.narrow && errors.wide));
    PortCounters narrow;
    narrow.portSelect = 7;
    narrow.counterSelect = 0x0801;
    narrow.counterSelect2 = 1;
    CHECK(*errors.narrow == narrow);
    PortCountersExt wide;
    wide.portSelect = 7;
    wide.counterSelect2 = 0x1801;
    CHECK(*errors.wide == wide);

    const clearing data = clearing_of(of({counter::portXmitData, counter::portMulticastRcvPkts}), all, 255);
    CHECK((data.narrow->counterSelect == 0x1000 && data.narrow->counterSelect2 == 0 && data.narrow->portSelect == 255));
    CHECK((data.wide->counterSelect == 0x81 && data.wide->counterSelect2 == 0));

    // Counters that the PMA does not have are not selected. If nothing is selected, no Set is sent.
    capabilities can;
    CHECK(clearing_of(of({counter::symbolErrorCounter}), can, 1).narrow->counterSelect == 1);
    CHECK_FALSE(clearing_of(of({counter::symbolErrorCounter}), can, 1).wide);
    CHECK_FALSE(clearing_of(of({counter::portXmitWait, counter::QP1Dropped}), can, 1).narrow);
    CHECK_FALSE(clearing_of({}, all, 1).narrow);
    can.extended = true;
    CHECK_FALSE(clearing_of(of({counter::symbolErrorCounter, counter::portUnicastXmitPkts}), can, 1).wide);
    CHECK(clearing_of(of({counter::portXmitData}), can, 1).wide->counterSelect == 1);
    can.qp1_dropped = can.additional = true;
    CHECK(clearing_of(of({counter::QP1Dropped}), can, 1).narrow->counterSelect2 == 2);
    CHECK(clearing_of(of({counter::QP1Dropped}), can, 1).wide->counterSelect2 == 0x2000);
    // portXmitWait has its own bit in capabilityMask, which applies to both attributes.
    CHECK_FALSE(clearing_of(of({counter::portXmitWait}), can, 1).wide);
    CHECK_FALSE(wide_counters(can).has(counter::portXmitWait));
    can.xmit_wait = true;
    CHECK(clearing_of(of({counter::portXmitWait}), can, 1).narrow->counterSelect2 == 1);
    CHECK(clearing_of(of({counter::portXmitWait}), can, 1).wide->counterSelect2 == 0x1000);
    CHECK(wide_counters(can).has(counter::portXmitWait));
}

} // namespace port_counters_test
