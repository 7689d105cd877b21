// SPDX-License-Identifier: MIT
// chassis_voltaire.cpp - finds the boards of Voltaire's chassis. The device ID shows the kind of board. Its position follows from which
// port of a spine is connected to which port of a line.
#include "chassis_boards.hpp"

#include <algorithm>
#include <string_view>

namespace comad::discovery {
namespace {

/// The position of a chip in a chassis.
struct slot_and_chip {
    unsigned slot = 0, chip = 0; ///< start at 1; 0: unknown
};

/// The neighbors of a board's ports: in the order of slots, and within a slot in the order of chips.
struct port_ranks {
    unsigned ports, per_slot, per_chip;

    constexpr slot_and_chip at(unsigned port) const noexcept {
        if (port < 1 || port > ports) return {};
        const unsigned rank = port - 1;
        return {rank / per_slot + 1, rank % per_slot / per_chip + 1};
    }
};

/// A model of spine board. It determines the model of the chassis.
struct spine_model {
    std::string_view type;
    port_ranks lines;   ///< the position of a line, by the spine port that leads to it
    port_ranks spines;  ///< the position of the spine, by the line port that leads to it
    unsigned chips = 1; ///< chips on a spine
    bool takes_routers = false;
    bool counts_chips_down = false;
    bool has_external_ports = false;  ///< after the internal ports
    bool skips_ports_5_and_6 = false; ///< on a line
};

constexpr spine_model ISR9288{
    .type = "ISR9288", .lines = {24, 2, 1}, .spines = {12, 3, 1}, .chips = 3, .takes_routers = true};
constexpr spine_model ISR9096{.type = "ISR9096", .lines = {24, 6, 3}, .spines = {12, 3, 3}, .takes_routers = true};
constexpr spine_model ISR2012{
    .type = "ISR2012", .lines = {24, 2, 1}, .spines = {12, 3, 1}, .chips = 3, .takes_routers = true};
constexpr spine_model ISR2004{.type = "ISR2004", .lines = {24, 6, 3}, .spines = {12, 3, 3}, .takes_routers = true};
constexpr spine_model ISR4700{.type = "ISR4700", .lines = {36, 2, 2}, .spines = {18, 2, 2}, .chips = 2};
constexpr spine_model isr4700_double{.type = "ISR4700",
                                     .lines = {18, 1, 1},
                                     .spines = {18, 2, 1},
                                     .chips = 2,
                                     .counts_chips_down = true,
                                     .has_external_ports = true};
constexpr spine_model ISR4200{
    .type = "ISR4200", .lines = {36, 4, 4}, .spines = {16, 4, 4}, .skips_ports_5_and_6 = true};

/// Returns the model of a spine; null if the node is not a spine.
const spine_model* spine_of(const node& n) {
    if (n.info.vendorID != voltaire_vendor || !n.is_switch()) return nullptr;
    switch (n.info.deviceID) {
    case 0x5a08: // sFB-12
    case 0x5a32: return &ISR9288;
    case 0x5a0b: // sFB-4
    case 0x5a33: return &ISR9096;
    case 0x5a37: return &ISR2012;
    case 0x5a40: return &ISR2004;
    case 0x5a5c: return &ISR4700;
    case 0x5a5d: return &isr4700_double;
    case 0x5a60: return &ISR4200;
    default: return nullptr;
    }
}

enum class line_model { none, sLB_24, sLB_8, sLB_2024, sLB_4018 };

line_model line_of(const node& n) {
    if (n.info.vendorID != voltaire_vendor || !n.is_switch()) return line_model::none;
    switch (n.info.deviceID) {
    case 0x5a09:
    case 0x5a34:
    case 0x5a42: return line_model::sLB_24;
    case 0x5a0d: return line_model::sLB_8;
    case 0x5a38: return line_model::sLB_2024;
    case 0x5a5b: return line_model::sLB_4018;
    default: return line_model::none;
    }
}

bool is_router(const node& n) {
    constexpr u16 to_fibre_channel = 0x5a00, to_ip = 0x5a01;
    return n.info.vendorID == voltaire_vendor && n.is_switch() &&
           (n.info.deviceID == to_fibre_channel || n.info.deviceID == to_ip);
}

/// Returns the highest port that can lead to another board.
unsigned inner_ports(const node& n) {
    if (const spine_model* spine = spine_of(n)) return spine->has_external_ports ? 18 : n.info.numPorts;
    switch (line_of(n)) {
    case line_model::none: return 0;
    case line_model::sLB_4018: return 18;
    default: return 12;
    }
}

slot_and_chip spine_place(const spine_model& model, unsigned port_of_line) {
    if (model.skips_ports_5_and_6 && (port_of_line == 5 || port_of_line == 6)) return {};
    slot_and_chip at = model.spines.at(model.skips_ports_5_and_6 && port_of_line > 6 ? port_of_line - 2 : port_of_line);
    if (model.counts_chips_down && at.chip) at.chip = model.chips + 1 - at.chip;
    return at;
}

slot_and_chip router_place(const spine_model& model, const node& spine, unsigned port_of_spine) {
    if (!model.takes_routers) return {};
    slot_and_chip at = model.lines.at(port_of_spine);
    if (!at.slot) return {};
    if (model.chips == 1) at.chip = 3 - (port_of_spine - 1) % 3;
    else { // the GUIDs of a spine's three chips are consecutive
        const u64 chip = value(spine.info.nodeGUID) % 4;
        at.chip = chip == 3 ? 1 : chip == 1 ? 3 : 2;
    }
    return at;
}

/// Returns the number printed next to the socket of a line's port; 0 for an internal port.
u8 number_of_socket(line_model line, unsigned chip, unsigned port) {
    constexpr u8 of_24[] = {6, 5, 4, 18, 17, 16, 1, 2, 3, 13, 14, 15}, of_8[] = {2, 2, 2, 6, 6, 6, 1, 1, 1, 5, 5, 5};
    constexpr unsigned first = 13, last = 24;
    if (line == line_model::sLB_4018) return port >= 19 && port <= 36 ? static_cast<u8>(port - 18) : u8{0};
    if (port < first || port > last) return 0;
    const bool is_second = chip == 2;
    switch (line) {
    case line_model::sLB_24: return static_cast<u8>(of_24[port - first] + (is_second ? 6 : 0));
    case line_model::sLB_8: return static_cast<u8>(of_8[port - first] + (is_second ? 2 : 0));
    case line_model::sLB_2024: return static_cast<u8>(is_second ? port - 12 : port);
    default: return 0;
    }
}

/// Returns the number of a 12x socket, which three ports of a spine share.
u8 number_of_wide_socket(unsigned chip, unsigned port) {
    if (port < 19 || port > 36) return 0;
    return static_cast<u8>((port - 19) / 3 + (chip == 1 ? 7 : 1));
}

/// Finds the Voltaire boards of a subnet, and adds their chassis to the groups.
class voltaire_boards {
public:
    voltaire_boards(const subnet& s, system_groups& groups) : s_(s), groups_(groups) {}

