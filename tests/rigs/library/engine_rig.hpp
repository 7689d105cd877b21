// SPDX-License-Identifier: MIT
// engine_rig.hpp - helpers for the engine tests: operations that record their completion, an engine over a scripted
// transport or a kernel model, turns of a driver, and a witness that counts requests in flight.
#pragma once
#include "kernel/kernel_of_this_run.hpp"
#include "support/catch.hpp"
#include "wire/scripted_transport.hpp"
#include <comad/mad/detail/engine.hpp>
#include <comad/mad/detail/message.hpp>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <vector>

namespace comad::test {

using namespace std::chrono_literals;
using mad::any_path;
using mad::completion_status;
using mad::duration;
using mad::engine;
using mad::engine_options;
using mad::IBDRPath;
using mad::time_point;

/// Returns the directed route through these ports.
template <class... Port> IBDRPath route(Port... ports) {
    const std::array<u8, sizeof...(ports)> hops{static_cast<u8>(ports)...};
    return IBDRPath{hops};
}

inline constexpr u16 attribute_NodeInfo = 0x11;
inline constexpr mad::rpc_kind get_node_info{iba::MgmtClass::SubnLID, 1, iba::Method::Get, attribute_NodeInfo, true};

inline constexpr duration patience = 1ms;
inline const duration kept_patience = mad::detail::deadlines::rounded(patience);

/// A SubnGet(NodeInfo) that records its completion. `number` is its attribute modifier and must be unique within a
/// test.
struct operation : mad::operation {
    explicit operation(u32 n, const IBDRPath& route = {}) : to(route), number(n) {
        encode = [](mad::operation& o, u8* bytes) {
            auto& self = static_cast<operation&>(o);
            mad::write_request(bytes, get_node_info, self.to, self.number);
        };
        done = [](mad::operation& o, const mad::completion& how) { static_cast<operation&>(o).ended(how); };
        path = &to;
        timeout = test::patience; // the default of the tests, not of the engine
    }
    /// Makes the operation share the per-destination bound with all operations along its route.
    operation& bounded() {
        destination = mad::destination_key(to);
        return *this;
    }
    void ended(const mad::completion& how) {
        ++completions;
        what = how.what;
        error_code = how.error;
        sent_times = how.attempts;
        answer.assign(how.reply.begin(), how.reply.end());
        if (then) then();
    }
    bool ended_as(completion_status v) const { return completions == 1 && what == v; }
    /// Returns true if the reply belongs to this request: it contains the request's route and modifier.
    bool answered_right() const {
        if (!ended_as(completion_status::replied) || answer.size() != mad::mad_size) return false;
        const IBDRPath& requested = std::get<IBDRPath>(to);
        u64 guid = 0, modifier = 0;
        for (int i = 0; i < 8; ++i) {
            guid = guid << 8 | answer[76u + i];
            modifier = modifier << 8 | answer[84u + i];
        }
        return guid == requested_guid(requested) && modifier == (u64{attribute_NodeInfo} << 48 | number);
    }

    any_path to;
    u32 number;
    int completions = 0;
    completion_status what{};
    int error_code = 0;
    unsigned sent_times = 0;
    std::vector<u8> answer;
    std::function<void()> then;
};

inline constexpr mad::patience_options usual{};

/// A SubnGet(NodeInfo) with measured deadlines.
struct measured_get : operation {
    explicit measured_get(u32 n, const IBDRPath& route) : operation(n, route) {
        bounded();
        distance = route.hopCount;
        timeout = duration{0};
        retries = 0; // ignored
    }
};

/// An engine over a scripted transport, directly or through a kernel model, with driver turns.
struct rig {
    explicit rig(engine_options options = {},
                 const std::optional<transports::kernel_options>& through = kernel_of_this_run())
        : wire(put_before(net, through, kernel)), mads(wire, options) {}

    void turn() {
        for (;;) {
            const mad::received r = wire.receive(buffer);
            if (r.state == mad::receive_state::would_block) break;
            mads.on_received(r);
            mads.resume_sends();
            if (r.state == mad::receive_state::failed) break;
        }
        mads.on_time();
        mads.run_ready();
        mads.resume_sends();
    }
    /// Advances the time to the next event. Returns false if no event is pending.
    bool advance() {
        mads.set_now(net.now());
        const time_point next = std::min(wire.next_event().value_or(time_point::max()), mads.next_deadline());
        if (next == time_point::max()) return false;
        set_now(std::max(next, net.now()));
        return true;
    }
    void set_now(time_point now) {
        wire.set_now(now);
        mads.set_now(now);
    }
    /// Runs until no operation is pending. Returns false if an operation never ends.
    bool run() {
        for (;;) {
            turn();
            if (mads.has_ready()) continue;
            if (mads.idle()) return true;
            if (!advance()) return false;
        }
    }
    /// Delivers all MADs in flight, even if no operation waits for them.
    void drain() {
        while (wire.next_event()) {
            set_now(std::max(*wire.next_event(), net.now()));
            turn();
        }
    }
    void wait(duration d) {
        const time_point end = net.now() + d;
        for (;;) {
            turn();
            mads.set_now(net.now());
            if (mads.has_ready()) continue;
            const time_point next = std::min(wire.next_event().value_or(time_point::max()), mads.next_deadline());
            if (next > end) break;
            set_now(std::max(next, net.now()));
        }
        set_now(end);
        turn();
    }

    scripted_transport net;
    std::optional<transports::kernel_model> kernel;
    mad::transport& wire; ///< transport of the engine: the kernel model if there is one
    engine mads;
    std::array<u8, 1024> buffer;
};

/// Checks the counters after all operations have ended: each operation that was sent must have ended in exactly one
/// way.
inline void check_balance(const engine& mads) {
    const mad::engine_counters& c = mads.counters();
    REQUIRE(mads.idle());
    CHECK(c.sent == c.replied + c.timed_out + c.cancelled + c.lost);
}

/// Counts the operations in flight at the transport. An operation is in flight from the first send until its reply is
/// delivered or the latest attempt has expired.
class witness {
public:
    explicit witness(scripted_transport& net) {
        net.on_delivery = [this](const arrival& a) {
            if (a.bytes.size() == mad::mad_size) in_flight_.erase(number_of(a.bytes.data()));
        };
    }
    void saw(const packet& p) {
        std::erase_if(in_flight_, [&](const auto& one) { return one.second.expires <= p.at; });
        const u32 number = number_of(p.bytes.data());
        in_flight_.insert_or_assign(number,
                                    entry{p.at + mad::detail::deadlines::rounded(p.attempt_timeout), p.destination});
        most = std::max(most, in_flight_.size());
        most_to_one = std::max(most_to_one, to(p.destination));
    }
    std::size_t to(u64 destination) const {
        return static_cast<std::size_t>(std::count_if(in_flight_.begin(), in_flight_.end(), [&](const auto& one) {
            return one.second.destination == destination;
        }));
    }
    static u32 number_of(const u8* mad) {
        return u32{mad[20]} << 24 | u32{mad[21]} << 16 | u32{mad[22]} << 8 | mad[23];
    }

    std::size_t most = 0;
    std::size_t most_to_one = 0;

private:
    struct entry {
        time_point expires;
        u64 destination;
    };
    std::map<u32, entry> in_flight_; // by number of the operation
};

} // namespace comad::test
