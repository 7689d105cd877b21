// SPDX-License-Identifier: MIT
// ibrouters.cpp - ibrouters: list the routers.
#include "commands/subnet/node_list.hpp"

namespace ibtool {

command ibrouters_command() {
    using comad::iba::NodeType;
    return {.name = "ibrouters", .group = command_group::subnet, .declare = [](arguments& takes) {
                return declare_node_list(takes, {comad::discovery::routers_text, {NodeType::Router}});
            }};
}

} // namespace ibtool
