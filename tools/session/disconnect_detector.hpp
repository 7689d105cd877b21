// SPDX-License-Identifier: MIT
// disconnect_detector.hpp - a transport that forwards every call to another transport and reports when that one has failed.
#pragma once
#include <comad/mad/transport.hpp>

#include <functional>
#include <utility>

namespace ibtool {

/// Reports the failure of a transport.
class disconnect_detector final : public comad::mad::transport {
public:
    /// `inner` must outlive the detector. `on_failure` is called with the errno, inside the receive() that failed; it must not throw.
    disconnect_detector(comad::mad::transport& inner, std::function<void(int error)> on_failure)
        : inner_(inner), on_failure_(std::move(on_failure)) {}

    int native_handle() const noexcept override { return inner_.native_handle(); }
    comad::mad::send_result send(const comad::mad::send_request& r) noexcept override { return inner_.send(r); }
    comad::mad::received receive(std::span<comad::u8> buffer) noexcept override {
        const comad::mad::received r = inner_.receive(buffer);
        if (r.state == comad::mad::receive_state::failed) on_failure_(r.error);
        return r;
    }
    comad::mad::transport_limits limits() const noexcept override { return inner_.limits(); }
    int serve(const comad::mad::registration& what) noexcept override { return inner_.serve(what); }
    std::string name() const override { return inner_.name(); }
    std::string_view advice(comad::mad::transport_call c, int error) const noexcept override {
        return inner_.advice(c, error);
    }
    comad::mad::port_tables* tables() noexcept override { return inner_.tables(); }
    std::optional<unsigned> held(comad::iba::MgmtClass c) const noexcept override { return inner_.held(c); }
    bool wants_writable() const noexcept override { return inner_.wants_writable(); }
    std::optional<comad::mad::time_point> next_event() const noexcept override { return inner_.next_event(); }
    std::optional<comad::mad::time_point> simulated_time() const noexcept override { return inner_.simulated_time(); }
    void set_now(comad::mad::time_point now) noexcept override { inner_.set_now(now); }

private:
    comad::mad::transport& inner_;
    std::function<void(int)> on_failure_;
};

} // namespace ibtool
