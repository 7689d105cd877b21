// SPDX-License-Identifier: MIT
// answering_wire.hpp - a transport in virtual time on which a function of the test replies to each MAD.
#pragma once
#include <comad/mad/transport.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace comad::test {

// Offsets of fields in a MAD (IBA 13.4.3, 14.2.1.2, 15.2.1.1, 16.1.2).
inline constexpr std::size_t method_at = 3, status_at = 4, hop_count_at = 7, attribute_at = 16, modifier_at = 20,
                             mkey_at = 24, rmpp_at = 24, smp_data_at = 64, pm_data_at = 64, route_at = 128,
                             attribute_offset_at = 44, sa_data_at = 56;

/// Delivers replies in order, each shortly after its request. Replies may be longer than a MAD.
class answering_wire final : public mad::transport {
public:
    /// Returns the reply to a request; empty for no reply.
    using answer = std::function<std::vector<u8>(const mad::send_request&)>;
    explicit answering_wire(answer how) : how_(std::move(how)) {}

    int native_handle() const noexcept override { return -1; }
    mad::transport_limits limits() const noexcept override { return {.kernel_rmpp = true}; }
    mad::send_result send(const mad::send_request& request) noexcept override {
        std::vector<u8> bytes = how_(request);
        if (!bytes.empty()) under_way_.emplace_back(now_ + std::chrono::microseconds(10), std::move(bytes));
        return {};
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        if (under_way_.empty() || under_way_.front().first > now_) return {};
        const std::vector<u8>& bytes = under_way_.front().second;
        mad::received r;
        r.state = mad::receive_state::message;
        r.full_size = bytes.size();
        r.mad = buffer.subspan(mad::headroom, std::min(buffer.size() - mad::headroom, bytes.size()));
        std::copy_n(bytes.begin(), r.mad.size(), buffer.begin() + mad::headroom);
        if (r.mad.size() == r.full_size) under_way_.pop_front(); // otherwise the caller enlarges its buffer
        return r;
    }
    std::optional<mad::time_point> next_event() const noexcept override {
        if (under_way_.empty()) return std::nullopt;
        return under_way_.front().first;
    }
    void set_now(mad::time_point now) noexcept override { now_ = now; }

private:
    answer how_;
    std::deque<std::pair<mad::time_point, std::vector<u8>>> under_way_;
    mad::time_point now_{};
};

} // namespace comad::test
