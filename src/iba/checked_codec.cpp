// SPDX-License-Identifier: MIT
// checked_codec.cpp - makes the messages about values that do not fit their fields, and about wrong sizes.
#include <comad/iba/checked_codec.hpp>

#include <fmt/format.h>

#include <utility>

namespace comad::iba::detail {

invalid_value in_field(std::string_view name, invalid_value inside) {
    inside.path.insert(0, fmt::format(".{}", name));
    return inside;
}

// Fields of a header, and of headers in it, are printed as fields of the format.
invalid_value in_header(invalid_value inside) {
    inside.path.erase(0, inside.path.rfind('.'));
    return inside;
}

invalid_value in_element(std::size_t index, invalid_value inside) {
    inside.path.insert(0, fmt::format("[{}]", index));
    return inside;
}

error range_error(const record_info& info, const invalid_value& found) {
    return {errc::out_of_range, fmt::format("{}{}: value {} does not fit in {} bit{}", info.name, found.path,
                                            found.value, found.width, found.width == 1 ? "" : "s")};
}

error size_error(const record_info& info, std::size_t size) {
    return {errc::too_short, fmt::format("{} needs {} bytes, but got only {}", info.name, info.bytes, size)};
}

} // namespace comad::iba::detail
