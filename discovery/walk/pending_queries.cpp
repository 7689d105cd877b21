// SPDX-License-Identifier: MIT
// pending_queries.cpp - removes and reports the queries of a discovery that wait for the next round.
#include "pending_queries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

namespace comad::discovery {
namespace {

failure unsent_failure(const pending_query& q, const mad::IBDRPath& route, unsigned max_hops) {
    switch (q.reason) {
    case pending_reason::timed_out: return {failure_kind::timeout, {q.nodeGUID, q.port, route}, "no reply"};
    case pending_reason::too_far:
        return {failure_kind::too_far,
                {q.nodeGUID, q.port, route},
                fmt::format("neighbor not queried: it is more than {} hops away",
                            std::min(max_hops, mad::IBDRPath::max_hops))};
    default:
        return {failure_kind::send_failed,
                {q.nodeGUID, q.port, route},
                "the query was lost: the local port that sent it failed"};
    }
}

} // namespace

void pending_queries::remove_duplicates() {
    const auto key = [](const pending_query& q) { return std::tuple(q.nodeGUID, q.kind, q.port); };
    std::ranges::sort(queries_, {}, key);
    const auto duplicates = std::ranges::unique(queries_, {}, key);
    queries_.erase(duplicates.begin(), duplicates.end());
}

void pending_queries::report(const subnet& found, unsigned max_hops, failure_list& failures) const {
    for (const pending_query& q : queries_) {
        if (q.reason == pending_reason::possibly_stale) continue;
        const bool is_beyond_port = q.kind == query_kind::neighbor && q.reason != pending_reason::too_far;
        failures.add(unsent_failure(q, found.find(q.nodeGUID)->route, max_hops), is_beyond_port);
    }
}

} // namespace comad::discovery
