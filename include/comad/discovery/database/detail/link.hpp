// SPDX-License-Identifier: MIT
// link.hpp - width and speed of a link: what is active, the best that both ends support, and whether it is FDR10. Who wants
// to know what the fields of PortInfo mean for that asks here. Knows no text form.
#pragma once
#include <comad/discovery/database/subnet.hpp>
#include <comad/iba/detail/link_words.hpp>

namespace comad::discovery {

/// Speeds of a lane as a set. FDR10 is never in it: see is_fdr10().
using link_speeds = iba::lane_speeds;
inline constexpr unsigned extended_speed_bit = iba::lane_speed::first_extended_bit,
                          extended_speed2_bit = iba::lane_speed::first_extended2_bit;

/// IsExtendedSpeedsSupported in the capabilityMask (IBA 14.2.5.6) of an end port: only then extended speeds mean
/// something, at each port of a switch if its port 0 says so.
bool has_extended_speeds(const iba::smp::PortInfo& end_port) noexcept;
/// The same of a port of a subnet. False if its end port did not answer.
bool has_extended_speeds(const subnet&, port_ref) noexcept;

/// Of PortInfo's attribute modifier, beside the port number: who asks understands extended speeds (IBA 14.2.5.6).
inline constexpr u32 understands_extended_speeds = u32{1} << 31;
/// Whether a port that was asked without that bit may hide its extended speeds: its end port has them, and the port tells
/// nothing of any. Then it is to be asked again with the bit, as OpenSM does since 2026; where that tells nothing either, the node
/// hides nothing, and its other ports need not be asked twice.
bool hides_extended_speeds(const iba::smp::PortInfo& end_port, const iba::smp::PortInfo& port) noexcept;

/// What is active by PortInfo. `extended`: extended speeds mean something there. No speed: 0.
iba::LinkWidth active_width(const iba::smp::PortInfo&) noexcept;
link_speeds active_speed(const iba::smp::PortInfo&, bool extended) noexcept;
/// The same there. Precondition: the port's PortInfo is known.
iba::LinkWidth active_width(const subnet&, port_ref) noexcept;
link_speeds active_speed(const subnet&, port_ref) noexcept;

/// The best that both ends support, if it is more than what is active; else 0, and also where the other end is not known.
iba::LinkWidth possible_width(const subnet&, port_ref) noexcept;
link_speeds possible_speed(const subnet&, port_ref) noexcept;
/// What is active at the other end, if both ends are up and do not say the same: one of them is wrong, or its answer is from
/// before the link trained again. Else 0.
iba::LinkWidth other_width(const subnet&, port_ref) noexcept;
link_speeds other_speed(const subnet&, port_ref) noexcept;
/// The link runs at 1x, although this end supports more. Precondition: its PortInfo is known.
bool is_degraded_to_1x(const subnet&, port_ref) noexcept;

/// PortInfo calls FDR10 QDR, and MlnxExtPortInfo tells them apart: whether that is worth a question, to a device that is known
/// to answer it. Precondition: the port's PortInfo is known; as long as port 0 of a switch is not, extended speeds count.
bool may_be_fdr10(const node&, u8 port) noexcept;
/// Takes the answer.
void take_fdr10(port&, const iba::smp::MlnxExtPortInfo&) noexcept;
/// It runs at FDR10. Precondition: the port's PortInfo is known.
bool is_fdr10(const subnet&, port_ref) noexcept;
/// Both ends of a QDR link that could do no better support FDR10, and it does not run at that.
bool could_be_fdr10(const subnet&, port_ref) noexcept;

/// 0 of what is no width.
unsigned lanes_of(iba::LinkWidth) noexcept;
/// Signalled bits of one lane in a second, of the fastest in the set; 0 of an empty one.
double bits_per_second(link_speeds) noexcept;
/// Of FDR10, which the set does not tell from QDR.
inline constexpr double fdr10_bits_per_second = 10.3125e9;
/// Of all lanes of a port as it runs. Precondition: its PortInfo is known.
double bits_per_second(const subnet&, port_ref) noexcept;

} // namespace comad::discovery
