// SPDX-License-Identifier: MIT
// neighbor_port.cpp - finds the neighbor by the route, or by the SA's LinkRecord.
#include "session/neighbor_port.hpp"

#include "comad.hpp"
#include "session/target.hpp"
#include <comad/iba/sa.hpp>

#include <stdexcept>

namespace ibtool {

query_task<mad::any_path> with_key_beyond(session& in, mad::IBDRPath route, const iba::smp::NodeInfo& node, u8 port) {
    route.MKey = 0;
    auto with_its_own = co_await in.paths().with_keys(route);
    if (with_its_own) co_return with_its_own;
    route.MKey = in.options().keys.beyond(mad::key_kind::MKey, node.portGUID, port);
    co_return route;
}

query_task<far_end> other_end(session& in, mad::any_path path, const iba::smp::NodeInfo& node, iba::lid LID, u8 port) {
    const mad::IBDRPath* route = in.options().by_sa ? nullptr : mad::directed(path);
    if (route && (node.nodeType == iba::NodeType::Switch || route->hopCount == 0)) {
        if (!route->can_extend())
            throw std::runtime_error("cannot extend the directed route: it already has the maximum of 63 hops");
        BOOST_OUTCOME_CO_TRY(const auto beyond, co_await with_key_beyond(in, route->extended(port), node, port));
        co_return far_end{beyond, std::nullopt};
    }
    if (route) {
        mad::IBDRPath back = *route;
        const u8 entry = back.drPath[back.hopCount];
        back.drPath[back.hopCount--] = 0;
        BOOST_OUTCOME_CO_TRY(const auto beyond, co_await with_key_beyond(in, back, node, port));
        co_return far_end{beyond, entry};
    }
    require_sa(in);
    using iba::sa::LinkRecord;
    auto query = iba::query<LinkRecord>{}.where<&LinkRecord::fromLID>(LID);
    query.where<&LinkRecord::fromPort>(port);
    BOOST_OUTCOME_CO_TRY(const auto link, co_await in.schedule().SubnAdmGet(query));
    mad::IBPath to;
    to.DLID = link.toLID;
    BOOST_OUTCOME_CO_TRY(const auto with_key, co_await in.paths().with_keys(to));
    co_return far_end{with_key, link.toPort};
}

} // namespace ibtool
