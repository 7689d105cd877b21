// SPDX-License-Identifier: MIT
// cabling.hpp - compares the links of a subnet with a cabling plan. Does not depend on a file or text format.
#pragma once
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/formats/exports.hpp>

#include <span>
#include <string>
#include <vector>

namespace comad::discovery {

/// A port as a cabling plan names it. `node` is the description of the node, its name in a node name map, its GUID, or the GUID of one of
/// its ports. If no node has exactly this name, case is ignored and more names are accepted: for a managed switch
/// `MF0;NAME:TYPE/L16/U2` also `NAME`, `NAME/L16/U2` and `NAME-L16-U2`, and for an adapter the first word (the host name).
struct planned_end {
    std::string node;
    u8 port = 0; ///< port number; 0: the only port of the adapter that `words` names
    /// 16 and 2 of `Blade 16_Port 2/20`, which names a chip of the chassis `node`; 0: the port is on the node itself.
    u8 blade = 0, chip = 0;
    std::string words{}; ///< how the plan names the port, if not by a plain number; any bytes

    friend bool operator==(const planned_end&, const planned_end&) = default;
};
/// A cable of the plan, with its two ends.
struct planned_cable {
    planned_end a, b;
    unsigned line = 0; ///< line number in the plan
};

/// A difference between the plan and the subnet.
struct cabling_fault {
    enum class kind : u8 {
        missing, ///< the plan has a cable, and the subnet has no such link
        swapped, ///< two planned cables whose ends are exchanged
        moved,   ///< one end is correct, the other is in a port without a planned cable, and its planned port is empty
        extra,   ///< a link that is not in the plan
    };
    kind what;
    std::vector<u32> cables;      ///< indices into the plan: two for swapped, none for extra, else one
    std::vector<link_ends> links; ///< existing links: two for swapped, none for missing, else one
    /// For missing, if known: the actual neighbors of the ends, or that the node does not exist; safe for a terminal.
    std::string why;
};

/// The result of compare_cabling().
struct cabling {
    /// Indices of planned cables that cannot be judged: the topology file lacks the stanzas or lines that could contain them.
    std::vector<u32> unknown;
    std::vector<cabling_fault> faults; ///< in the order of the plan; then extra links in the order of the subnet
    /// Number of planned cables; a cable that the plan lists twice, from either end, counts once.
    std::size_t planned = 0;
    std::size_t as_planned = 0; ///< number of cables that match the plan
    std::size_t links = 0;      ///< number of links in the subnet
};

/// Compares a plan with a subnet.
/// Errors: throws std::runtime_error with one line if the plan connects one port to two different ports. This check needs the subnet,
/// because different names can mean the same node.
cabling compare_cabling(std::span<const planned_cable> plan, const subnet&, const node_names&);

/// Returns the cables of a subnet as a cabling plan (CSV, RFC 4180): a comment, and one line `node,port,node,port` for each link. A node
/// has its name, or its GUID if other nodes have the same name, if the name is empty, or if it contains characters that are not printable
/// ASCII. compare_cabling() of the plan and the same subnet finds no fault.
std::string format_cabling_plan(const subnet&, const node_names&);

} // namespace comad::discovery
