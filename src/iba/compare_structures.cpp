// SPDX-License-Identifier: MIT
// compare_structures.cpp - compares two encoded structures field by field, by the table of the structure.
#include <comad/iba/detail/compare_structures.hpp>

#include <fmt/format.h>

namespace comad::iba {

namespace {

/// Compares any number of bits: a GID has more than an integer.
bool are_equal(const u8* a, const u8* b, unsigned off, unsigned width) {
    for (; width > 64; off += 64, width -= 64)
        if (bits_at(a, off, 64) != bits_at(b, off, 64)) return false;
    return bits_at(a, off, width) == bits_at(b, off, width);
}

void add_differences(std::vector<std::string>& out, const std::string& prefix, const record_info& info, const u8* a,
                     const u8* b) {
    for (const row_info& row : info.rows) {
        if (row.is_reserved) continue;
        for (unsigned i = 0; i < row.count; ++i) {
            const unsigned off = row.off + i * row.width;
            std::string name =
                row.count == 1 ? fmt::format("{}{}", prefix, row.name) : fmt::format("{}{}[{}]", prefix, row.name, i);
            if (row.nested) add_differences(out, name + '.', *row.nested, a + off / 8, b + off / 8);
            else if (!are_equal(a, b, off, row.width)) out.push_back(std::move(name));
        }
    }
}

} // namespace

std::vector<std::string> differences(const record_info& info, const u8* a, const u8* b) {
    std::vector<std::string> out;
    add_differences(out, {}, info, a, b);
    return out;
}

} // namespace comad::iba
