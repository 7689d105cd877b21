// SPDX-License-Identifier: MIT
// node_names.hpp - the names of nodes: their descriptions, or the entries of a node name map in infiniband-diags' format.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace comad::discovery {

/// A node name map: from node GUID to name. If it is empty, every node has its description as its name.
class node_names {
public:
    node_names() = default;
    /// Reads lines `0xGUID "name"`. `#` starts a comment. If several lines have one GUID, the first one is used. Other lines are ignored,
    /// and each of them adds a line `NAME:LINE: what is wrong` to `warnings`; `name` is the name of the file in these lines.
    static node_names read(std::istream& in, std::string_view name, std::vector<std::string>& warnings);

    /// The name of a node, safe for a terminal.
    std::string of(const node& n) const;
    /// The name of a node as raw bytes, for JSON (iba::valid_utf8()). The reference is valid as long as the map and the node exist.
    const std::string& raw(const node& n) const;
    /// The name with the prefix of topology files, safe for a terminal: `S-0002c90000000001 "spine 1"`.
    std::string with_id(const node& n) const;
    /// The number of entries in the map.
    std::size_t size() const noexcept { return names_.size(); }
    /// The node GUID of a name in the map; the lowest GUID if several nodes have this name.
    std::optional<iba::guid> find(std::string_view name) const;

private:
    std::unordered_map<iba::guid, std::string> names_;
};

} // namespace comad::discovery
