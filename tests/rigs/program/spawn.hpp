// SPDX-License-Identifier: MIT
// spawn.hpp - a program is started, and dies with us.
#pragma once
#include <string>
#include <sys/types.h>
#include <vector>

/// `words`: `NAME=value` for its environment, then the program, looked for in PATH unless it has a slash, then its arguments. The
/// descriptors become its stdin, stdout and stderr. One that cannot be started says so on its stderr and exits with 127.
/// Errors: std::system_error.
pid_t spawn(std::vector<std::string> words, int in, int out, int err);
