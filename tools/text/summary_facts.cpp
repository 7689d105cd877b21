// SPDX-License-Identifier: MIT
// summary_facts.cpp - collects what a summary of a subnet prints.
#include "text/summary_facts.hpp"

#include "comad.hpp"
#include <comad/discovery/chassis/detail/chassis.hpp>
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/formats/reports.hpp>

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>

namespace ibtool {
namespace {

using discovery::link_ends;
using discovery::port_ref;

std::vector<device_count> devices_of(const discovery::subnet& s) {
    std::vector<device_count> devices;
    for (const discovery::node& n : s.nodes) {
        const auto is_same = [&](const device_count& d) {
            return std::tuple(d.type, d.vendorID, d.deviceID) ==
                   std::tuple(n.info.nodeType, n.info.vendorID, n.info.deviceID);
        };
        auto found = std::ranges::find_if(devices, is_same);
        if (found == devices.end())
            found =
                devices.insert(devices.end(), {n.info.nodeType, n.info.vendorID, n.info.deviceID, 0, n.description});
        ++found->nodes;
    }
    std::ranges::stable_sort(devices, std::ranges::greater{}, &device_count::nodes);
    return devices;
}

lid_facts lids_of(const discovery::subnet& s) {
    lid_facts facts;
    const discovery::lid_index index(s);
    for (const auto& end : index.ends()) {
        if (end.count == 0) {
            facts.without += discovery::is_in_use(s.at(end.where)) || s.nodes[end.where.node].is_switch();
            continue;
        }
        facts.first = facts.assigned == 0 ? end.first : std::min(facts.first, end.first);
        facts.last = std::max(facts.last, end.first + end.count - 1);
        facts.assigned += end.count;
        facts.most_lmc = std::max(facts.most_lmc, static_cast<unsigned>(std::bit_width(end.count) - 1));
    }
    return facts;
}

std::vector<reduced_link> links_with(const discovery::subnet& s, const std::vector<port_ref>& width,
                                     const std::vector<port_ref>& speed) {
    std::vector<port_ref> ports = width;
    ports.insert(ports.end(), speed.begin(), speed.end());
    std::vector<reduced_link> links;
    for (const link_ends& l : discovery::cables_of(s, std::move(ports))) {
        const port_ref at = s.at(l.from).info || !l.to ? l.from : l.to; // an end whose PortInfo is known
        const iba::smp::PortInfo& info = *s.at(at).info;
        reduced_link link{l, discovery::format_link_width(s.at(at)), discovery::format_link_speed(s, at)};
        const auto best_width = discovery::widest(info.linkWidthEnabled);
        if (discovery::lanes_of(best_width) > discovery::lanes_of(info.linkWidthActive))
            link.enabled_width = discovery::width_name(best_width);
        const auto best_speed = std::bit_floor(discovery::enabled_speeds(s, at));
        if (best_speed > discovery::active_speed(s, at)) link.enabled_speed = discovery::speed_name(best_speed);
        else if (discovery::could_be_fdr10(s, at)) link.enabled_speed = "FDR10";
        links.push_back(link);
    }
    return links;
}

/// Returns the LID of the SM that configured the first port of the discovery; 0: none.
unsigned manager_of_start(const discovery::subnet& s) {
    const discovery::node& n = s.nodes[0];
    const std::size_t port = n.is_switch() ? 0 : s.start_port;
    const bool is_known = port < n.ports.size() && n.ports[port].info;
    return is_known ? value(n.ports[port].info->masterSMLID) : 0u;
}

} // namespace

std::string count_of(std::size_t n, std::string_view what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : what.ends_with("ch") ? "es" : "s");
}

std::string name_at_lid(const summarized_subnet& x, unsigned LID) {
    const port_ref found = discovery::lid_index(x.s).at(LID);
    return found ? x.names.of(x.s.nodes[found.node]) : std::string();
}

summary_facts facts_of(const summarized_subnet& x) {
    summary_facts facts;
    facts.devices = devices_of(x.s);
    facts.chassis = discovery::group_nodes(x.s).chassis.size();
    facts.LIDs = lids_of(x.s);
    facts.ports = discovery::count_ports(x.s);
    facts.reduced = links_with(x.s, facts.ports.reduced_width, facts.ports.reduced_speed);
    facts.unenabled = links_with(x.s, facts.ports.unenabled_width, facts.ports.unenabled_speed);
    for (const manager_problem& p : manager_problems(x.managers)) facts.problems.push_back(p.text);
    if (const unsigned LID = x.is_managers_known && x.managers.empty() ? manager_of_start(x.s) : 0)
        facts.problems.push_back(fmt::format("the subnet manager at LID {} did not reply", LID));
    if (!x.s.complete()) facts.problems.push_back(count_of(x.s.failures.size(), "failure") + " of the discovery");
    const discovery::lid_index lids(x.s);
    for (const auto& doubled : lids.duplicates()) facts.problems.push_back(discovery::describe(x.s, doubled));
    return facts;
}

} // namespace ibtool
