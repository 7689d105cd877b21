// SPDX-License-Identifier: MIT
// link_text.hpp - one end of a link in words: its state, width and speed, what it could be, and who is at the other end, as
// infiniband-diags print it. Asks nobody.
#pragma once
#include <comad/discovery/chassis/detail/chassis.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <string>

namespace ibtool {

/// LID of the port, or of port 0 of its switch; 0 if it is not known.
unsigned lid_at(const comad::discovery::subnet&, comad::discovery::port_ref);

/// `4X`, `25.78125 Gbps`: what is active. Precondition: the port's PortInfo is known.
std::string width_of(const comad::discovery::subnet&, comad::discovery::port_ref);
std::string speed_of(const comad::discovery::subnet&, comad::discovery::port_ref);

/// `25.78125 Gbps`, of a set of one speed.
std::string any_speed_text(comad::discovery::link_speeds);

/// `12X`, `10.0 Gbps`: the best that both ends support, if it is not what is active; else nothing, and also where the other
/// end is not known.
std::string better_width(const comad::discovery::subnet&, comad::discovery::port_ref);
std::string better_speed(const comad::discovery::subnet&, comad::discovery::port_ref);

/// `( 4X           2.5 Gbps Active/  LinkUp)`. Precondition: the port's PortInfo is known.
/// `with_times`: also ` (HOQ:16 vl_Stall:7)` of a link that is not down.
std::string link_text(const comad::discovery::subnet&, comad::discovery::port_ref, bool with_times = false);

/// `[ 7]`: what is printed beside the socket of a chassis; `[  ]`: nothing is known.
std::string external_port_text(const comad::discovery::system_groups&, comad::discovery::port_ref);

/// What stands for the other end of a link that is down.
inline constexpr std::string_view no_peer_text = "           [  ] \"\" ( )";

/// `     2    1[  ] "second switch" (Could be 12X )`: the other end by its port and name. `with_guid`: its GUID in front.
std::string peer_text(const comad::discovery::subnet&, const comad::discovery::node_names&, comad::discovery::port_ref,
                      bool with_guid = false, const comad::discovery::system_groups& = {});

} // namespace ibtool
