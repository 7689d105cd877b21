// SPDX-License-Identifier: MIT
// counter_groups_test.cpp - the text of every counter group, compared with libibmad's text for random bytes; sums of
// counters and the counters that a clear selects, checked by hand.
#include "support/catch.hpp"
#include "text/counter_groups.hpp"
#include <comad/iba/detail/codec.hpp>

#include <infiniband/mad.h>

#include <array>
#include <random>

using namespace comad;
using namespace ibtool;
namespace pm = comad::iba::pm;
using iba::ClassPortInfo;

namespace {

using buffer = std::array<u8, 256>;

/// Returns random bytes, which a seed makes reproducible.
buffer random_bytes(unsigned seed) {
    std::mt19937 random(seed);
    buffer bytes;
    for (u8& b : bytes) b = static_cast<u8>(random());
    return bytes;
}

/// Returns a ClassPortInfo with these capability bits (IBA 16.1.3.1). Bit 9 is ExtendedWidth, bit 12 XmitWait and bit
/// 15 QP1Dropped. Bit 1 of CapabilityMask2 reports the additional counters.
ClassPortInfo with(u16 mask, u32 mask2 = 0) {
    ClassPortInfo info;
    info.capabilityMask = mask;
    info.capabilityMask2 = mask2;
    return info;
}

/// Returns our text of a counter group for these bytes and capabilities.
std::string text(const counter_group& g, const buffer& bytes, const ClassPortInfo& info) {
    return g.text(std::span(bytes).first(g.info.bytes), info);
}

/// Returns a text without the line of a label, which must exist.
std::string without_line(std::string text, const std::string& label) {
    const std::size_t begin = text.find("\n" + label + ":") + 1;
    REQUIRE(begin > 0);
    return text.erase(begin, text.find('\n', begin) + 1 - begin);
}

using dumper = void(char*, int, void*, int);

/// Returns libibmad's text for these bytes.
std::string dumped(dumper* dump, buffer bytes) {
    std::array<char, 4096> text{};
    dump(text.data(), text.size(), bytes.data(), static_cast<int>(bytes.size()));
    return text.data();
}

/// Returns the encoded bytes of a structure.
template <class T> std::vector<u8> bytes_of(const T& value) {
    const auto bytes = iba::encode(value);
    return {bytes.begin(), bytes.end()};
}

} // namespace

TEST_CASE("every counter group prints the lines of libibmad's dump function") {
    struct {
        const counter_group& group;
        dumper* dump;
    } const all[] = {
        {group_of<pm::PortXmitDataSL>, mad_dump_perfcounters_xmt_sl},
        {group_of<pm::PortRcvDataSL>, mad_dump_perfcounters_rcv_sl},
        {group_of<pm::PortXmitDiscardDetails>, mad_dump_perfcounters_xmt_disc},
        {group_of<pm::PortRcvErrorDetails>, mad_dump_perfcounters_rcv_err},
        {group_of<pm::PortExtendedSpeedsCounters>, mad_dump_port_ext_speeds_counters},
        {group_of<pm::PortExtendedSpeedsCountersRSFEC>, mad_dump_port_ext_speeds_counters_rsfec_active},
        {group_of<pm::PortOpRcvCounters>, mad_dump_perfcounters_port_op_rcv_counters},
        {group_of<pm::PortFlowCtlCounters>, mad_dump_perfcounters_port_flow_ctl_counters},
        {group_of<pm::PortVLOpPackets>, mad_dump_perfcounters_port_vl_op_packet},
        {group_of<pm::PortVLOpData>, mad_dump_perfcounters_port_vl_op_data},
        {group_of<pm::PortVLXmitFlowCtlUpdateErrors>, mad_dump_perfcounters_port_vl_xmit_flow_ctl_update_errors},
        {group_of<pm::PortVLXmitWaitCounters>, mad_dump_perfcounters_port_vl_xmit_wait_counters},
        {group_of<pm::SwPortVLCongestion>, mad_dump_perfcounters_sw_port_vl_congestion},
        {group_of<pm::PortRcvConCtrl>, mad_dump_perfcounters_rcv_con_ctrl},
        {group_of<pm::PortSLRcvFECN>, mad_dump_perfcounters_sl_rcv_fecn},
        {group_of<pm::PortSLRcvBECN>, mad_dump_perfcounters_sl_rcv_becn},
        {group_of<pm::PortXmitConCtrl>, mad_dump_perfcounters_xmit_con_ctrl},
        {group_of<pm::PortVLXmitTimeCong>, mad_dump_perfcounters_vl_xmit_time_cong},
        {group_of<pm::PortSamplesCtl>, mad_dump_portsamples_control},
    };
    for (const auto& one : all) {
        CAPTURE(one.group.heading());
        for (unsigned seed = 0; seed < 20; ++seed) {
            const buffer bytes = random_bytes(seed);
            CHECK(text(one.group, bytes, {}) == dumped(one.dump, bytes));
        }
        CHECK(text(one.group, {}, {}) == dumped(one.dump, {}));
    }
}

