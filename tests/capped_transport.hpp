// SPDX-License-Identifier: MIT
// capped_transport.hpp - a descriptor of a MAD device in virtual time that holds requests back as kernels since 2025 do.
// Knows neither engine nor schedule.
#pragma once
#include "scripted_transport.hpp"
#include <comad/mad/message.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

namespace comad::test {

/// Between a program and the wire. Of an agent (here: of a management class) at most so many requests are on the wire, sent
/// and neither answered nor expired; the others wait, oldest first, and their timeouts begin when they leave. Each comes
/// back once: as its reply, or with status ETIMEDOUT and its MAD header.
class capped_transport final : public mad::transport {
public:
    static constexpr std::size_t SMPs = 128, SA_requests = 16; ///< a quarter and a thirty-second of 512 (mad.c)

    scripted_transport wire;
    mad::transport_limits says{.max_window = 128, .sa_window = 16};
    std::size_t most_held_back = 0;
    std::map<u8, std::size_t> most_on_wire; ///< by class
    u64 requests = 0;

    int native_handle() const noexcept override { return -1; }
    mad::transport_limits limits() const noexcept override { return says; }

    mad::send_result send(const mad::send_request& r) noexcept override {
        ++requests;
        agent& a = agents_[r.mgmt_class];
        waiting_request h{*r.path, {}, r, {}};
        std::copy_n(r.mad, r.size, h.bytes.begin() + mad::headroom);
        if (!a.waiting.empty() || a.on_wire.size() >= cap_of(r.mgmt_class)) {
            a.waiting.push_back(h);
            most_held_back = std::max(most_held_back, a.waiting.size());
            return {};
        }
        return put_on_wire(a, h);
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        if (const auto expired = next_expired(); expired != mad::time_point::max() && expired <= now_)
            return report(buffer);
        for (;;) {
            mad::received r = wire.receive(buffer);
            if (r.state != mad::receive_state::message || r.status != 0) return r;
            agent& a = agents_[r.mad[1]];
            if (a.on_wire.erase(scripted_transport::tid_of(r.mad.data())) == 0) continue; // nobody waits for it
            refill(a);
            return r;
        }
    }
    std::optional<unsigned> held(iba::MgmtClass c) const noexcept override {
        const auto a = agents_.find(value(c));
        return a == agents_.end() ? 0u : static_cast<unsigned>(a->second.on_wire.size() + a->second.waiting.size());
    }
    std::optional<mad::time_point> next_event() const noexcept override {
        const mad::time_point next = std::min(wire.next_event().value_or(mad::time_point::max()), next_expired());
        if (next == mad::time_point::max()) return std::nullopt;
        return next;
    }
    void set_now(mad::time_point now) noexcept override {
        now_ = now;
        wire.set_now(now);
    }

private:
    struct waiting_request {
        mad::any_path path;
        std::array<u8, mad::headroom + mad::mad_size> bytes;
        mad::send_request request; // but for path and bytes, which are above
        mad::time_point expires;
    };
    struct agent {
        std::map<u32, waiting_request> on_wire; // by transaction ID
        std::deque<waiting_request> waiting;
    };
    static std::size_t cap_of(u8 mgmt_class) {
        if (iba::is_SMP(iba::MgmtClass{mgmt_class})) return SMPs;
        return iba::MgmtClass{mgmt_class} == iba::MgmtClass::SubnAdm ? SA_requests : ~std::size_t{0};
    }
    mad::send_result put_on_wire(agent& a, waiting_request& h) {
        mad::send_request r = h.request;
        r.path = &h.path;
        r.mad = h.bytes.data() + mad::headroom;
        const mad::send_result result = wire.send(r);
        if (result.state != mad::send_state::sent) return result;
        h.expires = now_ + r.operation_timeout;
        a.on_wire.insert_or_assign(scripted_transport::tid_of(r.mad), h);
        std::size_t& most = most_on_wire[r.mgmt_class];
        most = std::max(most, a.on_wire.size());
        return result;
    }
    void refill(agent& a) {
        if (a.waiting.empty()) return;
        put_on_wire(a, a.waiting.front());
        a.waiting.pop_front();
    }
    mad::time_point next_expired() const {
        mad::time_point first = mad::time_point::max();
        for (const auto& [mgmt_class, a] : agents_)
            for (const auto& [tid, h] : a.on_wire) first = std::min(first, h.expires);
        return first;
    }
    mad::received report(std::span<u8> buffer) {
        for (auto& [mgmt_class, a] : agents_) {
            const auto expired = std::find_if(a.on_wire.begin(), a.on_wire.end(),
                                              [&](const auto& one) { return one.second.expires <= now_; });
            if (expired == a.on_wire.end()) continue;
            std::copy_n(expired->second.bytes.begin() + mad::headroom, 24, buffer.begin() + mad::headroom);
            a.on_wire.erase(expired);
            refill(a);
            mad::received r{mad::receive_state::message};
            r.status = ETIMEDOUT;
            r.mad = buffer.subspan(mad::headroom, 24);
            r.full_size = 24;
            return r;
        }
        return {};
    }

    std::map<u8, agent> agents_;
    mad::time_point now_{};
};

} // namespace comad::test
