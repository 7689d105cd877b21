// SPDX-License-Identifier: MIT
// summary_json.cpp - formats the summary of a subnet as JSON.
#include "comad.hpp"
#include "text/json.hpp"
#include "text/link_json.hpp"
#include "text/summary_facts.hpp"
#include "text/summary_text.hpp"
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <utility>

namespace ibtool {
namespace {

using json = nlohmann::ordered_json;
using discovery::port_ref;
using discovery::value_count;

json counts_json(const std::vector<value_count>& values) {
    json counts = json::object();
    for (const value_count& v : values) counts[v.value] = v.ports;
    return counts;
}

json ports_json(const discovery::port_counts& ports) {
    return {{"nodes", ports.nodes},
            {"ports", ports.ports},
            {"portState", counts_json(ports.states)},
            {"linkWidthActive", counts_json(ports.widths)},
            {"linkSpeedActive", counts_json(ports.speeds)},
            {"MTU_bytes", counts_json(ports.mtus)},
            {"disabled", ports.disabled.size()},
            {"reduced_width", ports.reduced_width.size()},
            {"reduced_speed", ports.reduced_speed.size()},
            {"unenabled_width", ports.unenabled_width.size()},
            {"unenabled_speed", ports.unenabled_speed.size()}};
}

json links_json(const summarized_subnet& x, const std::vector<reduced_link>& links) {
    json all = json::array();
    for (const reduced_link& l : links) {
        json one = place_json(x.s, l.ends.from, x.names);
        one["linkWidthActive"] = l.width;
        one["linkSpeedActive"] = l.speed;
        if (!l.enabled_width.empty()) one["best_width_enabled"] = l.enabled_width;
        if (!l.enabled_speed.empty()) one["best_speed_enabled"] = l.enabled_speed;
        if (l.ends.to) one["peer"] = place_json(x.s, l.ends.to, x.names);
        all.push_back(std::move(one));
    }
    return all;
}

json manager_json(const summarized_subnet& x, const manager_facts& m) {
    json one{{"LID", m.LID}};
    if (!m.route.empty()) one["route"] = m.route;
    one["name"] = name_at_lid(x, m.LID);
    one["GUID"] = fmt::format("{}", m.info.GUID);
    if (!m.is_known()) return one;
    one["state"] = iba::name_or_number(m.info.SMState);
    one["priority"] = m.info.priority;
    one["activity"] = m.info.actCount;
    return one;
}

} // namespace

std::string summary_json(const summarized_subnet& x) {
    const summary_facts facts = facts_of(x);
    json out{{"schema", "comad.summary/1"}, {"complete", x.s.complete()}};
    out["counts"] = {{"switches", x.s.count(iba::NodeType::Switch)},
                     {"CAs", x.s.count(iba::NodeType::CA)},
                     {"routers", x.s.count(iba::NodeType::Router)},
                     {"links", x.s.link_count()}};
    out["max_hops"] = x.s.max_hops();
    out["devices"] = json::array();
    for (const device_count& d : facts.devices)
        out["devices"].push_back({{"nodeType", iba::name_or_number(d.type)},
                                  {"vendorID", d.vendorID},
                                  {"deviceID", d.deviceID},
                                  {"nodes", d.nodes},
                                  {"description", json_string(d.example)}});
    out["chassis_count"] = facts.chassis;
    if (x.is_managers_known) out["managers"] = json::array();
    for (const manager_facts& m : x.managers) out["managers"].push_back(manager_json(x, m));
    out["LIDs"] = {{"assigned", facts.LIDs.assigned},
                   {"first", facts.LIDs.first},
                   {"last", facts.LIDs.last},
                   {"largest_LMC", facts.LIDs.most_lmc},
                   {"ports_without", facts.LIDs.without}};
    out["ports"] = ports_json(facts.ports);
    for (const auto type : {iba::NodeType::CA, iba::NodeType::Switch, iba::NodeType::Router})
        if (x.s.count(type) != 0)
            out["ports_of"][std::string(iba::name_or_number(type))] = ports_json(discovery::count_ports(x.s, type));
    out["reduced"] = links_json(x, facts.reduced);
    out["unenabled"] = links_json(x, facts.unenabled);
    out["disabled"] = json::array();
    for (const port_ref r : facts.ports.disabled) out["disabled"].push_back(place_json(x.s, r, x.names));
    out["problems"] = facts.problems;
    return json_document(out);
}

} // namespace ibtool
