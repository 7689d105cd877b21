// SPDX-License-Identifier: MIT
// node_type_names.hpp - what the kinds of nodes are called, in each of the forms that texts and scripts have.
#pragma once
#include <comad/iba/detail/enums.hpp>

#include <string_view>

namespace comad::discovery {

struct node_type_names {
    std::string_view name;       ///< `CA`, `Switch`, `Router`: as the IBA and iblinkinfo
    std::string_view lower;      ///< `ca`, `switch`, `router`: options, labels, ibtracert
    std::string_view record;     ///< `Ca`, `Switch`, `Rt`: a line of a topology file, and of ibhosts and ibrouters
    std::string_view list;       ///< `Ca`, `Switch`, `Router`: a line of ibnetdiscover -l
    std::string_view two_letter; ///< `CA`, `SW`, `RT`: a line of ibnetdiscover -p
    std::string_view prefix;     ///< `ca`, `switch`, `rt`: before `guid=` in a topology file
    std::string_view full;       ///< `Channel Adapter`, `Switch`, `Router`: smpquery

    constexpr bool are_known() const noexcept { return !full.empty(); }
};

/// Of a type that the IBA does not know: `???`, for name and two_letter `??`, for full nothing.
constexpr node_type_names words_of(iba::NodeType type) noexcept {
    switch (type) {
    case iba::NodeType::CA: return {"CA", "ca", "Ca", "Ca", "CA", "ca", "Channel Adapter"};
    case iba::NodeType::Switch: return {"Switch", "switch", "Switch", "Switch", "SW", "switch", "Switch"};
    case iba::NodeType::Router: return {"Router", "router", "Rt", "Router", "RT", "rt", "Router"};
    }
    return {"??", "???", "???", "???", "??", "???", ""};
}

/// The type whose `lower` that is. Precondition: there is one.
constexpr iba::NodeType node_type_named(std::string_view lower) noexcept {
    for (const auto type : {iba::NodeType::CA, iba::NodeType::Switch})
        if (words_of(type).lower == lower) return type;
    return iba::NodeType::Router;
}

} // namespace comad::discovery
