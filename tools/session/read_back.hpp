// SPDX-License-Identifier: MIT
// read_back.hpp - helpers for commands that write: find out by one more read whether a failed Set took effect. Does not depend on a
// particular attribute.
#pragma once
#include "comad.hpp"
#include "session/session.hpp"
#include "text/failure_text.hpp"
#include <comad/coro/detail/uncancelled.hpp>
#include <comad/mad/detail/may_have_acted.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <string_view>

namespace ibtool {

/// Returns the time limit of a read after a signal. A node gets its next SMP only after the timeout of the Set that the signal
/// interrupted.
inline std::chrono::nanoseconds read_back_limit(const session& in) {
    using namespace std::chrono_literals;
    const std::chrono::nanoseconds timeout = in.options().timeout; // timeout of one attempt
    return 500ms + (timeout.count() > 0 ? std::min<std::chrono::nanoseconds>(timeout, 1s) : 1s);
}

/// Reads an attribute that a Set should have changed, even after a signal, and then for at most read_back_limit(). `read` may be called
/// twice.
template <class T> query_task<T> read_back(session& in, std::function<query_task<T>()> read) {
    return comad::coro::uncancelled<T>(in.schedule(), read_back_limit(in), std::move(read));
}

/// The text of a failure whose write may have taken effect.
inline constexpr std::string_view not_known = "unknown whether it changed";

/// Returns the error that makes the outcome unknown: that of the write, or else of the read after it. `write`: null if the write got a
/// reply.
inline const comad::mad::mad_error& decisive(const comad::mad::mad_error* write, const comad::mad::mad_error& read) {
    return write ? *write : read;
}

/// Returns the failure `LID 7: unknown whether it changed: LID 7 did not reply to Set of PortInfo (3 attempts, 3 s)`.
inline discovery::failure unknown_change(std::string place, const comad::mad::mad_error& e) {
    return of_write(failure_at(std::move(place), fmt::format("{}: {}", not_known, to_string(e)),
                               fmt::format("{}: {}", not_known, plain_text(e))));
}
/// Returns the failure `LID 7: not set: GUIDBlock[3] is 0`, and why the Set failed if it did.
inline discovery::failure not_set(std::string place, const std::string& difference,
                                  const comad::mad::mad_error* write) {
    std::string text = "not set: " + difference;
    if (!write) return of_write(failure_at(std::move(place), text));
    return of_write(failure_at(std::move(place), fmt::format("{}; {}", text, to_string(*write)),
                               fmt::format("{}; {}", text, plain_text(*write))));
}

} // namespace ibtool
