// SPDX-License-Identifier: MIT
// split_mix.hpp - a pseudorandom number generator with equal results on all platforms.
#pragma once
#include <comad/iba/types.hpp>

namespace comad::transports::sim {

/// Returns the next number of SplitMix64 (Steele, Lea, Flood 2014), which has one word of state.
constexpr u64 split_mix(u64& state) noexcept {
    u64 z = state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

} // namespace comad::transports::sim
