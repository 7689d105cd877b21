// SPDX-License-Identifier: MIT
// fuzz.hpp - what the fuzz targets share.
#pragma once
#include <comad/iba/detail/registry.hpp>

#include <cstdlib>
#include <string_view>

namespace fuzz {

/// Ends the run, so that the fuzzer keeps the input.
inline void require(bool holds) {
    if (!holds) std::abort();
}

/// As errors must be: a terminal shows it as one line.
inline bool is_one_line(std::string_view text) {
    for (char c : text)
        if (static_cast<unsigned char>(c) < 0x20) return false;
    return true;
}

/// A structure for every number.
inline const comad::iba::record_info& structure(unsigned number) {
    const auto all = comad::iba::structures();
    return *all[number % all.size()].info;
}

} // namespace fuzz
