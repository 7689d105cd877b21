// SPDX-License-Identifier: MIT
// node_name_map.hpp - the node name map that a user names, or that a machine has. Knows no command.
#pragma once
#include "input/arguments.hpp"
#include <comad/discovery/database/node_names.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

struct name_map_facts;

/// Adds --node-name-map. `use`: what the command does with the file.
void add_name_map_option(arguments& takes, std::string& file, file_use use = file_use::read);

/// Where infiniband-diags look when nobody names a file: rdma-core's path, and that of older ones and of OpenSM.
inline const std::vector<std::string> usual_name_maps{"/etc/rdma/ib-node-name-map", "/etc/opensm/ib-node-name-map"};

/// The names of the file, or if that is empty of the first of the usual ones that is there and may be read. Lines that are
/// none are told on stderr. Throws std::runtime_error with one line where the file that was named cannot be read.
comad::discovery::node_names read_node_names(const std::string& file,
                                             const std::vector<std::string>& usual = usual_name_maps);

/// The same search, for who checks what came of it: throws nothing, tells nothing.
name_map_facts search_name_map(const std::string& file, const std::vector<std::string>& usual = usual_name_maps);

} // namespace ibtool
