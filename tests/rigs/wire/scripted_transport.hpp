// SPDX-License-Identifier: MIT
// scripted_transport.hpp - a transport in virtual time that records every packet. The script of the test decides what
// happens to each packet.
#pragma once
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <utility>
#include <vector>

namespace comad::test {

using mad_bytes = std::array<u8, mad::mad_size>;

/// A MAD that was passed to the transport.
struct packet {
    std::size_t number; ///< number among all packets, from 0
    mad::time_point at;
    u64 destination; ///< mad::destination_key of its path
    u32 tid;         ///< low 32 bits of its transaction ID
    bool expects_reply;
    mad::duration attempt_timeout;
    mad::duration operation_timeout;
    mad_bytes bytes;
};

/// Returns the reply of a well-behaved node. The payload identifies the request: nodeGUID of NodeInfo contains the
/// first eight hops of the route, and portGUID contains the attribute and its modifier. See requested_guid().
inline mad_bytes answer_to(const u8* request) {
    mad_bytes reply;
    std::memcpy(reply.data(), request, reply.size());
    reply[3] = 0x81;                                  // GetResp
    if (reply[1] == 0x81) reply[4] |= 0x80;           // D: returning
    std::memset(reply.data() + 64, 0, 64);            // the payload
    std::memcpy(reply.data() + 76, request + 129, 8); // hops 1 to 8
    std::memcpy(reply.data() + 84, request + 16, 8);  // attributeID, reserved, attributeModifier
    return reply;
}
/// Returns the reply of a well-behaved node to a packet.
inline mad_bytes answer_to(const packet& p) { return answer_to(p.bytes.data()); }

/// Returns the nodeGUID in the reply of the node at the end of `route`, which has at most eight hops.
inline u64 requested_guid(const mad::IBDRPath& route) {
    u64 guid = 0;
    for (unsigned hop = 1; hop <= 8; ++hop) guid = guid << 8 | route.drPath[hop];
    return guid;
}

/// A message that arrives some time after the packet that caused it.
struct arrival {
    mad::duration after{};
    std::vector<u8> bytes{};
    mad::receive_state state = mad::receive_state::message; ///< would_block: no message, only a delay
    u32 status = 0;
    int error = 0;
};

/// Result of one packet: the result of send() and the messages that follow.
struct fate {
    mad::send_result result{};
    std::vector<arrival> arrivals{};
};

inline constexpr mad::duration round_trip = std::chrono::microseconds(10);

/// Returns the arrival of a well-behaved node's reply.
inline arrival reply(const packet& p, mad::duration after = round_trip) {
    const mad_bytes bytes = answer_to(p);
    return {after, {bytes.begin(), bytes.end()}};
}
/// Returns the arrival of the packet itself with `status`, truncated to `size` bytes. Kernels report a failed send in
/// this way.
inline arrival report(const packet& p, mad::duration after, u32 status = ETIMEDOUT, std::size_t size = 24) {
    return {after,
            {p.bytes.begin(), p.bytes.begin() + static_cast<std::ptrdiff_t>(size)},
            mad::receive_state::message,
            status};
}
/// Returns an arrival that reports the failure of the transport.
inline arrival failure(mad::duration after, int error) { return {after, {}, mad::receive_state::failed, 0, error}; }

/// Accepts the packet and replies after `after`.
inline fate answered(const packet& p, mad::duration after = round_trip) { return {{}, {reply(p, after)}}; }
/// Accepts the packet and never replies.
inline fate dropped() { return {}; }
/// Refuses the packet with an error.
inline fate refused(int error) { return {{mad::send_state::failed, error}, {}}; }
/// Does not accept the packet now. After `again` the transport reports an event to the driver.
inline fate blocked(mad::duration again = round_trip) {
    return {{mad::send_state::would_block, 0}, {arrival{again, {}, mad::receive_state::would_block}}};
}

/// A transport in virtual time that handles each packet as a script decides.
class scripted_transport final : public mad::transport {
public:
    using script = std::function<fate(const packet&)>;

    /// Replies to everything after round_trip unless `s` decides otherwise.
    explicit scripted_transport(script s = [](const packet& p) { return answered(p); }) : script_(std::move(s)) {}

    void set_script(script s) { script_ = std::move(s); }
    /// Delivers `a` at the time now + a.after, independent of any packet.
    void inject(const arrival& a) { under_way_.emplace(now_ + a.after, a); }

    /// Returns the packets that send() has accepted, in order. Packets after keep_packets(false) are not recorded.
    const std::vector<packet>& taken() const noexcept { return taken_; }
    void keep_packets(bool keep) noexcept { keep_packets_ = keep; }
    std::size_t offered() const noexcept { return offered_; }
    mad::time_point now() const noexcept { return now_; }
    unsigned max_window = 65536;
    unsigned sa_window = 65536;
    /// Called with each message before receive() returns it.
    std::function<void(const arrival&)> on_delivery = [](const arrival&) {};

    int native_handle() const noexcept override { return -1; }
    mad::transport_limits limits() const noexcept override {
        return {.max_window = max_window, .sa_window = sa_window};
    }
    std::optional<mad::time_point> next_event() const noexcept override {
        if (under_way_.empty()) return std::nullopt;
        return under_way_.begin()->first;
    }
    void set_now(mad::time_point now) noexcept override { now_ = now; }

    mad::send_result send(const mad::send_request& request) noexcept override {
        packet p{offered_++,
                 now_,
                 mad::destination_key(*request.path),
                 tid_of(request.mad),
                 request.expects_reply,
                 request.attempt_timeout,
                 request.operation_timeout,
                 {}};
        std::memcpy(p.bytes.data(), request.mad, p.bytes.size());
        const fate f = script_(p);
        for (const arrival& a : f.arrivals) under_way_.emplace(now_ + a.after, a);
        if (f.result.state == mad::send_state::sent && keep_packets_) taken_.push_back(p);
        return f.result;
    }

    mad::received receive(std::span<u8> buffer) noexcept override {
        if (under_way_.empty() || under_way_.begin()->first > now_) return {};
        const arrival a = std::move(under_way_.extract(under_way_.begin()).mapped());
        on_delivery(a);
        const std::size_t room = std::min(buffer.size() - mad::headroom, a.bytes.size());
        std::copy_n(a.bytes.begin(), room, buffer.begin() + mad::headroom);
        mad::received r;
        r.state = a.state;
        r.status = a.status;
        r.error = a.error;
        r.mad = buffer.subspan(mad::headroom, room);
        r.full_size = a.bytes.size();
        return r;
    }

    static u32 tid_of(const u8* mad) noexcept {
        return u32{mad[12]} << 24 | u32{mad[13]} << 16 | u32{mad[14]} << 8 | mad[15];
    }

private:
    script script_;
    std::multimap<mad::time_point, arrival> under_way_;
    std::vector<packet> taken_;
    std::size_t offered_ = 0;
    mad::time_point now_{};
    bool keep_packets_ = true;
};

} // namespace comad::test
