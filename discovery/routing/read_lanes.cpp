// SPDX-License-Identifier: MIT
// read_lanes.cpp - converts SL-to-VL tables to virtual lanes, and reads the SLs of the paths of each source.
#include <comad/discovery/routing/detail/read_lanes.hpp>
#include <comad/iba/detail/sa/records.hpp>

#include <utility>
#include <vector>

namespace comad::discovery {

void add_sl_to_vl(const subnet& s, const block_table<iba::smp::SLToVLMappingTable>& tables, virtual_lanes& lanes) {
    for (const auto& [place, table] : tables.values)
        if (s.nodes[place.where.node].is_switch())
            lanes.set_map(place.where.node, static_cast<u8>(place.modifier >> 8), place.where.port, table.SLtoVL);
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        const node& sw = s.nodes[n];
        if (!sw.is_switch()) continue;
        for (unsigned out = 1; out < sw.ports.size(); ++out) {
            if (!sw.ports[out].info || value(sw.ports[out].info->VLCap) != 1) continue;
            for (unsigned in = 0; in < sw.ports.size(); ++in)
                lanes.set_map(n, static_cast<u8>(in), static_cast<u8>(out), {});
        }
    }
}

namespace {

using iba::sa::PathRecord;

/// Queries the SLs of the paths between all end ports.
class path_queries {
public:
    path_queries(coro::MADSchedule& schedule, const subnet& s, const lid_index& lids, virtual_lanes& lanes)
        : schedule_(schedule), subnet_(s), lids_(lids), lanes_(lanes) {
        for (const lid_index::end& e : lids.ends())
            if (!s.nodes[e.where.node].is_switch() && e.count) ends_.push_back(e);
    }

    coro::generator<coro::task<void>> all() {
        for (const lid_index::end& from : ends_)
            if (!is_silent_) co_yield query_paths(from);
    }

    path_sl_report report() {
        for (const lid_index::end& from : ends_)
            for (const lid_index::end& to : ends_)
                if (to.where != from.where) found_.paths += to.count;
        found_.missing = found_.paths - reported_paths_;
        return std::move(found_);
    }

private:
    coro::task<void> query_paths(lid_index::end from) {
        auto table = co_await schedule_.SubnAdmGetTable(paths_of(from));
        if (table) {
            take(from, table.value());
            co_return;
        }
        // An SA that truncates tables (ibsim's client library does), or rejects the query, may still answer queries for single paths.
        if (table.error().code == mad::errc::timed_out) co_return fail(std::move(table.error()));
        for (const lid_index::end& to : ends_)
            for (unsigned LID = to.first; LID < to.first + to.count && !is_silent_; ++LID)
                if (to.where != from.where) co_await query_path(from, LID);
    }

    coro::task<void> query_path(lid_index::end from, unsigned LID) {
        auto query = paths_of(from);
        query.where<&PathRecord::DLID>(iba::lid(LID)).where<&PathRecord::numbPath>(u8{1});
        auto path = co_await schedule_.SubnAdmGet(query);
        if (path) take(from, LID, path.value());
        else fail(std::move(path.error()));
    }

    static iba::query<PathRecord> paths_of(const lid_index::end& from) {
        iba::query<PathRecord> query;
        query.where<&PathRecord::SLID>(iba::lid(from.first));
        return query;
    }

    void take(const lid_index::end& from, const std::vector<PathRecord>& paths) {
        std::vector<bool> is_reported(lid_index::last_unicast_lid + 1);
        for (const PathRecord& path : paths) {
            const port_ref to = lids_.at(path.DLID);
            if (!to || to == from.where || subnet_.nodes[to.node].is_switch() || is_reported[value(path.DLID)])
                continue;
            is_reported[value(path.DLID)] = true;
            take(from, value(path.DLID), path);
        }
    }

    void take(const lid_index::end& from, unsigned LID, const PathRecord& path) {
        ++reported_paths_;
        lanes_.set_sl(from.where, LID, path.SL);
    }

    void fail(mad::mad_error why) {
        is_silent_ = is_silent_ || why.code == mad::errc::timed_out;
        if (!found_.error) found_.error = std::move(why);
    }

    coro::MADSchedule& schedule_;
    const subnet& subnet_;
    const lid_index& lids_;
    virtual_lanes& lanes_;
    std::vector<lid_index::end> ends_;
    path_sl_report found_;
    u64 reported_paths_ = 0;
    bool is_silent_ = false;
};

} // namespace

coro::task<path_sl_report> read_path_sls(coro::MADSchedule& schedule, const subnet& s, const lid_index& lids,
                                         virtual_lanes& lanes) {
    path_queries questions(schedule, s, lids, lanes);
    co_await schedule.mqueue(questions.all());
    co_return questions.report();
}

} // namespace comad::discovery
