// SPDX-License-Identifier: MIT
// failure.hpp - a query without a result: its location, kind and cause. Discoveries, sweeps and the tool all use this type. Does
// not depend on the subnet database or on a schedule.
#pragma once
#include <comad/iba/detail/text_formatter.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/path.hpp>

#include <string>
#include <string_view>

namespace comad::discovery {

/// The reason why a query has no result. Cache files contain the numbers up to `limit`: append only.
enum class failure_kind : u8 {
    timeout,       ///< no reply after all attempts
    error_reply,   ///< a reply with an error status
    send_failed,   ///< the request could not be sent
    too_far,       ///< beyond the longest directed route
    contradiction, ///< impossible replies: one GUID on two nodes, no GUID, a port with two cables, too many ports
    cancelled,     ///< the operation ended before this query was sent
    limit,         ///< a limit of the discovery was reached, and further nodes were not queried
    unresponsive,  ///< a timeout of a node that was unresponsive in the previous sweep and was queried only once
    no_address,    ///< the port has no LID: no subnet manager assigned one
    not_cleared,   ///< counters kept their values after an attempt to clear them, or it is unknown whether they did
    not_written,   ///< another change that was not made, or it is unknown whether it was made
    other,         ///< none of these, or unknown
};

/// The name of the enumerator, as in JSON and metrics: `timeout`, `error_reply`, ...
std::string_view name_of(failure_kind) noexcept;
/// The failure kind for the error of an RPC.
failure_kind kind_of(const mad::mad_error&) noexcept;

/// The node or port that a failure concerns. All members are optional.
struct location {
    iba::guid nodeGUID{};  ///< the node that was queried, or the node in front of the unresponsive one; 0: unknown
    u8 port = 0;           ///< the port of that node; 0: the node itself
    mad::IBDRPath route{}; ///< the route of the request, if it has one
    /// How messages name the location, safe for a terminal: `S-0002c90000000001 "leaf-0001"[3]`. Empty: by `nodeGUID` and `port`.
    std::string name{};
    std::string short_name{}; ///< a shorter form of `name`: `leaf-0001 port 3`; empty: `name`
};

/// A query or operation without a result. A result with at least one failure is a partial result.
struct failure {
    failure_kind kind = failure_kind::other;
    location where{};
    std::string text{};  ///< what failed and why, complete, without the location
    std::string cause{}; ///< `text` in words for users, equal for all locations with this cause; empty: `text`
    /// For a contradiction: the node GUID that two nodes seem to have, which the subnet contains as one node; 0: none.
    iba::guid doubledGUID{};

    /// Returns whether the failure concerns a requested change that was not made, or whose outcome is unknown.
    bool is_write() const noexcept { return kind == failure_kind::not_cleared || kind == failure_kind::not_written; }
    /// The cause if there is one, else the text.
    const std::string& short_text() const noexcept { return cause.empty() ? text : cause; }
};

} // namespace comad::discovery

/// Formats the name; takes the format specification of a string.
template <> struct fmt::formatter<comad::discovery::failure_kind> : comad::iba::detail::text_formatter {
    format_context::iterator format(comad::discovery::failure_kind value, format_context& context) const {
        return format_text(name_of(value), context);
    }
};
