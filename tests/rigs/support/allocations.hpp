// SPDX-License-Identifier: MIT
// allocations.hpp - counts allocations of the program; allocations.cpp replaces operator new. Not thread-safe.
#pragma once
#include <cstddef>

struct allocations {
    std::size_t count = 0;
    std::size_t bytes = 0; ///< includes memory that was freed since

    static allocations so_far() noexcept;
};
