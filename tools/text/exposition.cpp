// SPDX-License-Identifier: MIT
// exposition.cpp - one family of series after the other.
#include "text/exposition.hpp"

#include <comad/discovery/node_words.hpp>
#include <comad/iba/format.hpp>
#include <comad/iba/text.hpp>

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <string_view>
#include <utility>

namespace ibtool {
namespace {

namespace discovery = comad::discovery;
namespace iba = comad::iba;
namespace counters = comad::counters;

struct series_name {
    std::string_view name, help;
};

// clang-format off
/// By counters::counter.
constexpr std::array<series_name, counters::counter_count> counter_series{{
    {"infiniband_port_xmit_data_bytes_total", "Bytes sent on all virtual lanes, four times portXmitData."},
    {"infiniband_port_rcv_data_bytes_total", "Bytes received on all virtual lanes, four times portRcvData."},
    {"infiniband_port_xmit_packets_total", "Packets sent (portXmitPkts)."},
    {"infiniband_port_rcv_packets_total", "Packets received (portRcvPkts)."},
    {"infiniband_port_unicast_xmit_packets_total", "Unicast packets sent (portUnicastXmitPkts)."},
    {"infiniband_port_unicast_rcv_packets_total", "Unicast packets received (portUnicastRcvPkts)."},
    {"infiniband_port_multicast_xmit_packets_total", "Multicast packets sent (portMulticastXmitPkts)."},
    {"infiniband_port_multicast_rcv_packets_total", "Multicast packets received (portMulticastRcvPkts)."},
    {"infiniband_port_symbol_errors_total", "Minor errors seen on lanes (symbolErrorCounter)."},
    {"infiniband_port_link_error_recoveries_total", "Times that the link recovered from errors (linkErrorRecoveryCounter)."},
    {"infiniband_port_link_downed_total", "Times that the link failed to recover and went down (linkDownedCounter)."},
    {"infiniband_port_rcv_errors_total", "Packets received with errors (portRcvErrors)."},
    {"infiniband_port_rcv_remote_physical_errors_total", "Packets received that were marked bad before (portRcvRemotePhysicalErrors)."},
    {"infiniband_port_rcv_switch_relay_errors_total", "Packets received that the switch could not pass on (portRcvSwitchRelayErrors)."},
    {"infiniband_port_xmit_discards_total", "Packets to be sent that were thrown away (portXmitDiscards)."},
    {"infiniband_port_xmit_constraint_errors_total", "Packets not sent for partition or raw filters (portXmitConstraintErrors)."},
    {"infiniband_port_rcv_constraint_errors_total", "Packets not received for partition or raw filters (portRcvConstraintErrors)."},
    {"infiniband_port_local_link_integrity_errors_total", "Local physical errors beyond the threshold (localLinkIntegrityErrors)."},
    {"infiniband_port_excessive_buffer_overrun_errors_total", "Overruns of buffers beyond the threshold (excessiveBufferOverrunErrors)."},
    {"infiniband_port_vl15_dropped_total", "Packets of subnet management dropped for want of buffers (VL15Dropped)."},
    {"infiniband_port_xmit_wait_ticks_total", "Ticks with data to send and no credits to send them (portXmitWait)."},
    {"infiniband_port_qp1_dropped_total", "Packets to queue pair 1 dropped for want of buffers (QP1Dropped)."},
}};
// clang-format on
static_assert(counter_series.back().name == "infiniband_port_qp1_dropped_total");

/// The value of a label.
std::string quoted_label(std::string_view text) {
    std::string quoted = "\"";
    for (const char c : iba::escaped(text)) {
        if (c == '"' || c == '\\') quoted += '\\';
        quoted += c;
    }
    return quoted + '"';
}

/// The text under construction: a million lines of a large subnet, so that a line is a few copies.
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

/// The label of the fabric, if it has one, in front of others.
std::string fabric_label(const exposed_sweep& e) {
    return e.fabric.empty() ? std::string() : fmt::format("fabric={}", quoted_label(e.fabric));
}

std::string place(const exposed_sweep& e, discovery::port_ref where) {
    const std::string label = fabric_label(e);
    return fmt::format("{}{}node_guid=\"{}\",port=\"{}\"", label, label.empty() ? "" : ",",
                       e.view.subnet.nodes[where.node].info.nodeGUID, where.port);
}

std::string_view type_of(const discovery::node& n) {
    const discovery::node_words words = discovery::words_of(n.info.nodeType);
    return words.are_known() ? words.lower : "unknown";
}

std::string what_is_known(const exposed_sweep& e, discovery::port_ref where) {
    const sweep_view& v = e.view;
    const discovery::node& n = v.subnet.nodes[where.node];
    const discovery::port& end = v.subnet.end_port(where);
    const discovery::port_ref peer = v.subnet.at(where).peer;
    std::string labels = fmt::format("{},node={},type=\"{}\",lid=\"{}\"", place(e, where), quoted_label(v.names.of(n)),
                                     type_of(n), end.info ? value(end.info->LID) : 0);
    if (peer)
        labels +=
            fmt::format(",peer_node_guid=\"{}\",peer_port=\"{}\",peer_node={}", v.subnet.nodes[peer.node].info.nodeGUID,
                        peer.port, quoted_label(v.names.of(v.subnet.nodes[peer.node])));
    return labels;
}

/// A series that a fabric has one of.
struct sweep_series {
    std::string_view name, type, help;
    std::string (*value)(const exposed_sweep&); ///< empty: there is none
};
const sweep_series of_sweeps[] = {
    {"infiniband_sweeps_total", "counter", "Sweeps made.",
     [](const auto& e) { return fmt::to_string(e.totals.sweeps); }},
    {"infiniband_sweeps_skipped_total", "counter", "Sweeps skipped because another one went on or the device was lost.",
     [](const auto& e) { return fmt::to_string(e.totals.skipped); }},
    {"infiniband_sweep_mads_total", "counter", "MADs sent by sweeps, repeated ones included.",
     [](const auto& e) { return fmt::to_string(e.totals.MADs); }},
    {"infiniband_sweep_duration_seconds", "gauge", "How long the last sweep took.",
     [](const auto& e) { return fmt::format("{}", comad::mad::in_seconds(e.view.now.end - e.view.now.begin)); }},
    {"infiniband_sweep_timestamp_seconds", "gauge", "When the last sweep began.",
     [](const auto& e) { return e.view.unix_time < 0 ? std::string() : fmt::format("{:.3f}", e.view.unix_time); }},
    {"infiniband_sweep_ports", "gauge", "Ports that the last sweep asked for.",
     [](const auto& e) { return fmt::to_string(e.view.now.ports.size()); }},
    {"infiniband_sweep_complete", "gauge", "1 if the last sweep read all of them.",
     [](const auto& e) { return std::string(e.view.now.complete() ? "1" : "0"); }},
};

void add_sweeps(page& out, const std::vector<exposed_sweep>& all) {
    for (const sweep_series& series : of_sweeps) {
        bool has_begun = false;
        for (const exposed_sweep& e : all) {
            const std::string value = series.value(e);
            if (value.empty()) continue;
            if (!std::exchange(has_begun, true)) out.begin(series.name, series.type, series.help);
            out.add(fabric_label(e), value);
        }
    }
}

} // namespace

comad::coro::generator<std::string> exposition_pieces(std::vector<exposed_sweep> all, process_cost cost) {
    page out;
    std::string piece; // named, for GCC 12
    add_sweeps(out, all);
    // As all exporters call them.
    out.single("process_cpu_seconds_total", "counter", "Processor time, in seconds.",
               fmt::format("{}", cost.CPU_seconds));
    out.single("process_resident_memory_bytes", "gauge", "Resident memory, in bytes.",
               std::to_string(cost.resident_bytes));
    out.begin("infiniband_port_missing", "gauge", "1 for a port that could not be read; port 0: all of that node.");
    for (const exposed_sweep& e : all)
        for (const counters::gap& g : e.view.now.gaps) {
            out.add(fmt::format("{},cause=\"{}\"", place(e, g.where), name_of(g.what)), "1");
            if (out.is_piece()) {
                piece = out.take();
                co_yield piece;
            }
        }
    out.begin("infiniband_port_unhealthy", "gauge",
              "1 for each rule of health that a port breaks, with the counter that it is about.");
    for (const exposed_sweep& e : all)
        for (const counters::health_finding& f : e.findings) {
            out.add(fmt::format("{},rule=\"{}\",severity=\"{}\"{}", place(e, f.where), name_of(f.why),
                                name_of(f.how_bad), f.counter.empty() ? "" : fmt::format(",counter=\"{}\"", f.counter)),
                    "1");
            if (out.is_piece()) {
                piece = out.take();
                co_yield piece;
            }
        }
    out.begin("infiniband_port_info", "gauge", "1 for each port: what it belongs to and where its cable leads.");
    std::vector<std::vector<std::string>> places(all.size());
    for (std::size_t i = 0; i < all.size(); ++i)
        for (const counters::reading& l : all[i].view.now.ports) {
            places[i].push_back(place(all[i], l.where));
            out.add(what_is_known(all[i], l.where), "1");
            if (out.is_piece()) {
                piece = out.take();
                co_yield piece;
            }
        }
    for (unsigned c = 0; c < counters::counter_count; ++c) {
        const auto which = static_cast<counters::counter>(c);
        out.begin(counter_series[c].name, "counter", counter_series[c].help);
        for (std::size_t i = 0; i < all.size(); ++i) {
            const auto& ports = all[i].view.now.ports;
            for (std::size_t p = 0; p < ports.size(); ++p) {
                const auto& told = ports[p].counters.counters;
                if (ports[p].is_told && told.has(which)) out.add(places[i][p], in_units(which, told[which]));
                if (out.is_piece()) {
                    piece = out.take();
                    co_yield piece;
                }
            }
        }
    }
    out.begin("infiniband_port_counter_pegged", "gauge",
              "1 for a counter that stands at its end, where it stays until it is cleared.");
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& ports = all[i].view.now.ports;
        for (std::size_t p = 0; p < ports.size(); ++p) {
            const auto& told = ports[p].counters.counters;
            for (unsigned c = 0; c < counters::counter_count && ports[p].is_told; ++c) {
                const auto which = static_cast<counters::counter>(c);
                if (told.has(which) && told.is_pegged(which))
                    out.add(fmt::format("{},counter=\"{}\"", places[i][p], name_of(which)), "1");
            }
            if (out.is_piece()) {
                piece = out.take();
                co_yield piece;
            }
        }
    }
    piece = out.take();
    co_yield piece;
}

std::string exposition(const sweep_view& v, const sweep_totals& totals, const process_cost& cost) {
    std::vector<exposed_sweep> one{{v, totals}};
    auto pieces = exposition_pieces(std::move(one), cost);
    std::string text;
    while (const std::string* piece = pieces.next()) text += *piece;
    return text;
}

} // namespace ibtool
