// SPDX-License-Identifier: MIT
// poller.cpp - waits with ppoll(2) for a completion channel and the events of its device.
#include <comad/verbs/detail/poller.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <poll.h>

namespace comad::verbs {

result<void> poller::read_events() {
    for (;;) {
        const auto next = device_.next_event();
        if (!next) return next.error();
        if (!next.value()) return success();
        if (on_event_) on_event_(*next.value());
        else if (next.value()->is_fatal()) return error_of(*next.value(), device_.name());
    }
}

result<std::span<ibv_wc>> poller::wait(std::span<ibv_wc> into, mad::time_point until) {
    for (bool was_readable = false;;) {
        auto found = what_.poll(into, was_readable);
        if (!found || !found.value().empty()) return found;
        const auto left = until - std::chrono::steady_clock::now();
        if (left <= mad::duration{0}) return found;
        pollfd descriptors[]{{what_.descriptor(), POLLIN, 0}, {device_.event_descriptor(), POLLIN, 0}};
        const auto seconds = std::chrono::floor<std::chrono::seconds>(left);
        const timespec wait{static_cast<std::time_t>(seconds.count()), static_cast<long>((left - seconds).count())};
        if (::ppoll(descriptors, 2, &wait, nullptr) < 0) {
            if (errno != EINTR) return failed("cannot wait for completions", errno);
            continue;
        }
        was_readable = descriptors[0].revents != 0;
        if (descriptors[1].revents == 0) continue;
        if (auto done = read_events(); !done) return std::move(done.error());
    }
}

} // namespace comad::verbs
