// SPDX-License-Identifier: MIT
// class_port_info.hpp - the default ClassPortInfo of a server, for any class.
#pragma once
#include <comad/iba/detail/class_port_info.hpp>

namespace comad::server {

/// Returns a ClassPortInfo without capabilities (IBA 13.4.8.1). It announces a response time of about one second.
constexpr iba::ClassPortInfo class_port_info(u8 class_version) noexcept {
    iba::ClassPortInfo info;
    info.baseVersion = 1;
    info.classVersion = class_version;
    info.respTimeValue = 18;
    return info;
}

} // namespace comad::server
