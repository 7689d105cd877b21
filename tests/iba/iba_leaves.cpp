// SPDX-License-Identifier: MIT
// iba_leaves.cpp - lists the single values of a structure.
#include "iba_leaves.hpp"

#include <comad/iba/detail/bits.hpp>

#include <fmt/format.h>

using namespace comad::iba;
using comad::u8;

namespace {

void append(std::vector<leaf>& out, const record_info& info, const std::string& prefix, unsigned base) {
    for (const row_info& row : info.rows) {
        const std::string name = prefix + std::string(row.name);
        const bool is_bytes = row.count > 1 && row.width == 8 && row.off % 8 == 0;
        for (unsigned i = 0; i < (is_bytes ? 1 : row.count); ++i) {
            const std::string element = row.count == 1 || is_bytes ? name : fmt::format("{}[{}]", name, i);
            const unsigned off = base + row.off + i * row.width;
            if (row.nested) append(out, *row.nested, element + ".", off);
            else out.push_back({element, off, is_bytes ? row.bits() : row.width, &info, &row});
        }
    }
}

} // namespace

std::vector<leaf> leaves_of(const record_info& info) {
    std::vector<leaf> leaves;
    append(leaves, info, "", 0);
    return leaves;
}

nlohmann::json value_at(const leaf& at, const std::vector<u8>& bytes) {
    if (at.width <= 32) return bits_at(bytes.data(), at.off, at.width);
    std::string hex = "0x";
    for (unsigned bit = at.off; bit < at.off + at.width; bit += 8)
        hex += fmt::format("{:02x}", bits_at(bytes.data(), bit, 8));
    return hex;
}
