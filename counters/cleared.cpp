// SPDX-License-Identifier: MIT
// cleared.cpp - one reading, and a second one for counters that count on.
#include <comad/counters/detail/cleared.hpp>
#include <comad/counters/detail/read_counters.hpp>

namespace comad::counters {

coro::task<mad::result<kept_counters>> read_kept_counters(coro::MADSchedule& schedule, mad::IBPath to, capabilities can,
                                                          u8 port, counter_set which, port_counters before,
                                                          coro::rpc_options options) {
    kept_counters kept;
    BOOST_OUTCOME_CO_TRY(kept.now, co_await read_counters(schedule, to, can, port, which, options));
    const auto is_kept = [&](counter c) {
        return which.has(c) && before.has(c) && kept.now.has(c) && !is_lower(before[c], kept.now[c]);
    };
    kept.which = counters_that(is_kept);
    if (kept.which.empty()) co_return kept;
    const auto later = co_await read_counters(schedule, to, can, port, kept.which, options);
    if (!later) co_return kept;
    const port_counters& end = later.value();
    kept.which = counters_that([&](counter c) {
        return kept.which.has(c) && !(end.has(c) && counts_as_fast(before[c], kept.now[c], end[c]));
    });
    co_return kept;
}

} // namespace comad::counters
