// SPDX-License-Identifier: MIT
// time.hpp - the time types of all layers below the drivers. Code that reads a clock gets the clock from its driver.
#pragma once
#include <chrono>

namespace comad::mad {

/// A time span in nanoseconds.
using duration = std::chrono::nanoseconds;
/// A moment of steady time, real or virtual, as the driver decides.
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;
/// A function that returns the current time.
using clock_reading = time_point (*)() noexcept;

/// Returns a duration as a number of seconds.
constexpr double in_seconds(duration length) noexcept { return std::chrono::duration<double>(length).count(); }

} // namespace comad::mad
