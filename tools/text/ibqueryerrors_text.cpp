// SPDX-License-Identifier: MIT
// ibqueryerrors_text.cpp - formats error counters with the texts of ibqueryerrors.c, and numbers with units as in ibdiag_common.c.
#include "text/ibqueryerrors_text.hpp"

#include "comad.hpp"
#include "text/json.hpp"
#include "text/link_json.hpp"
#include "text/link_text.hpp"
#include <comad/counters/detail/comparison.hpp>
#include <comad/counters/detail/sweep_state_json.hpp>
#include <comad/iba/print.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <variant>

namespace ibtool {

using counters::counter;
using counters::for_each_counter;
using counters::reading;
using discovery::port_ref;

namespace {

/// Returns `1.619K`, or `45.609KB` for data. As in ibdiag_common.c, computes in single precision, and uses the next unit above 1024.
std::string with_unit(u64 count, bool is_data) {
    constexpr std::string_view units = " KMGTPE";
    std::size_t unit = 0;
    u64 divisor = 1;
    for (u64 left = count / 1024; left; left /= 1024, ++unit) divisor *= 1024;
    auto value = static_cast<float>(count);
    if (is_data) {
        value *= 4;
        if (value / static_cast<float>(divisor) > 1024 && unit + 1 < units.size()) {
            ++unit;
            divisor *= 1024;
        }
    }
    std::string text = fmt::format("{:.3f}", value / static_cast<float>(divisor));
    if (unit > 0) text += units[unit];
    return is_data ? text + 'B' : text;
}

std::string format_counter(counter c, const counters::counter_values& values, bool has_unit) {
    const std::string unit = has_unit ? fmt::format(" ({})", with_unit(values[c], is_data(c))) : std::string();
    return fmt::format(" [{} == {}{}]", label_of(c), values[c], unit);
}

/// The causes of an error counter, with libibmad's labels.
struct cause {
    const char* label;
    u64 count;
};
std::vector<cause> causes_of(const pm::PortRcvErrorDetails& d) {
    return {
        {"PortLocalPhysicalErrors", d.portLocalPhysicalErrors}, {"PortMalformedPktErrors", d.portMalformedPacketErrors},
        {"PortBufferOverrunErrors", d.portBufferOverrunErrors}, {"PortDLIDMappingErrors", d.portDLIDMappingErrors},
        {"PortVLMappingErrors", d.portVLMappingErrors},         {"PortLoopingErrors", d.portLoopingErrors}};
}
std::vector<cause> causes_of(const pm::PortXmitDiscardDetails& d) {
    return {{"PortInactiveDiscards", d.portInactiveDiscards},
            {"PortNeighborMTUDiscards", d.portNeighborMTUDiscards},
            {"PortSwLifetimeLimitDiscards", d.portSwLifetimeLimitDiscards},
            {"PortSwHOQLifetimeLimitDiscards", d.portSwHOQLimitDiscards}};
}

template <class T> const T* detail_of(const reading& l) {
    for (const counters::port_detail& d : l.details)
        if (const T* wanted = std::get_if<T>(&d)) return wanted;
    return nullptr;
}

template <class T> std::string cause_text(const reading& l) {
    std::string text;
    if (const T* d = detail_of<T>(l))
        for (const auto& [label, count] : causes_of(*d))
            if (count) text += fmt::format(" [{} == {}]", label, count);
    return text;
}

template <class T> void add_details(nlohmann::ordered_json& line, const reading& l) {
    const T* d = detail_of<T>(l);
    if (!d) return;
    auto& list = line["details"];
    list.update(json_object(*d));
    list.erase("portSelect");
    list.erase("counterSelect");
}

} // namespace

// ---- rules -----------------------------------------------------------------------------------------------------------

bool error_rules::is_over(counter c, const counters::counter_values& values) const {
    const auto is_in = [c](const std::vector<counter>& list) { return std::ranges::find(list, c) != list.end(); };
    if (!has_threshold(c) || !values.has(c) || values[c] <= thresholds[c] || is_in(suppressed)) return false;
    return c != counter::QP1Dropped || is_in(named);
}

bool error_rules::is_any_over(const counters::counter_values& values) const {
    bool is_any = false;
    for_each_counter([&](counter c) { is_any |= is_over(c, values); });
    return is_any;
}

namespace {

/// Returns a table whose columns are members of the JSON objects.
csv_table errors_table() {
    std::vector<std::string> names{"nodeType", "nodeGUID", "description", "portGUID", "LID", "port"};
    for_each_counter([&](counter c) {
        names.push_back(fmt::format("{}/{}:{}", has_threshold(c) ? "errors" : "data", name_of(c), name_of(c)));
    });
    names.insert(names.end(), {"pegged", "link/peer/nodeGUID:peer_nodeGUID", "link/peer/description:peer_description",
                               "link/peer/port:peer_port"});
    const std::vector<std::string_view> columns(names.begin(), names.end());
    return csv_table(columns);
}

} // namespace

// ---- the report ------------------------------------------------------------------------------------------------------

error_report::error_report(const discovery::subnet& s, const discovery::node_names& names, const error_rules& rules,
                           const report_choice& choice)
    : subnet_(s), groups_(discovery::group_nodes(s)), names_(names), rules_(rules), choice_(choice),
      table_(errors_table()) {}

std::string error_report::of(const counters::sweep& all) {
    text_.clear();
    table_ = errors_table();
    const reading* sum = all.sums.data();
    const reading* const last_sum = sum + all.sums.size();
    const reading* const end = all.ports.data() + all.ports.size();
    for (const reading* first = all.ports.data(); first != end;) {
        const auto node = first->where.node;
        const reading* next = std::find_if(first, end, [&](const reading& l) { return l.where.node != node; });
        while (sum != last_sum && sum->where.node < node) ++sum;
        add_node(sum != last_sum && sum->where.node == node && sum->valid ? sum : nullptr, first, next);
        first = next;
    }
    if (choice_.csv) return table_.text();
    add_summary(all.failures.size());
    return std::move(text_);
}

/// Adds the lines of a node. `sum`: null if the sum of all ports was not read.
void error_report::add_node(const reading* sum, const reading* first, const reading* end) {
    const auto replied = std::count_if(first, end, [](const reading& l) { return l.valid; });
    if (!sum && replied == 0) return;
    ++nodes_;
    const bool is_enough = sum && replied == 0 && !rules_.is_any_over(sum->counters.counters);
    ports_ += is_enough ? subnet_.nodes[first->where.node].info.numPorts : static_cast<unsigned>(replied);
    bool has_head = false;
    if (sum) add_errors(*sum, has_head);
    for (const reading* l = first; l != end; ++l) {
        if (!l->valid) continue;
        if (choice_.data_only) add_data(*l, has_head);
        else add_errors(*l, has_head);
    }
}

void error_report::add_errors(const reading& l, bool& has_head) {
    const counters::counter_values& values = l.counters.counters;
    if (!rules_.is_any_over(values)) return;
    const discovery::node& node = subnet_.nodes[l.where.node];
    const bool is_sum = l.where.port == counters::all_ports;
    if (!has_head) ++bad_nodes_;
    if (!is_sum) ++bad_ports_;
    if (choice_.json || choice_.csv) {
        has_head = true;
        return add_row(l);
    }
    const std::string name = names_.of(node);
    if (!has_head)
        text_ += node.is_switch() ? fmt::format("Errors for 0x{:x} \"{}\"\n", value(node.ports[0].portGUID), name)
                                  : fmt::format("Errors for \"{}\"\n", name);
    has_head = true;
    std::string counters;
    for_each_counter([&](counter c) {
        if (!rules_.is_over(c, values)) return;
        counters += format_counter(c, values, values.width(c) == 64);
        if (c == counter::portXmitDiscards) counters += cause_text<pm::PortXmitDiscardDetails>(l);
        if (c == counter::portRcvErrors) counters += cause_text<pm::PortRcvErrorDetails>(l);
    });
    if (choice_.data) {
        for_each_counter([&](counter c) {
            if (!has_threshold(c) && values[c]) counters += format_counter(c, values, true);
        });
    }
    if (is_sum && !node.is_switch()) return; // as in ibqueryerrors.c, which reports other nodes port by port
    add_line(l, is_sum ? node.ports[0].portGUID : subnet_.at(l.where).portGUID, counters);
}

void error_report::add_data(const reading& l, bool& has_head) {
    if (choice_.json || choice_.csv) return add_row(l);
    const discovery::node& node = subnet_.nodes[l.where.node];
    if (!has_head)
        text_ += fmt::format("Data Counters for 0x{:x} \"{}\"\n", value(node.info.nodeGUID), names_.of(node));
    has_head = true;
    std::string counters;
    for_each_counter([&](counter c) {
        if (!has_threshold(c) && l.counters.counters.has(c)) counters += format_counter(c, l.counters.counters, true);
    });
    add_line(l, node.info.nodeGUID, counters);
}

void error_report::add_line(const reading& l, iba::guid GUID, const std::string& counters) {
    const bool is_sum = l.where.port == counters::all_ports;
    text_ += fmt::format("   GUID 0x{:x} port {}:{}\n", value(GUID), is_sum ? "ALL" : std::to_string(l.where.port),
                         counters);
    if (is_sum || !choice_.links || !subnet_.at(l.where).info) return;
    const bool is_known = bool(subnet_.at(l.where).peer); // if not, the text differs from that of iblinkinfo
    text_ += fmt::format("       Link info: {:6}{:4}{} =={}==>  {}\n", lid_at(subnet_, l.where), l.where.port,
                         format_external_port(groups_, l.where), format_link(subnet_, l.where),
                         is_known ? format_peer(subnet_, names_, l.where, true, groups_) : std::string(no_peer_text));
}

void error_report::add_row(const reading& l) {
    const bool is_sum = l.where.port == counters::all_ports;
    if (is_sum && !subnet_.nodes[l.where.node].is_switch()) return;
    if (choice_.csv) table_.add(json_of(l));
    else text_ += json_line(json_of(l));
}

nlohmann::ordered_json error_report::json_of(const reading& l) const {
    const bool is_sum = l.where.port == counters::all_ports;
    const counters::counter_values& values = l.counters.counters;
    nlohmann::ordered_json line = place_json(subnet_, is_sum ? port_ref{l.where.node, 0} : l.where, names_);
    line["port"] = l.where.port;
    const auto add = [&](const char* list, counter c) { line[list][std::string(name_of(c))] = values[c]; };
    for_each_counter([&](counter c) {
        if (!choice_.data_only && rules_.is_over(c, values)) {
            add("errors", c);
            if (values.is_pegged(c)) line["pegged"].push_back(std::string(name_of(c)));
        }
        if ((choice_.data || choice_.data_only) && !has_threshold(c) && values.has(c)) add("data", c);
    });
    add_details<pm::PortRcvErrorDetails>(line, l);
    add_details<pm::PortXmitDiscardDetails>(line, l);
    if (choice_.links && !is_sum && subnet_.at(l.where).info)
        line["link"] = link_json(subnet_, l.where, names_, groups_);
    return line;
}

void error_report::add_summary(std::size_t failures) {
    if (choice_.json) {
        nlohmann::ordered_json thresholds = nlohmann::json::object();
        nlohmann::ordered_json suppressed = nlohmann::json::array();
        for (const counter c : rules_.named) thresholds[std::string(name_of(c))] = rules_.thresholds[c];
        for (const counter c : rules_.suppressed) suppressed.push_back(std::string(name_of(c)));
        nlohmann::ordered_json line{{"schema", "comad.errors/1"}, {"nodes", nodes_},
                                    {"bad_nodes", bad_nodes_},    {"ports", ports_},
                                    {"bad_ports", bad_ports_},    {"complete", failures == 0 && subnet_.complete()},
                                    {"failures", failures},       {"thresholds", thresholds},
                                    {"suppressed", suppressed}};
        if (choice_.since) line["since"] = counters::detail::earlier_sweep_json(*choice_.since);
        text_ += json_line(line);
        return;
    }
    text_ += fmt::format("\n## Summary: {} nodes checked, {} bad nodes found\n", nodes_, bad_nodes_);
    text_ += fmt::format("##          {} ports checked, {} ports have errors beyond threshold\n", ports_, bad_ports_);
    text_ += "## Thresholds: ";
    for (const counter c : rules_.named) text_ += fmt::format("[{} = {}]", label_of(c), rules_.thresholds[c]);
    if (failures) text_ += fmt::format("\n##          {} PMA query failures", failures);
    text_ += "\n## Suppressed:";
    for (const counter c : rules_.suppressed) text_ += ' ' + label_of(c);
    text_ += '\n';
    if (choice_.since) text_ += fmt::format("## Since: {}\n", earlier_text(*choice_.since));
}

} // namespace ibtool
