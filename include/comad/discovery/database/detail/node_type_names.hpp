// SPDX-License-Identifier: MIT
// node_type_names.hpp - the names of node types in reports, topology files, options and JSON.
#pragma once
#include <comad/iba/detail/enums.hpp>

#include <string_view>

namespace comad::discovery {

/// The names of one node type, one for each format.
struct node_type_names {
    std::string_view name;       ///< `CA`, `Switch`, `Router`: IBA and iblinkinfo
    std::string_view lower;      ///< `ca`, `switch`, `router`: options, labels, ibtracert
    std::string_view record;     ///< `Ca`, `Switch`, `Rt`: a line of a topology file, and of ibhosts and ibrouters
    std::string_view list;       ///< `Ca`, `Switch`, `Router`: a line of ibnetdiscover -l
    std::string_view two_letter; ///< `CA`, `SW`, `RT`: a line of ibnetdiscover -p
    std::string_view prefix;     ///< `ca`, `switch`, `rt`: before `guid=` in a topology file
    std::string_view full;       ///< `Channel Adapter`, `Switch`, `Router`: smpquery

    constexpr bool are_known() const noexcept { return !full.empty(); }
};

/// Returns the names of a node type. For a type that the IBA does not define: `??` for name and two_letter, an empty string for full,
/// and `???` for the others.
constexpr node_type_names names_of_type(iba::NodeType type) noexcept {
    switch (type) {
    case iba::NodeType::CA: return {"CA", "ca", "Ca", "Ca", "CA", "ca", "Channel Adapter"};
    case iba::NodeType::Switch: return {"Switch", "switch", "Switch", "Switch", "SW", "switch", "Switch"};
    case iba::NodeType::Router: return {"Router", "router", "Rt", "Router", "RT", "rt", "Router"};
    }
    return {"??", "???", "???", "???", "??", "???", ""};
}

/// Returns the node type whose `lower` name this is. Precondition: there is one.
constexpr iba::NodeType node_type_named(std::string_view lower) noexcept {
    for (const auto type : {iba::NodeType::CA, iba::NodeType::Switch})
        if (names_of_type(type).lower == lower) return type;
    return iba::NodeType::Router;
}

} // namespace comad::discovery
