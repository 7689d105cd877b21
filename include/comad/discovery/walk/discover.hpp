// SPDX-License-Identifier: MIT
// discover.hpp - parallel discovery of a subnet by SMPs as one awaitable task.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/port_keys.hpp>

#include <atomic>
#include <cstddef>
#include <functional>
#include <span>
#include <stop_token>

namespace comad::discovery {

class node_sequence; // of node_sequence.hpp

/// What a discovery under way has found so far; any thread may look.
struct discovery_progress {
    std::atomic<std::size_t> nodes = 0;
    std::atomic<std::size_t> links = 0;
    std::atomic<std::size_t> failures = 0;
};

/// Whether a discovery continues through a port.
using port_filter = std::function<bool(const subnet&, port_ref)>;

struct discover_options {
    /// The LID of the end port where it begins: each SMP goes by LID to where a LID is known to lead, and to a new node through
    /// the switch in front of it alone. Switches forward it in hardware, and no management agent on the way is troubled. What
    /// has no answer by LID is asked by a directed route. 0: all go by directed routes, which need no LIDs.
    iba::lid from_lid{};
    unsigned max_hops = ~0u; ///< nodes farther away become failures of kind too_far; directed routes end after 63
    // Bounds of what may be an endless subnet, or a peer that makes one up. At each of them the discovery ends with what was
    // found, and a failure of kind limit says so.
    std::size_t max_nodes = 200'000;   ///< a subnet has 49,151 unicast LIDs
    std::size_t max_ports = 4'000'000; ///< of all nodes together: each has its place in memory, cabled or not
    mad::duration max_time{0};         ///< from its beginning, on the schedule's clock; 0: any
    const std::atomic<bool>* memory_is_short = nullptr; ///< set by whoever knows, in any thread; must outlive the task
    bool mlnx_ext_port_info = true; ///< ask devices that are known to have it whether a QDR link is FDR10 (SMP 0xff90)
    /// Each port's M_Key, in the SMPs to it; in the one that asks who it is that of the port that is known to be there, else the
    /// default. Null: none. Must outlive the task.
    const mad::port_keys* keys = nullptr;
    discovery_progress* progress = nullptr; ///< must outlive the task
    node_sequence* found =
        nullptr; ///< gets each node as soon as it was read; of discover() alone; must outlive the task
    /// Whether the neighbor of a port is queried; null: always. It is called before that query, when the node of the port was read up to
    /// this port: NodeInfo, NodeDescription (empty if the node did not answer it) and PortInfo are there. A port that is not followed
    /// stays without a peer and is no problem; its neighbor gets no SMP from there. Each node is then read by one query after the
    /// other. Several threads call it, one at a time, where discover_rails() has several ports. Discoveries by the SA do not call it.
    const port_filter* follows = nullptr; ///< must outlive the task
    iba::guid start_portGUID{}; ///< of the end port where it begins, whose key the first SMP has; zero: unknown
};

/// Finds every node, port and link that routes from the local port reach, by SubnGets only.
///
/// Breadth first, so that routes are short from the beginning; no SMP is sent for a fact that is already known, except
/// that the two ends of a link may be asked at once. What does not answer becomes a failure in the result and the rest
/// is complete. A node that times out twice in a row after it had answered is not asked further. Where two end ports have one
/// LID, no LID is trusted, and what was found by LIDs is asked again by directed routes.
/// Errors: only if the local port itself does not answer; then the error of that RPC.
/// Cancel: ends soon with what was found, and says so in the failures.
/// Lifetime: the schedule must outlive the task.
coro::task<mad::result<subnet>> discover(coro::MADSchedule& schedule, discover_options options = {});

/// The same by several end ports of one subnet at once, its rails, by directed routes only: each has a schedule of its own, which a thread of its own
/// drives; one database is filled. A node is read by the rail that comes to it first; one that has nothing else to do takes
/// part in reading the node that it came to. What is found, its order and routes are what the first rail that answers
/// would find alone, however the threads take turns. What no cable but another rail's leads to comes last, with the route
/// from there.
/// Blocks until all is known. With one rail no thread is started and nothing is locked.
/// Errors:  only if no rail's own port answers; then the error of the first. A port that does not answer, or fails on the way,
///          is a failure in the result; what it had to ask is asked by another.
/// Cancel:  `stop`: ends soon with what was found, and says so in the failures.
/// Threads: the schedules, of which there is at least one, must not be used elsewhere meanwhile; in virtual time, no two of
///          them may be on one simulated fabric.
mad::result<subnet> discover_rails(std::span<coro::MADSchedule* const> rails, discover_options options = {},
                                   std::stop_token stop = {});

} // namespace comad::discovery
