// SPDX-License-Identifier: MIT
// kernel_repeats.hpp - the retries and timeouts that a client of ibsim's preloaded library expects from the kernel. The
// input is datagrams of ibsim and times, and the output is datagrams. It does no I/O.
#pragma once
#include <comad/iba/types.hpp>

#include <chrono>
#include <map>
#include <optional>
#include <span>
#include <vector>

namespace comad::test {

/// Retries requests as Linux does for umad_send() with a timeout and retries (drivers/infiniband/core/mad.c). A request
/// without a reply in time is sent again, at most `retries` times, and then returned with ETIMEDOUT. A reply to a request
/// that no longer waits is dropped. All requests have one timeout, because the preloaded library does not pass on the
/// program's timeout. Traps expect no reply.
class kernel_repeats {
public:
    using time_point = std::chrono::steady_clock::time_point;

    kernel_repeats(std::chrono::nanoseconds timeout, unsigned retries) noexcept
        : timeout_(timeout), retries_(retries) {}

    /// Records a datagram that the client has sent.
    void note(std::span<const u8> datagram, time_point now);

    /// Returns true if a datagram from the server must be passed to the client. A reply completes its request. A
    /// request that the server returns is completed as well.
    bool accepts(std::span<const u8> datagram);

    /// Returns the earliest deadline of a waiting request; empty if no request waits.
    std::optional<time_point> due() const noexcept;

    struct overdue {
        std::vector<u8> datagram;
        bool is_in_vain; ///< true: return to the client with its status set; false: send to the server again
    };
    /// Returns the next overdue datagram; empty if no deadline has passed.
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
