// SPDX-License-Identifier: MIT
// drawing.cpp - calculates the position of each node in a drawing, and the color of each link.
#include <comad/discovery/formats/exports.hpp>
#include <comad/discovery/formats/reports.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace comad::discovery {

link_condition condition_of(const subnet& s, const link_ends& l) {
    for (const port_ref end : {l.from, l.to}) {
        const auto& info = s.at(end).info;
        if (info && value(info->portState) != 0)
            return info->portState == iba::PortState::Active ? link_condition::active : link_condition::not_active;
    }
    return link_condition::unknown;
}

std::string_view color_of(const subnet& s, const link_ends& l) {
    struct speed_color {
        std::string_view speed, color;
    };
    static constexpr speed_color by_speed[] = {
        {"SDR", "#8c6d31"}, {"DDR", "#b8860b"}, {"QDR", "#d9a400"}, {"FDR10", "#7a9a01"}, {"FDR", "#5fa02c"},
        {"EDR", "#1b9e77"}, {"HDR", "#1f78b4"}, {"NDR", "#5e4fa2"}, {"XDR", "#8e44ad"},
    };
    constexpr std::string_view unknown = "#888888", bad = "#d62728";
    const link_condition is = condition_of(s, l);
    if (is == link_condition::unknown) return unknown;
    if (is == link_condition::not_active) return bad;
    const port_ref end_with_info = s.at(l.from).info ? l.from : l.to;
    const auto* found = std::ranges::find(by_speed, format_link_speed(s, end_with_info), &speed_color::speed);
    return found == std::end(by_speed) ? unknown : found->color;
}

namespace {

constexpr double spacing = 24, least_gap = 120;

/// Returns the switches of each level, from the lowest level, sorted as in their row.
std::vector<std::vector<u32>> rows_of(const subnet& s, const std::vector<unsigned>& levels) {
    std::vector<std::vector<u32>> rows(1 + (levels.empty() ? 0 : *std::ranges::max_element(levels)));
    for (u32 n = 0; n < s.nodes.size(); ++n)
        if (s.nodes[n].is_switch()) rows[levels[n]].push_back(n);

    // Leaves that are connected to the same switches above are next to each other. Higher switches are above the middle of the
    // switches that they are connected to.
    std::vector<double> key(s.nodes.size());
    for (unsigned level = 1; level < rows.size(); ++level) {
        for (const u32 n : rows[level]) {
            double first_above = std::numeric_limits<double>::max(), sum = 0;
            unsigned below = 0;
            for (const port& p : s.nodes[n].ports) {
                if (!p.peer) continue;
                if (levels[p.peer.node] > level) first_above = std::min<double>(first_above, p.peer.node);
                if (level > 1 && levels[p.peer.node] + 1 == level) sum += key[p.peer.node], ++below;
            }
            key[n] = level == 1 ? first_above : below ? sum / below : 0;
        }
        std::ranges::stable_sort(rows[level], {}, [&](u32 n) { return key[n]; });
        for (std::size_t i = 0; i < rows[level].size(); ++i)
            key[rows[level][i]] = (static_cast<double>(i) + 0.5) / static_cast<double>(rows[level].size());
    }
    return rows;
}

/// Returns CAs and routers, by the switch that their first cabled port leads to; port_ref::npos: no switch.
std::map<u32, std::vector<u32>> hosts_by_switch(const subnet& s) {
    std::map<u32, std::vector<u32>> hosts;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        if (s.nodes[n].is_switch()) continue;
        u32 at = port_ref::npos;
        for (const port& p : s.nodes[n].ports)
            if (at == port_ref::npos && p.peer && s.nodes[p.peer.node].is_switch()) at = p.peer.node;
        hosts[at].push_back(n);
    }
    return hosts;
}

} // namespace

drawing draw(const subnet& s) {
    drawing d;
    d.levels = levels_above_edge(s);
    d.spots.resize(s.nodes.size());
    const std::vector<std::vector<u32>> rows = rows_of(s, d.levels);
    auto hosts = hosts_by_switch(s);

    // From left to right: leaves, each above its hosts; then hosts of other switches; then hosts without a switch.
    std::vector<u32> columns;
    if (rows.size() > 1) columns = rows[1];
    for (std::size_t level = 2; level < rows.size(); ++level)
        for (const u32 n : rows[level])
            if (hosts.contains(n)) columns.push_back(n);
    if (hosts.contains(port_ref::npos)) columns.push_back(port_ref::npos);

    double x = 0, deepest = 0; // the height of the blocks of hosts
    for (const u32 at : columns) {
        const std::vector<u32>& block = hosts[at];
        const auto wide =
            std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(block.size())))));
        for (std::size_t i = 0; i < block.size(); ++i) {
            const double y = static_cast<double>(i / wide) * spacing;
            d.spots[block[i]] = {x + (static_cast<double>(i % wide) + 0.5) * spacing, y};
            deepest = std::max(deepest, y);
        }
        const double width = static_cast<double>(wide) * spacing;
        if (at != port_ref::npos && d.levels[at] == 1) d.spots[at].x = x + width / 2;
        x += width + spacing / 2;
    }
    for (const auto& row : rows) d.width = std::max(d.width, static_cast<double>(row.size()) * spacing);
    d.width = std::max(d.width, x);
    const double gap = std::max(least_gap, d.width / 12), top = static_cast<double>(rows.size() - 1) * gap;
    for (std::size_t level = 1; level < rows.size(); ++level) {
        for (std::size_t i = 0; i < rows[level].size(); ++i) {
            drawing::spot& spot = d.spots[rows[level][i]];
            if (level > 1) spot.x = (static_cast<double>(i) + 0.5) * d.width / static_cast<double>(rows[level].size());
            spot.y = top - static_cast<double>(level) * gap;
        }
    }
    for (u32 n = 0; n < s.nodes.size(); ++n)
        if (!s.nodes[n].is_switch()) d.spots[n].y += top;
    d.height = top + deepest;
    return d;
}

} // namespace comad::discovery
