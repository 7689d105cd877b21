// SPDX-License-Identifier: MIT
// memory_reserve.hpp - a memory reserve: when other memory is exhausted, the program is signaled to stop, and can still print its results.
// Does not depend on a command.
#pragma once
#include <atomic>

namespace ibtool {

/// Reserves memory, unless a reserve exists: half of what a limit of this process (ulimit -v) leaves, up to 1 GiB; without a limit 64 MiB.
/// The reserve occupies no physical memory until it is used. After the first call, a failed allocation uses the reserve and sets
/// is_memory_short. A later failed allocation ends the process with one line and `failed`.
void reserve_memory() noexcept;

/// True if the reserve is in use. reserve_memory() resets it when it makes a new reserve.
extern std::atomic<bool> is_memory_short;

} // namespace ibtool
