// SPDX-License-Identifier: MIT
// ticker.cpp - waits for the next period, and counts periods that have ended already.
#include <comad/coro/ticker.hpp>

#include <stdexcept>

namespace comad::coro {

ticker::ticker(MADSchedule& schedule, mad::duration period) : schedule_(schedule), periods_(period) {
    if (period <= mad::duration{0}) throw std::invalid_argument("a ticker's period must be > 0");
}

task<bool> ticker::next() {
    // The first tick also pauses, so that the driver has read the clock when it returns.
    const mad::time_point when = started_ ? periods_.next() : schedule_.now();
    const bool passed = co_await schedule_.pause_until(when);
    if (!passed) co_return false;
    if (!std::exchange(started_, true)) periods_.begin(schedule_.now());
    skipped_ += periods_.skip_over(schedule_.now());
    periods_.done();
    co_return true;
}

} // namespace comad::coro
