// SPDX-License-Identifier: MIT
// locked_transport.hpp - an end port of a simulated subnet in real time that can fail. Several threads can share the
// subnet.
#pragma once
#include <comad/transports/sim/transport.hpp>

#include <cerrno>
#include <functional>
#include <mutex>

namespace comad::test {

/// A simulated subnet that several threads share.
struct shared_fabric {
    explicit shared_fabric(transports::sim::topology t, const transports::sim::timing& times = {},
                           const transports::sim::faults& wrong = {})
        : net(std::move(t), times, wrong) {}
    transports::sim::fabric net;
    std::mutex one_at_a_time;
};

/// An end port of a shared_fabric that can fail after a number of sends.
class locked_transport final : public mad::transport {
public:
    locked_transport(shared_fabric& on, u32 node, unsigned port)
        : on_(on), port_(on.net, node, port, transports::sim::time_mode::real) {}

    u64 fails_after = ~u64{0};                     ///< number of sends after which the device disconnects
    u64 silent_after = ~u64{0};                    ///< number of sends after which every MAD is lost
    std::function<void(u64)> on_send = [](u64) {}; ///< called in the schedule's thread with the number of the send
    u64 sends() const noexcept { return sends_; }

    int native_handle() const noexcept override { return port_.native_handle(); }
    mad::send_result send(const mad::send_request& r) noexcept override {
        on_send(sends_);
        if (sends_ >= fails_after) {
            is_gone_ = true;
            return {mad::send_state::failed, EIO};
        }
        if (sends_++ >= silent_after) return {};
        const std::lock_guard lock(on_.one_at_a_time);
        return port_.send(r);
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        if (is_gone_) return {mad::receive_state::failed, ENODEV};
        const std::lock_guard lock(on_.one_at_a_time);
        return port_.receive(buffer);
    }
    mad::transport_limits limits() const noexcept override { return port_.limits(); }
    std::optional<mad::time_point> next_event() const noexcept override { return std::nullopt; } // signaled by fd
    void set_now(mad::time_point) noexcept override {} // it reads the clock itself

private:
    shared_fabric& on_;
    transports::sim::sim_transport port_;
    u64 sends_ = 0;
    bool is_gone_ = false;
};

} // namespace comad::test
