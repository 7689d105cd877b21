// SPDX-License-Identifier: MIT
// memory_transport.hpp - a transport that replies to every MAD itself, in order and without allocations. It runs in
// virtual time, or in real time with a descriptor.
#pragma once
#include "wire/scripted_transport.hpp"
#include <comad/mad/detail/unique_fd.hpp>

#include <cerrno>
#include <optional>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace comad::test {

/// A transport that replies to every MAD itself.
class memory_transport final : public mad::transport {
public:
    enum class time { virtual_, real };

    /// Virtual time: replies after round_trip. Real time: replies at once.
    explicit memory_transport(time t = time::virtual_, unsigned window = 4096) : replies_(window) {
        if (t == time::virtual_) return;
        ready_ = mad::unique_fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
        if (!ready_) throw std::system_error(errno, std::generic_category(), "eventfd");
    }

    unsigned drop_every = 0; ///< every n-th MAD gets no reply; 0: all MADs get replies
    u64 sent = 0;
    /// Holds replies back until release().
    void hold() noexcept { holding_ = true; }
    void release() noexcept {
        holding_ = false;
        if (waiting_ && ready_) ::eventfd_write(ready_.get(), 1);
    }

    int native_handle() const noexcept override { return ready_.get(); }
    mad::transport_limits limits() const noexcept override {
        return {.max_window = static_cast<unsigned>(replies_.size())};
    }
    mad::send_result send(const mad::send_request& request) noexcept override {
        ++sent;
        if (drop_every && sent % drop_every == 0) return {};
        if (waiting_ == replies_.size()) return {mad::send_state::failed, ENOBUFS}; // the engine exceeded its window
        replies_[(first_ + waiting_++) % replies_.size()] = {now_ + round_trip, answer_to(request.mad)};
        if (waiting_ == 1 && ready_ && !holding_) ::eventfd_write(ready_.get(), 1);
        return {};
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        if (waiting_ == 0 || holding_ || (!ready_ && replies_[first_].due > now_)) return {};
        const mad_bytes& bytes = replies_[first_].bytes;
        std::copy(bytes.begin(), bytes.end(), buffer.begin() + mad::headroom);
        first_ = (first_ + 1) % replies_.size();
        eventfd_t value;
        if (--waiting_ == 0 && ready_) ::eventfd_read(ready_.get(), &value);
        mad::received r;
        r.state = mad::receive_state::message;
        r.mad = buffer.subspan(mad::headroom, mad::mad_size);
        r.full_size = mad::mad_size;
        return r;
    }
    std::optional<mad::time_point> next_event() const noexcept override {
        if (waiting_ == 0) return std::nullopt;
        return replies_[first_].due;
    }
    void set_now(mad::time_point now) noexcept override { now_ = now; }

private:
    struct reply {
        mad::time_point due;
        mad_bytes bytes;
    };
    std::vector<reply> replies_; // ring buffer
    std::size_t first_ = 0, waiting_ = 0;
    bool holding_ = false;
    mad::time_point now_{};
    mad::unique_fd ready_; // readable while a reply waits
};

} // namespace comad::test
