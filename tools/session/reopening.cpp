// SPDX-License-Identifier: MIT
// reopening.cpp - wait, open, tell.
#include "session/reopening.hpp"

#include "text/output.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <exception>

namespace ibtool {

void lasting::tell(const std::string& line) const {
    if (listener_.on_line) listener_.on_line(line);
    else print_message("{}", line);
}

void lasting::note_lost() {
    lost_at_ = clock::now();
    const auto longest = std::chrono::duration_cast<std::chrono::seconds>(growing_pause::longest).count();
    if (in_.is_open()) {
        now_ = {in_.device(), std::strerror(in_.loss())};
        tell(fmt::format("{}; retrying at least every {} s", in_.loss_text(), longest));
    } else {
        now_ = {in_.device(), in_.start_problem(), {}, false};
        tell(fmt::format("waiting for {}: {}; retrying at least every {} s", now_.device, now_.cause, longest));
    }
    if (listener_.on_lost) listener_.on_lost(now_);
}

void lasting::reopen(std::function<void(bool)> then) {
    in_.close();
    in_.wait(pause_.next(), [this, then = std::move(then)](bool goes_on) {
        if (!goes_on) then(false);
        else if (try_to_open()) then(true);
        else reopen(then);
    });
}

bool lasting::try_to_open() {
    now_.length = clock::now() - lost_at_;
    try {
        in_.open();
        if (listener_.on_open) listener_.on_open();
    } catch (const std::exception& e) {
        if (std::exchange(now_.cause, e.what()) == e.what()) return false;
        if (in_.options().verbosity)
            tell(fmt::format("{} is still {}: {}", now_.device, now_.was_open ? "disconnected" : "not ready",
                             now_.cause));
        if (listener_.on_retry) listener_.on_retry(now_);
        return false;
    }
    const std::string missed = listener_.on_back ? listener_.on_back(now_) : std::string();
    const std::string& device = now_.was_open ? now_.device : in_.device(); // which has its full name now
    tell(fmt::format("{} is open {}after {:.1f} s{}{}", device, now_.was_open ? "again " : "",
                     comad::mad::in_seconds(now_.length), missed.empty() ? "" : "; ", missed));
    return true;
}

} // namespace ibtool
