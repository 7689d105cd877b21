// SPDX-License-Identifier: MIT
// kernel_rules.hpp - constants and rules of the kernel's MAD stack (Linux, drivers/infiniband/core: user_mad.c, mad.c), shared by the
// kernel model and the virtual MAD device.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <cstddef>

namespace comad::transports::kernel_rules {

constexpr std::size_t most_agents = 32; // agents of an open file
constexpr std::size_t least_size = 36;  // minimum bytes of a MAD in a write()

/// Returns the tick at which a timeout that starts now ends.
constexpr mad::time_point end_of(mad::time_point now, u32 timeout_ms, mad::duration tick) noexcept {
    const auto whole_ticks = [tick](mad::duration d) { return (d + tick - mad::duration(1)) / tick * tick; };
    return mad::time_point(whole_ticks(now.time_since_epoch() + whole_ticks(std::chrono::milliseconds(timeout_ms))));
}

} // namespace comad::transports::kernel_rules
