// SPDX-License-Identifier: MIT
// ticker.hpp - something to do in every period of a schedule's clock. Knows no MAD.
#pragma once
#include <comad/coro/detail/periods.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/coro/task.hpp>
#include <comad/iba/types.hpp>

namespace comad::coro {

/// `while (co_await ticks.next()) ...` runs at the beginning of each period: true, or false if it was cancelled. The first
/// tick comes at once and begins the first period; no delay adds up, since periods follow from the first one.
/// Missed:   a tick whose period began meanwhile comes at once; those whose periods are over are skipped and counted.
/// Period:   > 0, else the constructor throws std::invalid_argument.
/// Threads:  the schedule's alone. One next() at a time.
/// Lifetime: the schedule outlives the ticker, and the ticker whoever awaits it.
class ticker {
public:
    ticker(MADSchedule&, mad::duration period);
    ticker(const ticker&) = delete;
    ticker& operator=(const ticker&) = delete;

    task<bool> next();
    /// Ticks that were missed, all in all.
    u64 skipped() const noexcept { return skipped_; }

private:
    MADSchedule& schedule_;
    periods periods_;
    bool begun_ = false;
    u64 skipped_ = 0;
};

} // namespace comad::coro
