// SPDX-License-Identifier: MIT
// both_ways.cpp - two queries.
#include <comad/sa/both_ways.hpp>

namespace comad::sa {

coro::task<mad::result<both_ways>> resolve_both_ways(client& paths, mad::IBPath to,
                                                     iba::query<iba::sa::PathRecord> properties) {
    properties.where<&iba::sa::PathRecord::reversible>(false); // whether it is or not
    auto there = co_await paths.resolve_path(to, properties);
    if (!there) co_return std::move(there.error());
    mad::IBPath from_there = mad::reverse(there.value());
    from_there.hop_limit = there.value().hop_limit; // no reply to a MAD
    auto back = co_await paths.resolve_path(from_there, properties);
    if (!back) co_return std::move(back.error());
    co_return both_ways{there.value(), back.value()};
}

} // namespace comad::sa
