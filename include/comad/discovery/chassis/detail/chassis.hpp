// SPDX-License-Identifier: MIT
// chassis.hpp - which nodes of a subnet are one system: the boards of a chassis, or whatever has one system image GUID. Rules, numbers and
// words are those of libibnetdisc (rdma-core, libibnetdisc/chassis.c). Asks nobody, knows no report.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <string>
#include <vector>

namespace comad::discovery {

/// What a node is in a chassis of boards.
enum class board_kind : u8 {
    none,   ///< no board of one, or of a vendor whose boards are not known
    line,   ///< has the external ports
    spine,  ///< connects lines
    router, ///< sits where a line could, and leads to another network
};

/// Where a node is.
struct chassis_place {
    static constexpr u32 nowhere = ~u32{0};
    u32 chassis = nowhere; ///< index into system_groups::chassis
    board_kind board = board_kind::none;
    u8 slot = 0, chip = 0;          ///< of a board, both from 1
    std::string type;               ///< of a board: `ISR9288`, `SX6536`; any bytes
    std::vector<u8> external_ports; ///< by port number, what is printed beside the socket, or 0; empty: none is known

    bool is_in_chassis() const noexcept { return chassis != nowhere; }
};

/// Nodes that are one system, by index into subnet::nodes.
struct chassis {
    u32 number = 0;   ///< from 1
    iba::guid GUID{}; ///< what its nodes have in common; of a Voltaire chassis the GUID before that of its first spine
    std::vector<u32> spines, lines; ///< by position; routers among the lines
    std::vector<u32> others;        ///< no boards, in the subnet's order
};

struct system_groups {
    std::vector<discovery::chassis> chassis; ///< by number
    std::vector<chassis_place> places;       ///< of each node, by index

    /// What is printed beside the socket; 0: nothing that is known. Of groups of nothing: 0.
    u8 external_port(port_ref r) const noexcept {
        if (r.node >= places.size()) return 0;
        const auto& all = places[r.node].external_ports;
        return r.port < all.size() ? all[r.port] : u8{0};
    }
};

/// Groups all nodes. Of two boards that would be in the same position only one is in the chassis. The numbers are those of
/// infiniband-diags, which count from the node that was found last. Differs from libibnetdisc, which gives up the whole
/// discovery, where a board is wired as no such board is: that one has no position.
system_groups group_nodes(const subnet&);

/// `Line 2 Chip 1`; empty: it is no board of a chassis.
std::string slot_text(const chassis_place&);

// Xsigo's GUIDs say what has them. The host channel adapter is that of the server that manages the chassis, the target
// channel adapter an I/O card.
bool is_xsigo(iba::guid) noexcept;
bool is_xsigo_hca(iba::guid) noexcept;
bool is_xsigo_tca(iba::guid) noexcept;

} // namespace comad::discovery
