// SPDX-License-Identifier: MIT
// descriptions.cpp - splits the descriptions of managed switches, and recognizes adapters that no host has named.
#include "descriptions.hpp"

#include <comad/discovery/database/detail/first_word.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace comad::discovery {
namespace {

/// Returns the text before the first of these characters, and removes the text and the character. Nullopt if none is found.
std::optional<std::string_view> cut(std::string_view& text, std::string_view any_of) {
    const std::size_t end = text.find_first_of(any_of);
    if (end == text.npos) return std::nullopt;
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end + 1);
    return part;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// Returns whether `text` is `front` followed by a number.
bool is_numbered(std::string_view text, std::string_view front) {
    if (!text.starts_with(front) || text.size() == front.size()) return false;
    return std::ranges::all_of(text.substr(front.size()), is_digit);
}

/// Recognizes `MT4129 ConnectX7`. A host can be named mt4129, but then no family name of adapters follows.
bool is_product(std::string_view name) {
    const std::string_view first = first_word(name);
    const std::string_view rest = iba::trimmed(name.substr(first.size()));
    constexpr std::string_view families[] = {"connect", "bluefield", "infinihost", "sinai", "arbel", "tavor"};
    return is_numbered(first, "mt") && std::ranges::any_of(families, [&](auto f) { return rest.starts_with(f); });
}

bool is_device(std::string_view word) {
    constexpr std::string_view fronts[] = {"mlx5_", "mlx4_", "mthca", "qib", "hca-"};
    return std::ranges::any_of(fronts, [&](std::string_view front) { return is_numbered(word, front); });
}

} // namespace

std::string lower_case(std::string_view text) {
    std::string lower(text);
    for (char& c : lower)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    return lower;
}

std::optional<managed_switch> parse_managed_switch(std::string_view description) {
    description = description.substr(0, description.find('\0'));
    if (!description.starts_with("MF0;")) return std::nullopt;
    description.remove_prefix(4);
    managed_switch found;
    const auto system = cut(description, ":");
    const auto type = system ? cut(description, "/") : std::nullopt;
    if (!type) return std::nullopt;
    found.system = *system, found.type = *type;
    if (description.find('/') != description.npos) {
        const bool names_board = description.find(':') < description.find('/');
        const auto slot = cut(description, ":/");
        if (slot->empty()) return std::nullopt;
        found.slot = *slot;
        if (names_board && !cut(description, "/")) return std::nullopt;
    }
    if (!description.starts_with('U')) return std::nullopt;
    std::from_chars(description.data() + 1, description.data() + description.size(), found.chip);
    return found;
}

std::string chip_name(const managed_switch& m) {
    return m.slot.empty() ? fmt::format("{}-U{}", m.system, m.chip)
                          : fmt::format("{}-{}-U{}", m.system, m.slot, m.chip);
}

bool is_factory_name(std::string_view name) {
    const std::string lower = lower_case(iba::trimmed(name.substr(0, name.find('\0'))));
    const std::string_view all = lower, first = first_word(all);
    if (all.empty() || first == "(none)" || first == "localhost" || first.starts_with("localhost.")) return true;
    if (all.find("mellanox technologies") != all.npos || all.find("nvidia technologies") != all.npos) return true;
    return is_product(all) || is_device(all);
}

} // namespace comad::discovery
