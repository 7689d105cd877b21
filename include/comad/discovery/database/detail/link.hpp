// SPDX-License-Identifier: MIT
// link.hpp - width and speed of a link: the active ones, the best that both ends support, and whether the link runs at FDR10.
// Interprets the fields of PortInfo for this. Does not depend on a text format.
#pragma once
#include <comad/discovery/database/subnet.hpp>
#include <comad/iba/detail/link_words.hpp>

namespace comad::discovery {

/// A set of lane speeds. It never contains FDR10: see is_fdr10().
using link_speeds = iba::lane_speeds;
inline constexpr unsigned extended_speed_bit = iba::lane_speed::first_extended_bit,
                          extended_speed2_bit = iba::lane_speed::first_extended2_bit;

/// Returns whether an end port sets IsExtendedSpeedsSupported in its capabilityMask (IBA 14.2.5.6). Extended speeds are only valid if
/// it does. Port 0 of a switch decides for all ports of the switch.
bool has_extended_speeds(const iba::smp::PortInfo& end_port) noexcept;
/// Returns whether extended speeds are valid for a port of a subnet. False if the PortInfo of its end port is not known.
bool has_extended_speeds(const subnet&, port_ref) noexcept;

/// The bit in the attribute modifier of PortInfo, next to the port number, by which the requester states that it understands extended
/// speeds (IBA 14.2.5.6).
inline constexpr u32 understands_extended_speeds = u32{1} << 31;
/// Returns whether a port that was queried without understands_extended_speeds may hide its extended speeds: its end port supports
/// them, but the port reports none. Query it again with the bit, as OpenSM does since 2026. If the second reply reports none either,
/// the node hides nothing, and its other ports need no second query.
bool hides_extended_speeds(const iba::smp::PortInfo& end_port, const iba::smp::PortInfo& port) noexcept;

/// The active width or speed in a PortInfo; 0: none. `extended`: extended speeds are valid for this port.
iba::LinkWidth active_width(const iba::smp::PortInfo&) noexcept;
link_speeds active_speed(const iba::smp::PortInfo&, bool extended) noexcept;
/// The active width or speed of a port of a subnet. Precondition: the PortInfo of the port is known.
iba::LinkWidth active_width(const subnet&, port_ref) noexcept;
link_speeds active_speed(const subnet&, port_ref) noexcept;

/// The best width or speed that both ends support, if it is better than the active one. Otherwise 0, even if the neighbor is unknown.
iba::LinkWidth possible_width(const subnet&, port_ref) noexcept;
link_speeds possible_speed(const subnet&, port_ref) noexcept;
/// The active width or speed at the neighbor, if both ends are up and report different values. In that case one end is wrong, or its
/// reply is older than the last training of the link. Otherwise 0.
iba::LinkWidth other_width(const subnet&, port_ref) noexcept;
link_speeds other_speed(const subnet&, port_ref) noexcept;
/// Returns whether the link runs at 1x although this end supports more. Precondition: the PortInfo of the port is known.
bool is_degraded_to_1x(const subnet&, port_ref) noexcept;

/// Returns whether a discovery should query MlnxExtPortInfo of a port: its PortInfo reports QDR, which may be FDR10, and the device is
/// known to reply. Precondition: the PortInfo of the port is known. Extended speeds are used until the PortInfo of a switch's port 0
/// is known.
bool may_be_fdr10(const node&, u8 port) noexcept;
/// Stores the FDR10 fields of the reply in the port.
void take_fdr10(port&, const iba::smp::MlnxExtPortInfo&) noexcept;
/// Returns whether the link runs at FDR10. Precondition: the PortInfo of the port is known.
bool is_fdr10(const subnet&, port_ref) noexcept;
/// Returns whether both ends of a QDR link support FDR10, no better speed is possible, and the link does not run at FDR10.
bool could_be_fdr10(const subnet&, port_ref) noexcept;

/// The number of lanes; 0 for an invalid width.
unsigned lanes_of(iba::LinkWidth) noexcept;
/// The signaling rate of one lane in bits per second, for the fastest speed in the set; 0 for an empty set.
double bits_per_second(link_speeds) noexcept;
/// The signaling rate of one lane at FDR10, which link_speeds cannot distinguish from QDR.
inline constexpr double fdr10_bits_per_second = 10.3125e9;
/// The signaling rate of all lanes of a port at its active width and speed. Precondition: the PortInfo of the port is known.
double bits_per_second(const subnet&, port_ref) noexcept;
/// The data rate of a lane with this signaling rate, both in bits per second: without line encoding and error correction (IBA volume 2),
/// 8b/10b up to QDR, 64b/66b for FDR10, FDR and EDR, RS(544,514) of 256b/257b blocks from HDR on. 25e9 for EDR, 0 without a link.
double lane_data_bits_per_second(double signaling_rate) noexcept;
/// The data rate of one lane of a port. Precondition: the PortInfo of the port is known.
double lane_data_bits_per_second(const subnet&, port_ref) noexcept;
/// The same for all lanes of a port at its active width: 1e11 for 4X EDR.
double data_bits_per_second(const subnet&, port_ref) noexcept;

} // namespace comad::discovery
