// SPDX-License-Identifier: MIT
// memory_reserve.cpp - the new-handler, which releases reserved memory when operator new fails.
#include "session/memory_reserve.hpp"

#include "input/options.hpp"
#include "text/output.hpp"
#include <comad/mad/detail/unique_fd.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <fcntl.h>
#include <new>
#include <sys/resource.h>
#include <unistd.h>

namespace ibtool {

std::atomic<bool> is_memory_short = false;

namespace {

std::atomic<void*> reserve = nullptr; // allocated but never written, so that it occupies no pages

/// Returns the address space of this process, in bytes; 0: unknown.
std::size_t address_space() noexcept {
    const comad::mad::unique_fd file(::open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
    char text[32]{}; // starts with the size in pages
    if (!file || ::read(file.get(), text, sizeof text - 1) <= 0) return 0;
    return std::strtoull(text, nullptr, 10) * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

std::size_t reserve_size() noexcept {
    rlimit limit{};
    constexpr std::size_t usual = std::size_t{64} << 20, most = std::size_t{1} << 30;
    if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return usual;
    const std::size_t taken = address_space();
    return limit.rlim_cur > taken ? std::min<std::size_t>((limit.rlim_cur - taken) / 2, most) : 0;
}

void on_shortage() {
    if (void* const last = reserve.exchange(nullptr)) {
        std::free(last);
        is_memory_short = true;
        return;
    }
    print_out_of_memory();
    ::_exit(failed);
}

} // namespace

void reserve_memory() noexcept {
    std::set_new_handler(&on_shortage);
    if (reserve) return;
    reserve = std::malloc(reserve_size());
    if (reserve) is_memory_short = false;
}

} // namespace ibtool
