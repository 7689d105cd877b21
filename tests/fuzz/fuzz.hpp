// SPDX-License-Identifier: MIT
// fuzz.hpp - functions that the fuzz targets share.
#pragma once
#include <comad/iba/detail/registry.hpp>

#include <cstdlib>
#include <string_view>

namespace fuzz {

/// Aborts the run if the condition is false, so that the fuzzer keeps the input.
inline void require(bool holds) {
    if (!holds) std::abort();
}

/// Returns true if a terminal shows the text as one line. Every error must be one line.
inline bool is_one_line(std::string_view text) {
    for (char c : text)
        if (static_cast<unsigned char>(c) < 0x20) return false;
    return true;
}

/// Returns a structure for every number.
inline const comad::iba::record_info& structure(unsigned number) {
    const auto all = comad::iba::structures();
    return *all[number % all.size()].info;
}

} // namespace fuzz
