// SPDX-License-Identifier: MIT
// unique_fd.hpp - an owner of one file descriptor, which closes it.
#pragma once
#include <unistd.h>
#include <utility>

namespace comad::mad {

/// Owns a file descriptor and closes it in its destructor.
class unique_fd {
public:
    unique_fd() noexcept = default;
    /// Takes ownership of `fd`; a negative value means no descriptor.
    explicit unique_fd(int fd) noexcept : fd_(fd) {}
    unique_fd(unique_fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    unique_fd& operator=(unique_fd&& other) noexcept {
        std::swap(fd_, other.fd_);
        return *this;
    }
    ~unique_fd() { reset(); }

    /// Returns the descriptor, or -1.
    int get() const noexcept { return fd_; }
    explicit operator bool() const noexcept { return fd_ >= 0; }
    void reset() noexcept {
        if (fd_ >= 0) ::close(std::exchange(fd_, -1));
    }

private:
    int fd_ = -1;
};

} // namespace comad::mad
