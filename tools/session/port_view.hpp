// SPDX-License-Identifier: MIT
// port_view.hpp - reads one port as its node reports it: PortInfo, and what is needed to interpret it. Does not depend on a command.
#pragma once
#include "session/session.hpp"
#include <comad/discovery/database/detail/link.hpp>
#include <comad/iba/smp.hpp>

#include <optional>

namespace ibtool {

/// A port, with the attributes that describe it.
struct port_view {
    comad::mad::any_path path;
    comad::iba::smp::NodeInfo node;
    comad::u8 number = 0; ///< the requested number; 0 on a CA is the port where the path ends
    comad::iba::smp::PortInfo info;
    comad::iba::smp::PortInfo end;                            ///< PortInfo of port 0 for a switch, else `info`
    std::optional<comad::iba::smp::MlnxExtPortInfo> mellanox; ///< only of devices that are known to support it, and do

    bool is_switch() const { return node.nodeType == comad::iba::NodeType::Switch; }
    bool is_end_port() const { return !is_switch() || number == 0; }
    comad::u8 true_number() const { return number == 0 && !is_switch() ? node.localPortNum : number; }
    bool has_extended_speeds() const { return comad::discovery::has_extended_speeds(end); }
    comad::discovery::link_speeds active_speed() const {
        return comad::discovery::active_speed(info, has_extended_speeds());
    }
    /// Returns the speeds to which the port may train.
    comad::discovery::link_speeds enabled_speeds() const;
    comad::u8 enabled_widths() const; ///< set of LinkWidth
};

/// Reads a port; without a number, the port where the path ends. Throws std::runtime_error with one line if there is no such port.
query_task<port_view> view_port(session&, comad::mad::any_path, std::optional<comad::u8> number);

/// Reads the port on the other end of the link. infiniband-diags query it by a route that starts at the LID of a switch. If such SMPs are
/// not forwarded, the SA is queried. Throws std::runtime_error with one line if it cannot be queried.
query_task<port_view> view_other_end(session&, const port_view& here);

/// Returns one line for each property of a link that is worse than both ends allow.
std::vector<std::string> link_complaints(const port_view& here, const port_view& there);

} // namespace ibtool
