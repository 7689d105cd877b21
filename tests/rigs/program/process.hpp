// SPDX-License-Identifier: MIT
// process.hpp - runs a program for a test with arguments, environment and input, and collects output and exit code.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

/// Destination of a program's stderr.
enum class error_stream { file, terminal };

/// Result of a program that has ended.
struct process_result {
    int status = 0; ///< exit code, or 128 + the signal number as in a shell
    std::string out, err;
};

/// A running program. The destructor kills the program, and the kernel kills it if the test process dies first. A program
/// that cannot be started exits with 127.
/// Errors: std::runtime_error and std::system_error.
class process {
public:
    /// Starts a program with an empty stdin. `words`: `NAME=value` pairs for its environment, then the program, then its
    /// arguments. A program name without a slash is searched in PATH.
    explicit process(std::vector<std::string> words, error_stream = error_stream::file);
    ~process();
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    pid_t pid() const noexcept { return pid_; }
    void signal(int number);
    /// Returns the output so far.
    std::string output() const;
    std::string errors() const;
    /// Waits for `text` in the program's stderr. Throws if the program ends first or prints nothing for long.
    void await_error(std::string_view text);
    bool ended() { return wait_until(std::chrono::steady_clock::now()); }

    /// Waits until the program ends. Throws with the output so far if the program runs longer than `limit`.
    process_result wait(std::chrono::seconds limit = std::chrono::seconds(60));

private:
    bool wait_until(std::chrono::steady_clock::time_point deadline);
    void read_terminal();

    pid_t pid_ = -1;
    comad::mad::unique_fd end_, out_, err_;
    bool terminal_ = false; // true: err_ is our side of a terminal, and shown_ contains what we read from it
    std::string shown_;
};

/// Runs a program to its end.
inline process_result run_process(std::vector<std::string> words, error_stream err = error_stream::file) {
    return process(std::move(words), err).wait();
}
