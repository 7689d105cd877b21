// SPDX-License-Identifier: MIT
// missing_neighbors.cpp - names the nodes that did not reply to a discovery, from LinkRecords and NodeRecords of the SA.
#include "session/missing_neighbors.hpp"

#include "comad.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/iba/sa.hpp>
#include <comad/sa/detail/no_records.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace ibtool {
namespace {

using comad::iba::sa::LinkRecord;
using comad::iba::sa::NodeRecord;
using discovery::failure;

constexpr std::size_t most_named_neighbors = 16, most_listed_neighbors = 3;

/// Returns the records that a query finds; none if the SA has no such record.
template <class T> query_task<std::vector<T>> records_of(session& in, iba::query<T> query) {
    auto found = co_await in.schedule().SubnAdmGetTable<T>(query);
    if (found) co_return std::move(found).value();
    if (comad::sa::is_no_records(found.error())) co_return std::vector<T>{};
    co_return std::move(found.error());
}

/// Returns the name of the node on the other end of a link; empty if the SA has no record of it.
query_task<std::string> neighbor_name(session& in, iba::lid LID, u8 port) {
    const auto link = iba::query<LinkRecord>{}.where<&LinkRecord::fromLID>(LID).where<&LinkRecord::fromPort>(port);
    BOOST_OUTCOME_CO_TRY(const auto links, co_await records_of(in, link));
    if (links.empty()) co_return std::string();
    const auto node = iba::query<NodeRecord>{}.where<&NodeRecord::LID>(links.front().toLID);
    BOOST_OUTCOME_CO_TRY(const auto nodes, co_await records_of(in, node));
    if (nodes.empty()) co_return std::string();
    co_return fmt::format("\"{}\"", iba::escaped(iba::smp::text(nodes.front().nodeDescription)));
}

/// Returns whether the failure concerns the neighbor of a port that is up.
bool is_of_neighbor(const discovery::subnet& s, const failure& f) {
    const discovery::port_ref r = s.find(f.where);
    if (!r || f.kind != discovery::failure_kind::timeout || r.port >= s.nodes[r.node].ports.size()) return false;
    const discovery::port& p = s.at(r);
    return p.info && p.info->portState != iba::PortState::Down && !p.peer;
}

/// Returns `"h-0003 HCA-1", "h-0004 HCA-1" and 3 others`.
std::string list_of(const std::vector<std::string>& names) {
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), most_listed_neighbors); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() <= most_listed_neighbors) return text;
    const std::size_t more = names.size() - most_listed_neighbors;
    return text + fmt::format(" and {} other{}", more, more == 1 ? "" : "s");
}

std::string in_records(const std::string& names) { return fmt::format(" (in the SA's records: {})", names); }

} // namespace

coro::task<void> name_missing_neighbors(session& in, discovery::subnet& s) {
    if (value(in.schedule().sa_path().DLID) == 0) co_return;
    std::vector<std::pair<failure*, std::string>> named;
    for (failure& f : s.failures) {
        if (named.size() == most_named_neighbors) break;
        if (!is_of_neighbor(s, f)) continue;
        const discovery::port_ref r = s.find(f.where);
        const iba::lid LID = s.lid_at(r);
        if (value(LID) == 0) continue;
        auto name = co_await neighbor_name(in, LID, r.port);
        if (!name) break; // the names so far are of use
        if (!name.value().empty()) named.emplace_back(&f, std::move(name).value());
    }
    std::vector<std::string> names;
    for (const auto& [f, name] : named)
        if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    for (const auto& [f, name] : named) {
        f->text += in_records(name);
        if (!f->cause.empty()) f->cause += in_records(list_of(names));
    }
}

} // namespace ibtool
