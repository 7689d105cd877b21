// SPDX-License-Identifier: MIT
// cabling.hpp - cables as somebody planned them beside the links of a subnet. Knows no file and no report.
#pragma once
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/formats/exports.hpp>

#include <span>
#include <string>
#include <vector>

namespace comad::discovery {

/// A port as a plan names it. The node is named by its description, its name in a node name map, its GUID or that of one of its
/// ports. If no node has exactly this name, other names count, without regard to the case of letters: of a managed switch
/// `MF0;NAME:TYPE/L16/U2` also `NAME`, `NAME/L16/U2` and `NAME-L16-U2`, of an adapter also the first word (the host).
struct planned_end {
    std::string node;
    u8 port = 0; ///< number; 0: the only port of the adapter that `words` names
    u8 blade = 0,
       chip = 0; ///< of `Blade 16_Port 2/20`: 16 and 2, a chip of the chassis `node`; 0: the port is one of the node
    std::string words{}; ///< what the plan has for the port if that is not a plain number; any bytes

    friend bool operator==(const planned_end&, const planned_end&) = default;
};
struct planned_cable {
    planned_end a, b;
    unsigned line = 0; ///< of the plan
};

/// What is not as planned.
struct cabling_fault {
    enum class kind : u8 {
        missing, ///< planned, and there is no such link
        swapped, ///< two planned cables whose ends are exchanged
        moved, ///< one end is where it belongs; the other is in a port for which no cable is planned, and its own is empty
        extra, ///< a link that nobody planned
    };
    kind what;
    std::vector<u32> cables;      ///< of the plan, by index: two of swapped, none of extra, else one
    std::vector<link_ends> links; ///< as they are: two of swapped, none of missing, else one
    std::string
        why; ///< of missing, if more is known: what its ends lead to, or that there is no such node; safe for a terminal
};

struct cabling {
    /// Of the plan, by index: a topology file from which stanzas or lines are missing does not say whether they are there.
    std::vector<u32> unknown;
    std::vector<cabling_fault> faults; ///< in the order of the plan, then what is extra in that of the subnet
    std::size_t planned = 0;    ///< cables of the plan; one that the plan has twice, from either end, counts once
    std::size_t as_planned = 0; ///< cables
    std::size_t links = 0;      ///< of the subnet
};

/// Throws std::runtime_error with one line where a port has two cables in the plan that end at different ports; only the subnet shows
/// which names mean the same node.
cabling compare_cabling(std::span<const planned_cable> plan, const subnet&, const node_names&);

} // namespace comad::discovery
