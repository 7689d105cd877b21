// SPDX-License-Identifier: MIT
// unique_fd.hpp - owns one file descriptor and closes it. Knows nothing of what is behind it.
#pragma once
#include <unistd.h>
#include <utility>

namespace comad::mad {

class unique_fd {
public:
    unique_fd() noexcept = default;
    /// Takes over `fd`; a negative value is "none".
    explicit unique_fd(int fd) noexcept : fd_(fd) {}
    unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    unique_fd& operator=(unique_fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~unique_fd() { reset(); }

    /// The descriptor, or -1.
    int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }
    void reset() noexcept {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

private:
    int fd_ = -1;
};

} // namespace comad::mad
