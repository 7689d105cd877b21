// SPDX-License-Identifier: MIT
// throughput.hpp - measures how many replies per second a schedule receives, and the round-trip time of each MAD. Does not depend on a
// command line, a clock or an attribute.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/iba/detail/wire.hpp>
#include <comad/mad/latency_histogram.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
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

/// A query, and the targets to which it is sent repeatedly, in turn.
struct load {
    comad::mad::rpc_kind kind;
    comad::u32 attributeModifier = 0;
    comad::u64 component_mask = 0;
    std::array<comad::u8, payload_size> payload{};
    std::vector<comad::mad::any_path> targets{};
    unsigned per_destination = 0; ///< most MADs in flight to each target; 0: only the window limits them
};

/// The length of a measurement. After the warm-up, the measurement lasts until `mads` MADs have ended; if `mads` is 0, for `length`.
struct extent {
    comad::mad::duration warm_up{0}, length{0};
    comad::u64 mads = 0;
};

/// The counts of one or several measurements, without their warm-ups.
struct tally {
    comad::mad::latency_histogram times; ///< of MADs with a reply; they include the time of lost attempts
    comad::u64 replies = 0;
    comad::u64 retries = 0;
    comad::u64 timeouts = 0;   ///< MADs for which all attempts were lost
    comad::u64 errors = 0;     ///< error replies, and MADs that could not be sent
    std::vector<double> rates; ///< replies per second, for each measurement that took time
};

/// Returns the current time. Must also be up to date within a task.
using clock_function = std::function<comad::mad::time_point()>;

/// Queries one target once. Returns nullopt if the reply is correct, else the error.
/// Lifetime: all arguments must outlive the task.
comad::coro::task<std::optional<comad::mad::mad_error>> query_once(comad::coro::MADSchedule&, const load&,
                                                                   const comad::mad::any_path& target);

/// Keeps as many MADs in flight as the schedule allows, and adds the results to the tally. The time of a MAD is what a task experiences,
/// from its query to the decoded reply. No MAD waits for space in the schedule. The rate counts the replies after the first MAD that
/// ended after the warm-up, up to the last counted one; the window is full during this time. Precondition: the window is at most targets
/// * per_destination, and the schedule has no other limit.
/// Cancel:   ends with a partial result, as does a failed transport.
/// Lifetime: all arguments must outlive the task.
comad::coro::task<void> measure(comad::coro::MADSchedule&, const load&, const extent&, const clock_function&, tally&);

/// A mean, and half the width of its 95 % confidence interval by Student's t-distribution; nullopt for fewer than two values.
struct estimate {
    double mean = 0;
    std::optional<double> half_width;
};
/// Returns the mean of the values and its confidence interval. Precondition: at least one value.
estimate estimate_of(std::span<const double>);

} // namespace ibtool
