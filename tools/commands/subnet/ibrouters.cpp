// SPDX-License-Identifier: MIT
// ibrouters.cpp - ibrouters: prints the routers of a subnet.
#include "commands/subnet/node_list.hpp"

namespace ibtool {

command ibrouters_command() {
    using comad::iba::NodeType;
    return {.name = "ibrouters", .group = command_group::subnet, .per_fabric = true, .declare = [](arguments& takes) {
                return declare_node_list(takes, {comad::discovery::format_routers, {NodeType::Router}});
            }};
}

} // namespace ibtool
