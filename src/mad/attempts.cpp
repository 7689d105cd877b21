// SPDX-License-Identifier: MIT
// attempts.cpp - the table of the engine's attempts.
#include <comad/mad/detail/attempts.hpp>

#include <bit>

namespace comad::mad::detail {

attempt_table::attempt_table(u32 size, u32 seed) : all_(size), bits_(static_cast<unsigned>(std::bit_width(size - 1))) {
    for (u32 i = size; i-- > 0;) {
        all_[i].generation = seed;
        release(i);
    }
}

} // namespace comad::mad::detail
