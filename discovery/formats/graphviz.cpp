// SPDX-License-Identifier: MIT
// graphviz.cpp - writes a subnet in the language of GraphViz.
#include <comad/discovery/formats/exports.hpp>
#include <comad/discovery/formats/reports.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace comad::discovery {
namespace {

/// Quotes a sanitized name for DOT. Labels interpret backslashes; `<` does not start HTML within quotes.
std::string dot_quoted(std::string_view text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out + '"';
}

std::string_view shape_of(const node& n) {
    if (n.is_switch()) return "box";
    return n.info.nodeType == iba::NodeType::Router ? "diamond" : "ellipse";
}

} // namespace

std::string format_dot(const subnet& s, const node_names& names) {
    const std::vector<unsigned> levels = levels_above_edge(s);
    std::string out = "graph subnet {\n  node [fontsize=10];\n  edge [fontsize=7];\n";
    std::map<unsigned, std::string, std::greater<>> ranks;
    for (u32 n = 0; n < s.nodes.size(); ++n)
        ranks[levels[n]] += fmt::format("    \"{}\" [label={}, shape={}];\n", topology_id(s.nodes[n]),
                                        dot_quoted(names.of(s.nodes[n])), shape_of(s.nodes[n]));
    for (const auto& [level, nodes] : ranks) out += fmt::format("  {{\n    rank=same;\n{}  }}\n", nodes);
    for (const link_ends& l : links_of(s)) {
        // The head of an edge is drawn below its tail.
        const bool is_upward = levels[l.from.node] < levels[l.to.node];
        const port_ref above = is_upward ? l.to : l.from, below = is_upward ? l.from : l.to;
        const port_ref end_with_info = s.at(l.from).info ? l.from : l.to;
        out += fmt::format("  \"{}\" -- \"{}\" [taillabel=\"{}\", headlabel=\"{}\", color=\"{}\", tooltip=\"{}{}\"];\n",
                           topology_id(s.nodes[above.node]), topology_id(s.nodes[below.node]), above.port, below.port,
                           color_of(s, l), format_link_width(s.at(end_with_info)), format_link_speed(s, end_with_info));
    }
    return out + "}\n";
}

} // namespace comad::discovery
