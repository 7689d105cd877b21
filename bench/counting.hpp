// SPDX-License-Identifier: MIT
// counting.hpp - counts allocations, system calls and processor time of the calling thread. Does not depend on what is measured.
#pragma once
#include <comad/iba/types.hpp>

#include <chrono>

namespace comad::bench {

/// Returns the number of calls of operator new by this thread. counting.cpp replaces the operator.
u64 allocations() noexcept;

/// Returns the number of system calls of this thread that move data or wait: read, write, poll, ppoll, epoll_wait, epoll_ctl and
/// timerfd_settime. Functions with these names replace those of the C library and count the calls.
u64 system_calls() noexcept;

/// Returns the processor time of this thread.
std::chrono::nanoseconds thread_time() noexcept;

/// A sample of allocations, system calls and times, or the difference between two samples.
struct usage {
    u64 allocations;
    u64 system_calls;
    std::chrono::nanoseconds processor, wall;

    static usage now() noexcept;
    friend usage operator-(const usage& end, const usage& begin) noexcept {
        return {end.allocations - begin.allocations, end.system_calls - begin.system_calls,
                end.processor - begin.processor, end.wall - begin.wall};
    }
};

} // namespace comad::bench
