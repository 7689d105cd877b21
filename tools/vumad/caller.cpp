// SPDX-License-Identifier: MIT
// caller.cpp - reads /proc/PID/syscall, and calls process_vm_writev(2).
#include "vumad/caller.hpp"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/uio.h>
#include <time.h>

namespace ibtool {
namespace {

/// Returns the line of /proc/PID/syscall. Retries while the thread still runs, because it may not sleep in its call yet. Returns an empty
/// text if the file cannot be read.
std::string line_of(pid_t thread) {
    constexpr unsigned tries = 200;
    constexpr timespec pause{0, 20'000};
    const std::string name = fmt::format("/proc/{}/syscall", thread);
    for (unsigned i = 0; i < tries; ++i) {
        std::string line;
        std::ifstream file(name);
        if (!std::getline(file, line)) break;
        if (line != "running") return line;
        ::nanosleep(&pause, nullptr);
    }
    return {};
}

} // namespace

std::optional<data_call> call_of(pid_t thread, long number) {
    const std::string line = line_of(thread);
    const char* at = line.c_str();
    char* end = nullptr;
    const auto next = [&](int base) {
        const unsigned long long value = std::strtoull(at, &end, base);
        const bool is_there = end != at;
        at = end;
        return is_there ? std::optional(value) : std::nullopt;
    };
    const auto called = next(10), descriptor = next(16), buffer = next(16), size = next(16);
    if (!called || !descriptor || !buffer || !size || *called != static_cast<unsigned long long>(number))
        return std::nullopt;
    return data_call{*buffer, static_cast<std::size_t>(*size)};
}

bool write_to(pid_t thread, comad::u64 address, std::span<const comad::u8> bytes) {
    const iovec from{const_cast<comad::u8*>(bytes.data()), bytes.size()};
    const iovec to{reinterpret_cast<void*>(address), bytes.size()};
    return ::process_vm_writev(thread, &from, 1, &to, 1, 0) == static_cast<ssize_t>(bytes.size());
}

} // namespace ibtool
