// SPDX-License-Identifier: MIT
// iba_typed.hpp - operations on the C++ structure of every table, for tests that iterate over all tables.
#pragma once
#include <comad/iba/detail/table.hpp>

#include <span>
#include <string_view>
#include <vector>

/// The member that a row describes.
struct member {
    std::string_view name;
    unsigned off;
    unsigned bits;
};

/// A table with operations on its C++ structure.
struct typed {
    const comad::iba::record_info* info;
    /// Decodes the bytes, and encodes the result over other bytes.
    std::vector<comad::u8> (*round_trip)(const std::vector<comad::u8>& bytes);
    /// Returns true if decode() puts the bits of each row into the right member.
    bool (*decodes_rows)(const std::vector<comad::u8>& bytes);
    /// Returns the members in the order of the rows, without the rows of an inlined header.
    std::vector<member> (*members)();
};

/// Returns all tables.
std::span<const typed> all_typed();
