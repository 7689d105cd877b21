// SPDX-License-Identifier: MIT
// link.hpp - width and speed of a link: what is active, and the best that both ends support. Knows no text form.
#pragma once
#include <comad/discovery/subnet.hpp>

namespace comad::discovery {

/// Speeds of a lane as a set, the slower the lower: LinkSpeed in bits 0 to 2, LinkSpeedExt from bit 3, LinkSpeedExt2 from
/// bit 7 (IBA 14.2.5.6).
using link_speeds = u32;
inline constexpr unsigned extended_speed_bit = 3, extended_speed2_bit = 7;

/// What is active there. Precondition: the port's PortInfo is known.
iba::LinkWidth active_width(const subnet&, port_ref) noexcept;
link_speeds active_speed(const subnet&, port_ref) noexcept;

/// The best that both ends support, if it is not what is active; else 0, and also where the other end is not known.
iba::LinkWidth possible_width(const subnet&, port_ref) noexcept;
link_speeds possible_speed(const subnet&, port_ref) noexcept;
/// Both ends of a QDR link that could do no better support FDR10, and it does not run at that.
bool could_be_FDR10(const subnet&, port_ref) noexcept;

/// 0 of what is no width.
unsigned lanes_of(iba::LinkWidth) noexcept;
/// Signalled bits of one lane in a second, of the fastest in the set; 0 of an empty one.
double bits_per_second(link_speeds) noexcept;
/// Of FDR10, which the set does not tell from QDR.
inline constexpr double FDR10_bits_per_second = 10.3125e9;
/// Of all lanes of a port as it runs. Precondition: its PortInfo is known.
double bits_per_second(const subnet&, port_ref) noexcept;

} // namespace comad::discovery
