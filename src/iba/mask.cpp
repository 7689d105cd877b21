// SPDX-License-Identifier: MIT
// mask.cpp - makes component masks of SA records from the names of fields.
#include "names.hpp"
#include <comad/iba/detail/mask.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace comad::iba {

namespace {

void set_bits(std::vector<u8>& bytes, unsigned off, unsigned count) {
    for (unsigned bit = off; bit < off + count; ++bit)
        bytes[bit / 8] = static_cast<u8>(bytes[bit / 8] | 0x80u >> bit % 8);
}

/// Sets the bits of the record that a row with these components compares. `off`: position of the row in the record.
void compare_row(std::vector<u8>& compared, const row_info& row, unsigned off, detail::components all, u64 mask) {
    if (row.masked != mask::each) {
        if ((all.bits() & mask) != 0) set_bits(compared, off, row.bits());
        return;
    }
    for (unsigned i = 0; i < row.count; ++i) {
        if ((detail::component_of_element(all, row, i).bits() & mask) != 0)
            set_bits(compared, off + i * row.width, row.width);
    }
}

} // namespace

u64 all_components(const record_info& record) noexcept {
    unsigned count = 0;
    for (const row_info& row : record.rows) count += detail::component_count(row);
    return detail::components{0, std::min(count, 64u)}.bits();
}

std::vector<u8> compared_bits(const record_info& record, u64 mask) {
    std::vector<u8> compared(record.bytes);
    for (std::size_t i = 0; i < record.rows.size(); ++i) {
        const row_info& row = record.rows[i];
        if (!detail::is_expanded(row)) {
            compare_row(compared, row, row.off, detail::components_of(record, i), mask);
            continue;
        }
        for (std::size_t j = 0; j < row.nested->rows.size(); ++j) {
            const row_info& inner = row.nested->rows[j];
            compare_row(compared, inner, row.off + inner.off, detail::components_of(record, i, j), mask);
        }
    }
    return compared;
}

result<u64> component_mask(const record_info& record, std::string_view name) {
    const auto steps = detail::resolve(record, name);
    if (!steps) return steps.error();
    const auto index_of = [](const record_info& info, const detail::step& s) {
        return static_cast<std::size_t>(s.row - info.rows.data());
    };
    const auto& way = steps.value();
    const std::size_t outer = index_of(record, way[0]);
    const bool is_inner = way.size() > 1 && detail::is_expanded(*way[0].row);
    const detail::step& last = way[is_inner ? 1 : 0]; // fields at deeper levels have no bits of their own

    const detail::components all = is_inner ? detail::components_of(record, outer, index_of(*way[0].row->nested, last))
                                            : detail::components_of(record, outer);
    u64 bits = all.bits();
    if (last.element) bits = detail::component_of_element(all, *last.row, *last.element).bits();
    else if (!is_inner) bits = detail::bits_of_row(record, outer);
    if (bits == 0)
        return error{errc::unknown_name,
                     fmt::format("{}.{} cannot be selected: it has no bit in the component mask", record.name, name)};
    return bits;
}

} // namespace comad::iba
