// SPDX-License-Identifier: MIT
// calendar_time.hpp - reads the calendar time, for sessions in real time.
#pragma once
#include <chrono>

namespace ibtool {

/// Returns Unix time: seconds since 1970, with millisecond resolution.
inline double calendar_time() {
    using namespace std::chrono;
    return static_cast<double>(floor<milliseconds>(system_clock::now()).time_since_epoch().count()) / 1000;
}

} // namespace ibtool
