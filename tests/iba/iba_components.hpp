// SPDX-License-Identifier: MIT
// iba_components.hpp - component masks calculated along a table, independently of the library.
#pragma once
#include <comad/iba/detail/table.hpp>

#include <string>
#include <vector>

/// A component of the mask. It can have several bits, and several components can share a bit.
struct component {
    std::string name; ///< `nodeInfo.nodeGUID`, `serviceData8_3`
    unsigned bit;
};

/// Returns the components of a structure in the order of their bits.
std::vector<component> components_of(const comad::iba::record_info&);