TEST_CASE("PortCounters print libibmad's lines, and QP1Dropped differs from VL15Dropped") {
    const ClassPortInfo everything = with(1 << 12 | 1 << 15);
    for (unsigned seed = 0; seed < 20; ++seed) {
        const buffer bytes = random_bytes(seed);
        const std::string ours = text(group_of<pm::PortCounters>, bytes, everything);
        // libibmad 44 reads QP1Dropped at the offset of VL15Dropped. In the IBA, QP1Dropped comes first, at byte 20.
        CHECK(without_line(ours, "QP1Dropped") == without_line(dumped(mad_dump_perfcounters, bytes), "QP1Dropped"));
        CHECK_THAT(ours, Catch::Contains("\nQP1Dropped:......................" +
                                         std::to_string(bytes[20] << 8 | bytes[21]) + "\nVL15Dropped:"));
    }
}

TEST_CASE("counters that a PMA does not support are not printed") {
    pm::PortCounters c;
    c.portXmitWait = 5;
    c.QP1Dropped = 6;
    c.VL15Dropped = 7;
    const auto narrow = [&](u16 mask) { return group_of<pm::PortCounters>.text(bytes_of(c), with(mask)); };
    CHECK_THAT(narrow(0), Catch::Contains("\nQP1Dropped:......................0\n") &&
                              Catch::EndsWith("\nPortXmitWait:....................0\n"));
    CHECK_THAT(narrow(1 << 12), Catch::Contains("\nQP1Dropped:......................0\n") &&
                                    Catch::EndsWith("\nPortXmitWait:....................5\n"));
    CHECK_THAT(narrow(1 << 15), Catch::Contains("\nQP1Dropped:......................6\n") &&
                                    Catch::EndsWith("\nPortXmitWait:....................0\n"));

    const buffer bytes = random_bytes(1);
    const std::string all = dumped(mad_dump_perfcounters_ext, bytes);
    CHECK(text(group_of<pm::PortCountersExt>, bytes, with(1 << 9, 2)) == all);
    const std::size_t unicast = all.find("PortUnicastXmitPkts:"), errors = all.find("CounterSelect2:");
    CHECK(text(group_of<pm::PortCountersExt>, bytes, with(1 << 9)) == all.substr(0, errors));
    CHECK(text(group_of<pm::PortCountersExt>, bytes, with(1 << 10)) == all.substr(0, unicast));
    CHECK(text(group_of<pm::PortCountersExt>, bytes, with(1 << 10, 2)) == all.substr(0, unicast) + all.substr(errors));

    using names = std::vector<std::string_view>;
    CHECK(missing_counters(group_of<pm::PortCounters>, with(0)) == names{"portXmitWait", "QP1Dropped"});
    CHECK(missing_counters(group_of<pm::PortCounters>, with(1 << 12 | 1 << 15)).empty());
    CHECK(missing_counters(group_of<pm::PortCountersExt>, with(1 << 9 | 1 << 12 | 1 << 15, 2)).empty());
    CHECK(missing_counters(group_of<pm::PortCountersExt>, with(1 << 10 | 1 << 12 | 1 << 15, 2)).size() == 4);
    CHECK(missing_counters(group_of<pm::PortCountersExt>, with(1 << 9, 2)) == names{"portXmitWait", "QP1Dropped"});
    const names errors_too = missing_counters(group_of<pm::PortCountersExt>, with(1 << 9));
    REQUIRE(errors_too.size() == 14);
    CHECK(errors_too.front() == "symbolErrorCounter");
    CHECK(errors_too.back() == "QP1Dropped");
    CHECK(missing_counters(group_of<pm::PortRcvErrorDetails>, with(0)).empty());
}

