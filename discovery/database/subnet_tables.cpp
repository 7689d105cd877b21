// SPDX-License-Identifier: MIT
// subnet_tables.cpp - determines which blocks exist, and reads them from the ports or from the SA.
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/database/detail/subnet_tables.hpp>
#include <comad/iba/detail/sa/records.hpp>
#include <comad/sa/detail/no_records.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace comad::discovery {
namespace {

using iba::smp::GUIDInfo;
using iba::smp::PKeyTable;
using iba::smp::SLToVLMappingTable;
using iba::smp::SMInfo;
using iba::smp::VLArbitrationTable;

template <class F> void for_each_read_port(const subnet& s, F&& f) {
    for (u32 n = 0; n < s.nodes.size(); ++n)
        for (unsigned p = 0; p < s.nodes[n].ports.size(); ++p)
            if (const auto& info = s.nodes[n].ports[p].info) f(s.nodes[n], port_ref{n, static_cast<u8>(p)}, *info);
}

bool carries_data(const node& n, port_ref r) {
    if (n.is_switch() && r.port == 0) return n.switch_info && n.switch_info->enhancedPort0;
    return static_cast<bool>(n.ports[r.port].peer);
}

unsigned blocks_of(unsigned entries, unsigned in_a_block) { return (entries + in_a_block - 1) / in_a_block; }

// ---- existing blocks (IBA 14.2.5) -----------------------------------------------------------------------------------

template <class T> std::vector<table_key> places_of(const subnet&);

template <> std::vector<table_key> places_of<PKeyTable>(const subnet& s) {
    std::vector<table_key> all;
    for_each_read_port(s, [&](const node& n, port_ref r, const iba::smp::PortInfo&) {
        const unsigned enforced = n.switch_info ? n.switch_info->partitionEnforcementCap : 0;
        const unsigned entries = is_end_port(n, r.port) ? n.info.partitionCap : enforced;
        for (unsigned block = 0; block < blocks_of(entries, 32); ++block)
            all.push_back({r, (n.is_switch() ? u32{r.port} << 16 : 0) | block});
    });
    return all;
}

template <> std::vector<table_key> places_of<SLToVLMappingTable>(const subnet& s) {
    std::vector<table_key> all;
    for_each_read_port(s, [&](const node& n, port_ref r, const iba::smp::PortInfo& info) {
        if (!carries_data(n, r) || value(info.VLCap) < 2) return;
        if (!n.is_switch()) {
            all.push_back({r, 0});
            return;
        }
        for (unsigned in = 0; in < n.ports.size(); ++in)
            if (carries_data(n, {r.node, static_cast<u8>(in)})) all.push_back({r, in << 8 | r.port});
    });
    return all;
}

template <> std::vector<table_key> places_of<VLArbitrationTable>(const subnet& s) {
    std::vector<table_key> all;
    for_each_read_port(s, [&](const node& n, port_ref r, const iba::smp::PortInfo& info) {
        if (!carries_data(n, r) || value(info.VLCap) < 2) return;
        const auto add = [&](unsigned first, unsigned entries) {
            for (unsigned part = 0; part < std::min(blocks_of(entries, 32), 2u); ++part)
                all.push_back({r, (first + part) << 16 | (n.is_switch() ? r.port : 0u)});
        };
        add(1, info.VLArbitrationLowCap);
        add(3, info.VLArbitrationHighCap);
    });
    return all;
}

template <> std::vector<table_key> places_of<GUIDInfo>(const subnet& s) {
    std::vector<table_key> all;
    for_each_read_port(s, [&](const node& n, port_ref r, const iba::smp::PortInfo& info) {
        if (!is_end_port(n, r.port)) return;
        for (unsigned block = 0; block < blocks_of(info.GUIDCap, 8); ++block) all.push_back({r, block});
    });
    return all;
}

template <> std::vector<table_key> places_of<SMInfo>(const subnet& s) {
    std::vector<table_key> all;
    for_each_read_port(s, [&](const node& n, port_ref r, const iba::smp::PortInfo& info) {
        if (is_end_port(n, r.port) && (info.capabilityMask & static_cast<u32>(iba::CapabilityMask::IsSM)))
            all.push_back({r, 0});
    });
    return all;
}

// ---- queries to each port --------------------------------------------------------------------------------------------

/// Returns the route to a port. An SMP to a CA must enter by the port that it queries; for a switch, any route is valid.
mad::IBDRPath route_to(const subnet& s, port_ref r) {
    const node& n = s.nodes[r.node];
    const port_ref peer = n.ports[r.port].peer;
    if (n.is_switch() || r.port == n.info.localPortNum || !peer || !s.nodes[peer.node].is_switch()) return n.route;
    const mad::IBDRPath& before = s.nodes[peer.node].route;
    return before.can_extend() ? before.extended(peer.port) : n.route;
}

failure missing_fact(const subnet& s, const table_key& p, std::string_view name, std::string why) {
    const node& n = s.nodes[p.where.node];
    return {failure_kind::error_reply,
            {n.info.nodeGUID, p.where.port, n.route},
            fmt::format("{} (modifier 0x{:x}) not read: {}", name, p.modifier, why),
            std::move(why)};
}

/// Reads one block after the other of a switch, or of a port of another node. After a timeout, the rest is not queried.
template <class T>
coro::task<void> query_facts(coro::MADSchedule& schedule, const subnet& s, std::vector<table_key> places,
                             block_table<T>& table, std::vector<failure>& failures) {
    std::string silence;
    for (const table_key& p : places) {
        if (!silence.empty()) {
            failures.push_back(missing_fact(s, p, iba::info_of<T>.name, silence));
            continue;
        }
        mad::IBDRPath route = route_to(s, p.where);
        route.MKey = s.nodes[p.where.node].route.MKey;
        auto reply = co_await schedule.SubnGet<T>(route, p.modifier);
        if (reply) {
            table.values.emplace(p, reply.value());
            continue;
        }
        failures.push_back(missing_fact(s, p, iba::info_of<T>.name, cause_text(reply.error())));
        if (reply.error().code != mad::errc::status) silence = cause_text(reply.error());
    }
}

template <class T>
coro::generator<coro::task<void>> questions(coro::MADSchedule& schedule, const subnet& s, std::vector<table_key> places,
                                            block_table<T>& table, std::vector<failure>& failures) {
    const auto is_of_one = [&s](const table_key& a, const table_key& b) {
        return a.where.node == b.where.node && (s.nodes[a.where.node].is_switch() || a.where.port == b.where.port);
    };
    for (auto begin = places.begin(); begin != places.end();) {
        const auto end = std::find_if(begin, places.end(), [&](const table_key& p) { return !is_of_one(*begin, p); });
        co_yield query_facts<T>(schedule, s, std::vector<table_key>(begin, end), table, failures);
        begin = end;
    }
}

template <class T>
coro::task<void> query_all_of(coro::MADSchedule& schedule, const subnet& s, block_table<T>& table,
                              std::vector<failure>& failures) {
    std::vector<table_key> places = places_of<T>(s);
    table.wanted = places.size();
    co_await schedule.mqueue(questions<T>(schedule, s, std::move(places), table, failures));
}

// ---- queries to the SA -----------------------------------------------------------------------------------------------

// The SA record of a block, and the position of the block in it: the inverse of sa::equivalent.
template <class T> struct fact_record;

template <> struct fact_record<PKeyTable> {
    using type = iba::sa::PKeyTableRecord;
    static table_key place(const type& r, port_ref end, bool is_switch) {
        if (is_switch) return {{end.node, r.portNum}, u32{r.portNum} << 16 | r.blockNum};
        return {end, r.blockNum};
    }
    static const PKeyTable& of(const type& r) { return r.PKeyTable; }
};
template <> struct fact_record<SLToVLMappingTable> {
    using type = iba::sa::SLToVLMappingTableRecord;
    static table_key place(const type& r, port_ref end, bool is_switch) {
        if (is_switch) return {{end.node, r.outputPortNum}, u32{r.inputPortNum} << 8 | r.outputPortNum};
        return {end, 0};
    }
    static const SLToVLMappingTable& of(const type& r) { return r.SLToVLMappingTable; }
};
template <> struct fact_record<VLArbitrationTable> {
    using type = iba::sa::VLArbitrationTableRecord;
    static table_key place(const type& r, port_ref end, bool is_switch) {
        if (is_switch) return {{end.node, r.outputPortNum}, u32{r.blockNum} << 16 | r.outputPortNum};
        return {end, u32{r.blockNum} << 16};
    }
    static const VLArbitrationTable& of(const type& r) { return r.VLArbitrationTable; }
};
template <> struct fact_record<GUIDInfo> {
    using type = iba::sa::GUIDInfoRecord;
    static table_key place(const type& r, port_ref end, bool) { return {end, r.blockNum}; }
    static const GUIDInfo& of(const type& r) { return r.GUIDInfo; }
};
template <> struct fact_record<SMInfo> {
    using type = iba::sa::SMInfoRecord;
    static table_key place(const type&, port_ref end, bool) { return {end, 0}; }
    static const SMInfo& of(const type& r) { return r.SMInfo; }
};

template <class T>
coro::task<void> read_table_of(coro::MADSchedule& schedule, const subnet& s, const lid_index& lids,
                               block_table<T>& table, std::vector<failure>& failures) {
    using record = typename fact_record<T>::type;
    const std::vector<table_key> places = places_of<T>(s);
    table.wanted = places.size();
    if (places.empty()) co_return;
    const iba::query<record> all;
    auto reply = co_await schedule.SubnAdmGetTable<record>(all);
    if (!reply) {
        failures.push_back({failure_kind::error_reply,
                            {},
                            fmt::format("{}s not read: {}", iba::info_of<record>.name, to_string(reply.error())),
                            cause_text(reply.error())});
        co_return;
    }
    std::map<table_key, T> known;
    for (const record& r : reply.value()) {
        const port_ref end = lids.at(r.LID);
        if (end) known.emplace(fact_record<T>::place(r, end, s.nodes[end.node].is_switch()), fact_record<T>::of(r));
    }
    constexpr bool may_be_empty = std::is_same_v<T, PKeyTable>;
    for (const table_key& p : places) {
        const auto found = known.find(p);
        if (found != known.end()) table.values.emplace(p, found->second);
        else if (may_be_empty) table.values.emplace(p, T{});
        else failures.push_back(missing_fact(s, p, iba::info_of<T>.name, "the SA has no record of this attribute"));
    }
}

} // namespace

