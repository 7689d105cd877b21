// SPDX-License-Identifier: MIT
// subnet_builder.hpp - decides what a discovery queries, and interprets the replies. Sends nothing.
#pragma once
#include "failure_list.hpp"
#include "found_subnet.hpp"
#include "hidden_speeds.hpp"
#include "limit_check.hpp"
#include "node_query.hpp"
#include "pending_queries.hpp"
#include "reading_plan.hpp"
#include "smp_routing.hpp"
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/walk/discover.hpp>

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace comad::discovery {

/// Builds a subnet from replies. A worker sends the queries in its queue as follows:
///
///     std::optional<node_request> request = builder.next(query);
///     while (request) {
///         const node_reply reply = ...; // send it
///         request = builder.accept(*request, reply, origin, queue);
///     }
///
/// Each part has one task: limit_check, smp_routing, found_subnet, reading_plan, hidden_speeds, pending_queries,
/// failure_list.
/// Threads: workers of several threads may call it; with one worker, it uses no lock. Node indices are valid until order_from().
class subnet_builder {
public:
    struct settings {
        bool has_several_workers = false;
        /// Queries that timed out are sent again at the end, when the fabric is quiet.
        bool retries_timeouts = false;
        std::optional<mad::time_point> end{}; ///< the end of the time limit, as for limit_check
    };
    subnet_builder(const discover_options&, settings);

    // ---- time
    /// Called when the first worker starts.
    void start_clock(mad::time_point now);
    /// These functions work as those of limit_check.
    std::optional<mad::time_point> end() const;
    mad::duration time_left(mad::time_point now) const;
    void note_time_over();

    // ---- start
    mad::IBDRPath path_to_start() const { return with_key({}, options_.start_portGUID, options_); }
    /// Starts with a subnet that was discovered before. The possibly stale ports have no link until they are queried again, which needs a
    /// route to them.
    void begin_with(const subnet& known, std::span<const port_ref> possibly_stale);
    /// Adds the node where a worker starts. Returns its index; port_ref::npos if its reply contradicts another start.
    u32 begin(const iba::smp::NodeInfo&, const query_origin&, query_queue&);

    // ---- queries and replies
    /// Returns the request for a query from the queue. Empty if the query is not needed any more, or is too far away, which is recorded.
    std::optional<node_request> next(const node_query&);
    /// Works as the function of smp_routing.
    bool is_directed_next(const node_request&, const mad::mad_error&) const;
    /// Takes the reply to a request, and appends the queries that follow from it to the worker's queue. Returns a request to send at once.
    std::optional<node_request> accept(const node_request&, const node_reply&, const query_origin&, query_queue&);
    /// Records that a local port failed during the discovery.
    void local_port_failed(iba::guid nodeGUID, u8 port, std::string text);

    // ---- at the end of a round, in one thread
    /// Sorts the nodes breadth-first from this port, and sets their routes.
    void order_from(iba::guid start, u8 start_port);
    /// Returns the pending queries that can be sent from the start of the order. With all links known, some nodes are nearer than the route
    /// by which they were found. Another worker may also reach what one worker has lost.
    std::vector<node_query> take_pending();
    /// Returns whether two end ports have a LID in common. Then another node may have sent the replies to LID-routed SMPs.
    bool has_duplicate_lids() const noexcept { return found_.has_duplicate_lids(); }
    /// Returns the result. `is_stopped`: the discovery was cancelled.
    subnet finish(bool is_stopped);

private:
    std::unique_lock<std::mutex> guard() const {
        return settings_.has_several_workers ? std::unique_lock(mutex_) : std::unique_lock<std::mutex>();
    }
    bool is_ending() { return limits_.is_memory_short(found_.get().nodes.size()) || found_.has_duplicate_lids(); }
    void add_stale(port_ref);
    void add_stale_node(u32 index);
    bool is_needed(const node_query& neighbor);
    std::optional<node_query> next_step(u32 index, const mad::IBDRPath& route);
    void enqueue(const probe_result&, unsigned readers, const iba::smp::NodeInfo&, const mad::IBDRPath& route,
                 query_queue&) const;
    void reread_for_ext_speeds(const node_query& read, query_queue&);

    // One function for each kind of reply. Takes the reply, and returns a query that comes before the next step of the node.
    struct context {
        const node_request& request;
        const query_origin& origin;
        query_queue& queue;
    };
    std::optional<node_query> take(const context&, const iba::smp::NodeInfo&);
    std::optional<node_query> take(const context&, const iba::smp::PortInfo&);
    std::optional<node_query> take(const context&, const iba::smp::MlnxExtPortInfo&);
    std::optional<node_query> take(const context&, const iba::smp::SwitchInfo&);
    std::optional<node_query> take(const context&, const iba::smp::NodeDescription&);
    std::optional<node_query> take(const context&, const mad::mad_error&);
    void add_failure(const node_request&, const mad::mad_error&);
    void add_timeout(const node_request&, bool is_queried_again);

    const discover_options options_;
    const settings settings_;
    mutable std::mutex mutex_;
    limit_check limits_;
    failure_list failures_;
    found_subnet found_;
    reading_plan plan_;
    hidden_speeds hidden_speeds_;
    smp_routing routing_;
    pending_queries pending_;
    u32 reached_ = 0; // nodes that links lead to; these come first
};

/// Returns whether a discovery that starts at this node and port starts where the discovery of `known` did.
bool is_same_start(const subnet& known, const iba::smp::NodeInfo&);

} // namespace comad::discovery
