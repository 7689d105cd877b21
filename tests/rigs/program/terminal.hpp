// SPDX-License-Identifier: MIT
// terminal.hpp - a pseudo terminal with a program in it: what it shows, and in which state it leaves the terminal. Knows no program.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <termios.h>
#include <vector>

/// The program has it as stdin, stdout and stderr; killed by the destructor. May be used by any one thread.
/// Errors: std::system_error.
class terminal {
public:
    explicit terminal(std::vector<std::string> words);
    ~terminal();
    terminal(const terminal&) = delete;
    terminal& operator=(const terminal&) = delete;

    void signal(int number);
    /// Stops it, and lets it go on when it stands.
    void stop_and_continue();
    /// Reads what it shows until then, or until it ends: its exit code, or 128 + the number of the signal; nothing: it runs on.
    std::optional<int> watch(std::chrono::nanoseconds length);
    const std::string& shown() const noexcept { return shown_; }
    /// In words what is not as it was before; empty: nothing. Precondition: it has ended.
    std::string difference() const;

private:
    void read();

    pid_t pid_ = -1;
    comad::mad::unique_fd ours_, theirs_, end_;
    termios before_{};
    std::string shown_;
    std::optional<int> status_;
};
