// SPDX-License-Identifier: MIT
// tracer.hpp - finds routes through a subnet by the forwarding tables of its switches. Does not depend on a text format.
#pragma once
#include "session/session.hpp"
#include <comad/discovery/database/node_names.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/path.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// A port on a route, and its node.
struct route_port {
    comad::iba::smp::NodeInfo node;
    comad::iba::smp::PortInfo port;
    unsigned port_number; // the port where the route enters; 0 on a switch where the route starts or ends
    std::string name;     // raw bytes

    std::string called() const { return comad::iba::escaped(name); }
    bool is_switch() const { return node.nodeType == comad::iba::NodeType::Switch; }
    unsigned first_lid() const { return value(port.LID); }
    unsigned last_lid() const { return first_lid() + (1u << port.LMC) - 1; }
    bool has_lid(unsigned LID) const { return first_lid() != 0 && LID >= first_lid() && LID <= last_lid(); }
    unsigned end_number() const { return is_switch() ? 0 : port_number; }
};

/// A place, and the port by which the route left the previous place.
struct hop {
    unsigned out;
    route_port at;
};

/// A route with all its hops.
struct route {
    route_port from;
    std::vector<hop> hops;
    comad::mad::IBDRPath end; // route from the local port to the end

    const route_port& to() const { return hops.empty() ? from : hops.back().at; }
};

/// Finds routes. If no route exists, throws std::runtime_error with one line.
class tracer {
public:
    tracer(session& in, const comad::discovery::node_names& names) : in_(in), names_(names) {}

    /// Queries the node and port at the end of a path.
    query_task<route_port> query_place(comad::mad::any_path path);

    /// Finds the route from the port at the end of a directed route to the port `to` with the LID `LID`, by the linear tables.
    /// `by_lid`: to any port of that node that has the LID.
    query_task<route> find(comad::mad::IBDRPath path, route_port to, unsigned LID, bool by_lid);
    /// Returns the hops that find() has found so far, also after an error; nullopt: it failed at the start.
    const std::optional<route>& so_far() const noexcept { return so_far_; }

    /// Finds the route of a packet from the end of `path` to `to` by a multicast LID; the packet may go to other ports as well. A tree
    /// that returns to one of its switches is an error, unless `to` is nearer.
    query_task<route> find_multicast(comad::mad::IBDRPath path, route_port to, unsigned MLID);

private:
    query_task<hop> next_hop(route& way, unsigned LID);
    query_task<hop> through_switch(route& way, unsigned LID);
    /// Leaves the local port through its cable. For another end port, the switch is one hop closer: `path` is then the path to the switch.
    query_task<hop> out_of_end_port(route_port here, comad::mad::IBDRPath& path);
    /// Returns the port by which a cable enters the next node. The node reports it itself; the SA knows it from the link.
    query_task<unsigned> entry_port(const route_port& here, unsigned out, const route_port& next);
    query_task<hop> through_cable(route_port here, comad::mad::IBDRPath path, unsigned out);
    /// Returns the ports to which a switch forwards packets of the group, except one.
    query_task<std::vector<unsigned>> group_ports(route_port at, comad::mad::IBDRPath path, unsigned MLID,
                                                  unsigned but);

    session& in_;
    const comad::discovery::node_names& names_;
    std::optional<route> so_far_;
};

} // namespace ibtool
