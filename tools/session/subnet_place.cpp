// SPDX-License-Identifier: MIT
// subnet_place.cpp - GUIDs and directed routes looked up in what was discovered.
#include "session/subnet_place.hpp"

#include "session/target.hpp"
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace ibtool {

namespace discovery = comad::discovery;
namespace iba = comad::iba;
namespace mad = comad::mad;
using comad::u32;
using comad::u8;
using discovery::subnet;

subnet_place read_place(const std::string& GUID, const std::string& route) {
    subnet_place p;
    if (!GUID.empty()) {
        const mad::address target = read_target(GUID, {.guid = true});
        p.GUID = std::get_if<mad::IBPath>(&target.path)->DGID.interface_id();
        p.words = GUID;
    } else if (!route.empty()) {
        const mad::address target = read_target(route, {.direct = true});
        p.route = *mad::directed(target.path);
        p.words = route;
    }
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

std::optional<u32> node_at(const subnet& s, const subnet_place& p) {
    std::optional<u32> found;
    if (p.GUID) found = node_with(s, *p.GUID);
    else if (p.route) found = node_behind(s, *p.route);
    if (!p.words.empty() && !found)
        throw std::runtime_error(fmt::format("there is no port {}", iba::as_given(p.words)));
    return found;
}

} // namespace ibtool
