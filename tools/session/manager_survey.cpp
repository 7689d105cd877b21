// SPDX-License-Identifier: MIT
// manager_survey.cpp - finds subnet managers: collects candidates from the SA or from a discovery, and queries them.
#include "session/manager_survey.hpp"

#include "comad.hpp"
#include "session/queries.hpp"
#include "session/subnet_queries.hpp"
#include <comad/mad/path_text.hpp>
#include <comad/sa/detail/no_records.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <tuple>

namespace ibtool {
namespace {

using comad::iba::sa::PortInfoRecord;
using comad::iba::sa::SMInfoRecord;
using iba::smp::SMInfo;

/// A port that may have a subnet manager, and the path to it.
struct candidate {
    manager_facts facts;
    std::optional<mad::any_path> path; ///< nullopt: it cannot be queried
};

query_task<std::vector<SMInfoRecord>> manager_records(session& in) {
    const auto query = iba::query<SMInfoRecord>{};
    auto found = co_await in.schedule().SubnAdmGetTable<SMInfoRecord>(query);
    if (found) co_return std::move(found).value();
    if (comad::sa::is_no_records(found.error())) co_return std::vector<SMInfoRecord>{};
    co_return std::move(found.error());
}

mad::IBPath path_to(const session& in, iba::lid LID) {
    mad::IBPath path = in.local_port().sa_path;
    path.DLID = LID;
    return path;
}

query_task<std::vector<candidate>> candidates_of_sa(session& in) {
    BOOST_OUTCOME_CO_TRY(const auto records, co_await manager_records(in));
    std::vector<candidate> all;
    for (const SMInfoRecord& r : records) {
        candidate c{{.LID = value(r.LID), .route = {}, .info = r.SMInfo}, path_to(in, r.LID)};
        c.facts.described_by = manager_facts::source::SA;
        all.push_back(std::move(c));
    }
    const auto ports = co_await ports_that(in, iba::CapabilityMask::IsSM);
    if (!ports) co_return all; // an SA need not support the comparison of single bits
    for (const PortInfoRecord& r : ports.value()) {
        const unsigned LID = value(r.portInfo.LID) != 0 ? value(r.portInfo.LID) : value(r.endportLID);
        const bool is_there = std::ranges::any_of(all, [&](const candidate& c) { return c.facts.LID == LID; });
        if (LID == 0 || is_there) continue;
        candidate c{{.LID = LID, .route = {}, .info = {}}, path_to(in, iba::lid(static_cast<comad::u16>(LID)))};
        c.facts.described_by = manager_facts::source::capability_mask;
        all.push_back(std::move(c));
    }
    co_return all;
}

std::vector<candidate> candidates_in(session& in, const discovery::subnet& s) {
    std::vector<candidate> all;
    for (const discovery::node& n : s.nodes)
        for (std::size_t p = 0; p < n.ports.size(); ++p) {
            const auto& info = n.ports[p].info;
            if (!info || (n.is_switch() && p != 0)) continue;
            if ((info->capabilityMask & static_cast<u32>(iba::CapabilityMask::IsSM)) == 0) continue;
            std::vector<unsigned> hops(n.route.drPath.begin(), n.route.drPath.begin() + n.route.hopCount + 1);
            candidate c{{.LID = value(info->LID), .route = fmt::format("{}", fmt::join(hops, ",")), .info = {}},
                        in.options().keys.put_into(n.route, n.info.portGUID)};
            c.facts.info.GUID = n.info.portGUID;
            c.facts.described_by = manager_facts::source::capability_mask;
            all.push_back(std::move(c));
        }
    return all;
}

coro::task<std::vector<candidate>> candidates_of_discovery(session& in) {
    try {
        auto found = co_await discover_subnet(in, nullptr, subnet_source::fabric);
        if (found) co_return candidates_in(in, found.value());
    } catch (const std::runtime_error&) { // the options name an SA or a file that does not exist
    }
    co_return std::vector<candidate>{};
}

query_task<manager_facts> described(session& in, candidate c) {
    if (!c.path) co_return c.facts;
    const mad::any_path path = *c.path;
    const mad::time_point start = in.now();
    auto info = co_await in.SubnGet<SMInfo>(path);
    if (!info) co_return c.facts;
    c.facts.info = info.value();
    c.facts.described_by = manager_facts::source::own;
    c.facts.round_trip = in.now() - start;
    co_return c.facts;
}

} // namespace

query_task<std::vector<PortInfoRecord>> ports_that(session& in, iba::CapabilityMask can) {
    auto query = iba::query<PortInfoRecord>{}.where<&PortInfoRecord::portInfo, &iba::smp::PortInfo::capabilityMask>(
        static_cast<u32>(can));
    constexpr mad::rpc_kind kind{iba::MgmtClass::SubnAdm,           2,    iba::Method::GetTable,
                                 iba::attribute_id<PortInfoRecord>, true, 0};
    const coro::rpc_request request{kind, in.schedule().sa_path(), 1u << 31, query.component_mask()};
    auto found = co_await in.schedule().call_table<PortInfoRecord, PortInfoRecord, false>(request, query.value());
    if (found) co_return std::move(found).value();
    if (comad::sa::is_no_records(found.error())) co_return std::vector<PortInfoRecord>{};
    co_return std::move(found.error());
}

coro::task<std::vector<manager_facts>> survey_managers(session& in, without_sa otherwise,
                                                       const discovery::subnet* known) {
    std::vector<candidate> found;
    const bool has_smps = !in.options().by_sa && in.schedule().transport().limits().smi;
    bool is_answered = false;
    if (value(in.schedule().sa_path().DLID) != 0) {
        auto of_sa = co_await candidates_of_sa(in);
        is_answered = bool(of_sa);
        if (of_sa) found = std::move(of_sa).value();
    }
    if (!is_answered && has_smps && known) found = candidates_in(in, *known);
    else if (!is_answered && has_smps && otherwise == without_sa::discover)
        found = co_await candidates_of_discovery(in);
    std::vector<query_task<manager_facts>> queries;
    for (candidate& c : found) {
        if (!has_smps) c.path.reset();
        queries.push_back(described(in, std::move(c)));
    }
    auto answered = co_await all(std::move(queries));
    std::vector<manager_facts> managers = std::move(answered).value(); // never an error
    std::ranges::stable_sort(managers, std::less{}, [](const manager_facts& m) {
        const bool is_master = m.is_known() && m.info.SMState == iba::SMState::Master;
        return std::tuple(!is_master, m.LID, m.route);
    });
    co_return managers;
}

coro::task<std::vector<std::string>> manager_notes(session& in) {
    const auto managers = co_await survey_managers(in, without_sa::give_up);
    std::vector<std::string> lines;
    // The records show this problem already.
    for (const manager_problem& p : manager_problems(managers))
        if (p.what != manager_problem::kind::no_master) lines.push_back(p.text);
    co_return lines;
}

} // namespace ibtool
