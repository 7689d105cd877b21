// SPDX-License-Identifier: MIT
// report_lines.hpp - extracts parts of the reports of ibnetdiscover and related commands.
#pragma once
#include "program/ibtool_rig.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace ibtool_rig {

/// Returns a report without its comments, because one of the comments contains the time.
inline std::string topology_of(const process_result& r) {
    std::string text;
    for (std::size_t at = 0; at < r.out.size();) {
        const std::size_t end = std::min(r.out.find('\n', at), r.out.size() - 1) + 1;
        if (r.out[at] != '#') text.append(r.out, at, end - at);
        at = end;
    }
    return text;
}

/// Returns the number of lines that start with `start`.
inline std::size_t lines_starting(const std::string& text, std::string_view start) {
    const words all = lines_of(text);
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const std::string& line) { return line.starts_with(start); }));
}

} // namespace ibtool_rig
