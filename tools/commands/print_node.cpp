// SPDX-License-Identifier: MIT
// print_node.cpp - ibprintca, ibprintswitch, ibprintrt: what ibnetdiscover prints of one node, which is a CA, a switch, a router.
#include "command.hpp"
#include "session/node_name_map.hpp"
#include "session/subnet_command.hpp"
#include "session/subnet_place.hpp"
#include <comad/discovery/node_words.hpp>
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <memory>
#include <stdexcept>

namespace ibtool {
namespace {

namespace discovery = comad::discovery;
namespace iba = comad::iba;
using discovery::node_names;
using discovery::subnet;
using iba::NodeType;

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
        throw std::runtime_error(fmt::format("{} is no {}, but a {}", iba::as_given(how.target),
                                             discovery::words_of(how.type).lower,
                                             discovery::words_of(n.info.nodeType).lower));
    return how.json ? discovery::node_json(s, index) : discovery::node_stanza(s, index, names);
}

std::string json_of_list(const print_node_settings& how, const subnet& s) {
    std::string lines;
    for (comad::u32 n = 0; n < s.nodes.size(); ++n)
        if (s.nodes[n].info.nodeType == how.type) lines += discovery::node_json(s, n);
    return lines;
}

int run_print_node(const print_node_settings& s, const global_options& options) {
    if (s.lists != s.target.empty()) throw usage_error(s.lists ? "-l takes no node" : "which node? -l lists them");
    const subnet_place where = s.lists ? subnet_place{} : read_place(s.target);
    const node_names names = read_node_names(s.name_map);
    return discover_and_report(options, [&](const subnet& found, comad::u64) {
        if (!s.lists) return text_of_node(s, where, found, names);
        return s.json ? json_of_list(s, found) : s.list(found, names);
    });
}

command print_node_command(std::string_view name, std::string_view summary, std::string_view examples, NodeType type,
                           std::string (*list)(const subnet&, const node_names&)) {
    return {.name = name,
            .group = command_group::subnet,
            .summary = summary,
            .examples = examples,
            .no_SA = "discovery asks every node itself",
            .declare = [type, list](arguments& takes) -> action {
                auto s = std::make_shared<print_node_settings>();
                s->type = type;
                s->list = list;
                takes.option("target", s->target, "the node; also by its name").such_as_node_names();
                takes.flag("-l,--list", s->lists, "list all of its kind instead");
                takes.ignored_flag("-R", "ignored; accepted for scripts, as infiniband-diags had it");
                add_name_map_option(takes, s->name_map);
                takes.flag("--json", s->json, "the node as one JSON object, on one line");
                return [s](const global_options& options) { return run_print_node(*s, options); };
            }};
}

} // namespace

command ibprintca_command() {
    return print_node_command("ibprintca", "print a CA and its links, as ibnetdiscover does",
                              "ibprintca 0x0002c90300000002\nibprintca -l", NodeType::CA, discovery::hosts_text);
}
command ibprintswitch_command() {
    return print_node_command("ibprintswitch", "print a switch and its links, as ibnetdiscover does",
                              "ibprintswitch 3\nibprintswitch leaf-0001\nibprintswitch -l", NodeType::Switch,
                              discovery::switches_text);
}
command ibprintrt_command() {
    return print_node_command("ibprintrt", "print a router and its links, as ibnetdiscover does",
                              "ibprintrt 0x0002c90300000002\nibprintrt -l", NodeType::Router, discovery::routers_text);
}

} // namespace ibtool
