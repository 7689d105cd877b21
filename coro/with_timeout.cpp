// SPDX-License-Identifier: MIT
// with_timeout.cpp - the timer task of with_timeout(), which cancels a task after a time.
#include <comad/coro/detail/with_timeout.hpp>

namespace comad::coro::detail {

task<void> cancel_after(MADSchedule& schedule, mad::duration length, scope_state& together, bool& is_over) {
    const bool passed = co_await schedule.pause(length);
    if (!passed) co_return;
    is_over = true;
    together.cancel();
}

} // namespace comad::coro::detail
