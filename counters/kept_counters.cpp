// SPDX-License-Identifier: MIT
// kept_counters.cpp - reads counters after a Set, and a second time if some of them may still count.
#include <comad/counters/detail/kept_counters.hpp>

#include <fmt/format.h>

#include <utility>

namespace comad::counters {
namespace {

/// Returns whether a counter that is not lower counts so fast that it may have been cleared. The interval from `now` to `later` is about
/// as long as the interval from the Set to `now`.
bool counts_as_fast(const kept_counter& c, u64 later) noexcept {
    return later > c.now && c.before / 2 <= later - c.now;
}

} // namespace

coro::task<mad::result<std::vector<kept_counter>>> find_kept(std::vector<u64> before, counters_reader read) {
    std::vector<kept_counter> kept;
    BOOST_OUTCOME_CO_TRY(const auto now, co_await read());
    for (std::size_t i = 0; i < before.size(); ++i)
        if (!was_cleared(before[i], now[i])) kept.push_back({i, before[i], now[i]});
    if (kept.empty()) co_return kept;
    const auto later = co_await read();
    if (later) std::erase_if(kept, [&](const kept_counter& c) { return counts_as_fast(c, later.value()[c.index]); });
    co_return kept;
}

std::string kept_text(std::string_view name, const kept_counter& c) {
    return fmt::format("{} is {}, was {}", name, c.now, c.before);
}

} // namespace comad::counters
