// SPDX-License-Identifier: MIT
// link_json.cpp - formats the data of link_text.cpp as JSON members.
#include "text/link_json.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include "text/link_text.hpp"
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

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

nlohmann::ordered_json link_json(const subnet& s, port_ref r, const discovery::node_names& names) {
    const iba::smp::PortInfo& info = *s.at(r).info;
    nlohmann::ordered_json link{{"portState", iba::name_or_number(info.portState)},
                                {"portPhysicalState", iba::name_or_number(info.portPhysicalState)}};
    if (info.portState != iba::PortState::Down) {
        link["linkWidthActive"] = discovery::format_link_width(s.at(r));
        link["linkSpeedActive"] = discovery::format_link_speed(s, r);
        link["HOQLife"] = info.HOQLife;
        link["VLStallCount"] = info.VLStallCount;
    }
    const iba::LinkWidth better_width = discovery::possible_width(s, r);
    if (better_width != iba::LinkWidth{}) link["linkWidthPossible"] = discovery::width_name(better_width);
    if (const auto better_speed = discovery::possible_speed(s, r))
        link["linkSpeedPossible"] = discovery::speed_name(better_speed);
    else if (discovery::could_be_fdr10(s, r)) link["linkSpeedPossible"] = "FDR10";
    if (const auto width = discovery::other_width(s, r); width != iba::LinkWidth{})
        link["linkWidthOtherEnd"] = discovery::width_name(width);
    if (const auto speed = discovery::other_speed(s, r)) link["linkSpeedOtherEnd"] = discovery::speed_name(speed);
    if (s.at(r).peer) link["peer"] = place_json(s, s.at(r).peer, names);
    return link;
}

} // namespace ibtool