    void run() {
        for (u32 i = size(); i-- > 0;) locate(i);
        for (u32 i = size(); i-- > 0;)
            if (spine_of(s_.nodes[i]) && !groups_.places[i].is_in_chassis() && position_of_spine(i)) build_from(i);
    }

private:
    u32 size() const { return static_cast<u32>(s_.nodes.size()); }

    void set(u32 i, board_kind board, std::string_view type, slot_and_chip at) {
        chassis_place& place = groups_.places[i];
        place.board = board;
        place.type = type;
        place.slot = static_cast<u8>(at.slot);
        place.chip = static_cast<u8>(at.chip);
    }

    /// Calls `use` with each cabled internal port and its peer, until `use` returns that no more ports are needed.
    void for_each_neighbour(u32 i, unsigned most, auto&& use) const {
        const node& n = s_.nodes[i];
        for (unsigned p = 1; p < n.ports.size() && p <= most; ++p)
            if (const port_ref peer = n.ports[p].peer; peer && use(p, peer)) return;
    }

    void locate(u32 i) {
        const node& n = s_.nodes[i];
        if (is_router(n)) locate_router(i);
        else if (const spine_model* spine = spine_of(n)) locate_spine(i, *spine);
        else if (line_of(n) != line_model::none) locate_line(i);
        number_sockets(i);
    }

    void locate_router(u32 i) {
        for_each_neighbour(i, s_.nodes[i].info.numPorts, [&](unsigned, port_ref peer) {
            const spine_model* spine = spine_of(s_.nodes[peer.node]);
            if (spine) set(i, board_kind::router, spine->type, router_place(*spine, s_.nodes[peer.node], peer.port));
            return false;
        });
    }

