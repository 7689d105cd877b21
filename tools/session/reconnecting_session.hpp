// SPDX-License-Identifier: MIT
// reconnecting_session.hpp - runs tasks in a session whose device can be disconnected, or is not ready at the beginning, and opens the
// device again as soon as it is available. Contains no command.
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
    std::string device; ///< `mlx5_0/1 (umad0)`; of one that was never open what the options call it
    std::string cause;  ///< as text; at first why it was disconnected, later why it could not be opened again
    std::chrono::nanoseconds length{};
    bool was_open = true; ///< false: it was not ready at the beginning
};

/// What a command does when its device is disconnected, in addition to the lines that all commands print. All may be empty.
struct disconnect_listener {
    std::function<void(const disconnect&)> on_disconnect; ///< once
    std::function<void(const disconnect&)> on_retry;      ///< an attempt to open it failed, why is new
    /// It is open again: prepares the session for what is to run. What this throws is a failed attempt.
    std::function<void()> on_open;
    /// All is well again. Gives what was missed, in words: `missed 3 sweeps`; empty: nothing, or nobody knows.
    std::function<std::string(const disconnect&)> on_back;
    std::function<void(const std::string&)> on_line{}; ///< takes those lines; empty: they go to stderr
};

/// Runs tasks in a session, one for each time that its device is opened. A session that is closed at the beginning counts as
/// disconnected until its device can be opened. Prints lines when the device is disconnected and when it is open again, with -v also why it
/// cannot be opened.
class reconnecting_session {
public:
    /// Both must outlive it.
    reconnecting_session(session& in, const disconnect_listener& listener) : in_(in), listener_(listener) {}

    /// Runs `make()`. A task that gives nothing has not come to its end: if its device was disconnected, it is followed by another
    /// when the device is open again. Gives the value; nothing, when a signal came before there was one.
    /// Throws what tasks throw.
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
    /// The same in an io_context that somebody else runs; `done` gets what run() gives. What tasks throw comes out of that.
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
    /// Calls `then` when it is open; with false: a signal came.
    void reopen(std::function<void(bool)> then);
    bool try_to_open();

    session& in_;
    const disconnect_listener& listener_;
    growing_pause pause_;
    disconnect now_{};
    clock::time_point disconnected_at_;
};

} // namespace ibtool
