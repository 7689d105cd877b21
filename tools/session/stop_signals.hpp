// SPDX-License-Identifier: MIT
// stop_signals.hpp - SIGINT and SIGTERM: the first one is somebody's to hear, the second one ends the process wherever it is.
// Knows nothing of who hears it.
#pragma once
#include <csignal>
#include <functional>

namespace ibtool {

/// While it lives, both of them wait.
class signal_block {
public:
    signal_block() noexcept;
    ~signal_block();
    signal_block(const signal_block&) = delete;
    signal_block& operator=(const signal_block&) = delete;

private:
    sigset_t before_;
};

/// To be called when somebody has set handlers for both signals (and again each time), while they are held: of these the next
/// signal reaches its own, once; any further one has its default effect, whatever the process waits for. A call that a signal
/// interrupts goes on: it would be an error of that call, and not an end of what runs.
void exit_on_second_signal() noexcept;

/// Whether the first of them has arrived since then.
bool has_stop_signal_come() noexcept;

/// Returns a function for whoever waits for a reader: it returns true half a second after such a signal has arrived. It measures that
/// from the first call that finds one.
std::function<bool()> soon_after_stop_signal();

/// What is still done before the second one ends the process, async-signal-safe; null: nothing.
void at_second_signal(void (*act)()) noexcept;

} // namespace ibtool
