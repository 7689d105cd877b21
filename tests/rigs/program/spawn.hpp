// SPDX-License-Identifier: MIT
// spawn.hpp - starts a program that the kernel kills if the test process dies.
#pragma once
#include <string>
#include <sys/types.h>
#include <vector>

/// Starts a program and returns its process ID. `words`: `NAME=value` pairs for its environment, then the program, then its
/// arguments. A program name without a slash is searched in PATH. The descriptors become its stdin, stdout and stderr. If
/// the program cannot be started, the child prints an error on its stderr and exits with 127.
/// Errors: std::system_error.
pid_t spawn(std::vector<std::string> words, int in, int out, int err);
