// SPDX-License-Identifier: MIT
// summary_text.cpp - formats the summary of a subnet as text.
#include "text/summary_text.hpp"

#include "comad.hpp"
#include "text/summary_facts.hpp"
#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ibtool {
namespace {

using discovery::link_ends;
using discovery::port_ref;
using discovery::value_count;

/// Writes lines with a label in front of the first one.
class summary_lines {
public:
    explicit summary_lines(std::size_t most) : most_(most) {}

    void add(std::string_view label, std::string_view text) { text_ += fmt::format("{:<10}{}\n", label, text); }
    /// Adds a list: at most the permitted number of lines, and how many more there are. `line`: returns the text of an entry.
    template <class List, class Line> void add_list(std::string_view label, const List& list, Line&& line) {
        std::size_t printed = 0;
        for (const auto& entry : list) {
            if (printed == most_) break;
            add(printed++ == 0 ? label : std::string_view(), line(entry));
        }
        if (list.size() > printed) add("", fmt::format("and {} more", list.size() - printed));
    }
    std::string take() { return std::move(text_); }

private:
    std::size_t most_;
    std::string text_;
};

/// Returns `69980 at 4x, 4 at 1x`, the largest value first.
std::string values_at(const std::vector<value_count>& values) {
    std::string text;
    for (auto v = values.rbegin(); v != values.rend(); ++v)
        text += fmt::format("{}{} at {}", text.empty() ? "" : ", ", v->ports, v->value);
    return text.empty() ? "none" : text;
}

std::string states_of(const discovery::port_counts& ports) {
    std::string text = fmt::format("{}", ports.ports);
    for (auto v = ports.states.rbegin(); v != ports.states.rend(); ++v)
        text += fmt::format("{}{} {}", v == ports.states.rbegin() ? ": " : ", ", v->ports, v->value);
    if (!ports.disabled.empty()) text += fmt::format(" ({} Disabled)", ports.disabled.size());
    return text;
}

std::string lids_text(const lid_facts& lids) {
    if (lids.assigned == 0) return "none";
    std::string text = fmt::format("{} from {} to {}", lids.assigned, lids.first, lids.last);
    if (lids.most_lmc != 0) text += fmt::format(", LMC up to {}", lids.most_lmc);
    if (lids.without != 0) text += fmt::format("; {} without a LID", count_of(lids.without, "port"));
    return text;
}

std::string device_text(const device_count& d) {
    return fmt::format("{} {:04x}:{:04x} ({})", count_of(d.nodes, discovery::names_of_type(d.type).name), d.vendorID,
                       d.deviceID, iba::escaped(d.example));
}

std::string place_text(const summarized_subnet& x, port_ref r) {
    return fmt::format("\"{}\"[{}]", x.names.of(x.s.nodes[r.node]), r.port);
}
std::string ends_text(const summarized_subnet& x, const link_ends& l) {
    return l.to ? fmt::format("{} <=> {}", place_text(x, l.from), place_text(x, l.to)) : place_text(x, l.from);
}
std::string reduced_text(const summarized_subnet& x, const reduced_link& l) {
    const std::string text = fmt::format("{}: {} {}", ends_text(x, l.ends), l.width, l.speed);
    std::string better(l.enabled_width);
    if (!l.enabled_speed.empty()) better.append(better.empty() ? "" : " ").append(l.enabled_speed);
    return better.empty() ? text : fmt::format("{}, enabled {}", text, better);
}

std::string manager_text(const summarized_subnet& x, const manager_facts& m) {
    const std::string name = name_at_lid(x, m.LID);
    return fmt::format("{}{}: {}", manager_name(m), name.empty() ? "" : fmt::format(" \"{}\"", name),
                       m.is_known() ? manager_state(m.info) : "did not reply");
}

} // namespace

std::string format_summary(const summarized_subnet& x) {
    const summary_facts facts = facts_of(x);
    summary_lines lines(x.most_named);
    std::string nodes = fmt::format("{}: {}, {}", x.s.nodes.size(), count_of(x.s.count(iba::NodeType::CA), "CA"),
                                    count_of(x.s.count(iba::NodeType::Switch), "switch"));
    if (const auto routers = x.s.count(iba::NodeType::Router)) nodes += ", " + count_of(routers, "router");
    lines.add("Nodes", nodes + (x.s.complete() ? "" : "; partial result"));
    lines.add("Links", fmt::format("{}, at most {} from \"{}\"", x.s.link_count(), count_of(x.s.max_hops(), "hop"),
                                   x.names.of(x.s.nodes[0])));
    lines.add_list("Devices", facts.devices, device_text);
    if (facts.chassis != 0) lines.add("Chassis", fmt::format("{}", facts.chassis));
    if (!x.is_managers_known) lines.add("SMs", "not queried");
    else if (x.managers.empty()) lines.add("SMs", "none found");
    else lines.add_list("SMs", x.managers, [&](const manager_facts& m) { return manager_text(x, m); });
    lines.add("LIDs", lids_text(facts.LIDs));
    lines.add("Ports", states_of(facts.ports));
    lines.add("Width", values_at(facts.ports.widths));
    lines.add("Speed", values_at(facts.ports.speeds));
    const bool is_mtu_unknown = facts.ports.mtus.empty() && !facts.ports.widths.empty(); // of a topology file
    lines.add("MTU", is_mtu_unknown ? "unknown" : values_at(facts.ports.mtus));
    const auto reduced = [&](const reduced_link& l) { return reduced_text(x, l); };
    const auto at_port = [&](port_ref r) { return place_text(x, r); };
    lines.add("Reduced", facts.reduced.empty() ? "none" : count_of(facts.reduced.size(), "cable"));
    lines.add_list("", facts.reduced, reduced);
    if (!facts.unenabled.empty()) {
        lines.add("Unenabled", count_of(facts.unenabled.size(), "cable"));
        lines.add_list("", facts.unenabled, reduced);
    }
    if (!facts.ports.disabled.empty()) lines.add_list("Disabled", facts.ports.disabled, at_port);
    if (facts.problems.empty()) lines.add("Problems", "none");
    lines.add_list("Problems", facts.problems, [](const std::string& text) { return text; });
    return lines.take();
}

} // namespace ibtool
