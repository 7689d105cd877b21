// SPDX-License-Identifier: MIT
// summary.cpp - summary: describes a subnet on one screen.
#include "comad.hpp"
#include "command.hpp"
#include "session/manager_survey.hpp"
#include "session/node_name_map.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_file.hpp"
#include "text/summary_text.hpp"

#include <memory>
#include <vector>

namespace ibtool {
namespace {

/// The command line of summary.
struct summary_settings {
    std::string name_map, load_cache;
    unsigned top = 5;
    bool json = false;
};

int run_summary(const summary_settings& s, global_options options) {
    const discovery::node_names names = read_node_names(s.name_map);
    options.load_cache = s.load_cache;
    std::vector<manager_facts> managers;
    bool is_queried = false;
    const auto read_more = [&](session& in,
                               const discovery::subnet& found) -> coro::task<std::vector<discovery::failure>> {
        managers = co_await survey_managers(in, without_sa::give_up, &found);
        is_queried = true;
        co_return std::vector<discovery::failure>{};
    };
    const auto make = [&](const discovery::subnet& found, u64) {
        const summarized_subnet x{found, names, managers, is_queried, s.top};
        return report{.text = s.json ? summary_json(x) : format_summary(x)};
    };
    return run_on_subnet(options, subnet_printer{.make = make, .read_more = read_more});
}

} // namespace

command summary_command() {
    return {.name = "summary",
            .group = command_group::subnet,
            .per_fabric = true,
            .declare = [](arguments& takes) -> action {
                auto s = std::make_shared<summary_settings>();
                takes.option("--top", s->top).range(1, 1'000'000).shows_default();
                add_name_map_option(takes, s->name_map);
                add_load_cache_option(takes, s->load_cache);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_summary(*s, options); };
            }};
}

} // namespace ibtool
