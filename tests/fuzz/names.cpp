// SPDX-License-Identifier: MIT
// names.cpp - fuzzes assignments that users type: the first byte selects a structure, the rest is `field=value` or
// JSON.
#include "fuzz.hpp"
#include <comad/iba/fields.hpp>
#include <comad/iba/from_json.hpp>

#include <string_view>

using namespace comad;

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
    if (size == 0) return 0;
    const iba::record_info& info = fuzz::structure(data[0]);
    const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
    std::vector<u8> bytes(info.bytes);
    if (const auto parts = iba::parse_assignment(text)) {
        const auto done = iba::set_field(info, bytes, parts.value().name, parts.value().text);
        if (done) fuzz::require(iba::get_field(info, bytes, parts.value().name).has_value());
        else fuzz::require(bytes == std::vector<u8>(info.bytes) && fuzz::is_one_line(done.error().text));
    }
    if (const auto done = iba::set_json(info, bytes, text); !done) fuzz::require(fuzz::is_one_line(done.error().text));
    return 0;
}
