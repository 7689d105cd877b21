// SPDX-License-Identifier: MIT
// discover.hpp - discovery of a subnet as one awaitable task: by SMPs, in parallel, or from the tables of the SA.
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

/// What a discovery has found so far. Any thread may read it.
struct discovery_progress {
    std::atomic<std::size_t> nodes = 0;
    std::atomic<std::size_t> links = 0;
    std::atomic<std::size_t> failures = 0;
};

/// A set of node types.
struct node_types {
    bool CA = true, Switch = true, Router = true;

    constexpr bool has(iba::NodeType type) const noexcept {
        return type == iba::NodeType::Switch ? Switch : type == iba::NodeType::Router ? Router : CA;
    }
};
/// The set without a type.
inline constexpr node_types no_node_types{.CA = false, .Switch = false, .Router = false};

/// What a discovery reads, in addition to what it needs to find all nodes and links by SMPs: NodeInfo of each node, and
/// PortInfo of the external ports of switches and of the local port. The subnet lacks an attribute that is not
/// wanted, as after a query without a reply, but without a failure.
struct wanted_attributes {
    node_types NodeDescription{}; ///< of nodes of these types
    node_types end_ports{};       ///< PortInfo of the end ports of these types: LIDs, and the states of CAs. Always
                                  ///< read if discover_options::from_lid is set
    bool SwitchInfo = true;
    bool links = true; ///< only for discover_by_sa(): false reads no LinkRecords, so that no port has a peer
};

/// Returns whether a discovery continues through a port.
using port_filter = std::function<bool(const subnet&, port_ref)>;

/// How a discovery routes its SMPs, where it ends, and what it reports while it runs.
struct discover_options {
    /// The LID of the local port. If it is set, SMPs go by LID to nodes whose LID is known, and to a new node through the switch in
    /// front of it: switches forward them in hardware, without their management agents. A query without a reply by LID is sent again by
    /// a directed route. 0: all SMPs go by directed routes, which need no LIDs.
    iba::lid from_lid{};
    unsigned max_hops = ~0u; ///< nodes farther away become failures of kind too_far; directed routes end after 63
    // Limits, because a subnet may be endless, or a peer may invent one. At each limit the discovery ends with a partial result and a
    // failure of kind limit.
    std::size_t max_nodes = 200'000;                    ///< a subnet has 49,151 unicast LIDs
    std::size_t max_ports = 4'000'000;                  ///< of all nodes together: each takes memory, cabled or not
    mad::duration max_time{0};                          ///< from the first SMP, on the schedule's clock; 0: unlimited
    const std::atomic<bool>* memory_is_short = nullptr; ///< set by the program, in any thread; must outlive the task
    bool mlnx_ext_port_info = true; ///< query devices that have SMP 0xff90 whether a QDR link is FDR10
    /// The M_Key of each port, for the SMPs to it. An SMP to a new node has the key of the port that was last known there, or else the
    /// default. Null: none. Must outlive the task.
    const mad::port_keys* keys = nullptr;
    discovery_progress* progress = nullptr; ///< must outlive the task
    node_sequence* found =
        nullptr; ///< gets each node as soon as it was read; only of discover(); must outlive the task
    /// Whether the neighbor of a port is queried; null: always. It is called before that query, when the node of the port was read up to
    /// this port: NodeInfo, NodeDescription (empty if the node did not answer it) and PortInfo are valid. A port that is not followed
    /// stays without a peer and is not a failure; its neighbor gets no SMP from there. Each node is then read by one query after the
    /// other. Several threads call it, one at a time, where discover_multi_port() has several ports. Discoveries by the SA do not call it.
    const port_filter* follows = nullptr; ///< must outlive the task
    wanted_attributes wanted{};           ///< discover_by_sa() ignores its node types, because one record has all
    iba::guid start_portGUID{};           ///< of the local port, for the M_Key of the first SMP; zero: unknown
};

/// Finds every node, port and link that routes from the local port reach. Sends only SubnGets.
///
/// The search is breadth-first, so the first route to a node is short. No fact is queried twice, except that the queries from
/// both ends of a link may cross. A query without a reply becomes a failure in the result, and the rest is complete. A node that
/// times out twice in a row after it had replied is not queried further in the same round. If two end ports have one LID, no
/// LID can be trusted: the discovery starts again by directed routes.
/// Errors: only if the local port itself does not reply: the error of that RPC.
/// Cancel: ends soon with what was found, and a failure of kind `cancelled`.
/// Lifetime: the schedule must outlive the task.
coro::task<mad::result<subnet>> discover(coro::MADSchedule& schedule, discover_options options = {});

/// As discover(), through several local ports of one subnet, by directed routes only. Each port has its own schedule, and a thread of
/// its own drives that; all of them fill one subnet. The port that reaches a node first reads it. A port that has nothing else to send
/// takes part in reading a node that it reaches. Nodes, order and routes equal the result of a discovery by the first port
/// that replies, however the threads take turns. Nodes that only a cable of another port leads to come last, with the route from
/// there.
/// Blocks until the discovery has ended. With one port, no thread is started and nothing is locked.
/// Errors:  only if none of the ports replies: the error of the first. A port that does not reply, or fails during the discovery, is a
///          failure in the result, and the other ports take over its queries.
/// Cancel:  `stop`: ends soon with what was found, and a failure of kind `cancelled`.
/// Threads: the schedules, at least one, must not be used elsewhere meanwhile; in virtual time, no two of
///          them may be on one simulated fabric.
mad::result<subnet> discover_multi_port(std::span<coro::MADSchedule* const> schedules, discover_options options = {},
                                        std::stop_token stop = {});

/// The subnet as the SA describes it, from its NodeRecord, PortInfoRecord, LinkRecord and SwitchInfoRecord tables (IBA 15.2.5). Sends
/// four SubnAdmGetTables to the schedule's sa_path(), or fewer if not all are wanted, and no SMP.
///
/// Order and routes follow discover() from the end port that has `local_lid`, which becomes nodes[0]. localPortNum of PortInfo
/// is the number of the port that the route enters by. States come from the SM's last sweep. The result lacks what the SA does not
/// know or does not return:
/// - M_Keys, unless the SA trusts the SM_Key of the request
/// - `port::fdr10` and `port::fdr10_supported`, which no record contains
/// - with P_Key enforcement, everything that shares no partition with the local port
/// A record that is missing becomes a failure in the result, and so does a contradiction: two nodes with one LID, a link whose ends
/// disagree, a record of a node or port that does not exist.
///
/// Ignores the options about hops, devices and SMPs. M_Keys of `keys` are in the routes of the nodes.
/// Errors: those of SubnAdmGetTable for NodeRecords; path_not_found if the SA has no node with `local_lid`.
/// Cancel: the error of a request that was canceled, or what was found, with a failure.
/// Lifetime: the schedule must outlive the task.
coro::task<mad::result<subnet>> discover_by_sa(coro::MADSchedule& schedule, iba::lid local_lid,
                                               discover_options options = {});

} // namespace comad::discovery
