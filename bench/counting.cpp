// SPDX-License-Identifier: MIT
// counting.cpp - replaces operator new and system calls of the C library with functions that count and then do the same work.
#include "counting.hpp"

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <ctime>
#include <new>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace {

thread_local comad::u64 allocation_count = 0;
thread_local comad::u64 call_count = 0;

void* counted(void* allocated) {
    ++allocation_count;
    if (!allocated) throw std::bad_alloc();
    return allocated;
}

std::size_t rounded_up(std::size_t size, std::size_t alignment) {
    return (size + alignment - 1) / alignment * alignment;
}

} // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void* operator new(std::size_t size, std::align_val_t alignment) {
    const auto bytes = static_cast<std::size_t>(alignment);
    return counted(std::aligned_alloc(bytes, rounded_up(size, bytes)));
}
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }

// A definition in the executable takes precedence over the C library for every caller, including libraries.
extern "C" {

ssize_t read(int fd, void* buffer, size_t size) {
    ++call_count;
    return ::syscall(SYS_read, fd, buffer, size);
}
ssize_t write(int fd, const void* bytes, size_t size) {
    ++call_count;
    return ::syscall(SYS_write, fd, bytes, size);
}
int poll(pollfd* descriptors, nfds_t count, int timeout_ms) {
    ++call_count;
    return static_cast<int>(::syscall(SYS_poll, descriptors, count, timeout_ms));
}
int ppoll(pollfd* descriptors, nfds_t count, const timespec* timeout, const sigset_t* mask) {
    ++call_count;
    timespec left = timeout ? *timeout : timespec{}; // the kernel writes to it
    return static_cast<int>(::syscall(SYS_ppoll, descriptors, count, timeout ? &left : nullptr, mask, _NSIG / 8));
}
int epoll_wait(int epoll, epoll_event* events, int count, int timeout_ms) {
    ++call_count;
    return static_cast<int>(::syscall(SYS_epoll_wait, epoll, events, count, timeout_ms));
}
int epoll_ctl(int epoll, int operation, int fd, epoll_event* event) noexcept {
    ++call_count;
    return static_cast<int>(::syscall(SYS_epoll_ctl, epoll, operation, fd, event));
}
int timerfd_settime(int fd, int flags, const itimerspec* value, itimerspec* old) noexcept {
    ++call_count;
    return static_cast<int>(::syscall(SYS_timerfd_settime, fd, flags, value, old));
}

} // extern "C"

namespace comad::bench {

u64 allocations() noexcept { return allocation_count; }
u64 system_calls() noexcept { return call_count; }

std::chrono::nanoseconds thread_time() noexcept {
    timespec t{};
    ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::nanoseconds(t.tv_nsec);
}

usage usage::now() noexcept {
    return {bench::allocations(), bench::system_calls(), thread_time(),
            std::chrono::steady_clock::now().time_since_epoch()};
}

} // namespace comad::bench
