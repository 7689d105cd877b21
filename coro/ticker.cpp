// SPDX-License-Identifier: MIT
// ticker.cpp - waits for the next period, and counts those that it finds to be over.
#include <comad/coro/ticker.hpp>

#include <stdexcept>

namespace comad::coro {

ticker::ticker(MADSchedule& schedule, mad::duration period) : schedule_(schedule), periods_(period) {
    if (period <= mad::duration{0}) throw std::invalid_argument("a ticker's period must be > 0");
}

task<bool> ticker::next() {
    // Also the first: the driver has looked at the clock when it is over.
    const mad::time_point when = begun_ ? periods_.next() : schedule_.now();
    const bool passed = co_await schedule_.pause_until(when);
    if (!passed) co_return false;
    if (!std::exchange(begun_, true)) periods_.begin(schedule_.now());
    skipped_ += periods_.skip_over(schedule_.now());
    periods_.done();
    co_return true;
}

} // namespace comad::coro
