// SPDX-License-Identifier: MIT
// memory_reserve.hpp - memory for the end: when there is no other, whoever collects is told to stop, and what was collected can
// still be printed. Knows nobody who does.
#pragma once
#include <atomic>

namespace ibtool {

/// Sets memory aside, unless there is some already: half of what a limit of this process leaves (ulimit -v), up to 1 GiB;
/// without one 64 MiB. None of it is there until it is used. From the first call on, who finds no memory gets this, and
/// is_memory_short becomes true; who finds none afterwards ends the process, with one line and `failed`.
void reserve_memory() noexcept;

/// The reserve is in use. reserve_memory() resets it if it finds another.
extern std::atomic<bool> is_memory_short;

} // namespace ibtool
