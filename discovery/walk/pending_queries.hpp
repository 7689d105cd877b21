// SPDX-License-Identifier: MIT
// pending_queries.hpp - keeps the queries that wait for the next round of a discovery.
#pragma once
#include "failure_list.hpp"
#include "node_query.hpp"
#include <comad/discovery/database/subnet.hpp>

#include <functional>
#include <vector>

namespace comad::discovery {

/// The reason why a query waits.
enum class pending_reason : u8 {
    possibly_stale, ///< it was read before a rediscovery, and may have changed
    too_far,        ///< the port is up, but its neighbor is beyond the longest route
    worker_failed,  ///< the local port that sent it failed
    timed_out,      ///< it is sent again at the end, when the fabric is quiet
};

/// A query that waits. It contains the GUID of its node, because node indices change between rounds.
struct pending_query {
    query_kind kind;
    iba::guid nodeGUID;
    u8 port;
    pending_reason reason;
    unsigned position = 0; ///< the step of the reading plan to continue from; only for query_kind::node
    bool understands_extended_speeds = false; ///< see node_query
};

/// The queries that wait for the next round.
class pending_queries {
public:
    void add(const pending_query& q) { queries_.push_back(q); }
    void remove_duplicates();

    /// Removes the queries for which `take` returns true.
    void take_if(const std::function<bool(const pending_query&)>& take) { std::erase_if(queries_, take); }

    /// Adds a failure for each query that was not sent again, because no link leads to its node any more. Possibly stale queries are not
    /// failures.
    void report(const subnet&, unsigned max_hops, failure_list&) const;

private:
    std::vector<pending_query> queries_;
};

} // namespace comad::discovery
