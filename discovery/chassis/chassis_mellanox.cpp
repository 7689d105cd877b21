// SPDX-License-Identifier: MIT
// chassis_mellanox.cpp - finds boards with IS4 chips, whose descriptions contain their positions.
#include "../database/descriptions.hpp"
#include "chassis_boards.hpp"

#include <charconv>
#include <optional>
#include <string_view>

namespace comad::discovery {
namespace {

constexpr u16 is4_device = 0xbd36;
constexpr unsigned most_external_ports = 18; ///< ports 1 to 18 of a line board have the sockets 1 to 18
constexpr std::size_t longest_type = 19;     ///< libibnetdisc keeps at most this many characters

/// Returns the number at the start of a text; 0 if the text starts with another character.
u8 number_at_front(std::string_view text) {
    u8 number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

/// Parses `MF0;HOST:TYPE/SLOT[:BOARD]/Un`, with a slot such as L01 or S18.
std::optional<chassis_place> place_in(std::string_view description) {
    const auto managed = parse_managed_switch(description);
    if (!managed || managed->slot.empty()) return std::nullopt;

    chassis_place place;
    if (managed->slot.front() == 'L') place.board = board_kind::line;
    else if (managed->slot.front() == 'S') place.board = board_kind::spine;
    else return std::nullopt;
    place.slot = number_at_front(managed->slot.substr(1));
    place.chip = managed->chip;
    place.type = managed->type.substr(0, longest_type);
    const std::size_t most = place.board == board_kind::line ? most_lines : most_spines;
    if (place.slot < 1 || place.slot > most) return std::nullopt;
    return place;
}

} // namespace

void find_mellanox_boards(const subnet& s, system_groups& groups) {
    for (u32 i = 0; i < s.nodes.size(); ++i) {
        const node& n = s.nodes[i];
        if (!n.is_switch() || n.info.vendorID != mellanox_vendor || n.info.deviceID != is4_device) continue;
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
