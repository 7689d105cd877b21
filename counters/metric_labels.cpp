// SPDX-License-Identifier: MIT
// metric_labels.cpp - makes labels, and selects ports and counters.
#include "metric_labels.hpp"

#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <set>
#include <utility>

namespace comad::counters {
namespace {

std::string_view type_of(const discovery::node& n) {
    const discovery::node_type_names words = discovery::names_of_type(n.info.nodeType);
    return words.are_known() ? words.lower : "unknown";
}

/// Returns whether the page has a series about the port, other than infiniband_port_info and those of findings.
bool shows_port(const exposed_sweep& e, std::size_t port) {
    if (shows_states(e, port)) return true;
    const reading& r = e.view.now.ports[port];
    if (!r.valid) return false;
    bool is_shown = false;
    for_each_counter([&](counter c) {
        const counter_values& values = r.counters.counters;
        is_shown |= values.has(c) && (values.is_pegged(c) || shows_counter(e, port, c));
    });
    return is_shown;
}

} // namespace

std::string quoted_label(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : iba::escaped(text)) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

std::string fabric_label(const exposed_sweep& e) {
    return e.fabric.empty() ? std::string() : fmt::format("fabric={}", quoted_label(e.fabric));
}

bool shows_counter(const exposed_sweep& e, std::size_t port, counter c) noexcept {
    switch (e.metrics) {
    case metric_choice::all: return true;
    case metric_choice::changed: return e.changed && (*e.changed)[port].counters.has(c);
    case metric_choice::errors: return is_error(c) && e.view.now.ports[port].counters.counters[c] > 0;
    }
    return true;
}

bool shows_states(const exposed_sweep& e, std::size_t port) noexcept {
    switch (e.metrics) {
    case metric_choice::all: return true;
    case metric_choice::changed: return e.changed && (*e.changed)[port].link;
    case metric_choice::errors: return false;
    }
    return true;
}

metric_labels::metric_labels(const exposed_sweep& e) : sweep_(e) {
    const discovery::subnet& s = e.view.subnet;
    nodes_.reserve(s.nodes.size());
    for (const discovery::node& n : s.nodes)
        nodes_.push_back({fmt::format("{}", n.info.nodeGUID), quoted_label(e.view.names.of(n))});
    std::set<std::pair<u32, u8>> found;
    for (std::size_t i = 0; e.findings && i < e.findings->size(); ++i)
        found.emplace((*e.findings)[i].where.node, (*e.findings)[i].where.port);
    std::string start = fabric_label(e);
    if (!start.empty()) start += ',';
    of_ports_.resize(e.view.now.ports.size());
    for (std::size_t p = 0; p < of_ports_.size(); ++p) {
        const discovery::port_ref where = e.view.now.ports[p].where;
        if (!shows_port(e, p) && !found.contains({where.node, where.port})) continue;
        std::string& labels = of_ports_[p];
        const fmt::format_int number(where.port);
        labels.reserve(start.size() + 48);
        ((labels += start) += "node_guid=\"") += nodes_[where.node].GUID;
        (labels += "\",port=\"").append(number.data(), number.size()) += '"';
    }
}

std::string metric_labels::of_info(std::size_t port, std::string_view peer_labels) const {
    const discovery::subnet& s = sweep_.view.subnet;
    const discovery::port_ref where = sweep_.view.now.ports[port].where;
    const discovery::port& end = s.end_port(where);
    const fmt::format_int LID(end.info ? value(end.info->LID) : 0);
    std::string labels = of_ports_[port];
    labels.reserve(256);
    ((labels += ",node=") += nodes_[where.node].name) += ",type=\"";
    ((labels += type_of(s.nodes[where.node])) += "\",lid=\"").append(LID.data(), LID.size()) += '"';
    return labels += peer_labels;
}

std::string metric_labels::of_peer(discovery::port_ref peer) const {
    const node_text& node = nodes_[peer.node];
    const fmt::format_int number(peer.port);
    std::string labels = ",peer_node_guid=\"";
    (labels += node.GUID) += "\",peer_port=\"";
    return (labels.append(number.data(), number.size()) += "\",peer_node=") += node.name;
}

} // namespace comad::counters
