// SPDX-License-Identifier: MIT
// relay_lane.hpp - one direction of one client of a relay: datagrams that wait for the end of their delay, for the
// shared buffer, or for space in the socket.
#pragma once
#include "ibsim/relay_buffer.hpp"
#include "ibsim/relay_counts.hpp"
#include <comad/iba/types.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <random>
#include <span>
#include <sys/socket.h>

namespace comad::test {

/// One direction of one client of a relay.
class relay_lane {
public:
    using time_point = relay_buffer::time_point;

    relay_lane(std::chrono::nanoseconds delay, double loss, std::mt19937_64& luck) noexcept
        : delay_(delay), loss_(loss), luck_(luck) {}

    /// Reads up to 32 datagrams from the socket. Ignores datagrams for which `is_wanted` returns false.
    template <typename Wanted> void read(int from, time_point now, Wanted&& is_wanted) {
        std::array<std::array<u8, most_bytes>, block> bytes;
        std::array<iovec, block> parts;
        std::array<mmsghdr, block> messages{};
        for (std::size_t i = 0; i < block; ++i) {
            parts[i] = {bytes[i].data(), bytes[i].size()};
            messages[i].msg_hdr.msg_iov = &parts[i];
            messages[i].msg_hdr.msg_iovlen = 1;
        }
        const int n = ::recvmmsg(from, messages.data(), block, 0, nullptr);
        for (std::size_t i = 0; n > 0 && i < static_cast<std::size_t>(n); ++i) {
            const std::span<const u8> d(bytes[i].data(), messages[i].msg_len);
            if (!is_wanted(d)) continue;
            ++counts_.came;
            if (loss_ > 0 && std::bernoulli_distribution(loss_)(luck_)) ++counts_.lost;
            else push(d, now);
        }
    }

    /// Adds a datagram.
    void push(std::span<const u8> bytes, time_point now) {
        datagram& d = waiting_.emplace_back();
        d.due = now + delay_;
        d.size = static_cast<u16>(bytes.size());
        std::memcpy(d.bytes, bytes.data(), bytes.size());
    }

    /// Returns when the next datagram enters the buffer; empty if none waits.
    std::optional<time_point> arrival() const noexcept {
        if (entered_ == waiting_.size()) return {};
        return waiting_[entered_].due;
    }

    /// Moves the next datagram into the buffer as of its arrival time, or drops the datagram if the buffer is full.
    void enter(relay_buffer& buffer) {
        if (const auto place = buffer.take(waiting_[entered_].due)) {
            waiting_[entered_++].due = place->served;
            counts_.most_held = std::max(counts_.most_held, place->held);
        } else {
            waiting_.erase(waiting_.begin() + static_cast<std::ptrdiff_t>(entered_));
            ++counts_.overflowed;
        }
    }

    /// Sends the served datagrams. Returns false if the receiver no longer exists.
    bool write(int to, time_point now) {
        is_blocked_ = false;
        while (entered_ != 0 && waiting_.front().due <= now) {
            std::array<iovec, block> parts;
            std::array<mmsghdr, block> messages{};
            unsigned count = 0;
            for (; count < block && count < entered_ && waiting_[count].due <= now; ++count) {
                parts[count] = {waiting_[count].bytes, waiting_[count].size};
                messages[count].msg_hdr.msg_iov = &parts[count];
                messages[count].msg_hdr.msg_iovlen = 1;
            }
            const int n = ::sendmmsg(to, messages.data(), count, MSG_NOSIGNAL);
            if (n < 0) {
                if (errno != EAGAIN && errno != ENOBUFS && errno != ENOMEM) return false;
                is_blocked_ = true;
                return true;
            }
            waiting_.erase(waiting_.begin(), waiting_.begin() + n);
            entered_ -= static_cast<std::size_t>(n);
        }
        return true;
    }

    bool is_blocked() const noexcept { return is_blocked_; }
    /// Returns when write() has datagrams to send; empty if no datagram waits or the socket is full.
    std::optional<time_point> served() const noexcept {
        if (entered_ == 0 || is_blocked_) return {};
        return waiting_.front().due;
    }
    const direction_counts& counts() const noexcept { return counts_; }

private:
    static constexpr std::size_t block = 32;       // datagrams read or written by one call
    static constexpr std::size_t most_bytes = 512; // largest datagram; those of ibsim have 288 bytes

    struct datagram {
        time_point
            due; // the time at which the MAD enters the buffer; for a MAD in the buffer, the time at which it leaves
        u16 size;
        u8 bytes[most_bytes];
    };

    std::chrono::nanoseconds delay_;
    double loss_;
    std::mt19937_64& luck_;
    std::deque<datagram> waiting_;
    std::size_t entered_ = 0; // number of datagrams at the front that have entered the buffer
    bool is_blocked_ = false;
    direction_counts counts_;
};

/// Moves all datagrams that have arrived from the lanes into their shared buffer, in the order of arrival. The result
/// does not depend on the time of the call.
inline void enter_in_order(std::span<relay_lane* const> lanes, relay_buffer& buffer, relay_lane::time_point now) {
    while (true) {
        relay_lane* first = nullptr;
        for (relay_lane* const lane : lanes) {
            const auto arrival = lane->arrival();
            if (arrival && *arrival <= now && (!first || *arrival < *first->arrival())) first = lane;
        }
        if (!first) return;
        first->enter(buffer);
    }
}

} // namespace comad::test
