// SPDX-License-Identifier: MIT
// time.hpp - the time types of everything below the drivers. Nothing here asks a clock: only drivers do.
#pragma once
#include <chrono>

namespace comad::mad {

using duration = std::chrono::nanoseconds;
/// A moment of steady time, real or simulated; drivers say which.
using time_point = std::chrono::time_point<std::chrono::steady_clock, duration>;

} // namespace comad::mad
