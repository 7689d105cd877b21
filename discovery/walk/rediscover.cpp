// SPDX-License-Identifier: MIT
// rediscover.cpp - finds the possibly stale ports of a known subnet, and queries them again.
#include "worker.hpp"
#include <comad/discovery/walk/changes.hpp>
#include <comad/iba/detail/sa/records.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace comad::discovery {

using coro::MADSchedule;
using coro::task;

// ---- possible changes ----------------------------------------------------------------------------------------------

namespace {

/// The location by which SA records identify an end of a link: the base LID of its end port (without the LMC bits), and the port number.
using sa_place = std::pair<iba::lid, u8>;

sa_place sa_place_of(const subnet& s, port_ref r) {
    const auto& end = s.end_port(r).info;
    return {end ? end->LID : iba::lid{}, r.port};
}

void for_each_link_end(const subnet& s, auto&& use) {
    for (u32 n = 0; n < s.nodes.size(); ++n)
        for (unsigned p = 1; p < s.nodes[n].ports.size(); ++p)
            if (s.nodes[n].ports[p].peer) use(port_ref{n, static_cast<u8>(p)});
}

/// Returns the ports with missing data: a port that is up without a known neighbor, or that was not read.
std::vector<port_ref> missing_in(const subnet& s) {
    std::vector<port_ref> all;
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        const node& one = s.nodes[n];
        if (!one.is_switch()) continue;
        if (!one.switch_info) {
            all.push_back({n, 0});
            continue;
        }
        for (unsigned p = 1; p < one.ports.size(); ++p) {
            const port& here = one.ports[p];
            const bool is_up = here.info && here.info->portPhysicalState == iba::PortPhysicalState::LinkUp;
            if (!here.info || (is_up && !here.peer)) all.push_back({n, static_cast<u8>(p)});
        }
    }
    for (const failure& p : s.failures) {
        const auto known = s.by_guid.find(p.where.nodeGUID);
        if (known != s.by_guid.end() && p.where.port < s.nodes[known->second].ports.size())
            all.push_back({known->second, p.where.port});
    }
    return all;
}

} // namespace

task<mad::result<std::vector<port_ref>>> find_changed_links(MADSchedule& schedule, const subnet& known) {
    auto table = co_await schedule.SubnAdmGetTable<iba::sa::LinkRecord>();
    if (!table) co_return std::move(table.error());

    std::map<sa_place, port_ref> places; // all ports that may have a cable
    for (u32 n = 0; n < known.nodes.size(); ++n)
        for (unsigned p = 1; p < known.nodes[n].ports.size(); ++p) {
            const port_ref here{n, static_cast<u8>(p)};
            const sa_place lid_and_port = sa_place_of(known, here);
            if (value(lid_and_port.first) != 0) places.emplace(lid_and_port, here);
        }
    std::set<std::pair<sa_place, sa_place>> reported_links;
    for (const iba::sa::LinkRecord& r : table.value())
        reported_links.insert({{r.fromLID, r.fromPort}, {r.toLID, r.toPort}});

    std::set<std::pair<u32, u8>> changed;
    const auto note = [&](port_ref r) { changed.emplace(r.node, r.port); };
    for_each_link_end(known, [&](port_ref here) {
        const port_ref there = known.at(here).peer;
        const sa_place from = sa_place_of(known, here), to = sa_place_of(known, there);
        if (reported_links.erase({from, to}) > 0) return;
        note(here);
        note(there);
    });
    for (const auto& [from, to] : reported_links)
        for (const sa_place& end : {from, to})
            if (const auto known_end = places.find(end); known_end != places.end()) note(known_end->second);
    std::vector<port_ref> all;
    for (const auto& [n, p] : changed) all.push_back({n, p});
    co_return all;
}

// ---- further queries -----------------------------------------------------------------------------------------------

namespace {

/// Removes the nodes that no link leads to from the start of the discovery. Only switches forward.
void drop_what_is_gone(subnet& s) {
    std::vector<bool> is_there(s.nodes.size());
    std::vector<u32> reached{0};
    is_there[0] = true;
    for (std::size_t next = 0; next < reached.size(); ++next) {
        const node& here = s.nodes[reached[next]];
        for (unsigned p = 1; p < here.ports.size(); ++p) {
            const port_ref peer = here.ports[p].peer;
            const bool leads_on = here.is_switch() || (reached[next] == 0 && p == s.start_port);
            if (!peer || !leads_on || is_there[peer.node]) continue;
            is_there[peer.node] = true;
            reached.push_back(peer.node);
        }
    }
    std::vector<u32> lid_and_port(s.nodes.size(), port_ref::npos);
    std::vector<node> nodes;
    s.by_guid.clear();
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        if (!is_there[n]) continue;
        lid_and_port[n] = static_cast<u32>(nodes.size());
        nodes.push_back(std::move(s.nodes[n]));
        s.by_guid.emplace(nodes.back().info.nodeGUID, lid_and_port[n]);
    }
    s.nodes = std::move(nodes);
    for (node& n : s.nodes)
        for (port& p : n.ports)
            if (p.peer && lid_and_port[p.peer.node] == port_ref::npos) p.peer = {};
            else if (p.peer) p.peer.node = lid_and_port[p.peer.node];
}

/// Returns whether the discovery ended before all possibly stale ports were queried.
bool was_cut_short(const subnet& s) {
    return std::any_of(s.failures.begin(), s.failures.end(), [](const failure& p) {
        return p.kind == failure_kind::cancelled || p.kind == failure_kind::limit;
    });
}

} // namespace

