// SPDX-License-Identifier: MIT
// counter_groups.hpp - the attributes of performance management as perfquery knows them: how they are called and printed, which
// counters a port has of them, their sums. Asks nobody.
#pragma once
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/pm.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// An attribute with counters of a port. Values are as they are on the wire.
struct counter_group {
    std::string_view name;    ///< `PortRcvErrorDetails`
    std::string_view heading; ///< what infiniband-diags write above it: `Port counters`
    comad::u16 attributeID;
    const comad::iba::record_info& info;
    /// Dotted lines as libibmad's dumpers print them, of what the performance management has.
    std::string (*text)(std::span<const comad::u8> bytes, const comad::iba::ClassPortInfo&);
};

// clang-format off
extern const counter_group
    port_counters, port_counters_extended, xmit_data_sl, rcv_data_sl, xmit_discard_details, rcv_error_details,
    extended_speeds, extended_speeds_rs_fec, op_rcv_counters, flow_ctl_counters, vl_op_packets, vl_op_data,
    vl_xmit_flow_ctl_update_errors, vl_xmit_wait, sw_port_vl_congestion, rcv_con_ctrl, sl_rcv_fecn, sl_rcv_becn,
    xmit_con_ctrl, vl_xmit_time_cong, samples_control;
// clang-format on

/// The group of an attribute, without RS-FEC. Null: it has none, or nothing of it can be cleared.
const counter_group* find_counter_group(comad::u16 attributeID) noexcept;

/// Counters of the group that the performance management does not have, by the names of the table: what a port tells of them
/// means nothing.
std::vector<std::string_view> missing_counters(const counter_group&, const comad::iba::ClassPortInfo&);

/// A counter as a payload of its group has it.
struct group_counter {
    std::string name; ///< `portVLXmitWait[3]`
    comad::u64 value = 0;
    comad::u64 highest = 0; ///< of its field
};
/// Without those that the performance management does not have.
std::vector<group_counter> counters_in(const counter_group&, const comad::iba::ClassPortInfo&,
                                       std::span<const comad::u8> bytes);

/// Adds each counter; those that would exceed their field stop at its highest value. Of other fields `sum` keeps its own.
void add_counters(const counter_group&, std::span<comad::u8> sum, std::span<const comad::u8> more);

/// Which counters a Set with all of them clears, of those that the performance management has: counterSelect, above it
/// counterSelect2.
comad::u64 all_counters(const counter_group&, const comad::iba::ClassPortInfo&);
/// The same of those that count errors, in PortCounters and PortCountersExtended. 0: it has none.
comad::u64 error_counters(const counter_group&, const comad::iba::ClassPortInfo&);

/// Of counters_in() those that a Set with `select` clears, all_counters() or fewer.
std::vector<group_counter> selected_counters(const counter_group&, const comad::iba::ClassPortInfo&,
                                             std::span<const comad::u8> bytes, comad::u64 select);

/// The attribute that tells data and packets best: with 64 bits where the performance management has that.
const counter_group& data_counters(const comad::iba::ClassPortInfo&);

/// A Set that clears the counters of a port that `select` selects, all_counters() or fewer: the payload.
/// Throws std::runtime_error if the group has no such counters.
std::vector<comad::u8> clearing(const counter_group&, comad::u8 port, comad::u64 select);

/// Writes a number to a field. Precondition: the group has it.
void set_number(const counter_group&, std::span<comad::u8> bytes, std::string_view field, comad::u64 number);

} // namespace ibtool
