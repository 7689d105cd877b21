// SPDX-License-Identifier: MIT
// iba_typed.hpp - what the C++ structure of every table does, for tests that walk over all of them.
#pragma once
#include <comad/iba/detail/table.hpp>

#include <span>
#include <string_view>
#include <vector>

/// The member that a row names.
struct member {
    std::string_view name;
    unsigned off;
    unsigned bits;
};

struct typed {
    const comad::iba::record_info* info;
    /// Decodes the bytes and encodes what it got over other bytes.
    std::vector<comad::u8> (*round_trip)(const std::vector<comad::u8>& bytes);
    /// True if decode() finds in every member the bits of its row.
    bool (*decodes_rows)(const std::vector<comad::u8>& bytes);
    /// In the order of the rows, those of an inlined header left out.
    std::vector<member> (*members)();
};

std::span<const typed> all_typed();
