// SPDX-License-Identifier: MIT
// subnet_place.hpp - finds the node of a discovered subnet that a target, -G or -D names. Sends nothing.
#pragma once
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <optional>
#include <string>

namespace ibtool {

/// Names one node; or none, if no member is set.
struct subnet_place {
    std::optional<comad::iba::guid> GUID; ///< of the node, or of one of its ports
    std::optional<comad::mad::IBDRPath> route;
    std::optional<comad::iba::lid> LID; ///< of one of its ports, may be above the base LID
    bool is_name = false;               ///< `words` is its name, or a unique part of it
    std::string words;                  ///< as the user wrote it
};

/// Reads the values of options; both empty: no node. Throws usage_error.
subnet_place read_place(const std::string& GUID, const std::string& route);

/// Reads a target in any form. A text without a known form is a name. 0x with more than four digits is a GUID. Throws usage_error for an
/// empty text.
subnet_place read_place(const std::string& target);

/// Returns the index of the node; nullopt if the place names none. Throws std::runtime_error with one line if there is no such node, or
/// several with this name. `names`: the names of nodes.
std::optional<comad::u32> node_at(const comad::discovery::subnet&, const subnet_place&,
                                  const comad::discovery::node_names& names = {});

} // namespace ibtool
