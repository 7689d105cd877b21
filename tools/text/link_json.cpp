// SPDX-License-Identifier: MIT
// link_json.cpp - formats the data of link_text.cpp as JSON members.
#include "text/link_json.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include "text/link_text.hpp"
#include <comad/discovery/formats/detail/port_json.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

#include <utility>

namespace ibtool {

using discovery::port_ref;
using discovery::subnet;

nlohmann::ordered_json place_json(const subnet& s, port_ref r, const discovery::node_names& names) {
    const discovery::node& n = s.nodes[r.node];
    return {{"nodeType", iba::name_or_number(n.info.nodeType)},
            {"nodeGUID", fmt::format("{}", n.info.nodeGUID)},
            {"description", json_string(names.raw(n))},
            {"portGUID", fmt::format("{}", s.at(r).portGUID)},
            {"LID", lid_at(s, r)},
            {"port", r.port}};
}

namespace {

/// Returns the data of one end of a link: states, width and speed, timers and abilities. Precondition: its PortInfo is known.
nlohmann::ordered_json end_json(const subnet& s, port_ref r, const discovery::system_groups& groups) {
    const iba::smp::PortInfo& info = *s.at(r).info;
    nlohmann::ordered_json end{{"portState", iba::name_or_number(info.portState)},
                               {"portPhysicalState", iba::name_or_number(info.portPhysicalState)}};
    if (info.portState != iba::PortState::Down) {
        end["linkWidthActive"] = discovery::format_link_width(s.at(r));
        end["linkSpeedActive"] = discovery::format_link_speed(s, r);
        end["HOQLife"] = info.HOQLife;
        end["VLStallCount"] = info.VLStallCount;
    }
    discovery::add_link_abilities(end, s, r);
    if (const auto& at_lid = s.end_port(r).info) end["LMC"] = at_lid->LMC;
    if (const unsigned outside = groups.external_port(r)) end["external_port"] = outside;
    discovery::add_chassis(end, groups, r.node);
    return end;
}

} // namespace

nlohmann::ordered_json link_json(const subnet& s, port_ref r, const discovery::node_names& names,
                                 const discovery::system_groups& groups) {
    nlohmann::ordered_json link = end_json(s, r, groups);
    discovery::add_link_judgment(link, s, r);
    discovery::add_capabilities(link, s, r);
    if (const port_ref peer = s.at(r).peer) {
        nlohmann::ordered_json there = place_json(s, peer, names);
        if (s.at(peer).info) there.update(end_json(s, peer, groups));
        link["peer"] = std::move(there);
    }
    return link;
}

} // namespace ibtool
