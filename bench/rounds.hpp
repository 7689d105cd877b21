// SPDX-License-Identifier: MIT
// rounds.hpp - several variants of the same work, measured in turn and told as a table. Knows no MAD.
#pragma once
#include "counting.hpp"

#include <functional>
#include <string>
#include <vector>

namespace comad::bench {

/// Requests by number, answers by the same number, in any order. Measured are `measured` answers, from the one that ends
/// the warm-up, and while `window` requests follow, so that the window stays full.
class workload {
public:
    workload(u64 warm_up, u64 measured, unsigned window)
        : first_(warm_up), last_(warm_up + measured), total_(warm_up + measured + window) {}

    /// Whether there is one more request.
    bool more() const noexcept { return asked_ < total_; }
    /// The number of the next request. Precondition: more().
    u64 next() noexcept { return asked_++; }
    void answered(u64 number) noexcept {
        sum_ += number;
        ++answered_;
        if (answered_ == first_) begin_ = usage::now();
        else if (answered_ == last_) end_ = usage::now();
    }
    bool unanswered() const noexcept { return answered_ < total_; }
    /// Whether each number came back once, as far as their sum tells.
    bool sum_is_right() const noexcept { return !unanswered() && sum_ == total_ * (total_ - 1) / 2; }
    u64 measured() const noexcept { return last_ - first_; }
    /// What the measured ones cost. Precondition: all are answered.
    usage cost() const noexcept { return end_ - begin_; }

private:
    u64 first_, last_, total_;
    u64 asked_ = 0, answered_ = 0, sum_ = 0;
    usage begin_{}, end_{};
};

/// One way to do the work: takes it from the workload with `window` requests in flight until none is left.
struct variant {
    std::string name;
    std::function<void(workload&, unsigned window)> run;
};

/// Prints what the columns are, under a title.
void print_heading(const std::string& title);

/// Runs the variants in turn, `rounds` times, each round beginning with another one, and prints one line for each:
/// medians per request, and processor time relative to the first variant, from the ratios within each round.
/// Returns the allocations of all, warm-up apart. Throws std::runtime_error if a sum is wrong.
u64 measure(const std::vector<variant>& variants, unsigned rounds, u64 requests, unsigned window);

} // namespace comad::bench
