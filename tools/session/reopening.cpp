// SPDX-License-Identifier: MIT
// reopening.cpp - wait, open, tell.
#include "session/reopening.hpp"

#include "text/output.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <exception>

namespace ibtool {

// False: a signal came.
bool lasting::reopen() {
    const auto began = clock::now();
    outage now{in_.device(), std::strerror(in_.loss())};
    print_error("ibtool: {}; trying to open it again, at least every {} s\n", in_.loss_text(),
                std::chrono::duration_cast<std::chrono::seconds>(growing_pause::longest).count());
    if (listener_.on_lost) listener_.on_lost(now);
    for (in_.close();; in_.close()) {
        if (!in_.wait(pause_.next())) return false;
        now.length = clock::now() - began;
        try {
            in_.open();
            if (listener_.on_open) listener_.on_open();
            break;
        } catch (const std::exception& e) {
            if (std::exchange(now.cause, e.what()) == e.what()) continue;
            if (in_.options().verbosity) print_error("ibtool: {} is still lost: {}\n", now.device, now.cause);
            if (listener_.on_retry) listener_.on_retry(now);
        }
    }
    const std::string missed = listener_.on_back ? listener_.on_back(now) : std::string();
    print_error("ibtool: {} is open again after {:.1f} s{}{}\n", now.device, comad::mad::in_seconds(now.length),
                missed.empty() ? "" : "; ", missed);
    return true;
}

} // namespace ibtool
