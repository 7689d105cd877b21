// SPDX-License-Identifier: MIT
// terminal.hpp - a pseudo-terminal with a program: what it displays, and in which state the program leaves the terminal.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <termios.h>
#include <vector>

/// A program with a pseudo-terminal as stdin, stdout and stderr. The destructor kills the program.
/// Threads: one thread at a time.
/// Errors: std::system_error.
class terminal {
public:
    explicit terminal(std::vector<std::string> words);
    ~terminal();
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    void signal(int number);
    /// Stops the program, and continues it after it has stopped.
    void stop_and_continue();
    /// Reads the program's output for `length` or until the program ends. Returns the exit code, or 128 + the signal
    /// number; empty if the program still runs.
    std::optional<int> watch(std::chrono::nanoseconds length);
    const std::string& shown() const noexcept { return shown_; }
    /// Describes the settings of the terminal that differ from before; empty if none. Precondition: the program has ended.
    std::string difference() const;

private:
    void read();

    pid_t pid_ = -1;
    comad::mad::unique_fd ours_, theirs_, end_;
    termios before_{};
    std::string shown_;
    std::optional<int> status_;
};
