// SPDX-License-Identifier: MIT
// stop_signals.hpp - SIGINT and SIGTERM: the first one is somebody's to hear, the second one ends the process wherever it is.
// Knows nothing of who hears it.
#pragma once
#include <csignal>

namespace ibtool {

/// While it lives, both of them wait.
class stop_signals_held {
public:
    stop_signals_held() noexcept;
    ~stop_signals_held();
    stop_signals_held(const stop_signals_held&) = delete;
    stop_signals_held& operator=(const stop_signals_held&) = delete;

private:
    sigset_t before_;
};

/// To be called when somebody has set handlers for both signals (and again each time), while they are held: of these the next
/// signal reaches its own, once; any further one has its default effect, whatever the process waits for. A call that a signal
/// interrupts goes on: it would be an error of that call, and not an end of what runs.
void end_by_second_signal() noexcept;

/// What is still done before the second one ends the process, async-signal-safe; null: nothing.
void at_second_signal(void (*act)()) noexcept;

} // namespace ibtool
