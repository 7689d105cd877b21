// SPDX-License-Identifier: MIT
// lid_lookup.cpp - resolves directed routes by LinkRecords, and LIDs by NodeRecords.
#include <comad/iba/detail/sa/records.hpp>
#include <comad/sa/detail/lid_lookup.hpp>

#include <fmt/format.h>

namespace comad::sa::detail {

using iba::sa::LinkRecord;
using iba::sa::NodeRecord;

coro::task<mad::result<iba::lid>> places::lid_at(mad::any_path path) {
    const mad::IBDRPath* route = mad::directed(path);
    if (!route) co_return mad::headers_of(path).DLID;
    if (route->drDLID != iba::permissive_lid) co_return route->drDLID;

    iba::lid at = route->DLID == iba::permissive_lid ? local_ : route->DLID;
    // Each prefix of a route is cached, so that other routes with this prefix need no query for it.
    std::vector<u8> taken{static_cast<u8>(value(at) >> 8), static_cast<u8>(value(at))};
    for (const u8 port : route->hops()) {
        taken.push_back(port);
        if (const auto known = routes_.find(taken); known != routes_.end()) {
            at = known->second;
            continue;
        }
        auto query = iba::query<LinkRecord>{}.where<&LinkRecord::fromLID>(at).where<&LinkRecord::fromPort>(port);
        auto link = co_await schedule_.SubnAdmGet(query);
        if (!link) {
            mad::mad_error error = std::move(link.error());
            error.message(fmt::format("cannot read the link at LID {} port {} from the SA", value(at), port));
            co_return std::move(error);
        }
        at = link.value().toLID;
        routes_.emplace(taken, at);
    }
    co_return at;
}

coro::task<mad::result<iba::smp::NodeInfo>> places::node_at(iba::lid LID) {
    if (const auto known = nodes_.find(value(LID)); known != nodes_.end()) co_return known->second;
    auto query = iba::query<NodeRecord>{}.where<&NodeRecord::LID>(LID);
    auto node = co_await schedule_.SubnAdmGet(query);
    if (!node) co_return std::move(node.error());
    learn(LID, node.value().nodeInfo);
    co_return node.value().nodeInfo;
}

void places::forget() noexcept {
    routes_.clear();
    nodes_.clear();
}

} // namespace comad::sa::detail
