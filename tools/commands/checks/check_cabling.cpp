// SPDX-License-Identifier: MIT
// check_cabling.cpp - check_cabling: compares the cables of a subnet with a cabling plan.
#include "comad.hpp"
#include "command.hpp"
#include "input/cabling_plan.hpp"
#include "session/node_name_map.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_file.hpp"
#include "text/check_cabling_text.hpp"

#include <memory>

namespace ibtool {
namespace {

/// The command line of check_cabling.
struct cabling_settings {
    std::string plan, name_map, load_cache;
    bool json = false;
};

int run_check_cabling(const cabling_settings& s, global_options options) {
    const auto plan = read_cabling_plan(s.plan);
    const discovery::node_names names = read_node_names(s.name_map);
    options.load_cache = s.load_cache;
    const auto compare = [&](const discovery::subnet& subnet, u64) {
        const discovery::cabling is = compare_cabling(plan, subnet, names);
        report r;
        r.text = (s.json ? cabling_json : format_cabling)(plan, is, subnet, names);
        r.is_any_bad = !is.faults.empty();
        return r;
    };
    return run_on_subnet(options, subnet_printer{.make = compare});
}

} // namespace

command check_cabling_command() {
    return {.name = "check_cabling", .group = command_group::checks, .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<cabling_settings>();
                takes.option("plan", s->plan).file(file_use::read).required();
                add_name_map_option(takes, s->name_map);
                add_load_cache_option(takes, s->load_cache);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_check_cabling(*s, options); };
            }};
}

} // namespace ibtool
