// SPDX-License-Identifier: MIT
// umad_errors.hpp - the errors of the kernel's MAD device: what each means there, and what somebody may do about it. Opens no
// device.
#pragma once
#include <comad/iba/types.hpp>

#include <span>
#include <string_view>

namespace comad::transports {

/// What was asked of the device when it failed.
enum class umad_call : u8 {
    open,
    ioctl, ///< P_Key indices enabled, an agent registered
    read,
    write,
    poll, ///< epoll, by which it is waited for
};
/// `open`
std::string_view name(umad_call) noexcept;

struct umad_error {
    umad_call call;
    int error;               ///< errno
    std::string_view advice; ///< in a few words
};
/// All of them (Linux, drivers/infiniband/core/user_mad.c and mad.c, and what was seen).
std::span<const umad_error> umad_errors() noexcept;
/// What to do about one; empty if it is none of these.
std::string_view umad_advice(umad_call, int error) noexcept;

} // namespace comad::transports
