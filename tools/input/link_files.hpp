// SPDX-License-Identifier: MIT
// link_files.hpp - reads the files of infiniband-diags' ibdiscover.pl: names of places, and earlier links. Does not depend on a subnet.
#pragma once
#include <comad/iba/types.hpp>

#include <compare>
#include <map>
#include <set>
#include <string>

namespace ibtool {

/// A link as seen from one of its ends.
struct link_end {
    comad::iba::guid nodeGUID{};
    unsigned port = 0, peer_port = 0;
    comad::iba::guid peer_nodeGUID{};

    friend auto operator<=>(const link_end&, const link_end&) = default;
};

/// Reads lines `8f10400410015|8|"ISR 6000"|...`: a node GUID in hex, the number of ports, and the place of the node. Empty lines and lines
/// that start with `#` are ignored.
/// Errors: throws std::runtime_error with one line if the file cannot be read or is wrong.
std::map<comad::iba::guid, std::string> read_places(const std::string& file);

/// Reads lines `10|5442b100004900|5|8f10400410015`: a port and its node's GUID in hex, then port and GUID of the other end.
/// Errors: as read_places().
std::set<link_end> read_links(const std::string& file);
/// Returns the text of such a file.
std::string format_links(const std::set<link_end>&);

} // namespace ibtool
