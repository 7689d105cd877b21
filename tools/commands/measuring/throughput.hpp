// SPDX-License-Identifier: MIT
// throughput.hpp - measures how many replies per second a schedule receives, and the round-trip time of each MAD. Does not depend on a
// command line, a clock or an attribute.
#pragma once
#include "commands/measuring/responses.hpp"
#include <comad/coro/schedule.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ibtool {

/// A payload of any attribute, as bytes.
template <std::size_t Bytes> struct any_payload {
    std::array<comad::u8, Bytes> bytes{};
};
inline constexpr std::size_t smp_payload_size = 64; ///< the path of a directed route follows it
inline constexpr std::size_t payload_size = 192;    ///< the size that all other classes have at least

} // namespace ibtool

template <std::size_t Bytes> struct comad::iba::described<ibtool::any_payload<Bytes>> : std::true_type {
    using T = ibtool::any_payload<Bytes>;
    static constexpr auto layout =
        describe<Bytes>("payload", "13.4.2", field<&T::bytes, at{0}, 8 * Bytes>{"data", show::data});
};

namespace ibtool {

using request_payload = std::array<comad::u8, payload_size>;

/// One of the RPCs of a load.
struct load_rpc {
    comad::mad::rpc_kind kind;
    comad::u32 attributeModifier = 0;
    comad::u64 component_mask = 0;
    request_payload payload{};
    std::size_t record_size = 0;              ///< for a table: bytes of a record
    unsigned weight = 1;                      ///< how often this RPC is sent, in proportion to the others
    std::vector<request_payload> of_target{}; ///< the payload for each target; empty: `payload` for all
};

/// RPCs, and the targets to which they are sent repeatedly, in turn.
struct load {
    std::vector<load_rpc> rpcs;
    std::vector<comad::mad::any_path> targets{};
    unsigned per_destination = 0; ///< most MADs in flight to each target; 0: only the window limits them
};

/// Measures the cost of the calling thread and the retries of a schedule, from the construction on. The schedule must outlive the object.
class cost_meter {
public:
    explicit cost_meter(const comad::coro::MADSchedule&);
    comad::u64 retries() const noexcept;
    program_cost cost() const noexcept;

private:
    const comad::coro::MADSchedule& schedule_;
    comad::u64 retries_before_;
    program_cost before_;
};

/// The length of a measurement. After the warm-up, the measurement lasts until `mads` MADs have ended; if `mads` is 0, for `length`.
struct extent {
    comad::mad::duration warm_up{0}, length{0};
    comad::u64 mads = 0;
};

/// Returns the current time. Must also be up to date within a task.
using clock_function = std::function<comad::mad::time_point()>;

/// Sends one RPC to a target once. Returns what the reply contains if it is correct.
/// Lifetime: all arguments must outlive the task.
comad::coro::task<comad::mad::result<reply_content>>
query_once(comad::coro::MADSchedule&, const load_rpc&, const request_payload&, const comad::mad::any_path& target);
/// Returns the payload of an RPC for the target with this index.
inline const request_payload& payload_for(const load_rpc& rpc, std::size_t target) {
    return rpc.of_target.empty() ? rpc.payload : rpc.of_target[target];
}

/// Selects the RPCs of a load in turn. Among as many turns as the sum of the weights, each RPC has as many as its weight, and its turns are
/// spread evenly.
class rpc_turns {
public:
    explicit rpc_turns(const load&);
    std::size_t take() noexcept;

private:
    std::vector<long long> weights_, credits_;
    long long sum_ = 0;
};

/// Keeps as many MADs in flight as the schedule allows. The time of a MAD is what a task experiences, from its query to the decoded reply. No
/// MAD waits for space in the schedule. The measured time begins with the first MAD that ended after the warm-up, and ends with the last
/// counted one; the window is full during this time unless all targets are at their limit. Precondition: the schedule limits only the total
/// number of MADs in flight.
/// Cancel:   ends with a partial result, as does a failed transport.
/// Lifetime: all arguments must outlive the task.
comad::coro::task<void> measure(comad::coro::MADSchedule&, const load&, const extent&, const clock_function&,
                                measurement&);

} // namespace ibtool
