// SPDX-License-Identifier: MIT
// stop_signals.hpp - SIGINT and SIGTERM: the first one goes to the program's handler, the second one ends the process immediately.
#pragma once
#include <csignal>
#include <functional>

namespace ibtool {

/// Blocks both signals while it exists.
class signal_block {
public:
    signal_block() noexcept;
    ~signal_block();
    signal_block(const signal_block&) = delete;
    signal_block& operator=(const signal_block&) = delete;

private:
    sigset_t before_;
};

/// Call this each time after handlers for both signals were set, while the signals are blocked. The next signal reaches its handler once.
/// Any further one has its default effect, whatever the process waits for. Interrupted system calls are restarted: otherwise such a call
/// would fail instead of the task being ended.
void exit_on_second_signal() noexcept;

/// Returns whether the first signal has arrived since then.
bool has_stop_signal_come() noexcept;

/// Returns a function for code that waits for a reader. The function returns true half a second after such a signal; the time is measured
/// from the first call that finds one.
std::function<bool()> soon_after_stop_signal();

/// Sets a function that is called before the second signal ends the process. It must be async-signal-safe. Null: none.
void at_second_signal(void (*act)()) noexcept;

} // namespace ibtool
