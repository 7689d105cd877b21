// SPDX-License-Identifier: MIT
// iba_leaves.hpp - the single values of a structure, at run time, along its table. Knows no C++ member.
#pragma once
#include <comad/iba/detail/table.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

/// One value: of a nested structure `nodeInfo.nodeGUID`, of an array `SLtoVL[3]`; of an array of bytes all of it.
struct leaf {
    std::string name;
    unsigned off;
    unsigned width;
    const comad::iba::record_info* owner; ///< the table that has the row
    const comad::iba::row_info* row;
};

std::vector<leaf> leaves_of(const comad::iba::record_info&);

/// Its bits in `bytes`, as iba_vectors.jsonl writes values: a number up to 32 bits, else hex.
nlohmann::json value_at(const leaf&, const std::vector<comad::u8>& bytes);
