// SPDX-License-Identifier: MIT
// faulty_writes.hpp - an end port of a simulated subnet on which writes fail in a chosen way while Gets succeed. It
// also acts as a vendor-class device, which the simulator lacks.
#pragma once
#include <comad/mad/transport.hpp>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <map>

namespace comad::test {

/// Result of a Set, a Delete or a Trap.
enum class write_fault : u8 {
    none,
    ignored,            ///< the reply contains the unchanged value of the node
    echoed,             ///< the reply reports success, but the node did nothing
    request_lost,       ///< every copy of the request is lost
    reply_lost,         ///< done, but every reply is lost
    reply_lost_refused, ///< done, but the reply is lost; the next copy of the request is refused with status 0x1c
    refused,            ///< refused with status 0x1c, or with the SA's own status
    partly,             ///< only `part` is done; without `part`, every second write is done
    stopped_done,       ///< done, but SIGINT arrives before the reply
    stopped_lost,       ///< lost, and SIGINT arrives afterwards
    device_lost,        ///< done, but the device disconnects before the reply
};

/// A transport that makes writes fail. It forwards all other MADs.
class faulty_writes final : public mad::transport {
public:
    /// Removes from a request the part that the node does not do.
    using cut = std::function<void(std::span<u8> request)>;

    faulty_writes(mad::transport& wire, write_fault fault, cut part)
        : wire_(wire), fault_(fault), part_(std::move(part)) {}

    u64 writes = 0;                       ///< number of copies that were sent
    u64 traps = 0;                        ///< number of traps that arrived
    std::function<void()> on_answer = {}; ///< called before the reply to a completed write
    std::map<u32, u32> words;             ///< configuration space of the vendor's device
    std::array<u32, 2> groups{1, 2};      ///< counter groups of the vendor's device

    int native_handle() const noexcept override { return wire_.native_handle(); }
    mad::transport_limits limits() const noexcept override { return wire_.limits(); }
    std::optional<mad::time_point> next_event() const noexcept override { return wire_.next_event(); }
    std::optional<mad::time_point> simulated_time() const noexcept override { return wire_.simulated_time(); }
    void set_now(mad::time_point now) noexcept override { wire_.set_now(now); }
    mad::port_tables* tables() noexcept override { return wire_.tables(); }

    mad::send_result send(const mad::send_request& r) noexcept override {
        if (is_gone_) return {mad::send_state::failed, EIO};
        const std::span<u8> request(r.mad, r.size);
        if (!is_write(request)) return is_vendors(request) ? substitute(r, reply_of::vendors_device) : wire_.send(r);
        const bool is_first = writes++ == 0;
        const bool is_done = carries_out(is_first), is_answered = answers(is_first);
        if (is_first && (fault_ == write_fault::stopped_done || fault_ == write_fault::stopped_lost))
            std::raise(SIGINT);
        is_gone_ = fault_ == write_fault::device_lost;
        if (is_done && fault_ == write_fault::partly && part_) part_(request);
        if (is_vendors(request)) {
            if (is_done) write_words(request);
            if (!is_answered) return {};
            return substitute(r, fault_ == write_fault::ignored ? reply_of::vendors_device : made_up(is_first));
        }
        if (request[method_at] == trap) {
            traps += is_done;
            return is_done ? wire_.send(r) : mad::send_result{};
        }
        if (is_done) {
            sent_[tid_of(request)] = {is_answered ? reply_of::the_node : reply_of::no_node, {}};
            return wire_.send(r);
        }
        return is_answered ? substitute(r, made_up(is_first)) : mad::send_result{};
    }

    mad::received receive(std::span<u8> buffer) noexcept override {
        if (is_gone_) return {mad::receive_state::failed, ENODEV};
        for (;;) {
            const mad::received r = wire_.receive(buffer);
            if (r.state != mad::receive_state::message || r.status != 0 || r.mad.size() < mad::mad_size) return r;
            const auto sent = sent_.find(tid_of(r.mad));
            if (sent == sent_.end()) return r;
            if (sent->second.what == reply_of::no_node) continue;
            if (sent->second.what == reply_of::the_node) {
                if (on_answer) on_answer();
                return r;
            }
            const auto at = static_cast<std::size_t>(r.mad.data() - buffer.data());
            change(buffer.subspan(at, mad::mad_size), sent->second);
            return r;
        }
    }

private:
    static constexpr std::size_t class_at = 1, method_at = 3, status_at = 4, tid_at = 8, attribute_at = 16;
    static constexpr u8 get = 1, set = 2, trap = 5, delete_ = 0x15, response = 0x80, vendor_class = 0x0a, sa_class = 3,
                        directed_class = 0x81, config_space = 0x50, group_config = 0x91, general_info = 0x17,
                        class_port_info = 1;

    /// Source of the reply to a request: no source, the node, a Get of the attribute, the request itself, an error
    /// status, or the vendor's device.
    enum class reply_of : u8 { no_node, the_node, get_of_it, echo, refusal, vendors_device };
    struct sent_request {
        reply_of what;
        std::array<u8, mad::mad_size> bytes;
    };

