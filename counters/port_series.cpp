// SPDX-License-Identifier: MIT
// port_series.cpp - names the Prometheus series of ports, and finds their values.
#include "port_series.hpp"

#include <comad/discovery/database/detail/link.hpp>
#include <comad/iba/detail/mask.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <type_traits>
#include <variant>

namespace comad::counters {
namespace {

using namespace iba::pm;

// ---- use of the link -------------------------------------------------------------------------------------------------

template <auto Direction> std::string use_text(const exposed_sweep& e, std::size_t port, unsigned) {
    if (!e.uses) return {};
    const std::optional<link_share>& share = (*e.uses)[port].*Direction;
    return share ? fmt::format("{}", share->value) : std::string();
}

std::string tick_text(const exposed_sweep& e, std::size_t port, unsigned) {
    const auto tick = tick_seconds(e.view.subnet, e.view.now.ports[port]);
    return tick ? fmt::format("{}", *tick) : std::string();
}

std::string fec_text(const exposed_sweep& e, std::size_t port, unsigned) {
    const auto& FEC = e.view.now.ports[port].FEC;
    return FEC ? fmt::to_string(value(*FEC)) : std::string();
}

// ---- details ---------------------------------------------------------------------------------------------------------

constexpr u64 bytes_of_word = 4, bytes_of_kilobyte = 1024;

/// The index in detail_types of the attribute with this member. Both structures of extended speeds are one attribute.
template <auto Member> constexpr unsigned detail_of_member() {
    using T = iba::detail::owner_of<Member>;
    using asked = std::conditional_t<std::is_same_v<T, PortExtendedSpeedsCountersRSFEC>, PortExtendedSpeedsCounters, T>;
    return detail::index_in<asked, detail_types>;
}

/// Returns an element of a member of the first of these structures that the port has, times `Unit`.
template <u64 Unit, auto... Members>
std::string counter_text(const exposed_sweep& e, std::size_t port, unsigned element) {
    std::optional<u64> found;
    const auto take = [&]<auto Member>() {
        for (const port_detail& d : e.view.now.ports[port].details) {
            const auto* const structure = std::get_if<iba::detail::owner_of<Member>>(&d);
            if (!structure) continue;
            if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(structure->*Member)>>)
                found = structure->*Member;
            else found = (structure->*Member)[element];
        }
    };
    (take.template operator()<Members>(), ...);
    return found ? fmt::to_string(Unit * *found) : std::string();
}

template <auto Member> constexpr unsigned elements_of(const exposed_sweep&, const reading&) {
    using array = std::remove_cvref_t<decltype(std::declval<iba::detail::owner_of<Member>>().*Member)>;
    return std::tuple_size_v<array>;
}

/// Returns the number of lanes of the link. The counters of other lanes are always 0.
unsigned lanes_of_link(const exposed_sweep& e, const reading& r) {
    const auto& info = e.view.subnet.at(r.where).info;
    return info ? discovery::lanes_of(discovery::active_width(*info)) : 0;
}

template <u64 Unit, auto First, auto... Others>
constexpr port_series counter_of(std::string_view name, std::string_view help) {
    return {name, "counter", help, detail_of_member<First>(), false, {}, nullptr, counter_text<Unit, First, Others...>};
}
template <u64 Unit, auto Member>
constexpr port_series array_of(std::string_view label, unsigned (*count)(const exposed_sweep&, const reading&),
                               std::string_view name, std::string_view help) {
    return {name, "counter", help, detail_of_member<Member>(), false, label, count, counter_text<Unit, Member>};
}
template <u64 Unit, auto Member> constexpr port_series by_vl(std::string_view name, std::string_view help) {
    return array_of<Unit, Member>("vl", elements_of<Member>, name, help);
}
template <u64 Unit, auto Member> constexpr port_series by_sl(std::string_view name, std::string_view help) {
    return array_of<Unit, Member>("sl", elements_of<Member>, name, help);
}
template <u64 Unit, auto Member> constexpr port_series by_lane(std::string_view name, std::string_view help) {
    return array_of<Unit, Member>("lane", lanes_of_link, name, help);
}

constexpr port_series gauge(std::string_view name, std::string_view help,
                            std::string (*value)(const exposed_sweep&, std::size_t, unsigned)) {
    return {name, "gauge", help, port_series::no_detail, false, {}, nullptr, value};
}
constexpr port_series error(port_series s) {
    s.is_error = true;
    return s;
}

// clang-format off
constexpr port_series families[] = {
    gauge("infiniband_port_xmit_utilization_ratio", "Bytes sent since the last sweep, as a share of the data rate: 0 to 1.", use_text<&link_use::xmit>),
    gauge("infiniband_port_rcv_utilization_ratio", "Bytes received since the last sweep, as a share of the data rate: 0 to 1.", use_text<&link_use::rcv>),
    gauge("infiniband_port_congestion_ratio", "Time with data to send but none sent since the last sweep, as a share: 0 to 1.", use_text<&link_use::congestion>),
    gauge("infiniband_port_xmit_wait_tick_seconds", "Length of a tick of infiniband_port_xmit_wait_ticks_total, in seconds.", tick_text),
    gauge("infiniband_port_fec_mode_id", "Error correction of the link: 0 none, 1 FireCode, 2 RS, 3 LowLatencyRS, 4 RS2 (FECModeActive).", fec_text),
    error(counter_of<1, &PortRcvErrorDetails::portLocalPhysicalErrors>("infiniband_port_local_physical_errors_total", "Packets received with physical errors (portLocalPhysicalErrors).")),
    error(counter_of<1, &PortRcvErrorDetails::portMalformedPacketErrors>("infiniband_port_malformed_packet_errors_total", "Packets received that were malformed (portMalformedPacketErrors).")),
    error(counter_of<1, &PortRcvErrorDetails::portBufferOverrunErrors>("infiniband_port_buffer_overrun_errors_total", "Packets discarded because of a buffer overrun (portBufferOverrunErrors).")),
    error(counter_of<1, &PortRcvErrorDetails::portDLIDMappingErrors>("infiniband_port_dlid_mapping_errors_total", "Packets that could not be forwarded because of their DLID (portDLIDMappingErrors).")),
    error(counter_of<1, &PortRcvErrorDetails::portVLMappingErrors>("infiniband_port_vl_mapping_errors_total", "Packets that could not be forwarded because of their virtual lane (portVLMappingErrors).")),
    error(counter_of<1, &PortRcvErrorDetails::portLoopingErrors>("infiniband_port_looping_errors_total", "Packets whose output port was their input port (portLoopingErrors).")),
    error(counter_of<1, &PortXmitDiscardDetails::portInactiveDiscards>("infiniband_port_inactive_discards_total", "Packets discarded because the port was not active (portInactiveDiscards).")),
    error(counter_of<1, &PortXmitDiscardDetails::portNeighborMTUDiscards>("infiniband_port_neighbor_mtu_discards_total", "Packets discarded because they exceeded the MTU of the neighbor (portNeighborMTUDiscards).")),
    error(counter_of<1, &PortXmitDiscardDetails::portSwLifetimeLimitDiscards>("infiniband_port_sw_lifetime_limit_discards_total", "Packets discarded because of the lifetime limit of the switch (portSwLifetimeLimitDiscards).")),
    error(counter_of<1, &PortXmitDiscardDetails::portSwHOQLimitDiscards>("infiniband_port_sw_hoq_limit_discards_total", "Packets discarded because they waited too long at the head of the queue (portSwHOQLimitDiscards).")),
    counter_of<1, &PortOpRcvCounters::portOpRcvPkts>("infiniband_port_op_rcv_packets_total", "Packets received with OpCode 0 (portOpRcvPkts)."),
    counter_of<bytes_of_word, &PortOpRcvCounters::portOpRcvData>("infiniband_port_op_rcv_data_bytes_total", "Bytes received with OpCode 0 (portOpRcvData)."),
    counter_of<1, &PortFlowCtlCounters::portXmitFlowPkts>("infiniband_port_xmit_flow_packets_total", "Flow control packets sent (portXmitFlowPkts)."),
    counter_of<1, &PortFlowCtlCounters::portRcvFlowPkts>("infiniband_port_rcv_flow_packets_total", "Flow control packets received (portRcvFlowPkts)."),
    by_vl<1, &PortVLOpPackets::portVLOpPackets>("infiniband_port_vl_op_packets_total", "Packets received with OpCode 0, by virtual lane (portVLOpPackets)."),
    by_vl<bytes_of_kilobyte, &PortVLOpData::portVLOpData>("infiniband_port_vl_op_data_bytes_total", "Bytes received with OpCode 0, by virtual lane (portVLOpData)."),
    error(by_vl<1, &PortVLXmitFlowCtlUpdateErrors::portVLXmitFlowCtlUpdateErrors>("infiniband_port_vl_xmit_flow_ctl_update_errors_total", "Flow control updates that were late, by virtual lane (portVLXmitFlowCtlUpdateErrors).")),
    by_vl<1, &PortVLXmitWaitCounters::portVLXmitWait>("infiniband_port_vl_xmit_wait_ticks_total", "Ticks with data to send but none sent, by virtual lane (portVLXmitWait)."),
    error(by_vl<1, &SwPortVLCongestion::swPortVLCongestion>("infiniband_port_vl_congestion_discards_total", "Packets that a switch discarded because of congestion, by virtual lane (swPortVLCongestion).")),
    by_sl<bytes_of_word, &PortXmitDataSL::portXmitDataSL>("infiniband_port_sl_xmit_data_bytes_total", "Bytes sent, by service level (portXmitDataSL)."),
    by_sl<bytes_of_word, &PortRcvDataSL::portRcvDataSL>("infiniband_port_sl_rcv_data_bytes_total", "Bytes received, by service level (portRcvDataSL)."),
    counter_of<1, &PortRcvConCtrl::portPktRcvFECN>("infiniband_port_rcv_fecn_packets_total", "Packets received with FECN (portPktRcvFECN)."),
    counter_of<1, &PortRcvConCtrl::portPktRcvBECN>("infiniband_port_rcv_becn_packets_total", "Packets received with BECN (portPktRcvBECN)."),
    by_sl<1, &PortSLRcvFECN::portSLRcvFECN>("infiniband_port_sl_rcv_fecn_packets_total", "Packets received with FECN, by service level (portSLRcvFECN)."),
    by_sl<1, &PortSLRcvBECN::portSLRcvBECN>("infiniband_port_sl_rcv_becn_packets_total", "Packets received with BECN, by service level (portSLRcvBECN)."),
    counter_of<1, &PortXmitConCtrl::portXmitTimeCong>("infiniband_port_xmit_time_congested_total", "Time in which the port was congested, in the unit of the device (portXmitTimeCong)."),
    by_vl<1, &PortVLXmitTimeCong::portVLXmitTimeCong>("infiniband_port_vl_xmit_time_congested_total", "Time in which the virtual lane was congested, in the unit of the device (portVLXmitTimeCong)."),
    error(counter_of<1, &PortExtendedSpeedsCounters::syncHeaderErrorCounter, &PortExtendedSpeedsCountersRSFEC::syncHeaderErrorCounter>("infiniband_port_sync_header_errors_total", "Errors in the synchronization headers of blocks (syncHeaderErrorCounter).")),
    error(counter_of<1, &PortExtendedSpeedsCounters::unknownBlockCounter, &PortExtendedSpeedsCountersRSFEC::unknownBlockCounter>("infiniband_port_unknown_blocks_total", "Blocks of an unknown type (unknownBlockCounter).")),
    error(by_lane<1, &PortExtendedSpeedsCounters::errorDetectionCounterLane>("infiniband_port_lane_detected_errors_total", "Errors that the lane detected (errorDetectionCounterLane).")),
    by_lane<1, &PortExtendedSpeedsCounters::FECCorrectableBlockCounterLane>("infiniband_port_lane_fec_correctable_blocks_total", "Blocks of the lane that FEC corrected (FECCorrectableBlockCounterLane)."),
    error(by_lane<1, &PortExtendedSpeedsCounters::FECUncorrectableBlockCounterLane>("infiniband_port_lane_fec_uncorrectable_blocks_total", "Blocks of the lane that FEC could not correct (FECUncorrectableBlockCounterLane).")),
    by_lane<1, &PortExtendedSpeedsCountersRSFEC::FECCorrectableSymbolCounterLane>("infiniband_port_lane_fec_correctable_symbols_total", "Symbols of the lane that RS-FEC corrected (FECCorrectableSymbolCounterLane)."),
    counter_of<1, &PortExtendedSpeedsCountersRSFEC::portFECCorrectableBlockCounter>("infiniband_port_fec_correctable_blocks_total", "Blocks that RS-FEC corrected (portFECCorrectableBlockCounter)."),
    error(counter_of<1, &PortExtendedSpeedsCountersRSFEC::portFECUncorrectableBlockCounter>("infiniband_port_fec_uncorrectable_blocks_total", "Blocks that RS-FEC could not correct (portFECUncorrectableBlockCounter).")),
    counter_of<1, &PortExtendedSpeedsCountersRSFEC::portFECCorrectedSymbolCounter>("infiniband_port_fec_corrected_symbols_total", "Symbols that RS-FEC corrected (portFECCorrectedSymbolCounter)."),
};
// clang-format on

} // namespace

std::span<const port_series> all_port_series() noexcept { return families; }

port_detail_set details_in(const sweep& s) noexcept {
    port_detail_set found;
    for (const reading& r : s.ports) {
        for (const port_detail& d : r.details) { // the last alternative has no index of its own in detail_types
            const bool is_rs = std::holds_alternative<PortExtendedSpeedsCountersRSFEC>(d);
            found.add(is_rs ? detail::index_in<PortExtendedSpeedsCounters, detail_types>
                            : static_cast<unsigned>(d.index()));
        }
    }
    return found;
}

} // namespace comad::counters
