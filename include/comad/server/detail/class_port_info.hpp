// SPDX-License-Identifier: MIT
// class_port_info.hpp - what a server of this library says of itself in any class. Knows none of them.
#pragma once
#include <comad/iba/detail/class_port_info.hpp>

namespace comad::server {

/// A ClassPortInfo without capabilities (IBA 13.4.8.1): answers come within about a second.
constexpr iba::ClassPortInfo class_port_info(u8 class_version) noexcept {
    iba::ClassPortInfo info;
    info.baseVersion = 1;
    info.classVersion = class_version;
    info.respTimeValue = 18;
    return info;
}

} // namespace comad::server