TEST_CASE("sums of counters saturate at the largest value of each counter") {
    pm::PortCounters a, b;
    a.portSelect = 255;
    b.portSelect = 3;
    b.counterSelect = 0xffff;
    a.symbolErrorCounter = 0xfff0;
    b.symbolErrorCounter = 0x0f;
    a.portRcvErrors = 0xfff0;
    b.portRcvErrors = 0x10;
    a.linkDownedCounter = 200;
    b.linkDownedCounter = 100;
    a.localLinkIntegrityErrors = 9;
    b.localLinkIntegrityErrors = 9;
    a.excessiveBufferOverrunErrors = 7;
    b.excessiveBufferOverrunErrors = 7;
    a.portXmitData = 3'000'000'000;
    b.portXmitData = 3'000'000'000;
    a.portRcvPkts = 1;
    b.portRcvPkts = 2;
    std::vector<u8> sum = bytes_of(a);
    add_counters(group_of<pm::PortCounters>, sum, bytes_of(b));
    pm::PortCounters got;
    iba::decode(got, sum.data());
    CHECK(got.portSelect == 255);
    CHECK(got.counterSelect == 0);
    CHECK(got.symbolErrorCounter == 0xffff);
    CHECK(got.portRcvErrors == 0xffff);
    CHECK(got.linkDownedCounter == 255);
    CHECK(got.localLinkIntegrityErrors == 15);
    CHECK(got.excessiveBufferOverrunErrors == 14);
    CHECK(got.portXmitData == 0xffffffff);
    CHECK(got.portRcvPkts == 3);

    pm::PortCountersExt wide, more;
    wide.portXmitData = ~u64{0} - 1;
    more.portXmitData = 2;
    wide.QP1Dropped = more.QP1Dropped = u64{1} << 62;
    sum = bytes_of(wide);
    add_counters(group_of<pm::PortCountersExt>, sum, bytes_of(more));
    iba::decode(wide, sum.data());
    CHECK(wide.portXmitData == ~u64{0});
    CHECK(wide.QP1Dropped == u64{1} << 63);

    pm::PortVLXmitFlowCtlUpdateErrors lanes; // fields of two bits each
    lanes.portVLXmitFlowCtlUpdateErrors[0] = 1;
    lanes.portVLXmitFlowCtlUpdateErrors[15] = 3;
    sum = bytes_of(lanes);
    add_counters(group_of<pm::PortVLXmitFlowCtlUpdateErrors>, sum, bytes_of(lanes));
    iba::decode(lanes, sum.data());
    CHECK(lanes.portVLXmitFlowCtlUpdateErrors[0] == 2);
    CHECK(lanes.portVLXmitFlowCtlUpdateErrors[1] == 0);
    CHECK(lanes.portVLXmitFlowCtlUpdateErrors[15] == 3);

    pm::PortOpRcvCounters op{.opCode = 4};
    op.portOpRcvPkts = 1;
    sum = bytes_of(op);
    add_counters(group_of<pm::PortOpRcvCounters>, sum, bytes_of(op));
    iba::decode(op, sum.data());
    CHECK(op.opCode == 4);
    CHECK(op.portOpRcvPkts == 2);
}

TEST_CASE("a clear selects all supported counters, or the requested counters") {
    CHECK(all_counters(group_of<pm::PortCounters>, with(0)) == 0xffff);
    CHECK(all_counters(group_of<pm::PortCounters>, with(1 << 12)) == 0x1ffff);
    CHECK(all_counters(group_of<pm::PortCounters>, with(1 << 12 | 1 << 15)) == 0x3ffff);
    // The attribute has eight counters. Only four exist if the PMA reports no unicast and multicast counters, or no
    // capability at all.
    constexpr u16 width = 1 << 9, narrower = 1 << 10;
    CHECK(all_counters(group_of<pm::PortCountersExt>, with(width | 1 << 12 | 1 << 15)) == 0xff);
    CHECK(all_counters(group_of<pm::PortCountersExt>, with(narrower)) == 0x0f);
    CHECK(all_counters(group_of<pm::PortCountersExt>, with(0)) == 0x0f);
    // perfquery -x -R sets bits 28 and 29.
    CHECK(all_counters(group_of<pm::PortCountersExt>, with(width, 2)) == 0x0fff00ff);
    CHECK(all_counters(group_of<pm::PortCountersExt>, with(width | 1 << 12, 2)) == 0x1fff00ff);
    CHECK(all_counters(group_of<pm::PortCountersExt>, with(width | 1 << 15, 2)) == 0x2fff00ff);
    CHECK(all_counters(group_of<pm::PortCountersExt>, with(width | 1 << 12 | 1 << 15, 2)) == 0x3fff00ff);
    const counters::counter_set errors = counters::counters_that(counters::is_error);
    CHECK(selection(group_of<pm::PortCounters>, with(1 << 12 | 1 << 15), errors) == 0x20fff);
    CHECK(selection(group_of<pm::PortCountersExt>, with(width | 1 << 12 | 1 << 15, 2), errors) == 0x2fff0000);
    CHECK(selection(group_of<pm::PortCountersExt>, with(width), errors) == 0);
    CHECK(all_counters(group_of<pm::PortRcvErrorDetails>, with(0)) == 0xffff);
    CHECK(all_counters(group_of<pm::PortExtendedSpeedsCounters>, with(0)) == ~u64{0});

    pm::PortCounters narrow;
    iba::decode(narrow, clearing(group_of<pm::PortCounters>, 7, 0x30802).data());
    pm::PortCounters expected;
    expected.portSelect = 7;
    expected.counterSelect = 0x0802;
    expected.counterSelect2 = 3;
    CHECK(narrow == expected);

    pm::PortCountersExt wide;
    iba::decode(wide, clearing(group_of<pm::PortCountersExt>, 255, 0x3fff00ff).data());
    CHECK(wide.portSelect == 255);
    CHECK(wide.counterSelect == 0x00ff);
    CHECK(wide.counterSelect2 == 0x3fff);
    CHECK(wide.portXmitData == 0);

    pm::PortExtendedSpeedsCounters speeds;
    iba::decode(speeds, clearing(group_of<pm::PortExtendedSpeedsCounters>, 1, ~u64{0}).data());
    CHECK(speeds.counterSelect == ~u64{0});
    CHECK_THROWS_WITH(clearing(group_of<pm::PortCounters>, 1, 0x1000000),
                      "the reset mask 0x1000000 selects counters that PortCounters does not have");
    CHECK_NOTHROW(clearing(group_of<pm::PortCounters>, 1, 0xffffff));
    CHECK_THROWS(clearing(group_of<pm::PortXmitDataSL>, 1, 0x10000));
}
