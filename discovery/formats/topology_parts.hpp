// SPDX-License-Identifier: MIT
// topology_parts.hpp - the pieces of a topology file's stanza, for who prints whole ones and for who prints what differs.
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

template <class... Arguments>
void print(std::string& out, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    fmt::format_to(std::back_inserter(out), format, std::forward<Arguments>(arguments)...);
}

/// The port's PortInfo; one of zeros if it is not known.
const iba::smp::PortInfo& info_of(const port&);
inline unsigned lid_of(const port& p) { return value(info_of(p).LID); }

/// All nodes of the type, but those that are known as the other ends of links only: they have no lines of their own.
void for_each(const subnet& s, iba::NodeType type, auto&& use) {
    for (u32 i = 0; i < s.nodes.size(); ++i) {
        if (s.nodes[i].info.nodeType == type && s.nodes[i].known != topology_file::extent::links_only)
            use(i, s.nodes[i]);
    }
}

/// What the lines of a head say more where chassis are shown.
struct head_notes {
    std::string system; ///< behind the system image GUID
    std::string board;  ///< behind the GUID of a switch
    std::string role;   ///< at the end
};

/// From the empty line to the line of the node, whose IDs and whose last line have these prefixes.
void print_head(std::string& out, const node&, const node_names&, const head_notes& = {}, std::string_view IDs = {},
                std::string_view line = {});
/// The last line of it.
void print_node_line(std::string& out, const node&, const node_names&, std::string_view prefix = {});
/// The line of a port. Precondition: it has a peer. `groups`: shows external ports; null: does not.
void print_port_line(std::string& out, const subnet&, port_ref, const node_names&, bool full,
                     std::string_view prefix = {}, const system_groups* groups = nullptr);

} // namespace comad::discovery
