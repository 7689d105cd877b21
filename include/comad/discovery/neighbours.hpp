// SPDX-License-Identifier: MIT
// neighbours.hpp - one node and who is at the other ends of its cables, asked without the rest of the subnet. Knows no text form.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/subnet.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/port_keys.hpp>

namespace comad::discovery {

/// The node that `path` leads to and all its neighbours, as a subnet of their own: nodes[0] is the node, its neighbours follow by
/// its port numbers. Of it all ports are read if it is a switch, else the one that the path leads to, and only that one's
/// neighbour is asked; of neighbours the ports at its cables, and port 0 of switches. SubnGets only.
///
/// `path`: a directed route, or the LID of a switch: then routes of neighbours begin at that LID, and nodes[0].route is empty. The
/// neighbour of a CA that is not the local one is whom the route comes through. Of path.SLID 0 the local port is asked for its own.
/// `keys`: as in discover_options. Lifetime: schedule and keys must outlive the task.
/// Errors: those of the first SMP to the node; path_not_found where the path is the LID of no switch. What else does not answer
/// is a problem in the result.
coro::task<mad::result<subnet>> find_neighbours(coro::MADSchedule& schedule, mad::any_path path,
                                                const mad::port_keys* keys = nullptr);

/// The same of one port, which alone is read, with port 0 of a switch; there is nobody in nodes[1] where it leads nowhere.
/// Errors: also path_not_found where the node has no such port, or it is one of a CA that the path does not lead to.
coro::task<mad::result<subnet>> find_neighbour(coro::MADSchedule& schedule, mad::any_path path, u8 port,
                                               const mad::port_keys* keys = nullptr);

} // namespace comad::discovery
