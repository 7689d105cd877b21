// SPDX-License-Identifier: MIT
// other_end.cpp - by the route, or by the SA's LinkRecord.
#include "session/other_end.hpp"

#include "session/target.hpp"
#include <comad/iba/sa.hpp>

#include <stdexcept>

namespace ibtool {

namespace iba = comad::iba;
namespace mad = comad::mad;
using comad::u8;

asked<far_end> other_end(session& in, mad::any_path path, bool is_switch, iba::lid LID, u8 port) {
    const mad::IBDRPath* route = in.options().by_SA ? nullptr : mad::directed(path);
    if (route && (is_switch || route->hopCount == 0)) {
        if (!route->can_extend()) throw std::runtime_error("a directed route cannot be longer");
        co_return far_end{route->extended(port), std::nullopt};
    }
    if (route) {
        mad::IBDRPath back = *route;
        const u8 entry = back.drPath[back.hopCount];
        back.drPath[back.hopCount--] = 0;
        co_return far_end{back, entry};
    }
    require_SA(in);
    using iba::sa::LinkRecord;
    auto query = iba::query<LinkRecord>{}.where<&LinkRecord::fromLID>(LID);
    query.where<&LinkRecord::fromPort>(port);
    BOOST_OUTCOME_CO_TRY(const auto link, co_await in.schedule().SubnAdmGet(query));
    mad::IBPath to;
    to.DLID = link.toLID;
    co_return far_end{to, link.toPort};
}

} // namespace ibtool
