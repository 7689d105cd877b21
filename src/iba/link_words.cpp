// SPDX-License-Identifier: MIT
// link_words.cpp - names of link widths and speeds, as in rdma-core (infiniband-diags/ibnetdiscover.c,
// dump_linkspeed_compat and similar functions).
#include <comad/iba/detail/link_words.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace comad::iba {
namespace {

using std::pair;
using std::string_view;

constexpr std::array<pair<string_view, LinkWidth>, 5> widths{{{"1x", LinkWidth::w1x},
                                                              {"2x", LinkWidth::w2x},
                                                              {"4x", LinkWidth::w4x},
                                                              {"8x", LinkWidth::w8x},
                                                              {"12x", LinkWidth::w12x}}};
constexpr std::array<pair<string_view, lane_speeds>, 9> speeds{{{"SDR", lane_speed::SDR},
                                                                {"DDR", lane_speed::DDR},
                                                                {"QDR", lane_speed::QDR},
                                                                {"FDR10", lane_speed::FDR10},
                                                                {"FDR", lane_speed::FDR},
                                                                {"EDR", lane_speed::EDR},
                                                                {"HDR", lane_speed::HDR},
                                                                {"NDR", lane_speed::NDR},
                                                                {"XDR", lane_speed::XDR}}};
constexpr string_view unknown_width = "??", unknown_speed = "???";

constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
constexpr char upper(char c) noexcept { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
constexpr bool is_letter_or_digit(char c) noexcept { return is_digit(c) || (upper(c) >= 'A' && upper(c) <= 'Z'); }

bool is_same(string_view a, string_view b) noexcept { return std::ranges::equal(a, b, {}, upper, upper); }

template <class Table> auto of_name(const Table& table, string_view name) noexcept {
    const auto found = std::ranges::find_if(table, [&](const auto& row) { return is_same(row.first, name); });
    return found == table.end() ? std::nullopt : std::optional(found->second);
}
template <class Table, class T> string_view name_in(const Table& table, T value, string_view otherwise) noexcept {
    const auto found = std::ranges::find_if(table, [&](const auto& row) { return row.second == value; });
    return found == table.end() ? otherwise : found->first;
}

/// Returns the length of the width in a word: `12x`, `??`. 0 if the word does not start with a width.
std::size_t width_length(string_view word) noexcept {
    if (word.starts_with(unknown_width)) return unknown_width.size();
    const auto digits = static_cast<std::size_t>(std::ranges::find_if_not(word, is_digit) - word.begin());
    return digits != 0 && digits < word.size() && upper(word[digits]) == 'X' ? digits + 1 : 0;
}

} // namespace

string_view width_name(LinkWidth width) noexcept { return name_in(widths, width, unknown_width); }
string_view speed_name(lane_speeds speed) noexcept { return name_in(speeds, speed, unknown_speed); }
std::optional<LinkWidth> width_of_name(string_view name) noexcept { return of_name(widths, name); }
std::optional<lane_speeds> speed_of_name(string_view name) noexcept { return of_name(speeds, name); }

link_word parse_link_word(string_view word) noexcept {
    const std::size_t length = width_length(word);
    const string_view width = word.substr(0, length), speed = word.substr(length);
    // The word is a hexadecimal number if it starts with `0x`.
    const bool is_about_link =
        length != 0 && !speed.empty() && width != "0x" &&
        (speed == unknown_speed || (upper(speed.front()) >= 'A' && std::ranges::all_of(speed, is_letter_or_digit)));
    if (!is_about_link) return {};
    const bool has_width = width != unknown_width, has_speed = speed != unknown_speed;
    if (!has_width && !has_speed) return {.what = link_word::kind::unknown};
    const auto known_width = width_of_name(width);
    const auto known_speed = speed_of_name(speed);
    if ((has_width && !known_width) || (has_speed && !known_speed)) return {.what = link_word::kind::invalid};
    return {.what = link_word::kind::known,
            .width = known_width.value_or(LinkWidth{}),
            .speed = known_speed.value_or(lane_speeds{})};
}

string_view all_speed_names() noexcept { return "SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR, XDR"; }
string_view all_width_names() noexcept { return "1x, 2x, 4x, 8x, 12x"; }

} // namespace comad::iba
