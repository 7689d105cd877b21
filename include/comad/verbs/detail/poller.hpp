// SPDX-License-Identifier: MIT
// poller.hpp - poller: waits for completions until a deadline and processes asynchronous events meanwhile. It is for programs without an
// event loop.
#pragma once
#include <comad/mad/detail/time.hpp>
#include <comad/verbs/detail/completion.hpp>

#include <functional>
#include <span>

namespace comad::verbs {

/// Waits for the completions of one queue.
class poller {
public:
    /// `on_event`: called with every asynchronous event of the device. If it is empty, a fatal event ends wait() with
    /// its error, and other events are dropped.
    poller(context device, completions what, std::function<void(const event&)> on_event = {})
        : device_(std::move(device)), what_(std::move(what)), on_event_(std::move(on_event)) {}

    /// Returns completions, as many as fit into `into`: the filled part of `into`. It is empty if `until` (steady
    /// clock) has passed.
    result<std::span<ibv_wc>> wait(std::span<ibv_wc> into, mad::time_point until);

private:
    result<void> read_events();
    context device_;
    completions what_;
    std::function<void(const event&)> on_event_;
};

} // namespace comad::verbs
