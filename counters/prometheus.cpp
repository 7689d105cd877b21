// SPDX-License-Identifier: MIT
// prometheus.cpp - formats sweeps for Prometheus: one family of series after the other.
#include "metric_labels.hpp"
#include "port_series.hpp"
#include <comad/counters/detail/sweep_rows.hpp>
#include <comad/counters/formats.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace comad::counters {
namespace {

using discovery::known_end, discovery::known_link, discovery::known_node, discovery::missing_parts;

struct series_name {
    std::string_view name, help;
};

// clang-format off
/// The series of each counter, in the order of the enumeration.
constexpr std::array<series_name, counter_count> counter_series{{
    {"infiniband_port_xmit_data_bytes_total", "Bytes sent on all virtual lanes (four times portXmitData)."},
    {"infiniband_port_rcv_data_bytes_total", "Bytes received on all virtual lanes (four times portRcvData)."},
    {"infiniband_port_xmit_packets_total", "Packets sent (portXmitPkts)."},
    {"infiniband_port_rcv_packets_total", "Packets received (portRcvPkts)."},
    {"infiniband_port_unicast_xmit_packets_total", "Unicast packets sent (portUnicastXmitPkts)."},
    {"infiniband_port_unicast_rcv_packets_total", "Unicast packets received (portUnicastRcvPkts)."},
    {"infiniband_port_multicast_xmit_packets_total", "Multicast packets sent (portMulticastXmitPkts)."},
    {"infiniband_port_multicast_rcv_packets_total", "Multicast packets received (portMulticastRcvPkts)."},
    {"infiniband_port_symbol_errors_total", "Minor link errors on the lanes (symbolErrorCounter)."},
    {"infiniband_port_link_error_recoveries_total", "Successful link error recoveries (linkErrorRecoveryCounter)."},
    {"infiniband_port_link_downed_total", "Failed link error recoveries, after which the link went down (linkDownedCounter)."},
    {"infiniband_port_rcv_errors_total", "Packets received with errors (portRcvErrors)."},
    {"infiniband_port_rcv_remote_physical_errors_total", "Packets received that another port had marked as bad (portRcvRemotePhysicalErrors)."},
    {"infiniband_port_rcv_switch_relay_errors_total", "Packets received that the switch could not forward (portRcvSwitchRelayErrors)."},
    {"infiniband_port_xmit_discards_total", "Outbound packets discarded (portXmitDiscards)."},
    {"infiniband_port_xmit_constraint_errors_total", "Packets not sent because of a partition or raw filter (portXmitConstraintErrors)."},
    {"infiniband_port_rcv_constraint_errors_total", "Packets discarded on receipt because of a partition or raw filter (portRcvConstraintErrors)."},
    {"infiniband_port_local_link_integrity_errors_total", "Times that local physical errors exceeded the threshold (localLinkIntegrityErrors)."},
    {"infiniband_port_excessive_buffer_overrun_errors_total", "Times that buffer overruns exceeded the threshold (excessiveBufferOverrunErrors)."},
    {"infiniband_port_vl15_dropped_total", "Subnet management packets dropped for lack of buffers (VL15Dropped)."},
    {"infiniband_port_xmit_wait_ticks_total", "Ticks with data to send but none sent (portXmitWait)."},
    {"infiniband_port_qp1_dropped_total", "Packets to queue pair 1 dropped for lack of buffers (QP1Dropped)."},
}};
// clang-format on
static_assert(counter_series.back().name == "infiniband_port_qp1_dropped_total");

/// The text under construction. A large subnet has a million lines, so adding a line only copies a few pieces of text.
class page {
public:
    void begin(std::string_view name, std::string_view type, std::string_view help) {
        name_ = name;
        fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
    }
    void add(std::string_view labels, std::string_view value) {
        text_ += name_;
        if (!labels.empty()) ((text_ += '{') += labels) += '}';
        ((text_ += ' ') += value) += '\n';
    }
    void add(std::string_view labels, u64 value) {
        const fmt::format_int text(value);
        add(labels, std::string_view(text.data(), text.size()));
    }
    void single(std::string_view name, std::string_view type, std::string_view help, const std::string& value) {
        begin(name, type, help);
        add({}, value);
    }
    bool is_piece() const noexcept { return text_.size() >= piece; }
    std::string take() { return std::exchange(text_, {}); }

private:
    static constexpr std::size_t piece = 64 << 10;
    std::string_view name_;
    std::string text_;
};

std::string port_labels(const exposed_sweep& e, iba::guid nodeGUID, unsigned port) {
    const std::string label = fabric_label(e);
    return fmt::format("{}{}node_guid=\"{}\",port=\"{}\"", label, label.empty() ? "" : ",", nodeGUID, port);
}

std::string port_labels(const exposed_sweep& e, discovery::port_ref where) {
    return port_labels(e, e.view.subnet.nodes[where.node].info.nodeGUID, where.port);
}

/// Return the name of a node that may be missing from the subnet.
std::string name_of_known(const exposed_sweep& e, const known_node& known) {
    discovery::node named;
    named.info.nodeGUID = known.nodeGUID;
    named.description = known.description;
    return e.view.names.of(named);
}
std::string name_of_known(const exposed_sweep& e, iba::guid nodeGUID) {
    if (const discovery::node* n = e.view.subnet.find(nodeGUID)) return e.view.names.of(*n);
    const known_node* const known = e.missing ? e.missing->find(nodeGUID) : nullptr;
    return name_of_known(e, known ? *known : known_node{.nodeGUID = nodeGUID, .nodeType = {}, .description = {}});
}

/// Returns the port at the other end of a cable. If the link is down, returns the neighbor that was known before.
std::optional<known_end> far_end_of(const exposed_sweep& e, discovery::port_ref where) {
    const discovery::subnet& s = e.view.subnet;
    const discovery::port_ref peer = s.at(where).peer;
    if (peer) return known_end{s.nodes[peer.node].info.nodeGUID, peer.port};
    if (!e.missing) return std::nullopt;
    return e.missing->far_end({s.nodes[where.node].info.nodeGUID, where.port});
}

/// Returns the neighbor of a node with only one cable, so that an administrator knows where to look for the node.
std::optional<known_end> only_far_end_of(const exposed_sweep& e, iba::guid nodeGUID) {
    const discovery::subnet& s = e.view.subnet;
    const auto found = s.by_guid.find(nodeGUID);
    if (found == s.by_guid.end()) return e.missing ? e.missing->only_far_end(nodeGUID) : std::nullopt;
    std::optional<known_end> only;
    for (unsigned p = 1; p < s.nodes[found->second].ports.size(); ++p) {
        const auto far = far_end_of(e, {found->second, static_cast<u8>(p)});
        if (far && only) return std::nullopt;
        if (far) only = far;
    }
    return only;
}

/// Returns `,peer_node_guid="...",peer_port="3",peer_node="..."`; empty without a peer.
std::string peer_labels(const exposed_sweep& e, const std::optional<known_end>& peer) {
    if (!peer) return {};
    return fmt::format(",peer_node_guid=\"{}\",peer_port=\"{}\",peer_node={}", peer->nodeGUID, peer->port,
                       quoted_label(name_of_known(e, peer->nodeGUID)));
}

std::string link_labels(const exposed_sweep& e, const known_link& l) {
    return fmt::format("{},node={}{}", port_labels(e, l.a.nodeGUID, l.a.port),
                       quoted_label(name_of_known(e, l.a.nodeGUID)), peer_labels(e, l.b));
}

/// Returns the labels of a port that could not be read, or of a whole node.
std::string missing_labels(const exposed_sweep& e, const known_node& node, unsigned port, std::string_view cause) {
    return fmt::format("{},node={}{},cause=\"{}\"", port_labels(e, node.nodeGUID, port),
                       quoted_label(name_of_known(e, node)), peer_labels(e, only_far_end_of(e, node.nodeGUID)), cause);
}

/// Returns the labels of a problem. A problem without a location has port 0 and GUID 0.
std::string problem_labels(const exposed_sweep& e, const discovery::failure& p) {
    const discovery::subnet& s = e.view.subnet;
    const auto found = s.by_guid.find(p.where.nodeGUID);
    std::optional<known_end> peer;
    if (found != s.by_guid.end() && p.where.port != 0 && p.where.port < s.nodes[found->second].ports.size())
        peer = far_end_of(e, {found->second, p.where.port});
    return fmt::format("{},node={}{},kind=\"{}\"", port_labels(e, p.where.nodeGUID, p.where.port),
                       quoted_label(name_of_known(e, p.where.nodeGUID)), peer_labels(e, peer), name_of(p.kind));
}

/// Limits the series about single problems, which are for people to read. infiniband_discovery_problems contains the complete number.
constexpr std::size_t most_problems = 1000;

/// A series about a state of a port that the discovery read. `value` returns nullopt if the state is unknown.
struct state_series {
    std::string_view name, help;
    std::optional<double> (*value)(const discovery::subnet&, discovery::port_ref);
};
bool is_link_up(const discovery::port& p) { return p.info->portPhysicalState == iba::PortPhysicalState::LinkUp; }
double lane_of(const discovery::subnet& s, discovery::port_ref r) {
    return is_fdr10(s, r) ? discovery::fdr10_bits_per_second : discovery::bits_per_second(active_speed(s, r));
}
// clang-format off
const state_series states_of_ports[] = {
    {"infiniband_port_state_id", "State of the port: 1 Down, 2 Initialize, 3 Armed, 4 Active (PortState, IBA 14.2.5.6).",
     [](const auto& s, auto r) -> std::optional<double> { return static_cast<double>(value(s.at(r).info->portState)); }},
    {"infiniband_port_physical_state_id", "Physical state: 1 Sleep, 2 Polling, 3 Disabled, 4 training, 5 LinkUp, 6 error recovery, 7 PhyTest.",
     [](const auto& s, auto r) -> std::optional<double> { return static_cast<double>(value(s.at(r).info->portPhysicalState)); }},
    {"infiniband_port_width", "Number of lanes of a link that is up.",
     [](const auto& s, auto r) -> std::optional<double> {
         if (!is_link_up(s.at(r))) return std::nullopt;
         return discovery::lanes_of(active_width(s, r)); }},
    {"infiniband_port_speed", "Signaling rate of one lane of a link that is up, in Gb/s: 25.78125 for EDR.",
     [](const auto& s, auto r) -> std::optional<double> {
         if (!is_link_up(s.at(r))) return std::nullopt;
         return lane_of(s, r) / 1e9; }},
    {"infiniband_port_rate_bytes_per_second", "Data rate of a link that is up, without encoding overhead: 1.25e+10 for 4X EDR.",
     [](const auto& s, auto r) -> std::optional<double> {
         if (!is_link_up(s.at(r))) return std::nullopt;
         return discovery::data_bits_per_second(s, r) / 8; }},
};
// clang-format on

/// A series with at most one value per fabric.
struct sweep_series {
    std::string_view name, type, help;
    std::string (*value)(const exposed_sweep&); ///< returns an empty text if the fabric has no value
};
const sweep_series of_sweeps[] = {
    {"infiniband_sweeps_total", "counter", "Completed sweeps.",
     [](const auto& e) { return fmt::to_string(e.totals.sweeps); }},
    {"infiniband_sweeps_skipped_total", "counter",
     "Sweeps skipped because another sweep was running or the device was disconnected.",
     [](const auto& e) { return fmt::to_string(e.totals.skipped); }},
    {"infiniband_sweep_mads_total", "counter", "MADs sent by sweeps, including retries.",
     [](const auto& e) { return fmt::to_string(e.totals.mads); }},
    {"infiniband_sweep_duration_seconds", "gauge", "Duration of the last sweep, in seconds.",
     [](const auto& e) { return fmt::format("{}", mad::in_seconds(e.view.now.end - e.view.now.begin)); }},
    {"infiniband_sweep_timestamp_seconds", "gauge", "Start of the last sweep, in seconds since 1970.",
     [](const auto& e) { return e.view.unix_time < 0 ? std::string() : fmt::format("{:.3f}", e.view.unix_time); }},
    {"infiniband_sweep_ports", "gauge", "Ports that the last sweep queried.",
     [](const auto& e) { return fmt::to_string(e.view.now.ports.size()); }},
    {"infiniband_sweep_complete", "gauge", "1 if the last sweep read all ports and no known node is missing.",
     [](const auto& e) {
         return std::string(e.view.now.complete() && !(e.missing && !e.missing->nodes.empty()) ? "1" : "0");
     }},
    {"infiniband_sweep_judged_ports", "gauge", "Ports checked by health rules; absent without rules.",
     [](const auto& e) {
         if (!e.findings) return std::string();
         return fmt::to_string(std::ranges::count_if(e.view.now.ports, [](const auto& p) { return p.valid; }));
     }},
    {"infiniband_discovery_complete", "gauge", "1 if the last discovery had no failure.",
     [](const auto& e) { return std::string(e.view.subnet.complete() ? "1" : "0"); }},
    {"infiniband_discovery_problems", "gauge", "Failures of the last discovery.",
     [](const auto& e) { return fmt::to_string(e.view.subnet.failures.size()); }},
    {"infiniband_nodes_known", "gauge", "Nodes that a discovery has found or that a --known file lists.",
     [](const auto& e) { return e.missing ? fmt::to_string(e.missing->known_nodes) : std::string(); }},
    {"infiniband_nodes_missing", "gauge", "Known nodes that the last discovery did not find.",
     [](const auto& e) { return e.missing ? fmt::to_string(e.missing->nodes.size()) : std::string(); }},
    {"infiniband_links_known", "gauge", "Links that a discovery has found or that a --known file lists.",
     [](const auto& e) { return e.missing ? fmt::to_string(e.missing->known_links) : std::string(); }},
    {"infiniband_links_down", "gauge", "Known links that are down.",
     [](const auto& e) { return e.missing ? fmt::to_string(e.missing->links_down()) : std::string(); }},
};

void add_sweeps(page& out, const std::vector<exposed_sweep>& all) {
    for (const sweep_series& series : of_sweeps) {
        bool has_started = false;
        for (const exposed_sweep& e : all) {
            const std::string value = series.value(e);
            if (value.empty()) continue;
            if (!std::exchange(has_started, true)) out.begin(series.name, series.type, series.help);
            out.add(fabric_label(e), value);
        }
    }
}

} // namespace

