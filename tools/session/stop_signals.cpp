// SPDX-License-Identifier: MIT
// stop_signals.cpp - installs a signal handler that runs before the program's handler.
#include "session/stop_signals.hpp"

#include <comad/iba/detail/text_file.hpp>

#include <atomic>
#include <chrono>
#include <csignal>
#include <optional>

namespace ibtool {
namespace {

using handler = void (*)(int);

// Used by the one thread that has a session; handlers may interrupt it anywhere.
std::atomic<bool> has_come = false;
std::atomic<handler> of_sigint = nullptr, of_sigterm = nullptr;
std::atomic<void (*)()> last_act = nullptr;
static_assert(std::atomic<handler>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void on_signal(int signal) {
    if (has_come.exchange(true)) {
        if (const auto act = last_act.load()) act();
        std::signal(signal, SIG_DFL);
        std::raise(signal); // takes effect as soon as this returns
        return;
    }
    comad::iba::end_waits_for_pipes();
    if (const handler next = signal == SIGINT ? of_sigint.load() : of_sigterm.load()) next(signal);
}

void put_before(int signal, std::atomic<handler>& next) noexcept {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    if (action.sa_handler != &on_signal) next = action.sa_handler;
    action.sa_handler = &on_signal;
    action.sa_flags |= SA_RESTART;
    ::sigaction(signal, &action, nullptr);
}

} // namespace

signal_block::signal_block() noexcept {
    sigset_t both;
    ::sigemptyset(&both);
    ::sigaddset(&both, SIGINT);
    ::sigaddset(&both, SIGTERM);
    ::pthread_sigmask(SIG_BLOCK, &both, &before_);
}
signal_block::~signal_block() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

void exit_on_second_signal() noexcept {
    has_come = false;
    comad::iba::end_waits_for_pipes(false);
    put_before(SIGINT, of_sigint);
    put_before(SIGTERM, of_sigterm);
}

bool has_stop_signal_come() noexcept { return has_come; }

std::function<bool()> soon_after_stop_signal() {
    using clock = std::chrono::steady_clock;
    return [first_seen = std::optional<clock::time_point>()]() mutable {
        if (!first_seen && has_come) first_seen = clock::now();
        return first_seen && clock::now() - *first_seen >= std::chrono::milliseconds(500);
    };
}

void at_second_signal(void (*act)()) noexcept { last_act = act; }

} // namespace ibtool
