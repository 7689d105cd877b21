// SPDX-License-Identifier: MIT
// node_names.hpp - what to call a node: its description, or what a node name map says (infiniband-diags' format).
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace comad::discovery {

/// A map from node GUID to name; empty: every node is called by its description.
class node_names {
public:
    node_names() = default;
    /// Reads lines `0xGUID "name"`; `#` begins a comment; of one GUID the first line counts. What is no such line is left out,
    /// and `warnings` gets a line `NAME:LINE: what is wrong` for it; `name` stands for the file.
    static node_names read(std::istream& in, std::string_view name, std::vector<std::string>& warnings);

    /// The name, safe for a terminal.
    std::string of(const node& n) const;
    /// The name as it is, any bytes: for JSON (iba::valid_utf8()). It is the map's or the node's: valid as long as both are.
    const std::string& raw(const node& n) const;
    /// The same with what topology files have before it: `S-0002c90000000001 "spine 1"`.
    std::string with_id(const node& n) const;
    /// How many nodes it names.
    std::size_t size() const noexcept { return names_.size(); }
    /// The node of that name in the map; of several the one with the lowest GUID.
    std::optional<iba::guid> find(std::string_view name) const;

private:
    std::unordered_map<iba::guid, std::string> names_;
};

} // namespace comad::discovery