coro::generator<std::string> prometheus_pieces(std::vector<exposed_sweep> all, std::optional<process_cost> process,
                                               std::vector<exposed_device> devices) {
    page out;
    std::string piece; // a named variable, because of a bug in GCC 12
    add_sweeps(out, all);
    if (!devices.empty())
        out.begin("infiniband_device_up", "gauge",
                  "1 if the device that sweeps the fabric is open, 0 while it is disconnected.");
    for (const exposed_device& d : devices)
        out.add(d.fabric.empty() ? std::string() : fmt::format("fabric={}", quoted_label(d.fabric)),
                d.is_up ? "1" : "0");
    if (process) { // these names are common to all exporters
        out.single("process_cpu_seconds_total", "counter", "Processor time, in seconds.",
                   fmt::format("{}", process->cpu_seconds));
        out.single("process_resident_memory_bytes", "gauge", "Resident memory, in bytes.",
                   std::to_string(process->resident_bytes));
    }
    out.begin("infiniband_discovery_problem", "gauge",
              "1 for each location with a failure in the last discovery; port 0 is the node itself.");
    for (const exposed_sweep& e : all) {
        std::set<std::string> places; // two problems of one kind at one location share a series
        for (const discovery::failure& p : e.view.subnet.failures)
            if (places.size() < most_problems) places.insert(problem_labels(e, p));
        for (const std::string& labels : places) out.add(labels, "1");
    }
    out.begin("infiniband_port_missing", "gauge",
              "1 for each port that could not be read; port 0 stands for all ports of the node.");
    for (const exposed_sweep& e : all) {
        for (const discovery::failure& g : e.view.now.failures) {
            const discovery::node& n = *e.view.subnet.find(g.where.nodeGUID);
            out.add(missing_labels(e, {n.info.nodeGUID, n.info.nodeType, n.description}, g.where.port, name_of(g.kind)),
                    "1");
            if (out.is_piece()) {
                piece = out.take();
                co_yield piece;
            }
        }
        for (std::size_t i = 0; e.missing && i < e.missing->nodes.size(); ++i) {
            out.add(missing_labels(e, e.missing->nodes[i], 0, "not_found"), "1");
            if (out.is_piece()) {
                piece = out.take();
                co_yield piece;
            }
        }
    }
    out.begin("infiniband_link_down", "gauge",
              "1 for each known link that is down, once per cable: a port is not up, no reply comes through the "
              "link, or the cable was moved.");
    for (const exposed_sweep& e : all)
        for (std::size_t i = 0; e.missing && i < e.missing->links.size(); ++i) {
            const missing_parts::link& l = e.missing->links[i];
            if (l.why == missing_parts::cause::node) continue;
            out.add(fmt::format("{},cause=\"{}\"", link_labels(e, l.ends), name_of(l.why)), "1");
            if (out.is_piece()) {
                piece = out.take();
                co_yield piece;
            }
        }
    out.begin("infiniband_link_info", "gauge", "1 for each known link, once per cable, with both ports as labels.");
    for (const exposed_sweep& e : all) {
        if (e.metrics != metric_choice::all) continue;
        const discovery::subnet& s = e.view.subnet;
        std::vector<bool> is_swept(s.nodes.size());
        for (const reading& l : e.view.now.ports) is_swept[l.where.node] = true;
        for (u32 n = 0; n < s.nodes.size(); ++n)
            for (unsigned p = 1; p < s.nodes[n].ports.size(); ++p) {
                const discovery::port_ref peer = s.nodes[n].ports[p].peer;
                if (!peer || !(is_swept[n] || is_swept[peer.node])) continue;
                const known_end here{s.nodes[n].info.nodeGUID, static_cast<u8>(p)},
                    there{s.nodes[peer.node].info.nodeGUID, peer.port};
                if (there < here) continue; // the link is added from its other end
                out.add(link_labels(e, {here, there}), "1");
                if (out.is_piece()) {
                    piece = out.take();
                    co_yield piece;
                }
            }
        for (std::size_t i = 0; e.missing && i < e.missing->links.size(); ++i) {
            const missing_parts::link& l = e.missing->links[i];
            if (l.why == missing_parts::cause::moved) continue; // the port has a new cable, which is in the lines above
            out.add(link_labels(e, l.ends), "1");
            if (out.is_piece()) {
                piece = out.take();
                co_yield piece;
            }
        }
    }
    out.begin("infiniband_port_unhealthy", "gauge",
              "1 for each health rule that a port violates, with its counter as a label.");
    for (const exposed_sweep& e : all)
        for (std::size_t i = 0; e.findings && i < e.findings->size(); ++i) {
            const health_finding& f = (*e.findings)[i];
            out.add(fmt::format("{},rule=\"{}\",severity=\"{}\"{}", port_labels(e, f.where), name_of(f.why),
                                name_of(f.how_bad), f.counter.empty() ? "" : fmt::format(",counter=\"{}\"", f.counter)),
                    "1");
            if (out.is_piece()) {
                piece = out.take();
                co_yield piece;
            }
        }
    out.begin("infiniband_port_info", "gauge", "1 for each port, with its node and its neighbor as labels.");
    std::vector<metric_labels> labels;
    labels.reserve(all.size());
    std::string info;
    for (const exposed_sweep& e : all) {
        const metric_labels& of = labels.emplace_back(e);
        for (std::size_t p = 0; p < e.view.now.ports.size(); ++p) {
            if (!of.has_series(p)) continue;
            const discovery::port_ref where = e.view.now.ports[p].where, peer = e.view.subnet.at(where).peer;
            info.clear();
            of.add_info(info, p);
            if (peer) of.add_peer(info, peer);
            else info += peer_labels(e, far_end_of(e, where));
            out.add(info, "1");
            if (out.is_piece()) {
                piece = out.take();
                co_yield piece;
            }
        }
    }
    for (const state_series& series : states_of_ports) {
        out.begin(series.name, "gauge", series.help);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const discovery::subnet& s = all[i].view.subnet;
            const auto& ports = all[i].view.now.ports;
            for (std::size_t p = 0; p < ports.size(); ++p) {
                if (!shows_states(all[i], p) || !s.at(ports[p].where).info) continue;
                if (const auto value = series.value(s, ports[p].where))
                    out.add(labels[i].of_port(p), fmt::format("{}", *value));
                if (out.is_piece()) {
                    piece = out.take();
                    co_yield piece;
                }
            }
        }
    }
    for (unsigned c = 0; c < counter_count; ++c) {
        const auto which = static_cast<counter>(c);
        out.begin(counter_series[c].name, "counter", counter_series[c].help);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto& ports = all[i].view.now.ports;
            if (!labels[i].all_counters().has(which)) continue;
            for (std::size_t p = 0; p < ports.size(); ++p) {
                if (!labels[i].counters_of(p).has(which)) continue;
                const u64 number = ports[p].counters.counters[which];
                if (!is_data(which)) out.add(labels[i].of_port(p), number);
                else if (number <= ~u64{0} / 4) out.add(labels[i].of_port(p), 4 * number);
                else out.add(labels[i].of_port(p), detail::in_units(which, number));
                if (out.is_piece()) {
                    piece = out.take();
                    co_yield piece;
                }
            }
        }
    }
    std::vector<port_detail_set> readable;
    for (const exposed_sweep& e : all) readable.push_back(details_in(e.view.now));
    for (const port_series& series : all_port_series()) {
        bool has_started = false;
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto& ports = all[i].view.now.ports;
            const bool is_detail = series.detail != port_series::no_detail;
            if (is_detail && !(readable[i].has(series.detail) && all[i].details.has(series.detail))) continue;
            if (!series.is_error && all[i].metrics == metric_choice::errors) continue;
            for (std::size_t p = 0; p < ports.size(); ++p) {
                if (!labels[i].has_series(p)) continue;
                const unsigned count = !ports[p].valid ? 0 : series.count ? series.count(all[i], ports[p]) : 1;
                for (unsigned element = 0; element < count; ++element) {
                    const std::string value = series.value(all[i], p, element);
                    if (value.empty() || (is_detail && value == "0" && all[i].metrics != metric_choice::all)) continue;
                    if (!std::exchange(has_started, true)) out.begin(series.name, series.type, series.help);
                    if (series.label.empty()) out.add(labels[i].of_port(p), value);
                    else out.add(fmt::format("{},{}=\"{}\"", labels[i].of_port(p), series.label, element), value);
                }
                if (out.is_piece()) {
                    piece = out.take();
                    co_yield piece;
                }
            }
        }
    }
    out.begin("infiniband_port_counter_pegged", "gauge",
              "1 for each saturated counter; it stays at its maximum until it is cleared.");
    for (const metric_labels& of : labels) {
        for (const auto& [port, which] : of.pegged()) {
            out.add(fmt::format("{},counter=\"{}\"", of.of_port(port), name_of(which)), "1");
            if (out.is_piece()) {
                piece = out.take();
                co_yield piece;
            }
        }
    }
    piece = out.take();
    co_yield piece;
}

std::string prometheus_text(std::vector<exposed_sweep> sweeps, std::optional<process_cost> process,
                            std::vector<exposed_device> devices) {
    auto pieces = prometheus_pieces(std::move(sweeps), process, std::move(devices));
    std::string text;
    while (const std::string* piece = pieces.next()) text += *piece;
    return text;
}

} // namespace comad::counters
