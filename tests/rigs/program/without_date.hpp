// SPDX-License-Identifier: MIT
// without_date.hpp - what ibnetdiscover prints, infiniband-diags' or ours, but for when.
#pragma once
#include <string>

/// Without the line of a topology file that tells when it was written: two of the same subnet differ in it.
inline std::string without_date(std::string text) {
    const std::size_t begin = text.find("# Topology file: generated on ");
    return begin == text.npos ? text : text.erase(begin, text.find('\n', begin) + 1 - begin);
}
