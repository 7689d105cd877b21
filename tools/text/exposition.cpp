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
    std::string take() { return std::move(text_); }

private:
    std::string_view name_;
    std::string text_;
};

std::string place(const sweep_view& v, discovery::port_ref where) {
    return fmt::format("node_guid=\"{}\",port=\"{}\"", v.subnet.nodes[where.node].info.nodeGUID, where.port);
}

std::string_view type_of(const discovery::node& n) {
    const discovery::node_words words = discovery::words_of(n.info.nodeType);
    return words.are_known() ? words.lower : "unknown";
}

std::string what_is_known(const sweep_view& v, discovery::port_ref where) {
    const discovery::node& n = v.subnet.nodes[where.node];
    const discovery::port& end = v.subnet.end_port(where);
    const discovery::port_ref peer = v.subnet.at(where).peer;
    std::string labels = fmt::format("{},node={},type=\"{}\",lid=\"{}\"", place(v, where), quoted_label(v.names.of(n)),
                                     type_of(n), end.info ? value(end.info->LID) : 0);
    if (peer)
        labels +=
            fmt::format(",peer_node_guid=\"{}\",peer_port=\"{}\",peer_node={}", v.subnet.nodes[peer.node].info.nodeGUID,
                        peer.port, quoted_label(v.names.of(v.subnet.nodes[peer.node])));
    return labels;
}

template <class F> void for_each_told(const sweep_view& v, const std::vector<std::string>& places, F&& f) {
    for (std::size_t i = 0; i < v.now.ports.size(); ++i)
        if (v.now.ports[i].is_told) f(places[i], v.now.ports[i]);
}

void add_sweep(page& out, const sweep_view& v, const sweep_totals& totals) {
    const double seconds = comad::mad::in_seconds(v.now.end - v.now.begin);
    out.single("infiniband_sweeps_total", "counter", "Sweeps made.", std::to_string(totals.sweeps));
    out.single("infiniband_sweeps_skipped_total", "counter",
               "Sweeps skipped because another one went on or the device was lost.", std::to_string(totals.skipped));
    out.single("infiniband_sweep_mads_total", "counter", "MADs sent by sweeps, repeated ones included.",
               std::to_string(totals.MADs));
    out.single("infiniband_sweep_duration_seconds", "gauge", "How long the last sweep took.",
               fmt::format("{}", seconds));
    if (v.unix_time >= 0)
        out.single("infiniband_sweep_timestamp_seconds", "gauge", "When the last sweep began.",
                   fmt::format("{:.3f}", v.unix_time));
    out.single("infiniband_sweep_ports", "gauge", "Ports that the last sweep asked for.",
               std::to_string(v.now.ports.size()));
    out.single("infiniband_sweep_complete", "gauge", "1 if the last sweep read all of them.",
               v.now.complete() ? "1" : "0");
}

} // namespace

std::string exposition(const sweep_view& v, const sweep_totals& totals, const process_cost& cost) {
    page out;
    add_sweep(out, v, totals);
    // As all exporters call them.
    out.single("process_cpu_seconds_total", "counter", "Processor time, in seconds.",
               fmt::format("{}", cost.CPU_seconds));
    out.single("process_resident_memory_bytes", "gauge", "Resident memory, in bytes.",
               std::to_string(cost.resident_bytes));
    out.begin("infiniband_port_missing", "gauge", "1 for a port that could not be read; port 0: all of that node.");
    for (const counters::gap& g : v.now.gaps)
        out.add(fmt::format("{},cause=\"{}\"", place(v, g.where), name_of(g.what)), "1");
    out.begin("infiniband_port_info", "gauge", "1 for each port: what it belongs to and where its cable leads.");
    std::vector<std::string> places;
    for (const counters::reading& l : v.now.ports) {
        places.push_back(place(v, l.where));
        out.add(what_is_known(v, l.where), "1");
    }
    counters::for_each_counter([&](counters::counter c) {
        const series_name& series = counter_series[static_cast<unsigned>(c)];
        out.begin(series.name, "counter", series.help);
        for_each_told(v, places, [&](const std::string& where, const counters::reading& l) {
            if (l.counters.counters.has(c)) out.add(where, in_units(c, l.counters.counters[c]));
        });
    });
    out.begin("infiniband_port_counter_pegged", "gauge",
              "1 for a counter that stands at its end, where it stays until it is cleared.");
    for_each_told(v, places, [&](const std::string& where, const counters::reading& l) {
        counters::for_each_counter([&](counters::counter c) {
            if (l.counters.counters.has(c) && l.counters.counters.is_pegged(c))
                out.add(fmt::format("{},counter=\"{}\"", where, name_of(c)), "1");
        });
    });
    return out.take();
}

} // namespace ibtool