task<mad::result<subnet>> rediscover(MADSchedule& schedule, const subnet& known, std::vector<port_ref> stale,
                                     discover_options options) {
    options.from_lid = {}; // LIDs may have changed as well
    options.found = nullptr;
    subnet_builder builder(options, {.retries_timeouts = is_measured(schedule)});
    discovery_worker only(schedule, builder, 0);
    auto first = co_await only.query_start();
    if (!first) co_return std::move(first.error());
    if (known.nodes.empty() || !is_same_start(known, first.value())) {
        task<mad::result<subnet>> fresh = discover(schedule, options);
        co_return co_await std::move(fresh);
    }
    const std::vector<port_ref> missing = missing_in(known);
    stale.insert(stale.end(), missing.begin(), missing.end());
    builder.begin_with(known, stale);
    only.begin(first.value());
    const bool is_whole = co_await run_rounds(only, builder);
    subnet now = builder.finish(!is_whole);
    if (!was_cut_short(now)) {
        drop_what_is_gone(now);
        put_in_order(now);
    }
    co_return now;
}

namespace {

/// Returns the ports that are not Active yet. LinkRecords do not show when they become Active.
std::vector<port_ref> not_yet_active(const subnet& s) {
    std::vector<port_ref> all;
    for_each_link_end(s, [&](port_ref here) {
        const auto& info = s.at(here).info;
        const bool is_on_its_way =
            info && (info->portState == iba::PortState::Initialize || info->portState == iba::PortState::Armed);
        if (is_on_its_way) all.push_back(here);
    });
    return all;
}

/// Returns whether a subnet manager has configured the local port, so that the SA can be queried.
task<mad::result<bool>> has_manager(MADSchedule& schedule, const discover_options& options) {
    mad::IBDRPath local;
    if (options.keys) local.MKey = options.keys->of(mad::key_kind::MKey, options.start_portGUID);
    auto info = co_await schedule.SubnGet<iba::smp::PortInfo>(local, 0);
    if (!info) co_return std::move(info.error());
    co_return value(info.value().masterSMLID) != 0 && info.value().portState == iba::PortState::Active;
}

} // namespace

task<mad::result<std::vector<port_ref>>> find_possibly_stale(MADSchedule& schedule, const subnet& known,
                                                             change_source source, discover_options options) {
    bool is_managed = true;
    if (source == change_source::automatic) {
        auto manager = co_await has_manager(schedule, options);
        if (!manager) co_return std::move(manager.error());
        is_managed = manager.value();
    }
    if (source == change_source::sa || (source == change_source::automatic && is_managed)) {
        auto changed = co_await find_changed_links(schedule, known);
        if (!changed && (source == change_source::sa || changed.error().code == mad::errc::cancelled))
            co_return std::move(changed);
        if (changed) {
            const std::vector<port_ref> unsettled = not_yet_active(known);
            changed.value().insert(changed.value().end(), unsettled.begin(), unsettled.end());
            co_return std::move(changed);
        }
    }
    const std::vector<change> changes = co_await find_changes(schedule, known, options.keys, !is_managed);
    std::vector<port_ref> stale;
    for (const change& c : changes)
        if (c.where) stale.push_back(c.where);
    co_return stale;
}

task<mad::result<subnet>> rediscover(MADSchedule& schedule, const subnet& known, change_source source,
                                     discover_options options) {
    auto stale = co_await find_possibly_stale(schedule, known, source, options);
    if (!stale) co_return std::move(stale.error());
    task<mad::result<subnet>> again = rediscover(schedule, known, std::move(stale).value(), options);
    co_return co_await std::move(again);
}

// ---- nodes with a new description ----------------------------------------------------------------------------------

namespace {

mad::any_path path_to(const subnet& s, u32 n, const discover_options& options) {
    const node& to = s.nodes[n];
    const u64 MKey = options.keys ? options.keys->of(mad::key_kind::MKey, to.info.portGUID) : 0;
    mad::IBPath path;
    path.DLID = s.lid_at({n, to.info.localPortNum});
    if (options.from_lid != iba::lid{} && path.DLID != iba::lid{} && n != 0) {
        path.SLID = options.from_lid;
        path.MKey = MKey;
        return path;
    }
    mad::IBDRPath route = to.route;
    route.MKey = MKey;
    return route;
}

task<void> compare_description(MADSchedule& schedule, const subnet& s, u32 n, const discover_options& options,
                               std::vector<port_ref>& changed) {
    const mad::any_path path = path_to(s, n, options);
    auto now = co_await schedule.SubnGet<iba::smp::NodeDescription>(path);
    const bool is_same =
        now ? iba::smp::text(now.value()) == s.nodes[n].description : now.error().code == mad::errc::cancelled;
    if (!is_same) changed.push_back({n, 0});
}

coro::generator<task<void>> descriptions(MADSchedule& schedule, const subnet& s, const std::vector<u32>& nodes,
                                         const discover_options& options, std::vector<port_ref>& changed) {
    for (const u32 n : nodes) co_yield compare_description(schedule, s, n, options, changed);
}

} // namespace

task<std::vector<port_ref>> find_changed_nodes(MADSchedule& schedule, const subnet& known, std::vector<u32> nodes,
                                               discover_options options) {
    std::vector<port_ref> changed;
    co_await schedule.mqueue(descriptions(schedule, known, nodes, options, changed));
    co_return changed;
}

} // namespace comad::discovery
