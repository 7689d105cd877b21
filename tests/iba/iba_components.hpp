// SPDX-License-Identifier: MIT
// iba_components.hpp - the component mask of a structure, counted along its table: not as the library does it.
#pragma once
#include <comad/iba/detail/table.hpp>

#include <string>
#include <vector>

/// A bit of the mask. A component may have several, and several may share one.
struct component {
    std::string name; ///< `nodeInfo.nodeGUID`, `serviceData8_3`
    unsigned bit;
};

std::vector<component> components_of(const comad::iba::record_info&);
