// SPDX-License-Identifier: MIT
// print_node.cpp - ibprintca, ibprintswitch, ibprintrt: print one CA, switch or router as ibnetdiscover does.
#include "comad.hpp"
#include "command.hpp"
#include "session/node_name_map.hpp"
#include "session/run_on_subnet.hpp"
#include "session/subnet_place.hpp"
#include "text/diags_text.hpp"
#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <memory>
#include <stdexcept>

namespace ibtool {
namespace {

using discovery::node_names;
using discovery::subnet;
using iba::NodeType;

/// The command line of ibprintca, ibprintswitch and ibprintrt.
struct print_node_settings {
    NodeType type{};
    std::string (*list)(const subnet&, const node_names&) = nullptr;
    std::string target, name_map;
    bool lists = false, json = false;
};

std::string text_of_node(const print_node_settings& how, const subnet_place& where, const subnet& s,
                         const node_names& names) {
    const comad::u32 index = *node_at(s, where, names);
    const discovery::node& n = s.nodes[index];
    if (n.info.nodeType != how.type)
        throw std::runtime_error(fmt::format("{} is a {}, not a {}", iba::as_given(how.target),
                                             format_node_type(n.info.nodeType), format_node_type(how.type)));
    return how.json ? discovery::node_json(s, index) : discovery::node_stanza(s, index, names);
}

std::string json_of_list(const print_node_settings& how, const subnet& s) {
    std::string lines;
    for (comad::u32 n = 0; n < s.nodes.size(); ++n)
        if (s.nodes[n].info.nodeType == how.type) lines += discovery::node_json(s, n);
    return lines;
}

int run_print_node(const print_node_settings& s, const global_options& options) {
    if (s.lists != s.target.empty())
        throw usage_error(s.lists ? "-l takes no target" : "no target given; -l lists the nodes");
    const subnet_place where = s.lists ? subnet_place{} : read_place(s.target);
    const node_names names = read_node_names(s.name_map);
    const auto text = [&](const subnet& found) {
        if (!s.lists) return text_of_node(s, where, found, names);
        return s.json ? json_of_list(s, found) : s.list(found, names);
    };
    const auto make = [&](const subnet& found, u64) { return report{.text = text(found)}; };
    return run_on_subnet(options, subnet_printer{.make = make});
}

command print_node_command(std::string_view name, NodeType type,
                           std::string (*list)(const subnet&, const node_names&)) {
    return {.name = name,
            .group = command_group::subnet,
            .no_sa_reason = "discovery queries every node itself",
            .declare = [type, list](arguments& takes) -> action {
                auto s = std::make_shared<print_node_settings>();
                s->type = type;
                s->list = list;
                takes.option("target", s->target).such_as_node_names();
                takes.flag("-l,--list", s->lists);
                takes.ignored_flag("-R");
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json);
                return [s](const global_options& options) { return run_print_node(*s, options); };
            }};
}

} // namespace

command ibprintca_command() { return print_node_command("ibprintca", NodeType::CA, discovery::format_hosts); }
command ibprintswitch_command() {
    return print_node_command("ibprintswitch", NodeType::Switch, discovery::format_switches);
}
command ibprintrt_command() { return print_node_command("ibprintrt", NodeType::Router, discovery::format_routers); }

} // namespace ibtool
