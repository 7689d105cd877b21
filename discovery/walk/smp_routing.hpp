// SPDX-License-Identifier: MIT
// smp_routing.hpp - the path, M_Key and attribute modifier of each SMP of a discovery.
#pragma once
#include "node_query.hpp"
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/walk/discover.hpp>

#include <array>

namespace comad::discovery {

/// The route with the M_Key of a port; zero: the port is not known.
mad::IBDRPath with_key(mad::IBDRPath route, iba::guid portGUID, const discover_options&);

/// Chooses between directed routes and LIDs. A way to route SMPs by LID that never led to a reply, where a directed route did, is
/// not used again.
class smp_routing {
public:
    struct settings {
        bool has_several_workers; ///< each has its own distance to a node
        bool retries_timeouts;    ///< what timed out is queried by directed routes at the end
    };
    /// Lifetime: the options must outlive it.
    smp_routing(const discover_options& options, settings s) : options_(options), settings_(s) {}

    /// True: the other end of the link is farther away than the discovery or directed routes go.
    bool is_too_far(const subnet&, port_ref, const mad::IBDRPath& route) const;
    node_request prepare(const subnet&, const node_query&) const;
    /// True: a request that failed on its path is sent again at once by the directed route, because LIDs may be stale, and some
    /// devices reject LID-routed SMPs. False: it is not, or only at the end, when the fabric is quiet.
    bool is_directed_next(const node_request&, const mad::mad_error&) const;
    /// A reply came.
    void note_reply(const node_request&);

private:
    mad::IBDRPath route_to(const subnet&, const node_query&) const;
    iba::lid usable_lid(const subnet&, port_ref) const;
    bool use_lid(node_request&, const subnet&) const;
    bool use_switch_in_front(node_request&, const subnet&, port_ref in_front) const;

    enum class experience : u8 { none, good, bad };
    experience& with(routing by) { return experiences_[static_cast<std::size_t>(by)]; }
    experience with(routing by) const { return experiences_[static_cast<std::size_t>(by)]; }

    const discover_options& options_;
    const settings settings_;
    std::array<experience, 3> experiences_{}; // by routing
};

} // namespace comad::discovery
