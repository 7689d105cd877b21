// SPDX-License-Identifier: MIT
// rates.hpp - how fast a cable is, and the IBA's code for that. Knows no way.
#pragma once
#include <comad/iba/codes.hpp>
#include <comad/transports/sim/topology.hpp>

#include <array>
#include <bit>

namespace comad::transports::sim {

/// Of an active width; 0: no link.
constexpr unsigned lanes_of(link_codes active) noexcept {
    constexpr std::array<unsigned, 5> lanes{1, 4, 8, 12, 2}; // of the width's bit
    const auto width = static_cast<unsigned>(std::countr_zero(active.width));
    return width < lanes.size() ? lanes[width] : 0;
}

/// Of an active width and speed: lanes times their rate, in 0.1 Gb/s as the IBA names rates; 0: no link.
constexpr unsigned tenths_of_gbps(link_codes active) noexcept {
    constexpr std::array<unsigned, 8> lane{25, 50, 100, 140, 250, 500, 1000, 2000}; // SDR to XDR
    const auto speed = static_cast<unsigned>(std::countr_zero(active.speed));
    return speed < lane.size() ? lanes_of(active) * lane[speed] : 0;
}

/// The forward error correction that a link of this speed usually has.
constexpr iba::FECMode FEC_of(link_codes active) noexcept {
    switch (active.extended_speed()) {
    case 0: return iba::FECMode::None;
    case 1: return iba::FECMode::FireCode; // FDR
    case 2: return iba::FECMode::RS;       // EDR
    default: return iba::FECMode::RS2;     // HDR and above
    }
}

/// PathRecord.rate; the slowest for what has no code.
constexpr iba::Rate rate_of(unsigned tenths) noexcept {
    return iba::to_rate(tenths * u64{100'000'000}).value_or(iba::Rate::r2_5);
}

/// The inverse, which orders rates: their codes do not.
constexpr unsigned tenths_of(iba::Rate rate) noexcept {
    return static_cast<unsigned>(iba::bits_per_second(rate) / 100'000'000);
}

} // namespace comad::transports::sim
