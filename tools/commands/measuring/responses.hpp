// SPDX-License-Identifier: MIT
// responses.hpp - counts the replies of a measurement and their times: of all MADs, of each target and of each RPC. Sends nothing.
#pragma once
#include <comad/mad/error.hpp>
#include <comad/mad/latency_histogram.hpp>

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ibtool {

/// What a correct reply contains.
struct reply_content {
    comad::u64 bytes = 0;   ///< bytes of the MAD, or of all MADs of a table without their RMPP headers
    comad::u64 records = 0; ///< of a table
};

/// The ends of some RPCs.
struct responses {
    comad::mad::latency_histogram times; ///< of RPCs with a reply; they include the time of lost attempts
    comad::mad::duration total{0};       ///< sum of these times
    comad::mad::duration waited{0};      ///< sum of the times of all other RPCs
    comad::u64 unfinished = 0;           ///< RPCs that were in flight at the end of their measurement
    comad::u64 replies = 0;
    comad::u64 timeouts = 0; ///< RPCs for which all attempts were lost
    comad::u64 errors = 0;   ///< error replies, and RPCs that could not be sent
    reply_content content;   ///< of all replies together
    /// RPCs that ended with any reply, and without one; even an error reply, and even after the measurement.
    comad::u64 answered = 0, unanswered = 0;

    void add(comad::mad::duration took, const comad::mad::result<reply_content>&);
    void add(const responses&);
    comad::u64 ended() const noexcept { return replies + timeouts + errors; }
    /// Returns the mean time of RPCs with a reply, in seconds. Precondition: replies is not 0.
    double mean() const noexcept;
    /// Adds an RPC that was in flight at the end of the measurement, and has ended since then.
    void add_unfinished(comad::mad::duration took, const comad::mad::result<reply_content>&) noexcept;
    /// Returns the mean time until an RPC ended, with or without a reply and even after the measurement, in seconds; 0 if there was none. A
    /// target that is so slow that none of its replies arrived in time has a long mean time.
    double mean_of_all() const noexcept;
};

/// What the measured RPCs cost this program.
struct program_cost {
    double cpu_seconds = 0; ///< user and system time of the measuring threads
    comad::u64 system_calls = 0;
};
/// Returns the cost of the calling thread so far.
program_cost cost_of_thread() noexcept;

/// What one schedule measured once, without the warm-up.
struct measurement {
    measurement(std::size_t targets, std::size_t rpcs);
    /// Adds the end of an RPC. `since_sent`: the time since it was sent, if `took` counts from an earlier time.
    void add(std::size_t target, std::size_t rpc, comad::mad::duration took, const comad::mad::result<reply_content>&,
             std::optional<comad::mad::duration> since_sent = {});
    void add_unfinished(std::size_t target, std::size_t rpc, comad::mad::duration took,
                        const comad::mad::result<reply_content>&) noexcept;

    responses all;
    std::vector<responses> targets, rpcs;     ///< empty if there is only one
    comad::mad::latency_histogram since_sent; ///< of RPCs with a reply, if times count from an earlier time
    comad::u64 retries = 0;
    comad::u64 unsent = 0; ///< RPCs that were due and were not sent
    comad::mad::time_point first{}, last{};
    program_cost cost;
};

/// The results of several measurements. A round consists of the measurements that run at the same time.
struct tally {
    responses all;
    std::vector<responses> targets, rpcs;
    comad::mad::latency_histogram since_sent;
    comad::u64 retries = 0, unsent = 0;
    program_cost cost;
    double seconds = 0;           ///< sum of the measured times of all rounds
    std::vector<double> rates;    ///< replies per second, for each round that took time
    std::vector<double> p50, p99; ///< in seconds, for each round with a reply

    /// Adds a round. `target_of[i][j]`: index of the target that measurement i measured as its target j.
    void add_round(std::span<const measurement>, std::span<const std::vector<std::size_t>> target_of);
};

} // namespace ibtool
