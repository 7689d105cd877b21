// SPDX-License-Identifier: MIT
// link_files.hpp - the files of infiniband-diags' ibdiscover.pl: places of nodes, and links as they were. Knows no subnet.
#pragma once
#include <comad/iba/types.hpp>

#include <compare>
#include <map>
#include <set>
#include <string>

namespace ibtool {

/// A link as one of its ends has it.
struct link_end {
    comad::iba::guid nodeGUID{};
    unsigned port = 0, peer_port = 0;
    comad::iba::guid peer_nodeGUID{};

    friend auto operator<=>(const link_end&, const link_end&) = default;
};

/// Lines `8f10400410015|8|"ISR 6000"|...`: a node GUID in hex, how many ports, and where the node is. Empty lines and those
/// that begin with `#` say nothing.
/// Throws std::runtime_error with one line where the file cannot be read or is wrong.
std::map<comad::iba::guid, std::string> read_places(const std::string& file);

/// Lines `10|5442b100004900|5|8f10400410015`: a port, its node's GUID in hex, and both of the other end.
/// Throws the same.
std::set<link_end> read_links(const std::string& file);
/// The same lines.
std::string links_text(const std::set<link_end>&);

} // namespace ibtool
