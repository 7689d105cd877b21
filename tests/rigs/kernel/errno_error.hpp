// SPDX-License-Identifier: MIT
// errno_error.hpp - throws an exception for a failed system call.
#pragma once
#include <cerrno>
#include <string>
#include <system_error>

/// Throws std::system_error with errno and the name of the call.
[[noreturn]] inline void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}
