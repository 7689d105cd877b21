// SPDX-License-Identifier: MIT
// cleared.hpp - whether counters were cleared, by reading them again. Knows no subnet.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/counters/port_counters.hpp>

namespace comad::counters {

/// Whether a counter is lower than before it was to be cleared, or had nothing to clear.
constexpr bool is_lower(u64 before, u64 after) noexcept { return before == 0 || after < before; }

/// Whether a counter that is not lower may have been cleared all the same, because it counts so fast: since `after` was read it
/// has counted at least half of `before`. `later` was read about as long after `after` as `after` was after the Set.
constexpr bool counts_as_fast(u64 before, u64 after, u64 later) noexcept {
    return later > after && before / 2 <= later - after;
}

/// Reads a port again after a Set that was to clear the counters `which`, and gives those that it still has as they were `before`
/// the Set, with the values that they have now: for each counter of the result the PMA kept what it counted. A counter that
/// counts on, as those of data do, must be lower than before; if it is not, one reading more decides whether it counts that fast.
/// Counters that `before` does not have are not compared.
/// Errors:   those of PerformanceGet.
/// Lifetime: all but the schedule is copied.
struct kept_counters {
    counter_set which;
    port_counters now;
};
coro::task<mad::result<kept_counters>> read_kept_counters(coro::MADSchedule&, mad::IBPath to, capabilities can, u8 port,
                                                          counter_set which, port_counters before,
                                                          coro::rpc_options options = {});

} // namespace comad::counters
