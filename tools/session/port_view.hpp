// SPDX-License-Identifier: MIT
// port_view.hpp - one port as its node tells it: PortInfo and what makes it readable. Knows no command.
#pragma once
#include "session/session.hpp"
#include <comad/discovery/database/detail/link.hpp>
#include <comad/iba/smp.hpp>

#include <optional>

namespace ibtool {

struct port_view {
    comad::mad::any_path path;
    comad::iba::smp::NodeInfo node;
    comad::u8 number = 0; ///< as it was asked for: 0 of a CA is the port that the path leads to
    comad::iba::smp::PortInfo info;
    comad::iba::smp::PortInfo end;                            ///< of a switch that of its port 0, else `info`
    std::optional<comad::iba::smp::MlnxExtPortInfo> mellanox; ///< of devices that are known to have it, and do

    bool is_switch() const { return node.nodeType == comad::iba::NodeType::Switch; }
    bool is_end_port() const { return !is_switch() || number == 0; }
    comad::u8 true_number() const { return number == 0 && !is_switch() ? node.localPortNum : number; }
    bool has_extended_speeds() const { return comad::discovery::has_extended_speeds(end); }
    comad::discovery::link_speeds active_speed() const {
        return comad::discovery::active_speed(info, has_extended_speeds());
    }
    /// What it may train to.
    comad::discovery::link_speeds enabled_speeds() const;
    comad::u8 enabled_widths() const; ///< set of LinkWidth
};

/// Reads it; without a number the port that the path leads to. Throws std::runtime_error with one line if there is no such port.
query_task<port_view> view_port(session&, comad::mad::any_path, std::optional<comad::u8> number);

/// The port at the other end of the cable. infiniband-diags ask for it by a route that starts at the LID of a switch; where such
/// SMPs are not carried, the SA is queried. Throws std::runtime_error with one line where there is no way to query it.
query_task<port_view> view_other_end(session&, const port_view& here);

/// A line for each thing in which a link is worse than both its ends may train to.
std::vector<std::string> link_complaints(const port_view& here, const port_view& there);

} // namespace ibtool
