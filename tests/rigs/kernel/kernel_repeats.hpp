// SPDX-License-Identifier: MIT
// kernel_repeats.hpp - what a client of ibsim's preloaded library leaves to a kernel that is not there: sends requests again,
// and gives back those that stay unanswered. Datagrams of ibsim and times in, datagrams out: no I/O.
#pragma once
#include <comad/iba/types.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace comad::test {

/// As Linux does it for umad_send() with a timeout and retries (drivers/infiniband/core/mad.c): a request that is not answered
/// in time is sent again, so many times, then given back with ETIMEDOUT; a reply that nobody awaits any more is dropped.
/// One timeout for all: the preloaded library does not pass on what its program said. Traps expect no reply.
class kernel_repeats {
public:
    using time_point = std::chrono::steady_clock::time_point;

    kernel_repeats(std::chrono::nanoseconds timeout, unsigned retries) noexcept
        : timeout_(timeout), retries_(retries) {}

    /// The client has sent this.
    void note(std::span<const u8> datagram, time_point now);

    /// Whether the client is to have this, which came from the server. What answers a request ends it, and so does a request
    /// that the server gives back.
    bool accepts(std::span<const u8> datagram);

    /// When the first request has waited long enough.
    std::optional<time_point> due() const noexcept;

    struct overdue {
        std::vector<u8> datagram;
        bool is_in_vain; ///< for the client, its status set; otherwise for the server once more
    };
    /// The next one of those; nothing when none has waited long enough.
    std::optional<overdue> next(time_point now);

private:
    struct request {
        std::vector<u8> datagram;
        time_point deadline;
        unsigned retries_left;
    };

    std::chrono::nanoseconds timeout_;
    unsigned retries_;
    std::map<u64, request> waiting_; // by transaction ID
};

} // namespace comad::test