coro::task<subnet_tables> read_subnet_tables(coro::MADSchedule& schedule, const subnet& s, table_kinds which) {
    subnet_tables f;
    if (which.PKeys) co_await query_all_of(schedule, s, f.PKeys, f.failures);
    if (which.SLToVL) co_await query_all_of(schedule, s, f.SLToVL, f.failures);
    if (which.VLArbitration) co_await query_all_of(schedule, s, f.VLArbitration, f.failures);
    if (which.guids) co_await query_all_of(schedule, s, f.guids, f.failures);
    if (which.SMs) co_await query_all_of(schedule, s, f.SMs, f.failures);
    co_return f;
}

coro::task<subnet_tables> read_subnet_tables_by_sa(coro::MADSchedule& schedule, const subnet& s, table_kinds which) {
    const lid_index lids(s);
    subnet_tables f;
    if (which.PKeys) co_await read_table_of(schedule, s, lids, f.PKeys, f.failures);
    if (which.SLToVL) co_await read_table_of(schedule, s, lids, f.SLToVL, f.failures);
    if (which.VLArbitration) co_await read_table_of(schedule, s, lids, f.VLArbitration, f.failures);
    if (which.guids) co_await read_table_of(schedule, s, lids, f.guids, f.failures);
    if (which.SMs) co_await read_table_of(schedule, s, lids, f.SMs, f.failures);
    co_return f;
}

} // namespace comad::discovery
