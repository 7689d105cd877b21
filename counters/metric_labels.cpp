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

/// Returns whether the page has the series of a counter. Precondition: the counter was read.
bool shows_counter(const exposed_sweep& e, std::size_t port, counter c) noexcept {
    switch (e.metrics) {
    case metric_choice::all: return true;
    case metric_choice::changed: return e.changed && (*e.changed)[port].counters.has(c);
    case metric_choice::errors: return is_error(c) && e.view.now.ports[port].counters.counters[c] > 0;
    }
    return true;
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
    const std::size_t count = e.view.now.ports.size();
    shown_.resize(count);
    starts_.reserve(count + 1);
    for (std::size_t p = 0; p < count; ++p) {
        starts_.push_back(text_.size());
        const std::size_t before = pegged_.size();
        select(p);
        const discovery::port_ref where = e.view.now.ports[p].where;
        const bool is_shown = !shown_[p].empty() || pegged_.size() != before || shows_states(e, p) ||
                              found.contains({where.node, where.port});
        if (!is_shown) continue;
        const fmt::format_int number(where.port);
        ((text_ += start) += "node_guid=\"") += nodes_[where.node].GUID;
        (text_ += "\",port=\"").append(number.data(), number.size()) += '"';
    }
    starts_.push_back(text_.size());
}

/// Selects the counters of a port that have a value on the page, and those that are saturated.
void metric_labels::select(std::size_t port) {
    const reading& r = sweep_.view.now.ports[port];
    if (!r.valid) return;
    const counter_values& values = r.counters.counters;
    for_each_counter([&](counter c) {
        if (!values.has(c)) return;
        if (values.is_pegged(c)) pegged_.push_back({port, c});
        if (!shows_counter(sweep_, port, c)) return;
        shown_[port].add(c);
        all_shown_.add(c);
    });
}

void metric_labels::add_info(std::string& to, std::size_t port) const {
    const discovery::subnet& s = sweep_.view.subnet;
    const discovery::port_ref where = sweep_.view.now.ports[port].where;
    const discovery::port& end = s.end_port(where);
    const fmt::format_int LID(end.info ? value(end.info->LID) : 0);
    (((to += of_port(port)) += ",node=") += nodes_[where.node].name) += ",type=\"";
    ((to += type_of(s.nodes[where.node])) += "\",lid=\"").append(LID.data(), LID.size()) += '"';
}

void metric_labels::add_peer(std::string& to, discovery::port_ref peer) const {
    const node_text& node = nodes_[peer.node];
    const fmt::format_int number(peer.port);
    ((to += ",peer_node_guid=\"") += node.GUID) += "\",peer_port=\"";
    (to.append(number.data(), number.size()) += "\",peer_node=") += node.name;
}

} // namespace comad::counters
