// SPDX-License-Identifier: MIT
// check_options.hpp - the options that all checks have. Does not depend on a particular check.
#pragma once
#include "input/arguments.hpp"
#include "input/options.hpp"
#include "text/ibcheck_text.hpp"

#include <string>

namespace ibtool {

/// The values of the options that all checks have.
struct check_options {
    bool no_colours = false; ///< -N
    bool is_brief = false;   ///< -b
    bool json = false;
    std::string thresholds;             ///< -T: file with thresholds
    bool only_shows_thresholds = false; ///< -s
};

/// Declares -N, -b and --json.
void add_check_options(arguments& takes, check_options&);
/// Declares -T and -s.
void add_threshold_options(arguments& takes, check_options&);

/// Returns the style of the output. Colors: only on a terminal, and if NO_COLOR is not set. Good results: only with -v.
text_style style_of(const check_options&, const global_options&);

/// Prints the thresholds that would apply. Returns an exit status. Throws std::runtime_error with one line if the file is invalid.
int show_thresholds(const check_options&);

} // namespace ibtool
