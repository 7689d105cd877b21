// SPDX-License-Identifier: MIT
// check_options.hpp - options that all checks have. Knows no check.
#pragma once
#include "input/arguments.hpp"
#include "input/options.hpp"
#include "text/ibcheck_text.hpp"

#include <string>

namespace ibtool {

struct check_options {
    bool no_colours = false; ///< -N
    bool is_brief = false;   ///< -b
    bool json = false;
    std::string thresholds;             ///< -T: a file
    bool only_shows_thresholds = false; ///< -s
};

/// -N, -b, --json.
void add_check_options(arguments& takes, check_options&);
/// -T, -s.
void add_threshold_options(arguments& takes, check_options&);

/// Colours only on a terminal, and not where NO_COLOR is set; what is good with -v.
text_style style_of(const check_options&, const global_options&);

/// Prints the thresholds that would count; an exit code. Throws std::runtime_error with one line if the file is wrong.
int show_thresholds(const check_options&);

} // namespace ibtool
