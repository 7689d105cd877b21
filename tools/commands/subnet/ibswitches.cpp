// SPDX-License-Identifier: MIT
// ibswitches.cpp - ibswitches: prints the switches of a subnet.
#include "commands/subnet/node_list.hpp"

namespace ibtool {

command ibswitches_command() {
    using comad::iba::NodeType;
    return {.name = "ibswitches", .group = command_group::subnet, .per_fabric = true, .declare = [](arguments& takes) {
                return declare_node_list(takes, {comad::discovery::format_switches, {NodeType::Switch}});
            }};
}

} // namespace ibtool
