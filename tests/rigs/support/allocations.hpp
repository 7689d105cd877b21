// SPDX-License-Identifier: MIT
// allocations.hpp - how often and how much the program has allocated; allocations.cpp replaces operator new.
// Not thread-safe.
#pragma once
#include <cstddef>

struct allocations {
    std::size_t count = 0;
    std::size_t bytes = 0; ///< whether freed since or not

    static allocations so_far() noexcept;
};
