// SPDX-License-Identifier: MIT
// reconnecting_session.cpp - waits for a disconnected device, opens it again, and prints messages about it.
#include "session/reconnecting_session.hpp"

#include "text/output.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <exception>

namespace ibtool {

void reconnecting_session::print_line(const std::string& line) const {
    if (listener_.on_line) listener_.on_line(line);
    else print_message("{}", line);
}

void reconnecting_session::note_disconnect() {
    disconnected_at_ = clock::now();
    const auto longest = std::chrono::duration_cast<std::chrono::seconds>(growing_pause::longest).count();
    if (in_.is_open()) {
        now_ = {in_.device_or_fabric(), std::strerror(in_.disconnect_error())};
        print_line(fmt::format("{}; retrying at least every {} s", in_.disconnect_text(), longest));
    } else {
        now_ = {in_.device_or_fabric(), in_.start_problem(), {}, false};
        print_line(fmt::format("waiting for {}: {}; retrying at least every {} s", now_.device, now_.cause, longest));
    }
    if (listener_.on_disconnect) listener_.on_disconnect(now_);
}

void reconnecting_session::reopen(std::function<void(bool)> then) {
    in_.close();
    in_.wait(pause_.next(), [this, then = std::move(then)](bool goes_on) {
        if (!goes_on) then(false);
        else if (try_to_open()) then(true);
        else reopen(then);
    });
}

bool reconnecting_session::try_to_open() {
    now_.length = clock::now() - disconnected_at_;
    try {
        in_.open();
        if (listener_.on_open) listener_.on_open();
    } catch (const std::exception& e) {
        if (std::exchange(now_.cause, e.what()) == e.what()) return false;
        if (in_.options().verbosity)
            print_line(fmt::format("{} is still {}: {}", now_.device, now_.was_open ? "disconnected" : "not ready",
                                   now_.cause));
        if (listener_.on_retry) listener_.on_retry(now_);
        return false;
    }
    const std::string missed = listener_.on_back ? listener_.on_back(now_) : std::string();
    const std::string device = now_.was_open ? now_.device : in_.device_or_fabric(); // has the full name now
    print_line(fmt::format("{} is open {}after {:.1f} s{}{}", device, now_.was_open ? "again " : "",
                           comad::mad::in_seconds(now_.length), missed.empty() ? "" : "; ", missed));
    return true;
}

} // namespace ibtool
