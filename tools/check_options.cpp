// SPDX-License-Identifier: MIT
// check_options.cpp - letters as the ibcheck scripts have them.
#include "check_options.hpp"

#include "output.hpp"

#include <CLI/CLI.hpp>

#include <unistd.h>

namespace ibtool {

void add_check_options(CLI::App& command, check_options& o) {
    command.add_flag("-N,--nocolor", o.no_colours, "no colours [colours on a terminal]");
    auto* json = command.add_flag("--json", o.json, "a JSON object a line");
    command.add_flag("-b,--brief", o.is_brief, "what failed, without why")->excludes(json);
}

void add_threshold_options(CLI::App& command, check_options& o) {
    command.add_option("-T,--threshold-file", o.thresholds, "file of lines SymbolErrorCounter=10")->type_name("FILE");
    command.add_flag("-s,--show-thresholds", o.only_shows_thresholds,
                     "only print the thresholds (here -s names no SA; --sm_port does)");
}

text_style style_of(const check_options& o, const global_options& all) {
    text_style style;
    style.with_good = all.verbosity > 0;
    style.with_complaints = !o.is_brief;
    style.has_colours = !o.no_colours && ::isatty(STDOUT_FILENO);
    return style;
}

int show_thresholds(const check_options& o) {
    write_output(thresholds_text(read_thresholds(o.thresholds), o.json));
    return complete;
}

} // namespace ibtool
