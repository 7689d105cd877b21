// SPDX-License-Identifier: MIT
// subnet_diff.cpp - subnet_diff: compares the subnet in a cache file with the subnet in another file, or with the present subnet.
#include "comad.hpp"
#include "command.hpp"
#include "session/node_name_map.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_file.hpp"
#include "text/difference_text.hpp"
#include "text/subnet_missing.hpp"

#include <fmt/format.h>

#include <memory>

namespace ibtool {
namespace {

/// The command line of subnet_diff.
struct subnet_diff_settings {
    std::string reference, current, name_map;
    bool json = false;
};

int run_subnet_diff(const subnet_diff_settings& s, global_options options) {
    const discovery::node_names names = read_node_names(s.name_map);
    const discovery::cached_subnet was = read_subnet_file(s.reference, options);
    if (!s.current.empty()) options.load_cache = s.current;
    const auto compare = [&](const discovery::subnet& is, u64) {
        const auto all = discovery::differences(was.found, is, names);
        report r;
        r.text = s.json ? difference_json(was.found, is, all) : format_difference(was.found, is, all);
        r.is_any_bad = !all.empty();
        if (!was.found.complete())
            r.notes.push_back(fmt::format(
                "the reference is partial, with {} failure{}; nodes and links that it lacks are reported as added",
                was.found.failures.size(), was.found.failures.size() == 1 ? "" : "s"));
        return r;
    };
    return run_on_subnet(options, subnet_printer{.make = compare});
}

} // namespace

command subnet_diff_command() {
    return {.name = "subnet_diff",
            .group = command_group::subnet,
            .no_sa_reason = "discovery queries every node itself",
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<subnet_diff_settings>();
                takes.option("reference", s->reference).file(file_use::read_regular).required();
                takes.option("current", s->current).file(file_use::read_regular);
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_subnet_diff(*s, options); };
            }};
}

} // namespace ibtool
