// SPDX-License-Identifier: MIT
// allocations.hpp - counts the allocations of the program; allocations.cpp replaces operator new. Not thread-safe.
#pragma once
#include <cstddef>

/// Number of allocations and allocated bytes.
struct allocations {
    std::size_t count = 0;
    std::size_t bytes = 0; ///< including memory that the program has freed

    static allocations so_far() noexcept;
};
