// SPDX-License-Identifier: MIT
// sweep_json.cpp - formats sweeps as lines of JSON. Only here do the library and ibtool format JSON without a JSON library, for the lines
// of ports. A sweep of a large fabric writes hundreds of thousands of them, often every few seconds. Built as a value, a line takes more
// than three times as long (9 us instead of 2.6 us for 22 counters).
#include <comad/counters/detail/sweep_rows.hpp>
#include <comad/counters/detail/sweep_state_json.hpp>
#include <comad/counters/formats.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/json.hpp>

#include <fmt/format.h>

#include <iterator>
#include <string_view>
#include <type_traits>
#include <variant>

namespace comad::counters {

using iba::detail::json_compact, iba::detail::json_line, iba::detail::json_number, iba::detail::json_string;

std::string counters_json(const counter_values& values) {
    std::string text = "{";
    for_each_counter([&](counter c) {
        if (values.has(c))
            fmt::format_to(std::back_inserter(text), "{}\"{}\":{}", text.size() > 1 ? "," : "", name_of(c), values[c]);
    });
    return text + '}';
}

namespace {

nlohmann::ordered_json sweep_time_json(const sweep_view& v) {
    constexpr unsigned milliseconds = 3;
    nlohmann::ordered_json all{{"sweep", v.number}, {"seconds", json_number(v.seconds)}};
    if (v.unix_time >= 0) all["time"] = json_number(v.unix_time, milliseconds);
    return all;
}

u16 swept_lid(const sweep_view& v, const reading& r) {
    const discovery::port& end = v.subnet.end_port(r.where);
    return end.info ? value(end.info->LID) : u16{0};
}

/// Returns the members of a port about its link: state, active width and speed, data rate, tick, and error correction as far as known.
std::string link_members(const sweep_view& v, const reading& r) {
    const discovery::port& p = v.subnet.at(r.where);
    if (!p.info) return {};
    std::string all =
        fmt::format(",\"portState\":\"{}\",\"portPhysicalState\":\"{}\"", iba::name_or_number(p.info->portState),
                    iba::name_or_number(p.info->portPhysicalState));
    if (p.info->portState != iba::PortState::Down)
        fmt::format_to(std::back_inserter(all),
                       ",\"linkWidthActive\":\"{}\",\"linkSpeedActive\":\"{}\",\"bits_per_second\":{:.0f}",
                       discovery::format_link_width(p), discovery::format_link_speed(v.subnet, r.where),
                       discovery::data_bits_per_second(v.subnet, r.where));
    if (const auto tick = tick_seconds(v.subnet, r))
        fmt::format_to(std::back_inserter(all), ",\"tick_seconds\":{}", *tick);
    if (r.FEC) fmt::format_to(std::back_inserter(all), ",\"FECModeActive\":\"{}\"", iba::name_or_number(*r.FEC));
    return all;
}

/// Returns the members of a port about the use of its link since the sweep before.
std::string use_members(const link_use& use) {
    std::string all;
    if (use.xmit && use.rcv)
        fmt::format_to(std::back_inserter(all), ",\"utilization\":{{\"xmit\":{},\"rcv\":{}}}", use.xmit->value,
                       use.rcv->value);
    if (use.congestion) fmt::format_to(std::back_inserter(all), ",\"congestion\":{}", use.congestion->value);
    return all;
}

/// Returns the line of a port. `time` is the start of the line, an object without its closing brace.
std::string port_line(const sweep_view& v, std::string_view time, const detail::sweep_row& r) {
    std::string in_bytes, pegged, changes;
    const auto add = [](std::string& list, std::string text) { list += (list.empty() ? "" : ",") + text; };
    const counter_values& now = r.now.counters.counters;
    for_each_counter([&](counter c) {
        if (!now.has(c)) return;
        if (is_data(c)) add(in_bytes, fmt::format("\"{}\":{}", name_of(c), detail::in_units(c, now[c])));
        if (now.is_pegged(c)) add(pegged, fmt::format("\"{}\"", name_of(c)));
        if (!r.has_changes()) return;
        const counter_change change = r.change(c);
        if (change.what == counter_change::state::counted && change.value == 0) return; // the usual case
        const std::string bytes = is_data(c) ? ",\"bytes\":" + detail::in_units(c, change.value) : "";
        add(changes, fmt::format("\"{}\":{{\"state\":\"{}\",\"value\":{}{},\"per_second\":{}}}", name_of(c),
                                 name_of(change.what), change.value, bytes, rate_of(c, change, r.interval())));
    });
    const discovery::node& n = v.subnet.nodes[r.now.where.node];
    std::string line =
        fmt::format("{},\"nodeGUID\":\"{}\",\"description\":{},\"port\":{},\"LID\":{},\"counters\":{},\"bytes\":{{{}}},"
                    "\"pegged\":[{}]",
                    time, n.info.nodeGUID, json_compact(json_string(v.names.raw(n))), r.now.where.port,
                    swept_lid(v, r.now), counters_json(now), in_bytes, pegged);
    line += link_members(v, r.now);
    if (r.has_changes())
        line += fmt::format(",\"interval_seconds\":{},\"changes\":{{{}}}{}", mad::in_seconds(r.interval()), changes,
                            use_members(r.use(v.subnet)));
    std::string details;
    for (const port_detail& d : r.now.details) {
        std::visit(
            [&](const auto& group) {
                using T = std::remove_cvref_t<decltype(group)>;
                add(details, fmt::format("\"{}\":{}", attribute_name<T>, iba::json(group)));
            },
            d);
    }
    if (!details.empty()) line += fmt::format(",\"details\":{{{}}}", details);
    return line + "}\n";
}

nlohmann::ordered_json failure_json(const sweep_view& v, const discovery::failure& g) {
    const discovery::port_ref where = v.subnet.find(g.where);
    const discovery::node& n = v.subnet.nodes[where.node];
    nlohmann::ordered_json all = sweep_time_json(v);
    all["nodeGUID"] = fmt::format("{}", n.info.nodeGUID);
    all["description"] = json_string(v.names.raw(n));
    all["port"] = where.port;
    all["missing"] = name_of(g.kind);
    all["why"] = json_string(g.text);
    return all;
}

} // namespace

nlohmann::ordered_json detail::earlier_sweep_json(const earlier_sweep& e) {
    constexpr unsigned milliseconds = 3;
    return {{"file", json_string(e.file)},
            {"sweep", e.number},
            {"time", json_number(e.unix_time, milliseconds)},
            {"seconds", json_number(e.seconds, milliseconds)},
            {"new_ports", e.new_ports},
            {"gone_ports", e.gone_ports},
            {"cleared_ports", e.cleared_ports},
            {"restarted_ports", e.restarted_ports}};
}

nlohmann::ordered_json detail::sweep_state_json(const sweep_view& v) {
    nlohmann::ordered_json all = sweep_time_json(v);
    all["ports"] = v.now.ports.size();
    all["gaps"] = v.now.failures.size();
    all["MADs"] = v.now.mads;
    all["duration_seconds"] = json_number(mad::in_seconds(v.now.end - v.now.begin));
    if (v.since) all["since"] = earlier_sweep_json(*v.since);
    return all;
}

std::string sweep_json(const sweep_view& v, const row_selection& selection) {
    nlohmann::ordered_json head{{"schema", "comad.sweep/1"}};
    head.update(detail::sweep_state_json(v));
    head["complete"] = v.now.complete() && v.subnet.complete();
    std::string text = json_line(head);
    std::string time = json_compact(sweep_time_json(v));
    time.pop_back();
    for (const std::size_t i : detail::rows_of(v, selection)) text += port_line(v, time, detail::sweep_row_at(v, i));
    for (const discovery::failure& g : v.now.failures) text += json_line(failure_json(v, g));
    return text;
}

} // namespace comad::counters
