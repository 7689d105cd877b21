// SPDX-License-Identifier: MIT
// kept_counters.hpp - reads counters again after a Set, and finds those that the Set did not clear. Does not depend on an attribute.
#pragma once
#include <comad/coro/task.hpp>
#include <comad/mad/error.hpp>

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace comad::counters {

/// Returns whether a counter was cleared: it is lower than before the Set, or there was nothing to clear.
constexpr bool was_cleared(u64 before, u64 now) noexcept { return before == 0 || now < before; }

/// A counter that is not lower than before the Set.
struct kept_counter {
    std::size_t index; ///< in the list of values
    u64 before, now;
};

/// Reads the values of counters, always the same ones in the same order.
using counters_reader = std::function<coro::task<mad::result<std::vector<u64>>>()>;

/// Reads counters after the Set that was to clear them, and returns those that kept what they had counted. A counter on a busy link
/// can be as high again after it was cleared. If a counter is not lower, `read` is called a second time, and a counter that has
/// grown by at least half of `before` between the two reads counts as cleared.
/// `before`: the values before the Set; 0 for a counter that is not to be compared.
/// Errors:   that of the first read. If the second one fails, the result of the first one decides.
/// Lifetime: all arguments are moved into the task.
coro::task<mad::result<std::vector<kept_counter>>> find_kept(std::vector<u64> before, counters_reader read);

/// `portRcvErrors is 7, was 5`.
std::string kept_text(std::string_view name, const kept_counter&);

} // namespace comad::counters
