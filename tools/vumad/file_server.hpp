// SPDX-License-Identifier: MIT
// file_server.hpp - the virtual devices as files: what the kernel's FUSE asks for programs that open, read, write and wait.
// The only file that knows libfuse is its source; without libfuse there is none.
#pragma once
#include "vumad/exported_fabric.hpp"
#include <comad/mad/detail/unique_fd.hpp>

#include <memory>

namespace ibtool {

class file_server {
public:
    /// `device`: of /dev/fuse, mounted already. `fabric` must outlive it. Throws std::runtime_error with one line.
    file_server(comad::mad::unique_fd device, exported_fabric& fabric);
    ~file_server();
    file_server(const file_server&) = delete;
    file_server& operator=(const file_server&) = delete;

    /// Readable when a program has called.
    int descriptor() const noexcept;
    /// What programs have called since, as far as it can be answered now. False: nothing is mounted any more.
    bool take_calls();
    /// Answers those that wait for what has arrived meanwhile.
    void answer_waiting();

    /// False: ibtool was built without libfuse3.
    static bool is_available() noexcept;

    struct state;

private:
    std::unique_ptr<state> state_;
};

} // namespace ibtool
