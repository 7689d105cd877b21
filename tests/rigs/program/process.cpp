// SPDX-License-Identifier: MIT
// process.cpp - starts, watches and ends a program. Its input and output are files in memory, because a pipe could
// become full.
#include "program/process.hpp"

#include "kernel/errno_error.hpp"
#include "program/spawn.hpp"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdexcept>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <system_error>
#include <termios.h>
#include <unistd.h>

using comad::mad::unique_fd;

namespace {

/// Returns a new empty file in memory.
unique_fd memory_file() {
    unique_fd file(::memfd_create("test", MFD_CLOEXEC));
    if (!file) fail("memfd_create");
    return file;
}

/// Returns the content of a file in memory.
std::string content_of(const unique_fd& file) {
    std::string text;
    char part[4096];
    ssize_t n;
    while ((n = ::pread(file.get(), part, sizeof part, static_cast<off_t>(text.size()))) > 0)
        text.append(part, static_cast<std::size_t>(n));
    return text;
}

} // namespace

process::process(std::vector<std::string> words, error_stream err)
    : out_(memory_file()), terminal_(err == error_stream::terminal) {
    const unique_fd input = memory_file();
    unique_fd theirs; // stderr of the program if it is not err_ itself
    if (terminal_) {
        int ends[2];
        termios raw{};
        ::cfmakeraw(&raw); // otherwise the terminal turns a line break into two characters
        if (::openpty(&ends[0], &ends[1], nullptr, &raw, nullptr) != 0) fail("openpty");
        err_ = unique_fd(ends[0]);
        theirs = unique_fd(ends[1]);
        if (::fcntl(err_.get(), F_SETFL, O_NONBLOCK) != 0 || ::fcntl(err_.get(), F_SETFD, FD_CLOEXEC) != 0)
            fail("fcntl");
    } else {
        err_ = memory_file();
    }

    pid_ = spawn(std::move(words), input.get(), out_.get(), theirs ? theirs.get() : err_.get());
    end_ = unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    if (!end_) fail("pidfd_open");
}

process::~process() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

void process::signal(int number) {
    if (::kill(pid_, number) != 0) fail("signal a program");
}

void process::await_error(std::string_view text) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (errors().find(text) == std::string::npos) {
        if (wait_until(std::chrono::steady_clock::now() + std::chrono::milliseconds(20)) ||
            std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("the program does not say what is awaited, but:\n" + errors());
    }
}

std::string process::output() const { return content_of(out_); }

std::string process::errors() const { return terminal_ ? shown_ : content_of(err_); }

process_result process::wait(std::chrono::seconds limit) {
    const bool in_time = wait_until(std::chrono::steady_clock::now() + limit);
    const std::string out = content_of(out_);
    const std::string err = errors();
    if (!in_time) throw std::runtime_error("the program does not end; it said:\n" + out + err);
    int status = 0;
    if (::waitpid(pid_, &status, 0) != pid_) fail("await a program");
    pid_ = -1;
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), out, err};
}

/// Waits until the deadline and returns false if the program still runs. Reads the terminal meanwhile, because its buffer
/// is small.
bool process::wait_until(std::chrono::steady_clock::time_point deadline) {
    using namespace std::chrono;
    for (;;) {
        const auto left = std::max(ceil<milliseconds>(deadline - steady_clock::now()), 0ms);
        pollfd events[] = {{end_.get(), POLLIN, 0}, {terminal_ ? err_.get() : -1, POLLIN, 0}};
        const int ready = ::poll(events, 2, static_cast<int>(left.count()));
        if (ready < 0 && errno != EINTR) fail("poll");
        if (terminal_) read_terminal();
        if (events[0].revents) return true;
        if (ready == 0) return false;
    }
}

void process::read_terminal() {
    char part[4096];
    ssize_t n;
    while ((n = ::read(err_.get(), part, sizeof part)) > 0) shown_.append(part, static_cast<std::size_t>(n));
}
