// SPDX-License-Identifier: MIT
// chassis.hpp - groups the nodes of a subnet into systems: the boards of a chassis, or nodes with one system image GUID. Rules, numbers
// and names follow libibnetdisc (rdma-core, libibnetdisc/chassis.c). Sends nothing.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <string>
#include <vector>

namespace comad::discovery {

/// The role of a node in a modular chassis.
enum class board_kind : u8 {
    none,   ///< not a board, or a board of an unknown vendor
    line,   ///< a line board, which has the external ports
    spine,  ///< a spine board, which connects line boards
    router, ///< a router board, which takes the slot of a line board and leads to another network
};

/// The position of a node in a chassis.
struct chassis_place {
    static constexpr u32 nowhere = ~u32{0};
    u32 chassis = nowhere; ///< index into system_groups::chassis
    board_kind board = board_kind::none;
    u8 slot = 0, chip = 0; ///< of a board; both start at 1
    std::string type;      ///< of a board: `ISR9288`, `SX6536`; any bytes
    /// By port number: the number printed next to the socket, or 0; empty: none is known.
    std::vector<u8> external_ports;

    bool is_in_chassis() const noexcept { return chassis != nowhere; }
};

/// The nodes of one system, by index into subnet::nodes.
struct chassis {
    u32 number = 0; ///< starts at 1
    /// The system image GUID of the nodes; for a Voltaire chassis the GUID before that of its first spine.
    iba::guid GUID{};
    std::vector<u32> spines, lines; ///< by position; routers are among the lines
    std::vector<u32> others;        ///< nodes that are not boards, in the order of the subnet
};

/// The systems of a subnet, and the position of each node.
struct system_groups {
    std::vector<discovery::chassis> chassis; ///< by number
    std::vector<chassis_place> places;       ///< of each node, by index

    /// The number printed next to the socket of a port; 0 if it is unknown, or if nodes were not grouped.
    u8 external_port(port_ref r) const noexcept {
        if (r.node >= places.size()) return 0;
        const auto& all = places[r.node].external_ports;
        return r.port < all.size() ? all[r.port] : u8{0};
    }
};

/// Groups all nodes into systems. If two boards claim one position, only one of them is in the chassis. Numbers follow infiniband-diags,
/// which counts from the node that was found last. A board with impossible cabling gets no position; libibnetdisc
/// fails the whole discovery in this case.
system_groups group_nodes(const subnet&);

/// The position of a board as text: `Line 2 Chip 1`; empty if the node is not a board.
std::string format_slot(const chassis_place&);

/// Xsigo devices are recognized by their GUIDs. The HCA belongs to the server that manages the chassis, the TCA is an I/O card.
bool is_xsigo(iba::guid) noexcept;
bool is_xsigo_hca(iba::guid) noexcept;
bool is_xsigo_tca(iba::guid) noexcept;

} // namespace comad::discovery
