// SPDX-License-Identifier: MIT
// mask.cpp - component masks by name.
#include "names.hpp"
#include <comad/iba/mask.hpp>

#include <fmt/format.h>

namespace comad::iba {

result<u64> component_mask(const record_info& record, std::string_view name) {
    const auto steps = detail::resolve(record, name);
    if (!steps) return steps.error();
    const auto index_of = [](const record_info& info, const detail::step& s) {
        return static_cast<std::size_t>(s.row - info.rows.data());
    };
    const auto& way = steps.value();
    const std::size_t outer = index_of(record, way[0]);
    const bool is_inner = way.size() > 1 && detail::is_expanded(*way[0].row);
    const detail::step& last = way[is_inner ? 1 : 0]; // what lies deeper has no bits of its own

    const detail::components all = is_inner ? detail::components_of(record, outer, index_of(*way[0].row->nested, last))
                                            : detail::components_of(record, outer);
    u64 bits = all.bits();
    if (last.element) bits = detail::component_of_element(all, *last.row, *last.element).bits();
    else if (!is_inner) bits = detail::bits_of_row(record, outer);
    if (bits == 0)
        return error{errc::unknown_name, fmt::format("{}.{} has no bit of a component mask", record.name, name)};
    return bits;
}

} // namespace comad::iba
