// SPDX-License-Identifier: MIT
// without_date.hpp - removes the date from the output of ibnetdiscover.
#pragma once
#include <string>

/// Returns a topology file without the line that contains its time. Two files of the same subnet differ only in this
/// line.
inline std::string without_date(std::string text) {
    const std::size_t begin = text.find("# Topology file: generated on ");
    return begin == text.npos ? text : text.erase(begin, text.find('\n', begin) + 1 - begin);
}
