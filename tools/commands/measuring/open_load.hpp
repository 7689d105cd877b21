// SPDX-License-Identifier: MIT
// open_load.hpp - sends RPCs at a fixed mean rate, whether or not replies arrive, and measures times from the intended time of sending. A
// slow reply therefore delays no later request unnoticed (coordinated omission). Does not depend on a command line.
#pragma once
#include "commands/measuring/throughput.hpp"

#include <random>

namespace ibtool {

/// The times between requests.
enum class arrival_process : comad::u8 {
    constant, ///< equal
    poisson,  ///< exponentially distributed, as of many independent clients
};

/// An open load.
struct open_load {
    double rate = 0; ///< requests per second
    arrival_process process = arrival_process::constant;
    unsigned most_in_flight = 0; ///< further requests wait in this program
    comad::u64 seed = 1;
    double offset = 0; ///< for constant arrivals: the time of the first request, in units of the time between requests
};

/// The intended times of requests.
class arrivals {
public:
    arrivals(const open_load&, comad::mad::time_point start);
    comad::mad::time_point next() const noexcept { return next_; }
    void take();
    /// Takes all times before `end` and returns their number. For Poisson arrivals, this draws the number and takes equal time for any
    /// `end`.
    comad::u64 take_until(comad::mad::time_point end);

private:
    comad::mad::time_point at(double intervals) const noexcept;

    comad::mad::time_point start_, next_;
    double interval_; // ns
    double position_; // of next_, in intervals from start_
    bool is_poisson_;
    std::mt19937_64 random_;
};

/// Sends RPCs at the intended times, to the targets in turn. Times count from the intended time. While `most_in_flight` RPCs are in flight,
/// requests wait; no request is left out between the warm-up and the end of the measurement. Requests that are due and not sent at the end
/// are counted in measurement::unsent. With extent::mads, this number of requests is sent. Takes memory for the requests in flight only.
/// Precondition: the schedule does not limit the number of MADs in flight to less than `most_in_flight`, in total or by destination.
/// Cancel:   ends with a partial result, as does a failed transport.
/// Lifetime: all arguments must outlive the task.
comad::coro::task<void> measure_open(comad::coro::MADSchedule&, const load&, const open_load&, const extent&,
                                     const clock_function&, measurement&);

} // namespace ibtool
