// SPDX-License-Identifier: MIT
// chassis_mellanox.cpp - boards with IS4 chips, which say in their description where they are.
#include "chassis_boards.hpp"

#include <charconv>
#include <optional>
#include <string_view>

namespace comad::discovery {
namespace {

constexpr u16 IS4_device = 0xbd36;
constexpr unsigned most_external_ports = 18; ///< of a line: ports 1 to 18 are the sockets of these numbers
constexpr std::size_t longest_type = 19;     ///< as much as libibnetdisc keeps

/// What is before the first of these characters, and takes both away; nothing if none of them is there.
std::optional<std::string_view> cut(std::string_view& text, std::string_view any_of) {
    const std::size_t end = text.find_first_of(any_of);
    if (end == text.npos) return std::nullopt;
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end + 1);
    return part;
}

/// 0 where there is none.
u8 number_at_front(std::string_view text) {
    u8 number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// Of `MF0;HOST:TYPE/SLOT[:BOARD]/Un`, with a slot as L01 or S18.
std::optional<chassis_place> place_in(std::string_view description) {
    description = description.substr(0, description.find('\0'));
    if (!description.starts_with("MF0;")) return std::nullopt;
    if (!cut(description, ":")) return std::nullopt;
    const auto type = cut(description, "/");
    if (!type) return std::nullopt;
    const bool names_board = description.find(':') < description.find('/');
    const auto slot = cut(description, ":/");
    if (!slot || slot->empty()) return std::nullopt;
    if (names_board && !cut(description, "/")) return std::nullopt;
    if (!description.starts_with('U')) return std::nullopt;

    chassis_place place;
    if (slot->front() == 'L') place.board = board_kind::line;
    else if (slot->front() == 'S') place.board = board_kind::spine;
    else return std::nullopt;
    place.slot = number_at_front(slot->substr(1));
    place.chip = number_at_front(description.substr(1));
    place.type = type->substr(0, longest_type);
    const std::size_t most = place.board == board_kind::line ? most_lines : most_spines;
    if (place.slot < 1 || place.slot > most) return std::nullopt;
    return place;
}

} // namespace

void find_mellanox_boards(const subnet& s, system_groups& groups) {
    for (u32 i = 0; i < s.nodes.size(); ++i) {
        const node& n = s.nodes[i];
        if (!n.is_switch() || n.info.vendorID != mellanox_vendor || n.info.deviceID != IS4_device) continue;
        auto place = place_in(n.description);
        if (!place) continue;
        if (place->board == board_kind::line) {
            place->external_ports.resize(std::min<std::size_t>(n.ports.size(), most_external_ports + 1));
            for (std::size_t p = 1; p < place->external_ports.size(); ++p)
                place->external_ports[p] = static_cast<u8>(p);
        }
        groups.places[i] = std::move(*place);
    }
}

} // namespace comad::discovery
