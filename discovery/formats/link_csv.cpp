// SPDX-License-Identifier: MIT
// link_csv.cpp - writes the links of a subnet as CSV, one line for each link.
#include "export_words.hpp"
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/formats/exports.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/csv.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

namespace comad::discovery {
namespace {

std::string fields_of_end(const subnet& s, const node_names& names, port_ref r) {
    const node& n = s.nodes[r.node];
    return fmt::format("{},{},{},{},{}", n.info.nodeGUID, iba::csv_text(names.of(n)),
                       iba::name_or_number(n.info.nodeType), r.port, value(s.lid_at(r)));
}

} // namespace

std::string format_link_csv(const subnet& s, const node_names& names) {
    std::string text = "nodeGUID,description,nodeType,port,LID,peer_nodeGUID,peer_description,peer_nodeType,peer_port,"
                       "peer_LID,portState,portPhysicalState,linkWidthActive,linkSpeedActive,linkWidthPossible,"
                       "linkSpeedPossible\n";
    for (const link_ends& l : links_of(s)) {
        const port_ref r = s.at(l.from).info ? l.from : l.to; // the end whose PortInfo is known
        text += fmt::format("{},{}", fields_of_end(s, names, l.from), fields_of_end(s, names, l.to));
        const port& p = s.at(r);
        if (!p.info) {
            text += ",,,,,,\n";
            continue;
        }
        const iba::LinkWidth better_width = possible_width(s, r);
        std::string_view better_speed;
        if (const link_speeds speed = possible_speed(s, r)) better_speed = speed_name(speed);
        else if (could_be_fdr10(s, r)) better_speed = "FDR10";
        const bool is_up = p.info->portState != iba::PortState::Down;
        text += fmt::format(",{},{},{},{},{},{}\n", iba::name_or_number(p.info->portState),
                            iba::name_or_number(p.info->portPhysicalState), is_up ? if_known(format_link_width(p)) : "",
                            is_up ? if_known(format_link_speed(s, r)) : "",
                            better_width != iba::LinkWidth{} ? width_name(better_width) : "", better_speed);
    }
    return text;
}

} // namespace comad::discovery
