// SPDX-License-Identifier: MIT
// file_server.hpp - serves the virtual devices as files: handles the FUSE calls of programs that open, read, write and wait. Only its
// source includes libfuse; without libfuse the server is not available.
#pragma once
#include "vumad/exported_fabric.hpp"
#include <comad/mad/detail/unique_fd.hpp>

#include <memory>

namespace ibtool {

/// Handles FUSE calls.
class file_server {
public:
    /// `device`: /dev/fuse, already mounted. `fabric` must outlive the server. Throws std::runtime_error with one line.
    file_server(comad::mad::unique_fd device, exported_fabric& fabric);
    ~file_server();
    file_server(const file_server&) = delete;
    file_server& operator=(const file_server&) = delete;

    /// The descriptor, which is readable when a program has made a call.
    int descriptor() const noexcept;
    /// Handles the calls of programs, as far as possible now. Returns false if nothing is mounted any more.
    bool take_calls();
    /// Replies to calls that wait for MADs that have arrived meanwhile.
    void answer_waiting();

    /// Returns false if ibtool was built without libfuse3.
    static bool is_available() noexcept;

    struct state;

private:
    std::unique_ptr<state> state_;
};

} // namespace ibtool
