// SPDX-License-Identifier: MIT
// check_options.cpp - declares the options that all checks have, with the letters of infiniband-diags' ibcheck scripts.
#include "commands/checks/check_options.hpp"

#include "text/output.hpp"

#include <cstdlib>
#include <unistd.h>

namespace ibtool {

void add_check_options(arguments& takes, check_options& o) {
    takes.flag("-N,--nocolor", o.no_colours);
    const argument& json = takes.flag("--json", o.json);
    takes.flag("-b,--brief", o.is_brief).excludes(json);
}

void add_threshold_options(arguments& takes, check_options& o) {
    takes.option("-T,--threshold-file", o.thresholds).file(file_use::read);
    takes.flag("-s,--show-thresholds", o.only_shows_thresholds);
}

namespace {

/// Returns whether the user rejects colors: https://no-color.org
bool is_colour_unwanted() {
    const char* const no_color = std::getenv("NO_COLOR");
    return no_color && *no_color;
}

} // namespace

text_style style_of(const check_options& o, const global_options& all) {
    text_style style;
    style.with_good = all.verbosity > 0;
    style.with_complaints = !o.is_brief;
    style.has_colours = !o.no_colours && !is_colour_unwanted() && ::isatty(STDOUT_FILENO);
    return style;
}

int show_thresholds(const check_options& o) {
    write_output(format_thresholds(read_thresholds(o.thresholds), o.json));
    return complete;
}

} // namespace ibtool
