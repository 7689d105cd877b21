// SPDX-License-Identifier: MIT
// node_query.hpp - the queries of a discovery: what to read from a node, how the SMP is routed, and the reply.
#pragma once
#include <comad/discovery/database/subnet.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/time.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/path.hpp>

#include <deque>
#include <variant>

namespace comad::discovery {

/// The attribute that a query reads.
enum class query_kind : u8 {
    neighbor,      ///< NodeInfo of the node on the other end of a link
    node,          ///< the next step of a node's reading plan: one of the kinds below
    port,          ///< PortInfo
    ext_port_info, ///< MlnxExtPortInfo
    switch_info,   ///< SwitchInfo
    description,   ///< NodeDescription
};

/// A query to a known node, or to its neighbor.
struct node_query {
    query_kind kind;
    u32 node;    ///< index in the subnet
    u8 port = 0; ///< neighbor: the port by which the SMP leaves the node; port and ext_port_info: the port to read
    mad::IBDRPath route{};  ///< route from the worker's local port to the node
    bool is_second = false; ///< an earlier attempt at this query timed out
    /// For port: sets this bit in the attribute modifier, because the port may have hidden its extended speeds.
    bool understands_extended_speeds = false;
    bool is_step = false; ///< a step of the node's reading plan: the next step follows after the reply
};

/// The routing of an SMP to its receiver.
enum class routing : u8 {
    directed, ///< a directed route from the local port
    mixed,    ///< a LID route to the switch in front of the node, then a directed route of one hop
    lid,      ///< a LID route to the node
};

/// A query that is ready to be sent, with its path.
struct node_request {
    node_query query;
    mad::IBDRPath directed{}; ///< the directed route to the receiver, with its M_Key
    routing by = routing::directed;
    mad::any_path path{}; ///< the path on which the SMP is sent
    u32 modifier = 0;
    mad::duration patience{0}; ///< time limit on `path`; 0: the schedule's
    bool fell_back = false;    ///< `path` brought no reply, and the SMP was sent again on `directed`
};

/// The reply of a node, or the error if there is none.
using node_reply = std::variant<iba::smp::NodeInfo, iba::smp::PortInfo, iba::smp::MlnxExtPortInfo, iba::smp::SwitchInfo,
                                iba::smp::NodeDescription, mad::mad_error>;

/// The worker that sends a query.
struct query_origin {
    u32 worker;            ///< the number of the worker
    unsigned most_readers; ///< the most SMPs to one node that this worker has in flight
    bool is_idle = false;  ///< the worker has nothing else to send
    port_ref start{};      ///< the local port of the worker
};

/// Queries that a worker has not sent yet, oldest first. This order makes the search breadth-first.
using query_queue = std::deque<node_query>;

} // namespace comad::discovery
