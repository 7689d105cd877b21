// SPDX-License-Identifier: MIT
// keyboard.cpp - sets the terminal mode with termios, and handles the signals of a terminal.
#include "session/keyboard.hpp"

#include "session/stop_signals.hpp"

#include <boost/system/error_code.hpp>

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace ibtool {

using boost::system::error_code;

namespace {

/// Returns whether another program in the foreground has the terminal. The kernel would stop this process if it read or changed the
/// terminal then.
bool is_in_background() {
    const pid_t foreground = ::tcgetpgrp(STDIN_FILENO);
    return foreground >= 0 && foreground != ::getpgrp();
}

/// Restarts a write that this signal interrupts: otherwise the write would fail.
void restart_calls_after(int signal) noexcept {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    action.sa_flags |= SA_RESTART;
    ::sigaction(signal, &action, nullptr);
}

} // namespace

std::atomic<keyboard*> keyboard::the_one = nullptr;

keyboard::keyboard(boost::asio::any_io_executor executor, std::function<void(char)> on_key,
                   std::function<void()> on_change)
    : keys_(executor), signals_(executor, SIGWINCH, SIGTSTP, SIGCONT), on_key_(std::move(on_key)),
      on_change_(std::move(on_change)) {
    for (const int signal : {SIGWINCH, SIGTSTP, SIGCONT}) restart_calls_after(signal);
    is_terminal_ = ::tcgetattr(STDIN_FILENO, &before_) == 0;
    the_one = this;
    at_second_signal([] {
        if (keyboard* const k = the_one) k->give_back();
    });
    take();
    // Opened again, because Asio makes it non-blocking, and stdout and the shell share the open file of stdin.
    const int own = is_terminal_ ? ::open("/proc/self/fd/0", O_RDONLY | O_NOCTTY | O_CLOEXEC) : -1;
    if (own >= 0) {
        keys_.assign(own);
        await_key();
    }
    await_signal();
}

keyboard::~keyboard() {
    at_second_signal(nullptr);
    the_one = nullptr;
    give_back();
}

void keyboard::take() {
    if (!is_terminal_ || is_in_background()) return;
    termios one_by_one = before_;
    one_by_one.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    one_by_one.c_cc[VMIN] = 1;
    one_by_one.c_cc[VTIME] = 0;
    is_taken_ = ::tcsetattr(STDIN_FILENO, TCSADRAIN, &one_by_one) == 0;
}

void keyboard::give_back() noexcept {
    if (std::exchange(is_taken_, false) && !is_in_background()) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &before_);
}

void keyboard::await_key() {
    keys_.async_wait(boost::asio::posix::descriptor_base::wait_read, [this](error_code error) {
        if (error) return;
        char key = 0;
        if (!is_in_background()) {
            const ssize_t taken = ::read(keys_.native_handle(), &key, 1);
            if (taken == 0 || (taken < 0 && errno != EINTR && errno != EAGAIN)) return; // the terminal is gone
            if (taken == 1) on_key_(key);
        }
        await_key();
    });
}

void keyboard::await_signal() {
    signals_.async_wait([this](error_code error, int signal) {
        if (error) return;
        if (signal == SIGTSTP) {
            give_back();
            ::raise(SIGSTOP); // until SIGCONT, which is handled then
        } else {
            if (signal == SIGCONT) take();
            on_change_();
        }
        await_signal();
    });
}

} // namespace ibtool
