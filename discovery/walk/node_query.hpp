// SPDX-License-Identifier: MIT
// node_query.hpp - the queries of a discovery: what a worker asks a node for, how the SMP is routed, and what came back.
#pragma once
#include <comad/discovery/database/subnet.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/path.hpp>

#include <deque>
#include <variant>

namespace comad::discovery {

enum class query_kind : u8 {
    neighbor,      ///< NodeInfo of the node on the other end of a link
    node,          ///< the next step of a node's reading plan: one of the kinds below
    port,          ///< PortInfo
    ext_port_info, ///< MlnxExtPortInfo
    switch_info,   ///< SwitchInfo
    description,   ///< NodeDescription
};

/// Something to learn about a node that is known.
struct node_query {
    query_kind kind;
    u32 node;    ///< index in the subnet
    u8 port = 0; ///< of neighbor: the port that the SMP leaves the node by; of port and ext_port_info: the port to read
    mad::IBDRPath route{};  ///< from the worker's local port to the node
    bool is_second = false; ///< an earlier query for it timed out
    /// Of port: sets the bit of that name in the attribute modifier, because the port may have hidden its extended speeds.
    bool understands_extended_speeds = false;
    bool is_step = false; ///< of the node's reading plan: after the reply follows the next step
};

/// How an SMP reaches the node that it is for.
enum class routing : u8 {
    directed, ///< by a directed route from the local port
    mixed,    ///< by LID to the switch in front of the node, then by a directed route of one hop
    lid,      ///< by LID to the node
};

/// A query that is ready to be sent.
struct node_request {
    node_query query;
    mad::IBDRPath directed{}; ///< the directed route to the receiver, with its M_Key
    routing by = routing::directed;
    mad::any_path path{}; ///< where the SMP is sent
    u32 modifier = 0;
    bool fell_back = false; ///< the SMP had no reply on `path`, and was sent again on `directed`
};

/// What a node replied, or why there is no reply.
using node_reply = std::variant<iba::smp::NodeInfo, iba::smp::PortInfo, iba::smp::MlnxExtPortInfo, iba::smp::SwitchInfo,
                                iba::smp::NodeDescription, mad::mad_error>;

/// The worker that sends a query.
struct query_origin {
    u32 worker;            ///< its number
    unsigned most_readers; ///< SMPs that a node may have in flight from it
    bool is_idle = false;  ///< it has nothing else to send
    port_ref start{};      ///< its local port
};

/// Queries that a worker has not sent yet, oldest first: so the search is breadth-first.
using query_queue = std::deque<node_query>;

} // namespace comad::discovery
