// SPDX-License-Identifier: MIT
// blocked_signals.hpp - blocks the signals of a thread for a while.
#pragma once
#include <csignal>
#include <poll.h>

namespace comad::iba {

/// Blocks all signals of the calling thread during its lifetime. A thread that is started meanwhile inherits this and
/// blocks them until it ends, so that signals go to other threads.
class blocked_signals {
public:
    blocked_signals() noexcept {
        sigset_t every_signal;
        ::sigfillset(&every_signal);
        ::pthread_sigmask(SIG_BLOCK, &every_signal, &before_);
    }
    ~blocked_signals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    blocked_signals(const blocked_signals&) = delete;
    blocked_signals& operator=(const blocked_signals&) = delete;

    /// Calls ppoll(), and accepts signals only during this call: a signal ends the wait, even if it arrived earlier.
    int poll(pollfd* descriptors, nfds_t count, const timespec* timeout) const noexcept {
        return ::ppoll(descriptors, count, timeout, &before_);
    }

private:
    sigset_t before_;
};

} // namespace comad::iba
