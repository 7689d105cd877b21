// SPDX-License-Identifier: MIT
// enums.cpp - finds the name of an enumerator, and the names of the bits in a set.
#include <comad/iba/detail/enums/names.hpp>

#include <fmt/format.h>

#include <bit>
#include <string>

namespace comad::iba {

std::string name_or_number(std::span<const enum_name> names, u64 number) {
    const std::string_view name = find_name(names, number);
    return name.empty() ? fmt::format("?? {}", number) : std::string(name);
}

std::string bits_text(std::span<const enum_name> names, u64 set) {
    std::string text;
    const auto add = [&](std::string_view part) { text.append(text.empty() ? "" : ", ").append(part); };
    u64 unnamed = 0;
    for (u64 rest = set; rest != 0; rest &= rest - 1) {
        const u64 bit = u64{1} << std::countr_zero(rest);
        const std::string_view name = find_name(names, bit);
        if (name.empty()) unnamed |= bit;
        else add(name);
    }
    if (unnamed != 0) add(fmt::format("?? {:#x}", unnamed));
    return text.empty() ? "none" : text;
}

} // namespace comad::iba
