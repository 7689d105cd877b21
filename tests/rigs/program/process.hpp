// SPDX-License-Identifier: MIT
// process.hpp - a program run by a test: its arguments, environment, input, output, exit. Knows no program.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>

#include <chrono>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <utility>
#include <vector>

/// Where a program's stderr goes.
enum class error_stream { file, terminal };

/// How a program ended.
struct process_result {
    int status = 0; ///< exit code, or 128 + the number of the signal that ended it, as a shell says it
    std::string out, err;
};

/// A running program; killed by the destructor, and by the kernel should the test die first.
/// Errors: std::runtime_error and std::system_error. A program that cannot be started exits with 127.
class process {
public:
    /// `words`: `NAME=value` for its environment, then the program, looked for in PATH unless it has a slash, then its
    /// arguments. Its stdin is empty.
    explicit process(std::vector<std::string> words, error_stream = error_stream::file);
    ~process();
    process(const process&) = delete;
    process& operator=(const process&) = delete;

    pid_t pid() const noexcept { return pid_; }
    void signal(int number);
    /// What it has written so far.
    std::string output() const;
    std::string errors() const;
    /// Awaits this text in its stderr. Throws when it ends before or stays silent for long.
    void await_error(std::string_view text);
    bool ended() { return wait_until(std::chrono::steady_clock::now()); }

    /// Awaits its end. Throws, with what it said so far, when it runs longer than that.
    process_result wait(std::chrono::seconds limit = std::chrono::seconds(60));

private:
    bool wait_until(std::chrono::steady_clock::time_point deadline);
    void read_terminal();

    pid_t pid_ = -1;
    comad::mad::unique_fd end_, out_, err_;
    bool terminal_ = false; // then err_ is the terminal's other end, and this is what came out of it
    std::string shown_;
};

/// Runs a program to its end.
inline process_result run_process(std::vector<std::string> words, error_stream err = error_stream::file) {
    return process(std::move(words), err).wait();
}
