// SPDX-License-Identifier: MIT
// node_name_map.hpp - reads the node name map that the user names, or the default one of the machine. Does not depend on a command.
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

/// The default files of infiniband-diags: the path in rdma-core, and that of older versions and of OpenSM.
inline const std::vector<std::string> usual_name_maps{"/etc/rdma/ib-node-name-map", "/etc/opensm/ib-node-name-map"};

/// Returns the names in the file; if `file` is empty, those in the first of the usual files that exists and can be read. Prints wrong lines
/// on stderr. Throws std::runtime_error with one line if the named file cannot be read.
comad::discovery::node_names read_node_names(const std::string& file,
                                             const std::vector<std::string>& usual = usual_name_maps);

/// Searches in the same way, but returns what it found for a check: throws nothing and prints nothing.
name_map_facts search_name_map(const std::string& file, const std::vector<std::string>& usual = usual_name_maps);

} // namespace ibtool
