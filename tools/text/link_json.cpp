// SPDX-License-Identifier: MIT
// link_json.cpp - the same facts as link_text, by name.
#include "text/link_json.hpp"

#include "text/diags_text.hpp"
#include "text/link_text.hpp"
#include <comad/iba/format.hpp>
#include <comad/iba/text.hpp>

#include <fmt/format.h>

namespace ibtool {

namespace discovery = comad::discovery;
namespace iba = comad::iba;
using discovery::port_ref;
using discovery::subnet;

nlohmann::ordered_json place_json(const subnet& s, port_ref r, const discovery::node_names& names) {
    const discovery::node& n = s.nodes[r.node];
    return {{"nodeType", iba::name_or_number(n.info.nodeType)},
            {"nodeGUID", fmt::format("{}", n.info.nodeGUID)},
            {"description", names.of(n)},
            {"portGUID", fmt::format("{}", s.at(r).portGUID)},
            {"LID", LID_at(s, r)},
            {"port", r.port}};
}

nlohmann::ordered_json link_json(const subnet& s, port_ref r, const discovery::node_names& names) {
    const iba::smp::PortInfo& info = *s.at(r).info;
    nlohmann::ordered_json link{{"state", link_state_text(info.portState)},
                                {"physicalState", physical_link_state_text(info.portPhysicalState)}};
    if (info.portState != iba::PortState::Down) {
        link["width"] = width_of(s, r);
        link["speed"] = speed_of(s, r);
        link["HOQLife"] = info.HOQLife;
        link["VLStallCount"] = info.VLStallCount;
    }
    if (const std::string better = better_width(s, r); !better.empty()) link["could_be_width"] = better;
    if (const std::string better = better_speed(s, r); !better.empty()) link["could_be_speed"] = better;
    if (s.at(r).peer) link["peer"] = place_json(s, s.at(r).peer, names);
    return link;
}

} // namespace ibtool
