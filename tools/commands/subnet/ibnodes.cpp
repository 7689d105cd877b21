// SPDX-License-Identifier: MIT
// ibnodes.cpp - ibnodes: prints the CAs and switches of a subnet.
#include "commands/subnet/node_list.hpp"

namespace ibtool {
namespace {

std::string hosts_and_switches(const comad::discovery::subnet& s, const comad::discovery::node_names& names) {
    return comad::discovery::format_hosts(s, names) + comad::discovery::format_switches(s, names);
}

} // namespace

command ibnodes_command() {
    using comad::iba::NodeType;
    return {.name = "ibnodes", .group = command_group::subnet, .per_fabric = true, .declare = [](arguments& takes) {
                return declare_node_list(takes, {hosts_and_switches, {NodeType::CA, NodeType::Switch}});
            }};
}

} // namespace ibtool
