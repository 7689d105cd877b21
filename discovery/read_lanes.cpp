// SPDX-License-Identifier: MIT
// read_lanes.cpp - SL to VL tables as lanes, and a PathRecord for each path.
#include <comad/discovery/read_lanes.hpp>
#include <comad/iba/sa/records.hpp>

#include <utility>
#include <vector>

namespace comad::discovery {

void add_SL_to_VL(const subnet& s, const fact_table<iba::smp::SLToVLMappingTable>& tables, virtual_lanes& lanes) {
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

class path_questions {
public:
    path_questions(coro::MADSchedule& schedule, const subnet& s, const lid_index& LIDs, virtual_lanes& lanes)
        : schedule_(schedule), lanes_(lanes) {
        for (const lid_index::end& e : LIDs.ends())
            if (!s.nodes[e.where.node].is_switch() && e.count) ends_.push_back(e);
    }

    coro::generator<coro::task<void>> all() {
        for (const lid_index::end& from : ends_)
            for (const lid_index::end& to : ends_)
                for (unsigned LID = to.first; LID < to.first + to.count && !is_silent_; ++LID)
                    if (to.where != from.where) co_yield ask(from, LID);
    }

    path_SL_report report() {
        for (const lid_index::end& from : ends_)
            for (const lid_index::end& to : ends_)
                if (to.where != from.where) found_.paths += to.count;
        found_.missing = found_.paths - told_;
        return std::move(found_);
    }

private:
    coro::task<void> ask(lid_index::end from, unsigned LID) {
        iba::query<PathRecord> query;
        query.where<&PathRecord::SLID>(iba::lid(from.first)).where<&PathRecord::DLID>(iba::lid(LID));
        query.where<&PathRecord::numbPath>(u8{1});
        auto told = co_await schedule_.SubnAdmGet(query);
        if (told) {
            ++told_;
            lanes_.set_SL(from.where, LID, told.value().SL);
            co_return;
        }
        is_silent_ = is_silent_ || told.error().code == mad::errc::timed_out;
        if (!found_.error) found_.error = std::move(told.error());
    }

    coro::MADSchedule& schedule_;
    virtual_lanes& lanes_;
    std::vector<lid_index::end> ends_;
    path_SL_report found_;
    u64 told_ = 0;
    bool is_silent_ = false;
};

} // namespace

coro::task<path_SL_report> read_path_SLs(coro::MADSchedule& schedule, const subnet& s, const lid_index& LIDs,
                                         virtual_lanes& lanes) {
    path_questions questions(schedule, s, LIDs, lanes);
    co_await schedule.mqueue(questions.all());
    co_return questions.report();
}

} // namespace comad::discovery
