// SPDX-License-Identifier: MIT
// throughput.hpp - measures how many replies per second a schedule receives, and the time of each MAD. Does not depend on a command line, a
// clock or an attribute.
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

/// Any payload as bytes.
template <std::size_t Bytes> struct any_payload {
    std::array<comad::u8, Bytes> bytes{};
};
inline constexpr std::size_t smp_payload_size = 64; ///< after it follows the route
inline constexpr std::size_t payload_size = 192;    ///< the size that all other classes support

} // namespace ibtool

template <std::size_t Bytes> struct comad::iba::described<ibtool::any_payload<Bytes>> : std::true_type {
    using T = ibtool::any_payload<Bytes>;
    static constexpr auto layout =
        describe<Bytes>("payload", "13.4.2", field<&T::bytes, at{0}, 8 * Bytes>{"data", show::data});
};

namespace ibtool {

/// One query, and the targets to which it is sent repeatedly, in turn.
struct load {
    comad::mad::rpc_kind kind;
    comad::u32 attributeModifier = 0;
    comad::u64 component_mask = 0;
    std::array<comad::u8, payload_size> payload{};
    std::vector<comad::mad::any_path> targets{};
    unsigned per_destination = 0; ///< most MADs in flight to each target; 0: limited only by the window
};

/// The length of a measurement: after a warm-up, it lasts until `mads` MADs have ended; if that is 0, for `length`.
struct extent {
    comad::mad::duration warm_up{0}, length{0};
    comad::u64 mads = 0;
};

/// The counts of one or several measurements, without their warm-ups.
struct tally {
    comad::mad::latency_histogram times; ///< of MADs with a reply; including the time before a second attempt
    comad::u64 replies = 0;
    comad::u64 retries = 0;
    comad::u64 timeouts = 0;   ///< MADs for which all attempts were lost
    comad::u64 errors = 0;     ///< error replies, and MADs that could not be sent
    std::vector<double> rates; ///< replies per second of each measurement that took time
};

/// Returns the current time, up to date also within a task.
using clock_function = std::function<comad::mad::time_point()>;

/// Queries one target once. Returns nullopt, or why there was no correct reply.
/// Lifetime: all arguments must outlive the task.
comad::coro::task<std::optional<comad::mad::mad_error>> ask_once(comad::coro::MADSchedule&, const load&,
                                                                 const comad::mad::any_path& target);

/// Keeps as many MADs in flight as the schedule allows, measures, and adds the results to the tally. The time of a MAD is measured as a
/// task sees it, from its query to the decoded reply; no MAD waits for space in the schedule. The rate counts the replies between the first
/// end after the warm-up and the last one that counts. The window is full during this time, so that filling and draining do not count.
/// Precondition: the window is at most targets * per_destination, and the schedule bounds nothing else.
/// Cancel:   ends with a partial result. A failed transport ends it, too.
/// Lifetime: all arguments must outlive the task.
comad::coro::task<void> measure(comad::coro::MADSchedule&, const load&, const extent&, const clock_function&, tally&);

/// A mean, and half the width of its 95 % confidence interval by Student's t; nullopt for fewer than two values.
struct estimate {
    double mean = 0;
    std::optional<double> half_width;
};
/// Returns the estimate. Precondition: there is at least one value.
estimate estimate_of(std::span<const double>);

} // namespace ibtool
