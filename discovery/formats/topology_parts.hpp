// SPDX-License-Identifier: MIT
// topology_parts.hpp - the parts of a topology file's stanza, shared by the report of a subnet and the report of differences.
#pragma once
#include <comad/discovery/chassis/detail/chassis.hpp>
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace comad::discovery {

/// Appends formatted text to a string.
template <class... Arguments>
void print(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

/// Returns the PortInfo of a port; one with zeros if it is not known.
const iba::smp::PortInfo& info_of(const port&);
/// Returns the LID of a port; 0 if it is not known.
inline unsigned lid_of(const port& p) { return value(info_of(p).LID); }

/// Calls use(index, node) for all nodes of a type, except those that are known only as neighbors of others: they have no stanza.
void for_each(const subnet& s, iba::NodeType type, auto&& use) {
    for (u32 i = 0; i < s.nodes.size(); ++i) {
        if (s.nodes[i].info.nodeType == type && s.nodes[i].known != topology_file::extent::links_only)
            use(i, s.nodes[i]);
    }
}

/// Additional texts for the lines of a stanza's head in the report by chassis.
struct head_notes {
    std::string system; ///< after the system image GUID
    std::string board;  ///< after the GUID of a switch
    std::string role;   ///< text at the end of the head
};

/// Prints a stanza from the empty line to the line of the node. `IDs` and `line` are the prefixes of the IDs and of the node's line.
void print_head(std::string& out, const node&, const node_names&, const head_notes& = {}, std::string_view IDs = {},
                std::string_view line = {});
/// Prints only the line of the node, the last line of the head.
void print_node_line(std::string& out, const node&, const node_names&, std::string_view prefix = {});
/// Prints the line of a port. Precondition: the port has a peer. `groups`: adds external ports; null: no external ports.
void print_port_line(std::string& out, const subnet&, port_ref, const node_names&, bool full,
                     std::string_view prefix = {}, const system_groups* groups = nullptr);

} // namespace comad::discovery
