// SPDX-License-Identifier: MIT
// iba_leaves.hpp - lists the single values of a structure at run time by its table, without its C++ members.
#pragma once
#include <comad/iba/detail/table.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// One value: `nodeInfo.nodeGUID` in a nested structure, `SLtoVL[3]` in an array. An array of bytes is one value.
struct leaf {
    std::string name;
    unsigned off;
    unsigned width;
    const comad::iba::record_info* owner; ///< the table that contains the row
    const comad::iba::row_info* row;
};

/// Returns the single values of a structure in the order of its rows.
std::vector<leaf> leaves_of(const comad::iba::record_info&);

/// Returns the bits of the value in `bytes` in the format of iba_vectors.jsonl: a number up to 32 bits, otherwise hex.
nlohmann::json value_at(const leaf&, const std::vector<comad::u8>& bytes);
