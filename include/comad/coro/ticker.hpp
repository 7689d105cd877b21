// SPDX-License-Identifier: MIT
// ticker.hpp - ticker: a periodic timer on the clock of a schedule. It depends on no MAD.
#pragma once
#include <comad/coro/detail/periods.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/coro/task.hpp>
#include <comad/iba/types.hpp>

namespace comad::coro {

/// A periodic timer. `while (co_await ticks.next()) ...` runs its body once per period. The first tick comes
/// immediately and starts the first period. Delays do not accumulate, because each period is calculated from the
/// first one.
/// Missed:   if a period has started but not ended, its tick comes immediately. Ticks of periods that have ended are
///           skipped and counted.
/// Period:   must be > 0; otherwise the constructor throws std::invalid_argument.
/// Threads:  only the thread of the schedule. Only one next() can be pending.
/// Lifetime: the schedule must outlive the ticker. The ticker must outlive the task that awaits it.
class ticker {
public:
    ticker(MADSchedule&, mad::duration period);
    ticker(const ticker&) = delete;
    ticker& operator=(const ticker&) = delete;

    /// Waits for the next tick. Returns false if the wait was canceled.
    task<bool> next();
    /// Returns the number of missed ticks since the ticker was created.
    u64 skipped() const noexcept { return skipped_; }

private:
    MADSchedule& schedule_;
    periods periods_;
    bool started_ = false;
    u64 skipped_ = 0;
};

} // namespace comad::coro
