// SPDX-License-Identifier: MIT
// time.hpp - the time types of everything below the drivers. What asks a clock is
// told which one by a driver.
#pragma once
#include <chrono>

namespace comad::mad {

using duration = std::chrono::nanoseconds;
/// A moment of steady time, real or simulated; drivers say which.
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;
/// Gives what time it is.
using clock_reading = time_point (*)() noexcept;

/// As a number of seconds.
constexpr double in_seconds(duration length) noexcept { return std::chrono::duration<double>(length).count(); }

} // namespace comad::mad
