// SPDX-License-Identifier: MIT
// picture.cpp - draws a subnet by level as an SVG picture.
#include "xml_text.hpp"
#include <comad/discovery/formats/exports.hpp>
#include <comad/discovery/formats/reports.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace comad::discovery {
namespace {

constexpr double margin = 40;

std::string name_in_picture(const subnet& s, const node_names& names, u32 n) {
    return xml_escaped(names.of(s.nodes[n]));
}

/// Draws one link. Links between the same two nodes are drawn next to each other.
std::string svg_of_link(const subnet& s, const node_names& names, const drawing& d, const link_ends& l,
                        unsigned parallel) {
    const auto a = d.spots[l.from.node], b = d.spots[l.to.node];
    const double length = std::hypot(b.x - a.x, b.y - a.y), aside = 3 * ((parallel + 1) / 2) * (parallel % 2 ? 1 : -1);
    const double dx = length > 0 ? -(b.y - a.y) / length * aside : 0,
                 dy = length > 0 ? (b.x - a.x) / length * aside : 0;
    const port_ref end_with_info = s.at(l.from).info ? l.from : l.to;
    const std::string shape = l.from.node == l.to.node
                                  ? fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="{:.1f}" fill="none")", a.x + 10,
                                                a.y - 10, 8 + aside / 2)
                                  : fmt::format(R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}")", a.x + dx,
                                                a.y + dy, b.x + dx, b.y + dy);
    return fmt::format(R"({} class="link" stroke="{}"><title>{}[{}] - {}[{}] {}{}</title></{}>)"
                       "\n",
                       shape, color_of(s, l), name_in_picture(s, names, l.from.node), l.from.port,
                       name_in_picture(s, names, l.to.node), l.to.port, format_link_width(s.at(end_with_info)),
                       format_link_speed(s, end_with_info), l.from.node == l.to.node ? "circle" : "line");
}

std::string svg_of_node(const subnet& s, const node_names& names, const drawing& d, u32 n) {
    const auto [x, y] = d.spots[n];
    const std::string name = name_in_picture(s, names, n);
    const std::string title = fmt::format("<title>{} {}</title>", name, topology_id(s.nodes[n]));
    if (s.nodes[n].is_switch())
        return fmt::format(R"(<rect class="switch" x="{:.1f}" y="{:.1f}" width="16" height="10">{}</rect>)"
                           R"(<text x="{:.1f}" y="{:.1f}">{}</text>)"
                           "\n",
                           x - 8, y - 5, title, x, y - 8, name);
    return fmt::format(R"(<circle class="{}" cx="{:.1f}" cy="{:.1f}" r="5">{}</circle>)"
                       R"(<text x="{:.1f}" y="{:.1f}">{}</text>)"
                       "\n",
                       s.nodes[n].info.nodeType == iba::NodeType::Router ? "router" : "host", x, y, title, x, y + 10,
                       name);
}

} // namespace

std::string format_svg(const subnet& s, const node_names& names) {
    const drawing d = draw(s);
    std::string out = fmt::format(
        R"(<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" version="1.1" viewBox="{0} {0} {1:.0f} {2:.0f}" width="{1:.0f}" height="{2:.0f}">
<title>InfiniBand subnet: {3} nodes, {4} links</title>
<style>
text {{ font: 4px sans-serif; text-anchor: middle; }}
.legend {{ font-size: 10px; text-anchor: start; }}
.link {{ stroke-width: 1.2; }}
.switch {{ fill: #dde6f0; stroke: #333333; }}
.host {{ fill: #ffffff; stroke: #333333; }}
.router {{ fill: #ffe8b3; stroke: #333333; }}
</style>
)",
        -margin, d.width + 2 * margin, d.height + 2 * margin, s.nodes.size(), s.link_count());
    std::map<std::pair<u32, u32>, unsigned> parallel;
    std::set<std::pair<std::string, std::string_view>> legend;
    for (const link_ends& l : links_of(s)) {
        const unsigned index = parallel[std::minmax(l.from.node, l.to.node)]++;
        out += svg_of_link(s, names, d, l, index);
        const link_condition is = condition_of(s, l);
        const port_ref end_with_info = s.at(l.from).info ? l.from : l.to;
        legend.emplace(is == link_condition::active       ? std::string(format_link_speed(s, end_with_info))
                       : is == link_condition::not_active ? "not active"
                                                          : "unknown",
                       color_of(s, l));
    }
    for (u32 n = 0; n < s.nodes.size(); ++n) out += svg_of_node(s, names, d, n);
    double x = 0;
    for (const auto& [what, color] : legend) {
        out += fmt::format(R"(<text class="legend" x="{}" y="{}" fill="{}">{}</text>)"
                           "\n",
                           x, 15 - margin, color, xml_escaped(what));
        x += 80;
    }
    return out + "</svg>\n";
}

} // namespace comad::discovery
