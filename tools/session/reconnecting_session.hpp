// SPDX-License-Identifier: MIT
// reconnecting_session.hpp - runs tasks in a session whose device can be disconnected, or is not ready at the start, and opens the device
// again as soon as it is available. Does not depend on a command.
#pragma once
#include "session/growing_pause.hpp"
#include "session/session.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace ibtool {

/// A device that was disconnected, or that is not ready yet.
struct disconnect {
    std::string device; ///< `mlx5_0/1 (umad0)`; as in the options if it was never open
    std::string cause;  ///< text: first why it was disconnected, later why it could not be opened again
    std::chrono::nanoseconds length{};
    bool was_open = true; ///< false: it was not ready at the start
};

/// The reactions of a command when its device is disconnected, in addition to the lines that all commands print. Each function may be
/// empty.
struct disconnect_listener {
    std::function<void(const disconnect&)> on_disconnect; ///< called once
    std::function<void(const disconnect&)> on_retry;      ///< an attempt to open it failed for a new reason
    /// Called when the device is open again: prepares the session for the next task. If it throws, the attempt has failed.
    std::function<void()> on_open;
    /// Called when the device works again. Returns what was missed, as text: `missed 3 sweeps`; empty: nothing, or unknown.
    std::function<std::string(const disconnect&)> on_back;
    std::function<void(const std::string&)> on_line{}; ///< prints those lines; empty: they go to stderr
};

/// Runs tasks in a session, one for each time that its device is opened. A session that is closed at the start counts as disconnected until
/// its device can be opened. Prints a line when the device is disconnected, and when it is open again. With -v also prints why it cannot be
/// opened.
class reconnecting_session {
public:
    /// Session and listener must outlive the object.
    reconnecting_session(session& in, const disconnect_listener& listener) : in_(in), listener_(listener) {}

    /// Runs `make()`. A task without a value was interrupted: if its device was disconnected, another task runs when the device is open
    /// again. Returns the value; nullopt if a signal arrived before there was one. Passes on the exceptions of tasks.
    template <class T> std::optional<T> run(const std::function<comad::coro::task<std::optional<T>>()>& make) {
        std::optional<T> result;
        in_.run_until_done([&](std::function<void()> done) {
            start<T>(make, [&result, done = std::move(done)](std::optional<T> value) {
                result = std::move(value);
                done();
            });
        });
        return result;
    }
    /// Starts the tasks in an io_context that the caller runs; `done` gets the result of run(). The io_context's run() throws the
    /// exceptions of tasks.
    template <class T>
    void start(std::function<comad::coro::task<std::optional<T>>()> make, std::function<void(std::optional<T>)> done) {
        if (!in_.is_open()) {
            note_disconnect();
            reopen([this, make, done](bool is_open) {
                if (is_open) start<T>(make, done);
                else done(std::nullopt);
            });
            return;
        }
        const auto opened = clock::now();
        in_.end_on_disconnect(true);
        in_.start<std::optional<T>>(make(), [this, make, done, opened](std::optional<T> value) {
            in_.end_on_disconnect(false);
            if (value || in_.disconnect_error() == 0 || in_.stopped()) {
                done(std::move(value));
                return;
            }
            pause_.succeeded_for(clock::now() - opened);
            note_disconnect();
            reopen([this, make, done](bool is_open) {
                if (is_open) start<T>(make, done);
                else done(std::nullopt);
            });
        });
    }

private:
    using clock = std::chrono::steady_clock;
    void note_disconnect();
    void print_line(const std::string& line) const;
    /// Calls `then` with true when the device is open, or with false when a signal arrives.
    void reopen(std::function<void(bool)> then);
    bool try_to_open();

    session& in_;
    const disconnect_listener& listener_;
    growing_pause pause_;
    disconnect now_{};
    clock::time_point disconnected_at_;
};

} // namespace ibtool