    static u64 tid_of(std::span<const u8> mad) noexcept {
        u64 tid;
        std::memcpy(&tid, mad.data() + tid_at, sizeof tid);
        return tid;
    }
    static bool is_write(std::span<const u8> mad) noexcept {
        return mad[method_at] == set || mad[method_at] == delete_ || mad[method_at] == trap;
    }
    static bool is_vendors(std::span<const u8> mad) noexcept {
        return mad[class_at] == vendor_class &&
               (mad[attribute_at + 1] == config_space || mad[attribute_at + 1] == group_config);
    }
    bool carries_out(bool is_first) const noexcept {
        switch (fault_) {
        case write_fault::none:
        case write_fault::reply_lost:
        case write_fault::stopped_done:
        case write_fault::device_lost: return true;
        case write_fault::reply_lost_refused: return is_first;
        case write_fault::partly: return part_ || writes % 2 == 1;
        default: return false;
        }
    }
    bool answers(bool is_first) const noexcept {
        switch (fault_) {
        case write_fault::request_lost:
        case write_fault::reply_lost:
        case write_fault::stopped_done:
        case write_fault::stopped_lost:
        case write_fault::device_lost: return false;
        case write_fault::reply_lost_refused: return !is_first;
        default: return true;
        }
    }
    reply_of made_up(bool is_first) const noexcept {
        if (fault_ == write_fault::refused || (fault_ == write_fault::reply_lost_refused && !is_first))
            return reply_of::refusal;
        return fault_ == write_fault::ignored ? reply_of::get_of_it : reply_of::echo;
    }

    /// Sends a Get instead of the request. The subnet replies to the Get.
    mad::send_result substitute(const mad::send_request& r, reply_of what) noexcept {
        sent_request kept{what, {}};
        std::memcpy(kept.bytes.data(), r.mad, mad::mad_size);
        alignas(8) std::array<u8, mad::headroom + mad::mad_size> copy{};
        u8* const mad = copy.data() + mad::headroom;
        std::memcpy(mad, r.mad, mad::mad_size);
        mad[method_at] = get;
        if (mad[class_at] == vendor_class) mad[attribute_at + 1] = general_info;
        if (mad[class_at] == sa_class) {
            mad[attribute_at + 1] = class_port_info;
            if (what == reply_of::get_of_it) kept.what = reply_of::echo; // this SA has no record
        }
        sent_[tid_of(kept.bytes)] = kept;
        mad::send_request changed = r;
        changed.mad = mad;
        return wire_.send(changed);
    }

    void change(std::span<u8> reply, const sent_request& sent) noexcept {
        const std::size_t begin = sent.bytes[class_at] == directed_class ? 64 : 24; // after the header
        if (sent.what != reply_of::get_of_it)
            std::memcpy(reply.data() + begin, sent.bytes.data() + begin, mad::mad_size - begin);
        std::memcpy(reply.data() + attribute_at, sent.bytes.data() + attribute_at, 8);
        const bool is_deleted = sent.bytes[method_at] == delete_;
        reply[method_at] = static_cast<u8>((is_deleted ? delete_ : get) | response);
        reply[status_at] &= 0x80; // the D bit
        reply[status_at + 1] = 0;
        if (sent.what == reply_of::refusal) {
            if (sent.bytes[class_at] == sa_class) reply[status_at] = 2; // invalid request
            else reply[status_at + 1] = 0x1c;
        }
        if (sent.what == reply_of::vendors_device) read_words(reply);
    }

    // ---- the vendor's device
    static u32 word_at(std::span<const u8> mad, std::size_t at) noexcept {
        return static_cast<u32>(mad[at]) << 24 | static_cast<u32>(mad[at + 1]) << 16 |
               static_cast<u32>(mad[at + 2]) << 8 | mad[at + 3];
    }
    static void put_word(std::span<u8> mad, std::size_t at, u32 word) noexcept {
        for (int i = 3; i >= 0; --i, word >>= 8) mad[at + static_cast<std::size_t>(i)] = static_cast<u8>(word);
    }
    static constexpr std::size_t data_at = 32, groups_at = 36; // offsets as in vendstat.c
    static unsigned count_of(std::span<const u8> mad) noexcept { return word_at(mad, 20) >> 16 & 0x3f; }

    void write_words(std::span<u8> request) noexcept {
        if (request[attribute_at + 1] == group_config) {
            groups = {word_at(request, groups_at), word_at(request, groups_at + 4)};
            return;
        }
        for (unsigned i = 0; i < count_of(request); ++i) {
            const std::size_t at = data_at + 12 * i;
            u32& word = words[word_at(request, at)];
            const u32 mask = word_at(request, at + 8);
            word = (word & ~mask) | (word_at(request, at + 4) & mask);
        }
    }
    void read_words(std::span<u8> reply) noexcept {
        if (reply[attribute_at + 1] == group_config) {
            put_word(reply, groups_at, groups[0]);
            put_word(reply, groups_at + 4, groups[1]);
            return;
        }
        for (unsigned i = 0; i < count_of(reply); ++i)
            put_word(reply, data_at + 12 * i + 4, words[word_at(reply, data_at + 12 * i)]);
    }

    mad::transport& wire_;
    write_fault fault_;
    cut part_;
    bool is_gone_ = false;
    std::map<u64, sent_request> sent_; // by transaction ID
};

} // namespace comad::test
