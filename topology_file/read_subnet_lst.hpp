// SPDX-License-Identifier: MIT
// read_subnet_lst.hpp - parses the link lists of OpenSM and ibutils: opensm-subnet.lst, subnet.lst and ibdiagnet.lst.
#pragma once
#include <comad/topology_file/detail/read.hpp>

#include <string_view>

namespace comad::topology_file {

/// Returns whether a text is such a list: one of its first lines describes a link.
bool is_subnet_lst(std::string_view text) noexcept;

/// Parses such a list. It has one line for each end of each link, without nodes that have no link.
/// Errors: as read().
contents read_subnet_lst(std::string_view text, std::string_view name, reading how);

} // namespace comad::topology_file
