// SPDX-License-Identifier: MIT
// on_terminal.hpp - runs a program whose stdin, stdout and stderr are one pseudo-terminal, as in an interactive session.
#pragma once
#include "program/process.hpp"
#include <comad/mad/detail/unique_fd.hpp>

#include <string>
#include <string_view>
#include <sys/types.h>
#include <termios.h>
#include <vector>

/// A running program on a pseudo-terminal. The destructor kills the program.
/// Errors: std::runtime_error and std::system_error.
class on_terminal {
public:
    /// Starts the program. `words` has the format of the constructor of process.
    on_terminal(std::vector<std::string> words, unsigned columns, unsigned rows);
    ~on_terminal();
    on_terminal(const on_terminal&) = delete;
    on_terminal& operator=(const on_terminal&) = delete;

    void press(std::string_view keys);
    /// Changes the size of the terminal and sends SIGWINCH to the program.
    void resize(unsigned columns, unsigned rows);
    void signal(int number);
    /// Returns true if the echo and line settings of the terminal equal those before the program.
    bool is_as_before() const;

    /// Waits for `text` in the output from now on and returns the output up to the end of the text. Throws if the program
    /// ends first or prints nothing for long.
    std::string await(std::string_view text);
    /// Waits until the program ends. Returns its exit code and, in `out`, the output that await() has not returned.
    process_result wait();

private:
    bool read_more(int milliseconds); // returns false if nothing arrived or the program has ended

    pid_t pid_ = -1;
    comad::mad::unique_fd screen_, theirs_;
    termios before_{};
    std::string unseen_;
};
