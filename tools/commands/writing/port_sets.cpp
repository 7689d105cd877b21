// SPDX-License-Identifier: MIT
// port_sets.cpp - changes the states of many ports, from the farthest to the nearest, so that each port is still reachable when it is
// changed.
#include "commands/writing/port_sets.hpp"

#include "comad.hpp"
#include "commands/writing/port_write.hpp"
#include "session/queries.hpp"
#include "text/json.hpp"
#include "text/link_json.hpp"
#include "text/local_ports.hpp"
#include "text/subnet_missing.hpp"
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace ibtool {
namespace {

using discovery::port_ref;
using discovery::subnet;

/// The result of one port.
struct set_outcome {
    std::optional<smp::PortInfo> before, after;
    bool is_there_already = false;
    std::string note; ///< evidence of a change that is over already
    std::vector<discovery::failure> missing;
};

/// Returns whether the port has the requested state, so that no write is needed. `down` changes only the state of a link that a subnet
/// manager has configured.
bool is_there_already(const port_change& c, const smp::PortInfo& now) {
    const bool is_disabled = now.portPhysicalState == iba::PortPhysicalState::Disabled;
    if (c.state == "enable") return !is_disabled;
    if (c.state == "disable") return is_disabled;
    return now.portState == iba::PortState::Down || now.portState == iba::PortState::Initialize;
}

/// Reads one port, changes it if necessary, and reads it back. Never returns an error: failures are in the outcome.
coro::task<mad::result<set_outcome>> set_one(session& in, const subnet& s, port_set p, const port_sets_options& how) {
    set_outcome o;
    const auto is_not_changed = [&](const mad::mad_error& e) {
        o.missing.push_back(
            of_write(missing_at(s, p.where, "not changed: " + to_string(e), "not changed: " + plain_text(e))));
    };
    const mad::any_path path = in.options().keys.put_into(p.route, s.nodes[p.where.node].info.portGUID);
    const auto& end = s.end_port(p.where).info;
    const u32 modifier = p.where.port | (end && discovery::has_extended_speeds(*end) ? 1u << 31 : 0);
    const auto now = co_await in.SubnGet<smp::PortInfo>(path, modifier);
    if (!now) {
        is_not_changed(now.error());
        co_return o;
    }
    o.before = now.value();
    o.is_there_already = is_there_already(how.change, *o.before);
    if (o.is_there_already || how.dry_run) co_return o;
    auto writing =
        write_port(in, {path, {}, modifier, end ? end->LID : iba::lid{}, p.where.port, *o.before}, how.change);
    written_port done = co_await std::move(writing);
    if (done.refusal) is_not_changed(*done.refusal);
    o.after = done.after;
    o.note = std::move(done.note);
    for (const discovery::failure& m : done.problems)
        o.missing.push_back(of_write(missing_at(s, p.where, m.text, m.cause)));
    co_return o;
}

std::string format_states(const smp::PortInfo& p) {
    return format_state(p.portState) + '/' + format_physical_state(p.portPhysicalState);
}
nlohmann::ordered_json states_json(const smp::PortInfo& p) {
    return {{"portState", iba::name_or_number(p.portState)},
            {"portPhysicalState", iba::name_or_number(p.portPhysicalState)}};
}

std::string place_of(const subnet& s, port_ref r, const discovery::node_names& names) {
    const discovery::node& n = s.nodes[r.node];
    return fmt::format("{} 0x{:016x} \"{}\" port {}", discovery::names_of_type(n.info.nodeType).name,
                       value(n.info.nodeGUID), names.of(n), r.port);
}

std::string text_of(const subnet& s, const port_set& p, const set_outcome& o, const port_sets_options& how) {
    if (!o.before) return {};
    if (how.json) {
        nlohmann::ordered_json line = place_json(s, p.where, how.names);
        line["before"] = states_json(*o.before);
        line["set"] = o.is_there_already ? std::vector<std::string>{} : how.change.fields;
        line["dry_run"] = how.dry_run;
        if (o.after) line["after"] = states_json(*o.after);
        return json_line(line);
    }
    std::string end;
    if (o.is_there_already) end = ": nothing to do";
    else if (how.dry_run) end = fmt::format("; without --dry-run {} would be set", fmt::join(how.change.fields, ", "));
    else if (o.after) end = " -> " + format_states(*o.after);
    if (!o.note.empty()) end += "; " + o.note;
    return fmt::format("{}: {}{}\n", place_of(s, p.where, how.names), format_states(*o.before), end);
}

} // namespace

coro::task<report> set_ports(session& in, const subnet& s, std::vector<port_set> ports, const port_sets_options& how) {
    std::ranges::stable_sort(ports, std::greater{}, [](const port_set& p) { return p.route.hopCount; });
    report result;
    for (auto first = ports.begin(); first != ports.end();) {
        const auto last = std::find_if(first, ports.end(),
                                       [&](const port_set& p) { return p.route.hopCount != first->route.hopCount; });
        std::vector<coro::task<mad::result<set_outcome>>> running;
        for (auto p = first; p != last; ++p) running.push_back(set_one(in, s, *p, how));
        const auto outcomes = co_await all(std::move(running));
        for (const set_outcome& o : outcomes.value()) {
            result.text += text_of(s, *first++, o, how);
            result.missing.insert(result.missing.end(), o.missing.begin(), o.missing.end());
        }
    }
    co_return result;
}

std::vector<std::optional<mad::IBDRPath>> routes_without(const subnet& s, std::span<const port_ref> ports) {
    const auto is_left_out = [&](port_ref r) {
        return std::ranges::any_of(ports, [&](port_ref p) { return p == r || s.at(p).peer == r; });
    };
    std::vector<std::optional<mad::IBDRPath>> routes(s.nodes.size());
    routes.front().emplace();
    std::vector<u32> reached{0};
    for (std::size_t i = 0; i < reached.size(); ++i) {
        const u32 from = reached[i];
        const discovery::node& n = s.nodes[from];
        for (unsigned number = 1; number < n.ports.size(); ++number) {
            const port_ref here{from, static_cast<u8>(number)}, there = s.at(here).peer;
            const bool leads_on = n.is_switch() || (from == 0 && number == s.start_port);
            if (!there || !leads_on || routes[there.node] || is_left_out(here)) continue;
            if (routes[from]->hopCount + 1u >= mad::IBDRPath{}.drPath.size()) continue;
            routes[there.node] = routes[from]->extended(here.port);
            reached.push_back(there.node);
        }
    }
    return routes;
}

} // namespace ibtool
