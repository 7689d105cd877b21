// SPDX-License-Identifier: MIT
// smp_routing.hpp - chooses the path, M_Key and attribute modifier of each SMP of a discovery.
#pragma once
#include "node_query.hpp"
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/walk/discover.hpp>

#include <array>

namespace comad::discovery {

/// Returns the route with the M_Key of a port. portGUID 0: the port is not known.
mad::IBDRPath with_key(mad::IBDRPath route, iba::guid portGUID, const discover_options&);

/// Chooses between directed routes and LIDs. The first SMP with each LID routing is a trial: until its result is known, other SMPs use
/// directed routes. If the trial had no reply where the directed route had one, the routing is not used again.
class smp_routing {
public:
    struct settings {
        bool has_several_workers; ///< each has its own distance to a node
        bool retries_timeouts;    ///< queries that timed out are sent again by directed routes at the end
    };
    /// Lifetime: the options must outlive the object.
    smp_routing(const discover_options& options, settings s) : options_(options), settings_(s) {}

    /// Returns whether the neighbor of a port is beyond max_hops, or beyond the longest directed route.
    bool is_too_far(const subnet&, port_ref, const mad::IBDRPath& route) const;
    /// Returns the request for a query, with path, M_Key and attribute modifier.
    node_request prepare(const subnet&, const node_query&);
    /// Returns whether a request that failed on its path is sent again at once by the directed route. LIDs may be stale, and some devices
    /// reject LID-routed SMPs. If false, it is not sent again, or only at the end when the fabric is quiet.
    bool is_directed_next(const node_request&, const mad::mad_error&) const;
    /// Records that a request got a reply, on its path or on the directed route.
    void note_reply(const node_request&);
    /// Records that a request got no reply. This does not show whether its path was wrong.
    void note_failure(const node_request&);

private:
    mad::IBDRPath route_to(const subnet&, const node_query&) const;
    iba::lid usable_lid(const subnet&, port_ref) const;
    bool use_lid(node_request&, const subnet&);
    bool use_switch_in_front(node_request&, const subnet&, port_ref in_front);
    bool take(node_request&, routing);

    enum class experience : u8 { none, on_trial, good, bad };
    experience& with(routing by) { return experiences_[static_cast<std::size_t>(by)]; }
    experience with(routing by) const { return experiences_[static_cast<std::size_t>(by)]; }

    const discover_options& options_;
    const settings settings_;
    std::array<experience, 3> experiences_{}; // experience by routing
};

} // namespace comad::discovery