    void locate_spine(u32 i, const spine_model& spine) {
        for_each_neighbour(i, inner_ports(s_.nodes[i]), [&](unsigned p, port_ref peer) {
            const node& there = s_.nodes[peer.node];
            if (!there.is_switch()) { // a router, which appears as a CA
                if (groups_.places[peer.node].board == board_kind::none)
                    set(peer.node, board_kind::router, spine.type, router_place(spine, s_.nodes[i], p));
            } else if (groups_.places[i].board == board_kind::none && line_of(there) != line_model::none) {
                set(i, board_kind::spine, spine.type, spine_place(spine, peer.port));
            }
            return false;
        });
    }

    void locate_line(u32 i) {
        for_each_neighbour(i, inner_ports(s_.nodes[i]), [&](unsigned, port_ref peer) {
            const spine_model* spine = spine_of(s_.nodes[peer.node]);
            if (spine) set(i, board_kind::line, spine->type, spine->lines.at(peer.port));
            return spine != nullptr;
        });
    }

    void number_sockets(u32 i) {
        const node& n = s_.nodes[i];
        chassis_place& place = groups_.places[i];
        if (place.chip < 1 || place.chip > 2) return;
        const line_model line = line_of(n);
        const spine_model* spine = spine_of(n);
        if (line == line_model::none && !(spine && spine->has_external_ports)) return;
        place.external_ports.resize(n.ports.size());
        for (unsigned p = 1; p < n.ports.size(); ++p)
            place.external_ports[p] =
                spine ? number_of_wide_socket(place.chip, p) : number_of_socket(line, place.chip, p);
    }

    // ---- Positions in the chassis ----

    /// Returns the position of a spine; 0: unknown.
    std::size_t position_of_spine(u32 i) const {
        const chassis_place& at = groups_.places[i];
        if (at.board != board_kind::spine || !at.slot) return 0;
        const std::size_t position = (at.slot - 1u) * spine_of(s_.nodes[i])->chips + at.chip;
        return position <= most_spines ? position : 0;
    }
    std::size_t position_of_line(u32 i) const {
        const chassis_place& at = groups_.places[i];
        if ((at.board != board_kind::line && at.board != board_kind::router) || !at.slot) return 0;
        const bool is_alone = line_of(s_.nodes[i]) == line_model::sLB_4018;
        const std::size_t position = is_alone ? at.slot : 3 * (at.slot - 1u) + at.chip;
        return position <= most_lines ? position : 0;
    }

    /// Puts node i at a position. Returns whether the position was empty.
    bool insert(auto& where, std::size_t position, u32 i) {
        if (!position || where[position] != port_ref::npos || groups_.places[i].is_in_chassis()) return false;
        where[position] = i;
        groups_.places[i].chassis = static_cast<u32>(groups_.chassis.size()) - 1;
        return true;
    }

    /// Adds all boards that can be reached from a spine.
    void build_from(u32 first) {
        groups_.chassis.emplace_back();
        positions at;
        insert(at.spines, position_of_spine(first), first);
        for (bool has_grown = true; has_grown;) {
            has_grown = false;
            for (const u32 spine : at.spines)
                if (spine != port_ref::npos) has_grown |= insert_lines_of(spine, at);
            for (const u32 line : at.lines)
                if (line != port_ref::npos) insert_spines_of(line, at); // new spines are found through new lines
        }
        chassis& built = groups_.chassis.back();
        std::ranges::copy_if(at.spines, std::back_inserter(built.spines), [](u32 i) { return i != port_ref::npos; });
        std::ranges::copy_if(at.lines, std::back_inserter(built.lines), [](u32 i) { return i != port_ref::npos; });
        built.GUID = iba::guid{value(s_.nodes[built.spines.front()].info.nodeGUID) - 1};
    }

    bool insert_lines_of(u32 spine, positions& at) {
        bool is_any = false;
        for_each_neighbour(spine, inner_ports(s_.nodes[spine]), [&](unsigned, port_ref peer) {
            is_any |= insert(at.lines, position_of_line(peer.node), peer.node);
            return false;
        });
        return is_any;
    }
    /// Adds the spines that a line is connected to. The port numbers of a router do not show which spine they lead to.
    void insert_spines_of(u32 line, positions& at) {
        for_each_neighbour(line, inner_ports(s_.nodes[line]), [&](unsigned, port_ref peer) {
            insert(at.spines, position_of_spine(peer.node), peer.node);
            return false;
        });
    }

    const subnet& s_;
    system_groups& groups_;
};

} // namespace

void find_voltaire_boards(const subnet& s, system_groups& groups) { voltaire_boards(s, groups).run(); }

} // namespace comad::discovery
