// SPDX-License-Identifier: MIT
// counter_groups.cpp - libibmad's labels, which are nearly the IBA's.
#include "text/counter_groups.hpp"

#include "comad.hpp"
#include "text/dotted_lines.hpp"
#include <comad/counters/port_counters.hpp>
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/codec.hpp>
#include <comad/iba/fields.hpp>

#include <optional>
#include <stdexcept>
#include <type_traits>

namespace ibtool {

using counters::capabilities;
using counters::counter;
using counters::counter_set;
using iba::ClassPortInfo;

namespace {

// ---- text ------------------------------------------------------------------------------------------------------------

/// What nearly all begin with.
template <class T> dotted_lines lines_of(const T& c) {
    return dotted_lines()
        .number("PortSelect", c.portSelect)
        .hex("CounterSelect", c.counterSelect, sizeof c.counterSelect);
}

std::string text_of(const pm::PortCounters& c, const capabilities& can) {
    return lines_of(c)
        .number("SymbolErrorCounter", c.symbolErrorCounter)
        .number("LinkErrorRecoveryCounter", c.linkErrorRecoveryCounter)
        .number("LinkDownedCounter", c.linkDownedCounter)
        .number("PortRcvErrors", c.portRcvErrors)
        .number("PortRcvRemotePhysicalErrors", c.portRcvRemotePhysicalErrors)
        .number("PortRcvSwitchRelayErrors", c.portRcvSwitchRelayErrors)
        .number("PortXmitDiscards", c.portXmitDiscards)
        .number("PortXmitConstraintErrors", c.portXmitConstraintErrors)
        .number("PortRcvConstraintErrors", c.portRcvConstraintErrors)
        .hex("CounterSelect2", c.counterSelect2, 1)
        .number("LocalLinkIntegrityErrors", c.localLinkIntegrityErrors)
        .number("ExcessiveBufferOverrunErrors", c.excessiveBufferOverrunErrors)
        .number("QP1Dropped", can.qp1_dropped ? c.QP1Dropped : 0)
        .number("VL15Dropped", c.VL15Dropped)
        .number("PortXmitData", c.portXmitData)
        .number("PortRcvData", c.portRcvData)
        .number("PortXmitPkts", c.portXmitPkts)
        .number("PortRcvPkts", c.portRcvPkts)
        .number("PortXmitWait", can.xmit_wait ? c.portXmitWait : 0)
        .take();
}

std::string text_of(const pm::PortCountersExt& c, const capabilities& can) {
    dotted_lines l = lines_of(c);
    l.number("PortXmitData", c.portXmitData)
        .number("PortRcvData", c.portRcvData)
        .number("PortXmitPkts", c.portXmitPkts)
        .number("PortRcvPkts", c.portRcvPkts);
    if (can.unicast) {
        l.number("PortUnicastXmitPkts", c.portUnicastXmitPkts)
            .number("PortUnicastRcvPkts", c.portUnicastRcvPkts)
            .number("PortMulticastXmitPkts", c.portMulticastXmitPkts)
            .number("PortMulticastRcvPkts", c.portMulticastRcvPkts);
    }
    if (can.additional) {
        l.hex("CounterSelect2", c.counterSelect2, 4)
            .number("SymbolErrorCounter", c.symbolErrorCounter)
            .number("LinkErrorRecoveryCounter", c.linkErrorRecoveryCounter)
            .number("LinkDownedCounter", c.linkDownedCounter)
            .number("PortRcvErrors", c.portRcvErrors)
            .number("PortRcvRemotePhysicalErrors", c.portRcvRemotePhysicalErrors)
            .number("PortRcvSwitchRelayErrors", c.portRcvSwitchRelayErrors)
            .number("PortXmitDiscards", c.portXmitDiscards)
            .number("PortXmitConstraintErrors", c.portXmitConstraintErrors)
            .number("PortRcvConstraintErrors", c.portRcvConstraintErrors)
            .number("LocalLinkIntegrityErrors", c.localLinkIntegrityErrors)
            .number("ExcessiveBufferOverrunErrors", c.excessiveBufferOverrunErrors)
            .number("VL15Dropped", c.VL15Dropped)
            .number("PortXmitWait", c.portXmitWait)
            .number("QP1Dropped", c.QP1Dropped);
    }
    return l.take();
}

std::string text_of(const pm::PortXmitDataSL& c) { return lines_of(c).numbers("XmtDataSL", c.portXmitDataSL).take(); }
std::string text_of(const pm::PortRcvDataSL& c) { return lines_of(c).numbers("RcvDataSL", c.portRcvDataSL).take(); }

std::string text_of(const pm::PortXmitDiscardDetails& c) {
    return lines_of(c)
        .number("PortInactiveDiscards", c.portInactiveDiscards)
        .number("PortNeighborMTUDiscards", c.portNeighborMTUDiscards)
        .number("PortSwLifetimeLimitDiscards", c.portSwLifetimeLimitDiscards)
        .number("PortSwHOQLifetimeLimitDiscards", c.portSwHOQLimitDiscards)
        .take();
}

std::string text_of(const pm::PortRcvErrorDetails& c) {
    return lines_of(c)
        .number("PortLocalPhysicalErrors", c.portLocalPhysicalErrors)
        .number("PortMalformedPktErrors", c.portMalformedPacketErrors)
        .number("PortBufferOverrunErrors", c.portBufferOverrunErrors)
        .number("PortDLIDMappingErrors", c.portDLIDMappingErrors)
        .number("PortVLMappingErrors", c.portVLMappingErrors)
        .number("PortLoopingErrors", c.portLoopingErrors)
        .take();
}

std::string text_of(const pm::PortExtendedSpeedsCounters& c) {
    return lines_of(c)
        .number("SyncHeaderErrorCounter", c.syncHeaderErrorCounter)
        .number("UnknownBlockCounter", c.unknownBlockCounter)
        .numbers("ErrorDetectionCounterLane", c.errorDetectionCounterLane)
        .numbers("FECCorrectableBlockCtrLane", c.FECCorrectableBlockCounterLane)
        .numbers("FECUncorrectableBlockCtrLane", c.FECUncorrectableBlockCounterLane)
        .take();
}

std::string text_of(const pm::PortExtendedSpeedsCountersRSFEC& c) {
    return lines_of(c)
        .number("SyncHeaderErrorCounter", c.syncHeaderErrorCounter)
        .number("UnknownBlockCounter", c.unknownBlockCounter)
        .numbers("FECCorrectableSymbolCtrLane", c.FECCorrectableSymbolCounterLane)
        .number("PortFECCorrectableBlockCtr", c.portFECCorrectableBlockCounter)
        .number("PortFECUncorrectableBlockCtr", c.portFECUncorrectableBlockCounter)
        .number("PortFECCorrectedSymbolCtr", c.portFECCorrectedSymbolCounter)
        .take();
}

std::string text_of(const pm::PortOpRcvCounters& c) {
    return lines_of(c).number("PortOpRcvPkts", c.portOpRcvPkts).number("PortOpRcvData", c.portOpRcvData).take();
}
std::string text_of(const pm::PortFlowCtlCounters& c) {
    return lines_of(c)
        .number("PortXmitFlowPkts", c.portXmitFlowPkts)
        .number("PortRcvFlowPkts", c.portRcvFlowPkts)
        .take();
}
std::string text_of(const pm::PortVLOpPackets& c) {
    return lines_of(c).numbers("PortVLOpPackets", c.portVLOpPackets).take();
}
std::string text_of(const pm::PortVLOpData& c) { return lines_of(c).numbers("PortVLOpData", c.portVLOpData).take(); }
std::string text_of(const pm::PortVLXmitFlowCtlUpdateErrors& c) {
    return lines_of(c).numbers("PortVLXmitFlowCtlUpdateErrors", c.portVLXmitFlowCtlUpdateErrors).take();
}
std::string text_of(const pm::PortVLXmitWaitCounters& c) {
    return lines_of(c).numbers("PortVLXmitWait", c.portVLXmitWait).take();
}
std::string text_of(const pm::SwPortVLCongestion& c) {
    return lines_of(c).numbers("SWPortVLCongestion", c.swPortVLCongestion).take();
}
std::string text_of(const pm::PortRcvConCtrl& c) {
    return lines_of(c).number("PortPktRcvFECN", c.portPktRcvFECN).number("PortPktRcvBECN", c.portPktRcvBECN).take();
}
std::string text_of(const pm::PortSLRcvFECN& c) { return lines_of(c).numbers("PortSLRcvFECN", c.portSLRcvFECN).take(); }
std::string text_of(const pm::PortSLRcvBECN& c) { return lines_of(c).numbers("PortSLRcvBECN", c.portSLRcvBECN).take(); }
std::string text_of(const pm::PortXmitConCtrl& c) {
    return lines_of(c).number("PortXmitTimeCong", c.portXmitTimeCong).take();
}
std::string text_of(const pm::PortVLXmitTimeCong& c) {
    return lines_of(c).numbers("PortVLXmitTimeCong", c.portVLXmitTimeCong).take();
}

std::string text_of(const pm::PortSamplesCtl& c) {
    const auto bytes = iba::encode(c);
    dotted_lines l;
    l.hex("OpCode", c.opCode, 1)
        .number("PortSelect", c.portSelect)
        .hex("Tick", c.tick, 1)
        .number("CounterWidth", c.counterWidth)
        .hex("CounterMask0", c.counterMask0, 1)
        .hex("CounterMasks1to9", iba::bits_at(bytes.data(), 37, 27), 4)
        .hex("CounterMasks10to14", iba::bits_at(bytes.data(), 65, 15), 2)
        .number("SampleMechanisms", c.sampleMechanisms)
        .number("SampleStatus", c.sampleStatus)
        .hex("OptionMask", c.optionMask, 8)
        .hex("VendorMask", c.vendorMask, 8)
        .number("SampleStart", c.sampleStart)
        .number("SampleInterval", c.sampleInterval)
        .hex("Tag", c.tag, 2);
    for (unsigned i = 0; i < 15; ++i)
        l.hex(fmt::format("CounterSelect{}", i), iba::bits_at(bytes.data(), 304 + 16 * i, 16), 2);
    return l.hex("SamplesOnlyOptionMask", c.samplesOnlyOptionMask, 8).take();
}

/// Who is asked for PortCountersExtended has it, also where it does not say so: perfquery -x warns, and asks.
template <class T> capabilities capabilities_to_tell(ClassPortInfo info) {
    if (std::is_same_v<T, pm::PortCountersExt>)
        info.capabilityMask |= value(iba::PMCapability::IsExtendedWidthSupportedNoIETF);
    return capabilities::of(info);
}

template <class T> std::string text_of_bytes(std::span<const u8> bytes, const ClassPortInfo& info) {
    T c;
    iba::decode(c, bytes.data());
    if constexpr (requires { text_of(c, capabilities()); }) return text_of(c, capabilities_to_tell<T>(info));
    else return text_of(c);
}

template <class T> constexpr counter_group group(std::string_view name, std::string_view heading) {
    return {name, heading, iba::attribute_id<T>, iba::info_of<T>, text_of_bytes<T>};
}

} // namespace

// clang-format off
const counter_group
    port_counters = group<pm::PortCounters>("PortCounters", "Port counters"),
    port_counters_extended = group<pm::PortCountersExt>("PortCountersExtended", "Port extended counters"),
    xmit_data_sl = group<pm::PortXmitDataSL>("PortXmitDataSL", "PortXmitDataSL counters"),
    rcv_data_sl = group<pm::PortRcvDataSL>("PortRcvDataSL", "PortRcvDataSL counters"),
    xmit_discard_details = group<pm::PortXmitDiscardDetails>("PortXmitDiscardDetails", "PortXmitDiscardDetails counters"),
    rcv_error_details = group<pm::PortRcvErrorDetails>("PortRcvErrorDetails", "PortRcvErrorDetails counters"),
    extended_speeds =
        group<pm::PortExtendedSpeedsCounters>("PortExtendedSpeedsCounters", "PortExtendedSpeedsCounters counters"),
    extended_speeds_rs_fec = group<pm::PortExtendedSpeedsCountersRSFEC>(
        "PortExtendedSpeedsCounters", "PortExtendedSpeedsCounters with RS-FEC Active counters"),
    op_rcv_counters = group<pm::PortOpRcvCounters>("PortOpRcvCounters", "PortOpRcvCounters counters"),
    flow_ctl_counters = group<pm::PortFlowCtlCounters>("PortFlowCtlCounters", "PortFlowCtlCounters counters"),
    vl_op_packets = group<pm::PortVLOpPackets>("PortVLOpPackets", "PortVLOpPackets counters"),
    vl_op_data = group<pm::PortVLOpData>("PortVLOpData", "PortVLOpData counters"),
    vl_xmit_flow_ctl_update_errors = group<pm::PortVLXmitFlowCtlUpdateErrors>(
        "PortVLXmitFlowCtlUpdateErrors", "PortVLXmitFlowCtlUpdateErrors counters"),
    vl_xmit_wait = group<pm::PortVLXmitWaitCounters>("PortVLXmitWaitCounters", "PortVLXmitWaitCounters counters"),
    sw_port_vl_congestion = group<pm::SwPortVLCongestion>("SwPortVLCongestion", "SwPortVLCongestion counters"),
    rcv_con_ctrl = group<pm::PortRcvConCtrl>("PortRcvConCtrl", "PortRcvConCtrl counters"),
    sl_rcv_fecn = group<pm::PortSLRcvFECN>("PortSLRcvFECN", "PortSLRcvFECN counters"),
    sl_rcv_becn = group<pm::PortSLRcvBECN>("PortSLRcvBECN", "PortSLRcvBECN counters"),
    xmit_con_ctrl = group<pm::PortXmitConCtrl>("PortXmitConCtrl", "PortXmitConCtrl counters"),
    vl_xmit_time_cong = group<pm::PortVLXmitTimeCong>("PortVLXmitTimeCong", "PortVLXmitTimeCong counters"),
    samples_control = group<pm::PortSamplesCtl>("PortSamplesControl", "PortSamplesControl");
// clang-format on

const counter_group* find_counter_group(comad::u16 attributeID) noexcept {
    for (const counter_group* g :
         {&port_counters, &port_counters_extended, &xmit_data_sl, &rcv_data_sl, &xmit_discard_details,
          &rcv_error_details, &extended_speeds, &op_rcv_counters, &flow_ctl_counters, &vl_op_packets, &vl_op_data,
          &vl_xmit_flow_ctl_update_errors, &vl_xmit_wait, &sw_port_vl_congestion, &rcv_con_ctrl, &sl_rcv_fecn,
          &sl_rcv_becn, &xmit_con_ctrl, &vl_xmit_time_cong})
        if (g->attributeID == attributeID) return g;
    return nullptr;
}

// ---- fields ----------------------------------------------------------------------------------------------------------

std::vector<std::string_view> missing_counters(const counter_group& g, const ClassPortInfo& info) {
    counter_set told;
    if (&g == &port_counters) told = narrow_counters(capabilities_to_tell<pm::PortCounters>(info));
    else if (&g == &port_counters_extended) told = wide_counters(capabilities_to_tell<pm::PortCountersExt>(info));
    else return {};
    std::vector<std::string_view> missing;
    counters::for_each_counter([&](counter c) {
        if (!told.has(c) && iba::find_field(g.info, name_of(c))) missing.push_back(name_of(c));
    });
    return missing;
}

namespace {

/// A field that says which counters are meant, and counts nothing.
bool is_selector(std::string_view name) {
    return name == "opCode" || name == "portSelect" || name == "counterSelect" || name == "counterSelect2";
}

} // namespace

std::vector<group_counter> counters_in(const counter_group& g, const ClassPortInfo& info, std::span<const u8> bytes) {
    const std::vector<std::string_view> missing = missing_counters(g, info);
    std::vector<group_counter> all;
    for (const iba::row_info& row : g.info.rows) {
        if (row.is_reserved || is_selector(row.name) || std::ranges::find(missing, row.name) != missing.end()) continue;
        const bool is_array = row.bits() > row.width;
        for (unsigned off = row.off, i = 0; off < row.off + row.bits(); off += row.width, ++i)
            all.push_back({is_array ? fmt::format("{}[{}]", row.name, i) : std::string(row.name),
                           iba::bits_at(bytes.data(), off, row.width), iba::low_bits(row.width)});
    }
    return all;
}

void add_counters(const counter_group& g, std::span<u8> sum, std::span<const u8> more) {
    for (const iba::row_info& row : g.info.rows) {
        if (row.is_reserved || is_selector(row.name)) continue;
        const u64 highest = iba::low_bits(row.width);
        for (unsigned off = row.off; off < row.off + row.bits(); off += row.width) {
            const u64 a = iba::bits_at(sum.data(), off, row.width), b = iba::bits_at(more.data(), off, row.width);
            iba::put_bits_at(sum.data(), off, row.width, a > highest - b ? highest : a + b);
        }
    }
}

namespace {

template <class T> u64 selection_of(const std::optional<T>& zeros) {
    return zeros ? zeros->counterSelect | u64{zeros->counterSelect2} << 16 : 0;
}

/// In those two attributes whose counters the library knows by name.
u64 selection(const counter_group& g, const ClassPortInfo& info, counter_set which) {
    constexpr u8 any_port = 0;
    if (&g == &port_counters)
        return selection_of(clearing_of(which, capabilities_to_tell<pm::PortCounters>(info), any_port).narrow);
    if (&g == &port_counters_extended)
        return selection_of(clearing_of(which, capabilities_to_tell<pm::PortCountersExt>(info), any_port).wide);
    return 0;
}

} // namespace

u64 all_counters(const counter_group& g, const ClassPortInfo& info) {
    if (&g == &port_counters || &g == &port_counters_extended) return selection(g, info, counter_set::all());
    return iba::low_bits(iba::find_field(g.info, "counterSelect").value().width);
}

u64 error_counters(const counter_group& g, const ClassPortInfo& info) {
    return selection(g, info, counters::counters_that(counters::is_error));
}

std::vector<group_counter> selected_counters(const counter_group& g, const ClassPortInfo& info,
                                             std::span<const u8> bytes, u64 select) {
    constexpr unsigned bits = 64;
    const bool is_of_library = &g == &port_counters || &g == &port_counters_extended;
    std::vector<group_counter> selected;
    unsigned place = 0; // in the other groups a bit for each, in their order
    for (group_counter& c : counters_in(g, info, bytes)) {
        const auto named = is_of_library ? counters::counter_named(c.name) : std::nullopt;
        const u64 bit = named ? selection(g, info, counter_set().add(*named)) : place < bits ? u64{1} << place : 0;
        ++place;
        if (bit & select) selected.push_back(std::move(c));
    }
    return selected;
}

const counter_group& data_counters(const ClassPortInfo& info) {
    return capabilities::of(info).extended ? port_counters_extended : port_counters;
}

void set_number(const counter_group& g, std::span<u8> bytes, std::string_view field, u64 number) {
    const iba::row_info row = iba::find_field(g.info, field).value();
    iba::put_bits_at(bytes.data(), row.off, row.width, number);
}

std::vector<u8> clearing(const counter_group& g, u8 port, u64 select) {
    std::vector<u8> bytes(g.info.bytes);
    set_number(g, bytes, "portSelect", port);
    u64 left = select;
    for (const char* name : {"counterSelect", "counterSelect2"}) {
        const auto row = iba::find_field(g.info, name);
        if (!row) continue;
        iba::put_bits_at(bytes.data(), row.value().off, row.value().width, left);
        left = row.value().width < 64 ? left >> row.value().width : 0;
    }
    if (left)
        throw std::runtime_error(
            fmt::format("the reset mask {:#x} selects counters that {} does not have", select, g.name));
    return bytes;
}

} // namespace ibtool
