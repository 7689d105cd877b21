// SPDX-License-Identifier: MIT
// terminal.cpp - the user's side of a pseudo-terminal.
#include "program/terminal.hpp"

#include "kernel/errno_error.hpp"
#include "program/spawn.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <string_view>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using comad::mad::unique_fd;
using std::chrono::steady_clock;

terminal::terminal(std::vector<std::string> words) {
    int ends[2];
    winsize size{24, 80, 0, 0};
    if (::openpty(&ends[0], &ends[1], nullptr, nullptr, &size) != 0) fail("openpty");
    ours_ = unique_fd(ends[0]);
    theirs_ = unique_fd(ends[1]);
    for (const int end : ends)
        if (::fcntl(end, F_SETFD, FD_CLOEXEC) != 0) fail("fcntl");
    if (::fcntl(ends[0], F_SETFL, O_NONBLOCK) != 0) fail("fcntl");
    if (::tcgetattr(ends[1], &before_) != 0) fail("tcgetattr");
    pid_ = spawn(std::move(words), ends[1], ends[1], ends[1]);
    end_ = unique_fd(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
    if (!end_) fail("pidfd_open");
}

terminal::~terminal() {
    if (status_) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

void terminal::signal(int number) {
    if (!status_ && ::kill(pid_, number) != 0) fail("signal a program");
}

void terminal::stop_and_continue() {
    signal(SIGSTOP);
    siginfo_t how{};
    if (::waitid(P_PID, static_cast<id_t>(pid_), &how, WSTOPPED | WEXITED | WNOWAIT) != 0) fail("await a program");
    signal(SIGCONT);
}

std::optional<int> terminal::watch(std::chrono::nanoseconds length) {
    const auto deadline = steady_clock::now() + length;
    while (!status_) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - steady_clock::now());
        pollfd events[] = {{end_.get(), POLLIN, 0}, {ours_.get(), POLLIN, 0}};
        const int ready = ::poll(events, 2, std::max(static_cast<int>(left.count()), 0));
        if (ready < 0 && errno != EINTR) fail("poll");
        read();
        if (ready == 0) return std::nullopt;
        if (ready < 0 || !events[0].revents) continue;
        int status = 0;
        if (::waitpid(pid_, &status, 0) != pid_) fail("await a program");
        read();
        status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return status_;
}

void terminal::read() {
    char part[4096];
    ssize_t n;
    while ((n = ::read(ours_.get(), part, sizeof part)) > 0) shown_.append(part, static_cast<std::size_t>(n));
}

std::string terminal::difference() const {
    termios after{};
    if (::tcgetattr(theirs_.get(), &after) != 0) fail("tcgetattr");
    if (after.c_iflag != before_.c_iflag || after.c_oflag != before_.c_oflag || after.c_cflag != before_.c_cflag ||
        after.c_lflag != before_.c_lflag || std::memcmp(after.c_cc, before_.c_cc, sizeof after.c_cc) != 0)
        return "other settings";
    if ((::fcntl(theirs_.get(), F_GETFL) & O_NONBLOCK) != 0) return "it is left non-blocking";
    // A program must switch off every terminal mode that it has switched on: hidden cursor, second screen, colors.
    const auto is_left = [&](std::string_view on, std::string_view off) {
        const std::size_t last = shown_.rfind(on);
        return last != std::string::npos && shown_.find(off, last) == std::string::npos;
    };
    if (is_left("\033[?25l", "\033[?25h")) return "no cursor";
    if (is_left("\033[?1049h", "\033[?1049l")) return "the second screen";
    if (is_left("\033[1;3", "\033[0m")) return "colours";
    return {};
}
