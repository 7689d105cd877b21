// SPDX-License-Identifier: MIT
// on_terminal.cpp - a pseudo-terminal whose program side stays open in the test, which checks the settings at the end.
#include "program/on_terminal.hpp"

#include "kernel/errno_error.hpp"
#include "program/spawn.hpp"

#include <chrono>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdexcept>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace {

constexpr std::chrono::seconds longest_silence{60};

/// Returns the kernel's structure for a terminal size.
winsize size_of(unsigned columns, unsigned rows) {
    winsize size{};
    size.ws_col = static_cast<unsigned short>(columns);
    size.ws_row = static_cast<unsigned short>(rows);
    return size;
}

} // namespace

on_terminal::on_terminal(std::vector<std::string> words, unsigned columns, unsigned rows) {
    const winsize size = size_of(columns, rows);
    int ends[2];
    if (::openpty(&ends[0], &ends[1], nullptr, nullptr, &size) != 0) fail("openpty");
    screen_ = comad::mad::unique_fd(ends[0]);
    theirs_ = comad::mad::unique_fd(ends[1]);
    for (const int end : ends) ::fcntl(end, F_SETFD, FD_CLOEXEC);
    ::tcgetattr(theirs_.get(), &before_);
    pid_ = spawn(std::move(words), theirs_.get(), theirs_.get(), theirs_.get());
}

on_terminal::~on_terminal() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
}

void on_terminal::press(std::string_view keys) {
    if (::write(screen_.get(), keys.data(), keys.size()) != static_cast<ssize_t>(keys.size())) fail("press keys");
}

void on_terminal::resize(unsigned columns, unsigned rows) {
    const winsize size = size_of(columns, rows);
    if (::ioctl(screen_.get(), TIOCSWINSZ, &size) != 0) fail("resize a terminal");
    signal(SIGWINCH); // the kernel sends no SIGWINCH, because the program does not lead the session of the terminal
}

void on_terminal::signal(int number) {
    if (::kill(pid_, number) != 0) fail("signal a program");
}

bool on_terminal::is_as_before() const {
    termios now{};
    ::tcgetattr(theirs_.get(), &now);
    return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag && now.c_oflag == before_.c_oflag;
}

bool on_terminal::read_more(int milliseconds) {
    pollfd event{screen_.get(), POLLIN, 0};
    if (::poll(&event, 1, milliseconds) <= 0) return false;
    char part[4096];
    const ssize_t n = ::read(screen_.get(), part, sizeof part);
    if (n > 0) unseen_.append(part, static_cast<std::size_t>(n));
    return n > 0;
}

std::string on_terminal::await(std::string_view text) {
    const auto deadline = std::chrono::steady_clock::now() + longest_silence;
    for (;;) {
        if (const std::size_t at = unseen_.find(text); at != std::string::npos) {
            std::string seen = unseen_.substr(0, at + text.size());
            unseen_.erase(0, seen.size());
            return seen;
        }
        if (!read_more(100) && std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("the terminal does not show '" + std::string(text) + "', but:\n" + unseen_);
    }
}

process_result on_terminal::wait() {
    const auto deadline = std::chrono::steady_clock::now() + longest_silence;
    int status = 0;
    while (::waitpid(pid_, &status, WNOHANG) == 0) {
        read_more(10);
        if (std::chrono::steady_clock::now() > deadline)
            throw std::runtime_error("the program does not end; it shows:\n" + unseen_);
    }
    pid_ = -1;
    while (read_more(0)) {}
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), std::exchange(unseen_, {}), {}};
}
