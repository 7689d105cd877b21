// SPDX-License-Identifier: MIT
// subnet_place.hpp - a node of a discovered subnet, as a target, -G or -D name it. Asks nobody.
#pragma once
#include <comad/discovery/database/node_names.hpp>
#include <comad/discovery/database/subnet.hpp>

#include <optional>
#include <string>

namespace ibtool {

/// One node; or none, if neither is set.
struct subnet_place {
    std::optional<comad::iba::guid> GUID; ///< its own, or of one of its ports
    std::optional<comad::mad::IBDRPath> route;
    std::optional<comad::iba::lid> LID; ///< of one of its ports, also above the base LID
    bool is_name = false;               ///< `words` are its name, or as much of it as no other has
    std::string words;                  ///< as the user wrote it
};

/// Of what options say; both empty: none. Throws usage_error.
subnet_place read_place(const std::string& GUID, const std::string& route);

/// Of a target in any form, which says more than where to send to; a text that is none is a name. More than four digits
/// behind a 0x are a GUID's. Throws usage_error for an empty text.
subnet_place read_place(const std::string& target);

/// Its index; nothing if none is meant. Throws std::runtime_error with one line if there is no such node, or several of that
/// name. `names`: what nodes are called.
std::optional<comad::u32> node_at(const comad::discovery::subnet&, const subnet_place&,
                                  const comad::discovery::node_names& names = {});

} // namespace ibtool
