// SPDX-License-Identifier: MIT
// counting.hpp - what the calling thread has used so far: allocations, system calls, time. Knows nothing of what is measured.
#pragma once
#include <comad/iba/types.hpp>

#include <chrono>

namespace comad::bench {

/// Calls of operator new by this thread; counting.cpp replaces the operator.
u64 allocations() noexcept;

/// System calls of this thread that move data or wait: read, write, poll, ppoll, epoll_wait, epoll_ctl and
/// timerfd_settime, counted by functions of these names in front of the C library's.
u64 system_calls() noexcept;

/// Processor time of this thread.
std::chrono::nanoseconds thread_time() noexcept;

/// A sample of all of them, or the difference of two samples.
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
