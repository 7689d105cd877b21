// SPDX-License-Identifier: MIT
// lossy_wire.hpp - end ports on one wire, which loses, duplicates and reorders single MADs in virtual time.
#pragma once
#include "support/catch.hpp"
#include <comad/mad/transport.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace comad::test {

/// Probabilities of losing, duplicating and delaying a MAD.
struct faults {
    double loss = 0, twice = 0, late = 0;
};

/// Delivers MADs between its end ports after a short delay, or loses them. The addresses are the LIDs of the ends.
class lossy_wire {
public:
    explicit lossy_wire(faults f = {}, unsigned seed = 1) : faults_(f), random_(seed) {}

    class end final : public mad::transport {
    public:
        end(lossy_wire& w, u16 LID) : wire_(w), LID_(LID) {}
        int native_handle() const noexcept override { return -1; }
        mad::send_result send(const mad::send_request& r) noexcept override {
            REQUIRE(r.size == mad::mad_size);
            if (room == 0) return {mad::send_state::would_block};
            --room;
            const auto& path = std::get<mad::IBPath>(*r.path);
            mad::source_address source;
            source.SLID = iba::lid{LID_};
            source.sqpn = 1;
            source.has_grh = path.has_grh;
            source.SGID = path.SGID;
            wire_.carry({{r.mad, r.mad + r.size}, source}, value(path.DLID));
            return {};
        }
        mad::received receive(std::span<u8> buffer) noexcept override {
            auto& queue = wire_.under_way_[LID_];
            if (queue.empty() || queue.begin()->first > wire_.now_) return {};
            const packet next = queue.begin()->second;
            queue.erase(queue.begin());
            std::copy(next.bytes.begin(), next.bytes.end(), buffer.begin() + mad::headroom);
            mad::received r{mad::receive_state::message};
            r.mad = buffer.subspan(mad::headroom, next.bytes.size());
            r.full_size = next.bytes.size();
            r.source = next.source;
            return r;
        }
        mad::transport_limits limits() const noexcept override { return {}; }
        int serve(const mad::registration& what) noexcept override { return what.rmpp ? EINVAL : 0; }
        std::optional<mad::time_point> next_event() const noexcept override {
            const auto queue = wire_.under_way_.find(LID_);
            if (queue == wire_.under_way_.end() || queue->second.empty()) return std::nullopt;
            return queue->second.begin()->first;
        }
        void set_now(mad::time_point now) noexcept override { wire_.now_ = std::max(wire_.now_, now); }

        std::size_t room = ~std::size_t{0}; ///< number of MADs that send() accepts before it blocks

    private:
        lossy_wire& wire_;
        u16 LID_;
    };

    u64 carried = 0;

private:
    struct packet {
        std::vector<u8> bytes;
        mad::source_address source;
    };
    bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
    void carry(const packet& p, u16 to) {
        using namespace std::chrono_literals;
        ++carried;
        for (int copies = chance(faults_.twice) ? 2 : 1; copies > 0; --copies) {
            if (chance(faults_.loss)) continue;
            const mad::duration delay = chance(faults_.late) ? 60us : 5us;
            under_way_[to].emplace(now_ + delay, p);
        }
    }
    faults faults_;
    std::mt19937 random_;
    mad::time_point now_{};
    std::map<u16, std::multimap<mad::time_point, packet>> under_way_; // by LID
};

} // namespace comad::test
