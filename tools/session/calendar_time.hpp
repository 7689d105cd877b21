// SPDX-License-Identifier: MIT
// calendar_time.hpp - what time it is where time is not simulated.
#pragma once
#include <chrono>

namespace ibtool {

/// Unix time: seconds since 1970, to the millisecond.
inline double calendar_time() {
    using namespace std::chrono;
    return static_cast<double>(floor<milliseconds>(system_clock::now()).time_since_epoch().count()) / 1000;
}

} // namespace ibtool
