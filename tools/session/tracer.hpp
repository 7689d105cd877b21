// SPDX-License-Identifier: MIT
// tracer.hpp - ways through a subnet, as the switches' forwarding tables have them. Knows no text.
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

/// A port where the way passes, and its node.
struct place {
    comad::iba::smp::NodeInfo node;
    comad::iba::smp::PortInfo port;
    unsigned port_number; // by which the way comes in; where it begins or ends, of a switch 0
    std::string name;     // as it is

    std::string called() const { return comad::iba::escaped(name); }
    bool is_switch() const { return node.nodeType == comad::iba::NodeType::Switch; }
    unsigned first_lid() const { return value(port.LID); }
    unsigned last_lid() const { return first_lid() + (1u << port.LMC) - 1; }
    bool has_lid(unsigned LID) const { return first_lid() != 0 && LID >= first_lid() && LID <= last_lid(); }
    unsigned end_number() const { return is_switch() ? 0 : port_number; }
};

/// A place, and the port by which the one before it was left.
struct hop {
    unsigned out;
    place at;
};

struct route {
    place from;
    std::vector<hop> hops;
    comad::mad::IBDRPath end; // from our own port to where it ends

    const place& to() const { return hops.empty() ? from : hops.back().at; }
};

/// Looks for ways. Where there is none, it throws std::runtime_error with one line.
class tracer {
public:
    tracer(session& in, const comad::discovery::node_names& names) : in_(in), names_(names) {}

    query_task<place> ask_place(comad::mad::any_path path);

    /// From the port at the end of a directed route to the port `to`, which has the LID `LID`: by the linear tables.
    /// `by_lid`: to whatever port there has that LID.
    query_task<route> find(comad::mad::IBDRPath path, place to, unsigned LID, bool by_lid);
    /// The hops that find() got so far, also where it failed; nothing: it failed at the start.
    const std::optional<route>& so_far() const noexcept { return so_far_; }

    /// The way that a packet to the multicast LID takes to `to`, on which it may go elsewhere, too. A tree that comes back
    /// to one of its switches is an error, unless `to` is nearer.
    query_task<route> find_multicast(comad::mad::IBDRPath path, place to, unsigned MLID);

private:
    query_task<hop> next_hop(route& way, unsigned LID);
    query_task<hop> through_switch(route& way, unsigned LID);
    /// Our own port is left through its cable; another one's switch is a hop nearer to us. `path` is then that switch's.
    query_task<hop> out_of_end_port(place here, comad::mad::IBDRPath& path);
    /// The port by which a cable comes in. A node says that itself; the SA knows it of the cable.
    query_task<unsigned> entry_port(const place& here, unsigned out, const place& next);
    query_task<hop> through_cable(place here, comad::mad::IBDRPath path, unsigned out);
    /// The ports by which a switch sends packets of the group on, but that one.
    query_task<std::vector<unsigned>> group_ports(place at, comad::mad::IBDRPath path, unsigned MLID, unsigned but);

    session& in_;
    const comad::discovery::node_names& names_;
    std::optional<route> so_far_;
};

} // namespace ibtool
