// SPDX-License-Identifier: MIT
// file_server.hpp - serves the virtual devices as files: handles the FUSE calls of programs that open, read, write and poll. Only the
// .cpp file includes libfuse; without libfuse the server is not available.
#pragma once
#include "vumad/exported_fabric.hpp"
#include <comad/mad/detail/unique_fd.hpp>

#include <memory>

namespace ibtool {

/// Serves a mounted FUSE device.
class file_server {
public:
    /// Starts to serve. `device`: /dev/fuse, already mounted. Throws std::runtime_error with one line.
    /// Lifetime: `fabric` must outlive the server.
    file_server(comad::mad::unique_fd device, exported_fabric& fabric);
    ~file_server();
    file_server(const file_server&) = delete;
    file_server& operator=(const file_server&) = delete;

    /// Returns the descriptor, which is readable when a program has made a call.
    int descriptor() const noexcept;
    /// Handles pending calls of programs. Calls that have to wait are completed later. Returns false if the device was unmounted.
    bool take_calls();
    /// Completes calls that waited for MADs which have arrived since.
    void answer_waiting();

    /// Returns whether ibtool was built with libfuse3.
    static bool is_available() noexcept;

    struct state;

private:
    std::unique_ptr<state> state_;
};

} // namespace ibtool
