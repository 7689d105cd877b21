// SPDX-License-Identifier: MIT
// subnet_place.hpp - a node of a discovered subnet, as -G and -D name it. Asks nobody.
#pragma once
#include <comad/discovery/subnet.hpp>

#include <optional>
#include <string>

namespace ibtool {

/// One node; or none, if neither is set.
struct subnet_place {
    std::optional<comad::iba::guid> GUID; ///< its own, or of one of its ports
    std::optional<comad::mad::IBDRPath> route;
    std::string words; ///< as the user wrote it
};

/// Of what options say; both empty: none. Throws usage_error.
subnet_place read_place(const std::string& GUID, const std::string& route);

/// Its index; nothing if none is meant. Throws std::runtime_error with one line if there is no such node.
std::optional<comad::u32> node_at(const comad::discovery::subnet&, const subnet_place&);

} // namespace ibtool
