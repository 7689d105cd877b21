// SPDX-License-Identifier: MIT
// subnet_place.cpp - finds LIDs, GUIDs, directed routes and names in a discovered subnet.
#include "session/subnet_place.hpp"

#include "comad.hpp"
#include "session/target.hpp"
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace ibtool {

using discovery::subnet;

subnet_place read_place(const std::string& GUID, const std::string& route) {
    subnet_place p;
    if (!GUID.empty()) {
        const mad::address target = read_address(GUID, {.guid = true});
        p.GUID = std::get_if<mad::IBPath>(&target.path)->DGID.interface_id();
        p.words = GUID;
    } else if (!route.empty()) {
        const mad::address target = read_address(route, {.direct = true});
        p.route = *mad::directed(target.path);
        p.words = route;
    }
    return p;
}

subnet_place read_place(const std::string& target) {
    constexpr std::size_t longest_hex_lid = 6; // 0xbfff
    if (target.empty()) throw usage_error("no target given; give a LID, a GUID, a directed route or a name");
    const bool is_hex =
        target.starts_with("0x") && target.find_first_not_of("0123456789abcdefABCDEF", 2) == target.npos;
    if (is_hex && target.size() > longest_hex_lid) return read_place(target, {});
    subnet_place p;
    p.words = target;
    mad::address where;
    try {
        where = read_address(target, {});
    } catch (const usage_error&) {
        p.is_name = true;
        return p;
    }
    if (const auto* route = mad::directed(where.path)) p.route = *route;
    else if (const auto& by_lid = std::get<mad::IBPath>(where.path); value(by_lid.DLID) != 0) p.LID = by_lid.DLID;
    else p.GUID = by_lid.DGID.interface_id();
    return p;
}

namespace {

std::optional<u32> node_with(const subnet& s, iba::guid GUID) {
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        const discovery::node& here = s.nodes[n];
        if (here.info.nodeGUID == GUID ||
            std::ranges::find(here.ports, GUID, &discovery::port::portGUID) != here.ports.end())
            return n;
    }
    return std::nullopt;
}

std::optional<u32> node_with(const subnet& s, iba::lid LID) {
    const unsigned lid_value = value(LID);
    for (u32 n = 0; n < s.nodes.size(); ++n)
        for (const discovery::port& p : s.nodes[n].ports) {
            if (!p.info || (s.nodes[n].is_switch() && &p != &s.nodes[n].ports.front())) continue;
            const unsigned first = value(p.info->LID);
            if (first != 0 && lid_value >= first && lid_value < first + (1u << p.info->LMC)) return n;
        }
    return std::nullopt;
}

/// Returns the node with this name, or the only node whose name contains it.
std::optional<u32> node_called(const subnet& s, const std::string& name, const discovery::node_names& names) {
    std::vector<u32> exact, similar;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        const std::string here = names.of(s.nodes[n]);
        if (here == name) exact.push_back(n);
        else if (here.find(name) != here.npos) similar.push_back(n);
    }
    const std::vector<u32>& found = exact.empty() ? similar : exact;
    if (found.size() > 1)
        throw std::runtime_error(fmt::format("{} matches {} nodes, such as 0x{:016x} and 0x{:016x}; give a GUID",
                                             iba::as_given(name), found.size(), value(s.nodes[found[0]].info.nodeGUID),
                                             value(s.nodes[found[1]].info.nodeGUID)));
    return found.empty() ? std::nullopt : std::optional(found.front());
}

std::optional<u32> node_behind(const subnet& s, const mad::IBDRPath& route) {
    u32 n = 0;
    for (unsigned hop = 1; hop <= route.hopCount; ++hop) {
        const u8 port = route.drPath[hop];
        if (port >= s.nodes[n].ports.size() || !s.nodes[n].ports[port].peer) return std::nullopt;
        n = s.nodes[n].ports[port].peer.node;
    }
    return n;
}

} // namespace

std::optional<u32> node_at(const subnet& s, const subnet_place& p, const discovery::node_names& names) {
    std::optional<u32> found;
    if (p.is_name) {
        found = node_called(s, p.words, names);
        if (!found) throw std::runtime_error(fmt::format("the subnet has no node {}", iba::as_given(p.words)));
        return found;
    }
    if (p.GUID) found = node_with(s, *p.GUID);
    else if (p.LID) found = node_with(s, *p.LID);
    else if (p.route) found = node_behind(s, *p.route);
    if (!p.words.empty() && !found)
        throw std::runtime_error(fmt::format("the subnet has no port {}", iba::as_given(p.words)));
    return found;
}

} // namespace ibtool
