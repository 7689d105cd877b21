// SPDX-License-Identifier: MIT
// mellanox.cpp - replies for Mellanox devices, with the device's ID and with invented values for the rest.
#include "mellanox.hpp"

#include <comad/iba/detail/mellanox.hpp>
#include <comad/server/detail/class_port_info.hpp>

#include <algorithm>
#include <string_view>

namespace comad::transports::sim {
namespace {

iba::vend::MlxGeneralInfo general_info(const node& n, u64 VSKey) {
    iba::vend::MlxGeneralInfo info;
    info.VSKey = VSKey;
    info.device_id = n.deviceID;
    info.uptime = 3600;
    info.fw_major = 1;
    info.fw_minor = 2;
    info.fw_sub_minor = 3;
    info.fw_ext_major = 1;
    info.fw_ext_minor = 2;
    info.fw_ext_sub_minor = 3;
    info.fw_month = 0x12;
    info.fw_day = 0x31;
    info.fw_year = 0x2024;
    constexpr std::string_view PSID = "SIMULATED";
    std::ranges::copy(PSID, info.fw_psid.begin());
    return info;
}

} // namespace

server::response answer_mellanox(const node& n, const server::request& r, u64 VSKey) {
    if (!is_mellanox(n)) return server::response::error(server::status::unsupported_method);
    switch (r.header.attributeID) {
    case iba::attribute_id<iba::ClassPortInfo>: return server::response::of(server::class_port_info(1));
    case iba::attribute_id<iba::vend::MlxGeneralInfo>: return server::response::of(general_info(n, VSKey));
    default: return server::response::error(server::status::unsupported_attribute);
    }
}

} // namespace comad::transports::sim
