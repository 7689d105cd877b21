// SPDX-License-Identifier: MIT
// umad_errors.hpp - the errors of the kernel's MAD device: the meaning of each, and advice to the user. It opens no device.
#pragma once
#include <comad/iba/types.hpp>

#include <span>
#include <string_view>

namespace comad::transports {

/// The call to the device that failed.
enum class umad_call : u8 {
    open,
    ioctl, ///< enabling P_Key indices, or registering an agent
    read,
    write,
    poll, ///< epoll, which waits for the device
};
/// Returns the name of a call, for example `open`.
std::string_view name(umad_call) noexcept;

/// One error of the MAD device.
struct umad_error {
    umad_call call;
    int error;               ///< errno
    std::string_view advice; ///< a short phrase
};
/// Returns all known errors, from Linux drivers/infiniband/core/user_mad.c and mad.c and from observation.
std::span<const umad_error> umad_errors() noexcept;
/// Returns the advice for an error; empty if the error is unknown.
std::string_view umad_advice(umad_call, int error) noexcept;

} // namespace comad::transports
