// SPDX-License-Identifier: MIT
// read_back.hpp - what commands share that write: whether a Set that failed may have been done, and one more read that decides. Knows no
// particular attribute.
#pragma once
#include "comad.hpp"
#include "session/session.hpp"
#include "text/missing.hpp"
#include <comad/coro/detail/uncancelled.hpp>
#include <comad/mad/detail/acted.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace ibtool {

/// How long a read after a signal may take: a node gets its next SMP only when the time of the Set is over, which the signal ended.
inline std::chrono::nanoseconds read_back_limit(const session& in) {
    using namespace std::chrono_literals;
    const std::chrono::nanoseconds timeout = in.options().timeout; // of an attempt
    return 500ms + (timeout.count() > 0 ? std::min<std::chrono::nanoseconds>(timeout, 1s) : 1s);
}

/// Reads what a Set was to change, after a signal, too: then for at most read_back_limit(). `read` may be called twice.
template <class T> query_task<T> read_back(session& in, std::function<query_task<T>()> read) {
    return comad::coro::uncancelled<T>(in.schedule(), read_back_limit(in), std::move(read));
}

inline constexpr std::string_view not_known = "unknown whether it changed";

/// The RPC after which nothing is known: the write if that failed, else the read after it. Null is a write that was answered.
inline const comad::mad::mad_error& decisive(const comad::mad::mad_error* write, const comad::mad::mad_error& read) {
    return write ? *write : read;
}

/// `LID 7: unknown whether it changed: LID 7 did not reply to Set of PortInfo (3 attempts, 3 s)`, of a place.
inline discovery::failure unknown_change(std::string place, const comad::mad::mad_error& e) {
    return of_write(failure_at(std::move(place), fmt::format("{}: {}", not_known, to_string(e)),
                               fmt::format("{}: {}", not_known, plain_text(e))));
}
/// `LID 7: not set: GUIDBlock[3] is 0`, with why the Set failed if it did.
inline discovery::failure not_set(std::string place, const std::string& difference,
                                  const comad::mad::mad_error* write) {
    std::string text = "not set: " + difference;
    if (!write) return of_write(failure_at(std::move(place), text));
    return of_write(failure_at(std::move(place), fmt::format("{}; {}", text, to_string(*write)),
                               fmt::format("{}; {}", text, plain_text(*write))));
}

} // namespace ibtool
