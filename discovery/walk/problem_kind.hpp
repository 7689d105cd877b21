// SPDX-License-Identifier: MIT
// problem_kind.hpp - which kind of problem an RPC that failed is.
#pragma once
#include <comad/discovery/database/subnet.hpp>
#include <comad/mad/error.hpp>

namespace comad::discovery {

inline problem::kind kind_of(const mad::mad_error& e) {
    switch (e.code) {
    case mad::errc::timed_out: return problem::kind::no_answer;
    case mad::errc::cancelled: return problem::kind::cancelled;
    case mad::errc::not_in_port_table:
    case mad::errc::send_failed:
    case mad::errc::transport_failed: return problem::kind::send_failed;
    default: return problem::kind::error_reply;
    }
}

} // namespace comad::discovery
