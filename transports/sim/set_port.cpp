// SPDX-License-Identifier: MIT
// set_port.cpp - applies the values that managers write to ports: states, which take links down and up, LIDs, keys (IBA 14.2.4,
// 14.2.5.6).
#include "attributes.hpp"
#include "writable.hpp"
#include <comad/server/detail/request.hpp>

#include <algorithm>

namespace comad::transports::sim {
namespace {

using iba::PortPhysicalState;
using iba::PortState;
using iba::smp::PortInfo;
namespace status = server::status;

constexpr u8 all_widths = 0xff, all_speeds = 0xf, all_legacy = 0x7, no_extended_speeds = 30, all_extended_speeds = 31;

bool is_subset(unsigned wanted, unsigned of) noexcept { return (wanted & ~of) == 0; }

/// Returns whether a state may be written: the present one, 0, or the next one (IBA 14.2.5.6).
bool is_legal(PortState now, PortState wanted) noexcept {
    if (wanted == PortState::NoChange || wanted == PortState::Down || wanted == now) return true;
    return (wanted == PortState::Armed && now == PortState::Initialize) ||
           (wanted == PortState::Active && now == PortState::Armed);
}

bool is_legal(PortPhysicalState now, PortPhysicalState wanted) noexcept {
    return wanted == now || value(wanted) <= value(PortPhysicalState::Disabled);
}

bool is_unicast_or_none(iba::lid LID) noexcept { return value(LID) < 0xc000; }

/// Returns the enabled speeds after a write to the two fields. Fields that request no change keep their values.
link_codes enabled_by(const PortInfo& wanted, link_codes now, link_codes supported) noexcept {
    unsigned legacy = wanted.linkSpeedEnabled, extended = wanted.linkSpeedExtEnabled,
             extended2 = wanted.linkSpeedExtEnabled2;
    if (legacy == 0) legacy = now.legacy_speed();
    if (legacy == all_speeds) legacy = supported.legacy_speed();
    if (extended == 0) extended = now.extended_speed();
    if (extended2 == 0) extended2 = now.extended_speed2();
    if (extended == no_extended_speeds) extended = extended2 = 0;
    if (extended == all_extended_speeds) {
        extended = supported.extended_speed();
        extended2 = supported.extended_speed2();
    }
    const u8 width = wanted.linkWidthEnabled == 0            ? now.width
                     : wanted.linkWidthEnabled == all_widths ? supported.width
                                                             : wanted.linkWidthEnabled;
    const unsigned kept = now.speed & iba::lane_speed::FDR10; // belongs to MlnxExtPortInfo
    return {width, static_cast<u16>(extended2 << iba::lane_speed::first_extended2_bit |
                                    extended << iba::lane_speed::first_extended_bit | legacy | kept)};
}

} // namespace

u16 attributes::set_port_info(u32 number, u8 in_port, u32 modifier, const PortInfo& wanted) {
    const node& n = topology_.nodes[number];
    const u32 selected = modifier & 0x7fffffff;
    const auto which = static_cast<u8>(selected == 0 && !n.is_switch() ? in_port : selected);
    const PortInfo now = port_info(number, in_port, which);
    if (const u16 refused = check_port_info(number, which, now, wanted); refused != 0) return refused;
    write_link(number, which, wanted);
    if (which == 0 || !n.is_switch()) write_end_port(number, which, wanted);
    change_state(number, which, now, wanted);
    return 0;
}

/// Enables or disables FDR10 if it is supported. It takes effect when the port trains again. Precondition: get() has
/// checked the modifier.
u16 attributes::set_mlnx_ext_port_info(u32 number, u8 in_port, u32 modifier, const iba::smp::MlnxExtPortInfo& wanted) {
    constexpr u8 FDR10 = 1;
    node& n = topology_.nodes[number];
    port& p = n.ports[modifier == 0 && !n.is_switch() ? in_port : modifier];
    if (!is_subset(wanted.LinkSpeedEnabled, p.supported.has_fdr10() ? FDR10 : 0)) return status::invalid_value;
    const bool is_enabled = (wanted.LinkSpeedEnabled & FDR10) != 0;
    p.enabled.speed =
        static_cast<u16>((p.enabled.speed & ~iba::lane_speed::FDR10) | (is_enabled ? iba::lane_speed::FDR10 : 0));
    return 0;
}

u16 attributes::check_port_info(u32 number, u8 which, const PortInfo& now, const PortInfo& wanted) const {
    const node& n = topology_.nodes[number];
    const port& p = n.ports[which];
    const bool is_port0 = n.is_switch() && which == 0, is_end_port = is_port0 || !n.is_switch();
    const bool has_other_physical_state =
        wanted.portPhysicalState != PortPhysicalState::NoChange && wanted.portPhysicalState != now.portPhysicalState;
    const bool goes_up = wanted.portState == PortState::Armed || wanted.portState == PortState::Active;
    const link_codes enabled = enabled_by(wanted, p.enabled, p.supported);
    const bool is_legal_port =
        is_legal(now.portState, wanted.portState) && is_legal(now.portPhysicalState, wanted.portPhysicalState) &&
        !(goes_up && has_other_physical_state) &&
        !(is_port0 && (has_other_physical_state || wanted.portState == PortState::Down)) &&
        value(wanted.linkDownDefaultState) <= value(PortPhysicalState::Polling) &&
        (wanted.linkSpeedEnabled == all_speeds || is_subset(wanted.linkSpeedEnabled, all_legacy)) &&
        is_subset(enabled.width, p.supported.width) && is_subset(enabled.speed, p.supported.speed) &&
        enabled.speed != 0 && value(wanted.neighborMTU) <= value(now.MTUCap) &&
        value(wanted.operationalVLs) <= value(now.VLCap);
    const bool has_no_lmc = is_port0 && !n.enhanced_port0;
    const bool is_legal_end =
        !is_end_port ||
        (is_unicast_or_none(wanted.LID) && is_unicast_or_none(wanted.masterSMLID) && !(has_no_lmc && wanted.LMC != 0));
    return is_legal_port && is_legal_end ? 0 : status::invalid_value;
}

/// Writes the fields of every port. Widths and speeds take effect when the port trains again.
void attributes::write_link(u32 number, u8 which, const PortInfo& wanted) {
    port& p = topology_.nodes[number].ports[which];
    p.enabled = enabled_by(wanted, p.enabled, p.supported);
    const PortInfo now = port_info(number, which, which);
    PortInfo kept = wanted;
    if (kept.linkDownDefaultState == PortPhysicalState::NoChange) kept.linkDownDefaultState = now.linkDownDefaultState;
    if (value(kept.neighborMTU) == 0) kept.neighborMTU = now.neighborMTU;
    if (value(kept.operationalVLs) == 0) kept.operationalVLs = now.operationalVLs;
    // Violation counters accept only 0.
    if (kept.MKeyViolations != 0) kept.MKeyViolations = now.MKeyViolations;
    if (kept.PKeyViolations != 0) kept.PKeyViolations = now.PKeyViolations;
    if (kept.QKeyViolations != 0) kept.QKeyViolations = now.QKeyViolations;
    written_.port(number, which).info = kept;
}

/// Writes the fields of end ports. LIDs take effect at once, and the subnet manager keeps its port.
void attributes::write_end_port(u32 number, u8 which, const PortInfo& wanted) {
    port& p = topology_.nodes[number].ports[which];
    if (p.LID == wanted.LID && p.LMC == wanted.LMC) return;
    if (p.has_lid() && p.LID == topology_.sm_lid) topology_.sm_lid = wanted.LID;
    p.LID = wanted.LID;
    p.LMC = wanted.LMC;
    forwarding_.topology_changed();
    changed_ = true;
}

void attributes::change_state(u32 number, u8 which, const PortInfo& now, const PortInfo& wanted) {
    port& p = topology_.nodes[number].ports[which];
    auto& own = written_.port(number, which);
    if (wanted.portPhysicalState != PortPhysicalState::NoChange && wanted.portPhysicalState != now.portPhysicalState) {
        own.resting = wanted.portPhysicalState;
        relink(number, which);
    } else if (wanted.portState == PortState::Down && now.portState != PortState::Down) {
        own.resting = own.info.linkDownDefaultState;
        relink(number, which);
    } else if (wanted.portState != PortState::NoChange && wanted.portState != now.portState) {
        p.state = wanted.portState;
        if (p.state == PortState::Active && !topology_.nodes[number].is_switch())
            service_changes_.push_back({number, which, true});
        forwarding_.topology_changed();
        changed_ = true;
    }
}

bool attributes::may_train(u32 node, unsigned number) const noexcept {
    const port& p = topology_.nodes[node].ports[number];
    const auto resting = [&](u32 n, unsigned i) {
        const auto* own = written_.find_port(n, static_cast<u8>(i));
        return own ? own->resting : PortPhysicalState::Polling;
    };
    const auto here = resting(node, number), there = resting(p.peer_node, p.peer_port);
    return here != PortPhysicalState::Disabled && there != PortPhysicalState::Disabled &&
           (here == PortPhysicalState::Polling || there == PortPhysicalState::Polling);
}

/// Takes the link down, and up again at once if both ends may train. Switches report in portStateChange what the link
/// did by itself, but not what a manager wrote.
void attributes::relink(u32 number, u8 which) {
    const port& p = topology_.nodes[number].ports[which];
    if (!p.linked()) return;
    const bool was_up = p.is_up();
    link_goes_down(number, which);
    const bool is_up = may_train(number, which) && topology_.train(number, which);
    if (!is_up) topology_.take_down(number, which);
    if (is_up) {
        set_port_state_change(number);
        link_changes_.push_back({number, which, true});
    }
    if (is_up || was_up) set_port_state_change(p.peer_node);
    forwarding_.topology_changed();
    changed_ = true;
}

void attributes::link_goes_down(u32 number, unsigned which) {
    const port& p = topology_.nodes[number].ports[which];
    if (!p.linked()) return;
    const auto end_service = [&](u32 n, unsigned i) {
        const node& x = topology_.nodes[n];
        if (!x.is_switch() && x.ports[i].state == PortState::Active)
            service_changes_.push_back({n, static_cast<u8>(i), false});
    };
    end_service(number, which);
    end_service(p.peer_node, p.peer_port);
    link_changes_.push_back({number, static_cast<u8>(which), false});
}

void attributes::cable_changed(u32 a, unsigned port_a, u32 b) {
    const port& p = topology_.nodes[a].ports[port_a];
    if (p.linked() && !may_train(a, port_a)) topology_.take_down(a, port_a);
    if (p.is_up()) link_changes_.push_back({a, static_cast<u8>(port_a), true});
    set_port_state_change(a);
    set_port_state_change(b);
    forwarding_.topology_changed();
}

/// Returns the written settings of a port. If none were written, creates them with the port's present values.
overrides::port_settings& attributes::settings_of(u32 node, u8 number) {
    const bool is_known = written_.find_port(node, number) != nullptr;
    const PortInfo now = port_info(node, number, number);
    overrides::port_settings& own = written_.port(node, number);
    if (!is_known) own.info = now;
    return own;
}

attributes::key attributes::key_of(u32 node, u8 in_port, mad::time_point now) noexcept {
    const u8 number = topology_.nodes[node].is_switch() ? u8{0} : in_port;
    const auto* own = written_.find_port(node, number);
    if (!own) return {keys_, 0};
    if (own->lease_end && *own->lease_end <= now) {
        auto& ended = written_.port(node, number);
        ended.lease_end.reset();
        ended.info.MKeyProtectBits = 0;
    }
    return {own->info.MKey, own->info.MKeyProtectBits};
}

void attributes::renew_lease(u32 node, u8 in_port) noexcept {
    const u8 number = topology_.nodes[node].is_switch() ? u8{0} : in_port;
    const auto* own = written_.find_port(node, number);
    if (own && own->lease_end) written_.port(node, number).lease_end.reset();
}

void attributes::count_mkey_violation(u32 node, u8 in_port, mad::time_point now) {
    const u8 number = topology_.nodes[node].is_switch() ? u8{0} : in_port;
    count_violation<&PortInfo::MKeyViolations>({node, number});
    auto& own = settings_of(node, number);
    if (!own.lease_end && own.info.MKeyLeasePeriod != 0)
        own.lease_end = now + std::chrono::seconds(own.info.MKeyLeasePeriod);
}

} // namespace comad::transports::sim
