// SPDX-License-Identifier: MIT
// on_terminal.hpp - a program whose stdin, stdout and stderr are one terminal, as a user has it. Knows no program.
#pragma once
#include "program/process.hpp"
#include <comad/mad/detail/unique_fd.hpp>

#include <string>
#include <string_view>
#include <sys/types.h>
#include <termios.h>
#include <vector>

/// Killed by the destructor. Errors: std::runtime_error and std::system_error.
class on_terminal {
public:
    /// `words`: as process has them.
    on_terminal(std::vector<std::string> words, unsigned columns, unsigned rows);
    ~on_terminal();
    on_terminal(const on_terminal&) = delete;
    on_terminal& operator=(const on_terminal&) = delete;

    void press(std::string_view keys);
    /// Another size, of which the program hears.
    void resize(unsigned columns, unsigned rows);
    void signal(int number);
    /// Whether keys are shown and lines read whole, as before the program.
    bool is_as_before() const;

    /// Awaits this text in what is written from now on. Gives all until its end. Throws when the program ends before or stays
    /// silent for long.
    std::string await(std::string_view text);
    /// Awaits its end: its exit code, and in `out` all that it has written and that was not awaited.
    process_result wait();

private:
    bool read_more(int milliseconds); // false: nothing came, or it has ended

    pid_t pid_ = -1;
    comad::mad::unique_fd screen_, theirs_;
    termios before_{};
    std::string unseen_;
};
