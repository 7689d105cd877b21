// SPDX-License-Identifier: MIT
// rounds.hpp - measures several variants of the same work in alternating rounds and prints a table. Does not depend on MADs.
#pragma once
#include "counting.hpp"

#include <functional>
#include <string>
#include <vector>

namespace comad::bench {

/// Numbered requests, whose answers have the same numbers and come in any order. Measures `measured` answers, starting with the one that
/// ends the warm-up. Another `window` requests follow, so that the window stays full during the measurement.
class workload {
public:
    workload(u64 warm_up, u64 measured, unsigned window)
        : first_(warm_up), last_(warm_up + measured), total_(warm_up + measured + window) {}

    /// Returns whether there is another request.
    bool more() const noexcept { return requested_ < total_; }
    /// Returns the number of the next request. Precondition: more().
    u64 next() noexcept { return requested_++; }
    void answered(u64 number) noexcept {
        sum_ += number;
        ++answered_;
        if (answered_ == first_) begin_ = usage::now();
        else if (answered_ == last_) end_ = usage::now();
    }
    bool unanswered() const noexcept { return answered_ < total_; }
    /// Returns whether each number came back once, as far as the sum of the numbers shows.
    bool sum_is_right() const noexcept { return !unanswered() && sum_ == total_ * (total_ - 1) / 2; }
    u64 measured() const noexcept { return last_ - first_; }
    /// Returns the cost of the measured requests. Precondition: all requests are answered.
    usage cost() const noexcept { return end_ - begin_; }

private:
    u64 first_, last_, total_;
    u64 requested_ = 0, answered_ = 0, sum_ = 0;
    usage begin_{}, end_{};
};

/// One way to do the work: takes requests from the workload, with `window` requests in flight, until there are none left.
struct variant {
    std::string name;
    std::function<void(workload&, unsigned window)> run;
};

/// Prints a title and the column headings.
void print_heading(const std::string& title);

/// Runs the variants in turn, `rounds` times, and starts each round with a different variant. Prints one line per variant: the medians
/// per request, and the processor time relative to the first variant, which is computed from the ratios within each round. Returns the
/// number of allocations of all variants after the warm-up. Throws std::runtime_error if a sum is wrong.
u64 measure(const std::vector<variant>& variants, unsigned rounds, u64 requests, unsigned window);

} // namespace comad::bench
