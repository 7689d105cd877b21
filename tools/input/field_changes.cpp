// SPDX-License-Identifier: MIT
// field_changes.cpp - assigns values to fields, and clears the fields whose values would be commands.
#include "input/field_changes.hpp"

#include "comad.hpp"
#include "input/options.hpp"
#include <comad/iba/fields.hpp>
#include <comad/iba/smp.hpp>

#include <fmt/format.h>

#include <string_view>

namespace ibtool {
namespace {

/// A field whose values are commands.
struct order_field {
    std::string_view structure, field;
};
/// Fields for which 0 means "no change" (IBA 14.2.5.4, 14.2.5.6; OpenSM for Mellanox' attribute).
constexpr order_field order_fields[] = {
    {"SMPPortInfo", "portState"},
    {"SMPPortInfo", "portPhysicalState"},
    {"SMPPortInfo", "linkDownDefaultState"},
    {"SMPPortInfo", "linkWidthEnabled"},
    {"SMPPortInfo", "linkSpeedEnabled"},
    {"SMPPortInfo", "linkSpeedExtEnabled"},
    {"SMPPortInfo", "linkSpeedExtEnabled2"},
    {"SMPSwitchInfo", "portStateChange"}, // 1 clears it
    {"MlnxExtPortInfo", "StateChangeEnable"},
};

void write_text(const iba::record_info& info, std::span<u8> bytes, std::string_view name, std::string_view text) {
    if (const auto done = iba::set_field(info, bytes, name, text); !done) throw usage_error(done.error().text);
}

} // namespace

void assign(const iba::record_info& info, std::span<u8> bytes, const std::string& field) {
    const auto parts = iba::parse_assignment(field);
    if (!parts) throw usage_error(parts.error().text);
    write_text(info, bytes, parts.value().name, parts.value().text);
}

std::vector<u8> changed(const iba::record_info& info, std::span<const u8> now, const std::vector<std::string>& fields) {
    std::vector<u8> bytes(now.begin(), now.end());
    for (const order_field& o : order_fields)
        if (o.structure == info.name) write_text(info, bytes, o.field, "0");
    for (const std::string& field : fields) assign(info, bytes, field);
    return bytes;
}

} // namespace ibtool
