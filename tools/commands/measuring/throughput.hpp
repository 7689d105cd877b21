// SPDX-License-Identifier: MIT
// throughput.hpp - how many MADs a second a schedule gets answered, and how long each takes. Knows no command line, no clock
// and no attribute.
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

/// Whatever a MAD carries, as bytes.
template <std::size_t Bytes> struct any_payload {
    std::array<comad::u8, Bytes> bytes{};
};
inline constexpr std::size_t smp_payload_size = 64; ///< behind it stands the route
inline constexpr std::size_t payload_size = 192;    ///< for which every other class has room

} // namespace ibtool

template <std::size_t Bytes> struct comad::iba::described<ibtool::any_payload<Bytes>> : std::true_type {
    using T = ibtool::any_payload<Bytes>;
    static constexpr auto layout =
        describe<Bytes>("payload", "13.4.2", field<&T::bytes, at{0}, 8 * Bytes>{"data", show::data});
};

namespace ibtool {

/// One query, and who is asked it over and over, in turn.
struct load {
    comad::mad::rpc_kind kind;
    comad::u32 attributeModifier = 0;
    comad::u64 component_mask = 0;
    std::array<comad::u8, payload_size> payload{};
    std::vector<comad::mad::any_path> targets{};
    unsigned per_destination = 0; ///< at most so many at once to each target; 0: as many as the window has
};

/// How long to go on: after a warm-up, until so many MADs have ended or, where that is 0, for so long.
struct extent {
    comad::mad::duration warm_up{0}, length{0};
    comad::u64 mads = 0;
};

/// What became of the MADs of one or several measurements, those of warm-ups apart.
struct tally {
    comad::mad::latency_histogram
        times; ///< of those that were answered; with the wait for a second attempt where there was one
    comad::u64 replies = 0;
    comad::u64 retries = 0;
    comad::u64 timeouts = 0;   ///< MADs, all of whose attempts were lost
    comad::u64 errors = 0;     ///< answered with an error status, or not sent
    std::vector<double> rates; ///< replies per second in each measurement that lasted
};

/// What time it is now, up to date also within a task.
using clock_function = std::function<comad::mad::time_point()>;

/// Asks one target once. Nothing, or why it has not answered as it should.
/// Lifetime: everything outlives the task.
comad::coro::task<std::optional<comad::mad::mad_error>> ask_once(comad::coro::MADSchedule&, const load&,
                                                                 const comad::mad::any_path& target);

/// Keeps as many MADs in flight as the schedule takes, measures, and adds to the tally. A MAD is measured as a task sees it,
/// from its query to the decoded answer; none waits for room in the schedule. The rate is that of the replies between
/// the first end after the warm-up and the last that counts, while the window is kept full, so that neither filling nor
/// draining it counts.
/// Precondition: the window is at most targets * per_destination, and the schedule bounds nothing else.
/// Cancel: ends with what it has. A transport that fails ends it, too.
/// Lifetime: everything outlives the task.
comad::coro::task<void> measure(comad::coro::MADSchedule&, const load&, const extent&, const clock_function&, tally&);

/// A mean, and half the width of its 95 % confidence interval by Student's t: nothing for less than two values.
struct estimate {
    double mean = 0;
    std::optional<double> half_width;
};
/// Precondition: there is a value.
estimate estimate_of(std::span<const double>);

} // namespace ibtool
