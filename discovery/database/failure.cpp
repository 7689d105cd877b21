// SPDX-License-Identifier: MIT
// failure.cpp - the names of failure kinds, and the failure kind that corresponds to each RPC error.
#include <comad/discovery/database/failure.hpp>

namespace comad::discovery {

std::string_view name_of(failure_kind k) noexcept {
    switch (k) {
    case failure_kind::timeout: return "timeout";
    case failure_kind::error_reply: return "error_reply";
    case failure_kind::send_failed: return "send_failed";
    case failure_kind::too_far: return "too_far";
    case failure_kind::contradiction: return "contradiction";
    case failure_kind::cancelled: return "cancelled";
    case failure_kind::limit: return "limit";
    case failure_kind::unresponsive: return "unresponsive";
    case failure_kind::no_address: return "no_address";
    case failure_kind::not_cleared: return "not_cleared";
    case failure_kind::not_written: return "not_written";
    case failure_kind::other: return "other";
    }
    return "?";
}

failure_kind kind_of(const mad::mad_error& e) noexcept {
    switch (e.code) {
    case mad::errc::timed_out: return failure_kind::timeout;
    case mad::errc::cancelled: return failure_kind::cancelled;
    case mad::errc::not_in_port_table:
    case mad::errc::send_failed:
    case mad::errc::transport_failed: return failure_kind::send_failed;
    default: return failure_kind::error_reply;
    }
}

} // namespace comad::discovery
