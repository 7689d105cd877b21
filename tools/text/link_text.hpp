// SPDX-License-Identifier: MIT
// link_text.hpp - formats one end of a link as infiniband-diags do: its state, width and speed, their possible values, and the neighbor.
// Sends nothing.
#pragma once
#include <comad/discovery/chassis/detail/chassis.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <string>

namespace ibtool {

/// Returns the LID of the port, or of port 0 of its switch; 0: unknown.
unsigned lid_at(const comad::discovery::subnet&, comad::discovery::port_ref);

/// Return the active width and speed: `4X`, `25.78125 Gbps`. Precondition: the port's PortInfo is known.
std::string width_of(const comad::discovery::subnet&, comad::discovery::port_ref);
std::string speed_of(const comad::discovery::subnet&, comad::discovery::port_ref);

/// Returns `25.78125 Gbps` for a set with one speed.
std::string format_any_speed(comad::discovery::link_speeds);

/// Return the best width and speed that both ends support, `12X`, `10.0 Gbps`, if they are not active. Otherwise, and if the neighbor is
/// unknown, the text is empty.
std::string better_width(const comad::discovery::subnet&, comad::discovery::port_ref);
std::string better_speed(const comad::discovery::subnet&, comad::discovery::port_ref);

/// Returns `( 4X           2.5 Gbps Active/  LinkUp)`. `with_times`: appends ` (HOQ:16 vl_Stall:7)` if the link is not down.
/// Precondition: the port's PortInfo is known.
std::string format_link(const comad::discovery::subnet&, comad::discovery::port_ref, bool with_times = false);

/// Returns the number printed next to the socket of a chassis: `[ 7]`; `[  ]` if it is unknown.
std::string format_external_port(const comad::discovery::system_groups&, comad::discovery::port_ref);

/// The text in place of the neighbor if the link is down.
inline constexpr std::string_view no_peer_text = "           [  ] \"\" ( )";

/// Returns the neighbor: `     2    1[  ] "second switch" (Could be 12X )`. `with_guid`: starts with its GUID.
std::string format_peer(const comad::discovery::subnet&, const comad::discovery::node_names&,
                        comad::discovery::port_ref, bool with_guid = false,
                        const comad::discovery::system_groups& = {});

} // namespace ibtool
