// SPDX-License-Identifier: MIT
// structures.cpp - fuzzes decoding and printing: the first byte selects a structure, the rest are its bytes.
#include "fuzz.hpp"
#include <comad/iba/fields.hpp>
#include <comad/iba/from_json.hpp>
#include <comad/iba/print.hpp>

#include <algorithm>

using namespace comad;

extern "C" int LLVMFuzzerTestOneInput(const u8* data, std::size_t size) {
    if (size == 0) return 0;
    const iba::record_info& info = fuzz::structure(data[0]);
    const std::span<const u8> bytes(data + 1, size - 1);

    // The bytes can have any length. Missing fields are omitted.
    iba::dotted(info, bytes);
    iba::dump(info, bytes);
    iba::dump_mad(bytes);

    const bool is_whole = bytes.size() >= info.bytes;
    const std::string text = iba::json(info, bytes, nullptr, iba::json_style::exact);
    const auto back = iba::from_json(info, text);
    fuzz::require(back.has_value());
    if (is_whole) fuzz::require(std::equal(back.value().begin(), back.value().end(), bytes.begin()));

    for (const iba::field_info& field : iba::fields_of(info)) {
        const auto value = iba::get_field(info, bytes, field.name);
        if (!is_whole || field.row.nested) continue;
        std::vector<u8> again(info.bytes);
        fuzz::require(value.has_value());
        fuzz::require(iba::set_field(info, again, field.name, value.value()).has_value());
        fuzz::require(iba::get_field(info, again, field.name).value() == value.value());
    }
    return 0;
}
