// SPDX-License-Identifier: MIT
// poller.hpp - waits for completions, for so long, and hears of asynchronous events meanwhile: for programs without a loop of
// their own.
#pragma once
#include <comad/mad/detail/time.hpp>
#include <comad/verbs/detail/completion.hpp>

#include <functional>
#include <span>

namespace comad::verbs {

class poller {
public:
    /// `on_event`: hears of the device's events; without it, a fatal one ends the waiting with its error, the others are
    /// dropped.
    poller(context device, completions what, std::function<void(const event&)> on_event = {})
        : device_(std::move(device)), what_(std::move(what)), on_event_(std::move(on_event)) {}

    /// What has completed, as many as there is room for; the beginning of `into`. Nothing: `until` (steady clock) is over.
    result<std::span<ibv_wc>> wait(std::span<ibv_wc> into, mad::time_point until);

private:
    result<void> hear();
    context device_;
    completions what_;
    std::function<void(const event&)> on_event_;
};

} // namespace comad::verbs
