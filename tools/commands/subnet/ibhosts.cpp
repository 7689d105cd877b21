// SPDX-License-Identifier: MIT
// ibhosts.cpp - ibhosts: prints the CAs of a subnet.
#include "commands/subnet/node_list.hpp"

namespace ibtool {

command ibhosts_command() {
    using comad::iba::NodeType;
    return {.name = "ibhosts", .group = command_group::subnet, .per_fabric = true, .declare = [](arguments& takes) {
                return declare_node_list(takes, {comad::discovery::format_hosts, {NodeType::CA}});
            }};
}

} // namespace ibtool
