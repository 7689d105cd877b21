// SPDX-License-Identifier: MIT
// waiting_write.cpp - writes text, and calls ppoll() before each write().
#include "text/waiting_write.hpp"

#include <comad/iba/detail/blocked_signals.hpp>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

namespace ibtool {

int write_waiting(int to, std::string_view text) noexcept {
    struct stat about {};
    const bool is_regular = ::fstat(to, &about) == 0 && S_ISREG(about.st_mode);
    const comad::iba::blocked_signals signals;
    int error = 0;
    while (!text.empty() && error == 0) {
        pollfd taker{to, POLLOUT, 0};
        if (!is_regular && signals.poll(&taker, 1, nullptr) < 0) {
            error = errno;
            break;
        }
        // A writable pipe accepts PIPE_BUF bytes without blocking.
        const std::size_t most = is_regular ? text.size() : std::min<std::size_t>(text.size(), PIPE_BUF);
        const ssize_t written = ::write(to, text.data(), most);
        if (written >= 0) text.remove_prefix(static_cast<std::size_t>(written));
        else if (errno != EINTR && errno != EAGAIN) error = errno;
    }
    return error;
}

} // namespace ibtool
