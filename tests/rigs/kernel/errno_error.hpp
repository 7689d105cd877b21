// SPDX-License-Identifier: MIT
// errno_error.hpp - a system call that failed, as an exception.
#pragma once
#include <cerrno>
#include <string>
#include <system_error>

/// Throws what errno says, of this call.
[[noreturn]] inline void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}
