// SPDX-License-Identifier: MIT
// realigned.hpp - a sweep of one discovery of a subnet beside a sweep of another. Sends nothing.
#pragma once
#include <comad/counters/sweep.hpp>

namespace comad::counters {

/// `was`, of the subnet as it was discovered before, port by port in the order of `now`, as if it had been made with the
/// subnet of today: ports are the same that have the nodeGUID and number. Those that were not swept then are not told;
/// those that are no longer there, and failures, are left out.
sweep realigned(const sweep& was, const discovery::subnet& then, const sweep& now, const discovery::subnet& today);

} // namespace comad::counters
