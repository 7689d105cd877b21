// SPDX-License-Identifier: MIT
// capture.hpp - a transport that passes a copy of every MAD of another transport to a callback. It knows no file format.
#pragma once
#include <comad/mad/detail/packet.hpp>
#include <comad/mad/transport.hpp>

#include <chrono>
#include <functional>
#include <span>

namespace comad::transports {

/// One MAD that was sent or received. Valid only during the call of the sink.
struct captured_mad {
    std::chrono::system_clock::time_point when; ///< virtual time starts in 1970
    mad::packet_address address;
    std::span<const u8, mad::mad_size> mad;
};

/// A transport over `inner` that calls `sink` for each MAD that `inner` sent or received, in that order. It does not report sends
/// that would block, the reports of `inner` about expired sends, or messages that are not MADs.
///
///     transports::capture_transport captured(*transport, [](const transports::captured_mad& m) { write(m.when, m.mad); });
///     coro::MADSchedule schedule(captured);
///
/// On umad, the kernel writes the upper half of a request's transaction ID after the sink has seen the MAD.
/// Errors:   Those of `inner`. The sink must not throw.
/// Lifetime: `inner` must outlive it.
/// Threads:  The sink is called in the thread that drives the transport.
class capture_transport final : public mad::transport {
public:
    using sink = std::function<void(const captured_mad&)>;

    capture_transport(mad::transport& inner, sink to) : inner_(inner), sink_(std::move(to)) {}

    int native_handle() const noexcept override { return inner_.native_handle(); }
    mad::send_result send(const mad::send_request&) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override { return inner_.limits(); }
    int serve(const mad::registration& what) noexcept override { return inner_.serve(what); }
    std::string name() const override { return inner_.name(); }
    std::string_view advice(mad::transport_call c, int error) const noexcept override {
        return inner_.advice(c, error);
    }
    mad::port_tables* tables() noexcept override { return inner_.tables(); }
    std::optional<unsigned> held(iba::MgmtClass c) const noexcept override { return inner_.held(c); }
    bool wants_writable() const noexcept override { return inner_.wants_writable(); }
    std::optional<mad::time_point> next_event() const noexcept override { return inner_.next_event(); }
    std::optional<mad::time_point> simulated_time() const noexcept override { return inner_.simulated_time(); }
    void set_now(mad::time_point) noexcept override;

private:
    void show(const mad::packet_address&, const u8* mad) noexcept;

    mad::transport& inner_;
    sink sink_;
    mad::time_point virtual_now_{};
};

} // namespace comad::transports
