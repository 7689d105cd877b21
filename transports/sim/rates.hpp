// SPDX-License-Identifier: MIT
// rates.hpp - how fast a cable is, and the IBA's code for that. Knows no way.
#pragma once
#include <comad/iba/enums.hpp>
#include <comad/transports/sim/topology.hpp>

#include <algorithm>
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
    constexpr std::array<unsigned, 7> lane{25, 50, 100, 140, 250, 500, 1000}; // SDR to NDR
    const auto speed = static_cast<unsigned>(std::countr_zero(active.speed));
    return speed < lane.size() ? lanes_of(active) * lane[speed] : 0;
}

/// The forward error correction that a link of this speed usually has.
constexpr iba::FECMode FEC_of(link_codes active) noexcept {
    switch (active.extended_speed()) {
    case 0: return iba::FECMode::None;
    case 1: return iba::FECMode::FireCode; // FDR
    case 2: return iba::FECMode::RS;       // EDR
    default: return iba::FECMode::RS2;     // HDR and NDR
    }
}

/// PathRecord.rate; the slowest for what has no code.
constexpr iba::Rate rate_of(unsigned tenths) noexcept {
    constexpr std::array<std::pair<unsigned, iba::Rate>, 23> codes{
        {{25, iba::Rate::r2_5},   {50, iba::Rate::r5},     {100, iba::Rate::r10},    {140, iba::Rate::r14},
         {200, iba::Rate::r20},   {250, iba::Rate::r25},   {280, iba::Rate::r28},    {300, iba::Rate::r30},
         {400, iba::Rate::r40},   {500, iba::Rate::r50},   {560, iba::Rate::r56},    {600, iba::Rate::r60},
         {800, iba::Rate::r80},   {1000, iba::Rate::r100}, {1120, iba::Rate::r112},  {1200, iba::Rate::r120},
         {1680, iba::Rate::r168}, {2000, iba::Rate::r200}, {3000, iba::Rate::r300},  {4000, iba::Rate::r400},
         {6000, iba::Rate::r600}, {8000, iba::Rate::r800}, {12000, iba::Rate::r1200}}};
    const auto found = std::find_if(codes.begin(), codes.end(), [&](const auto& c) { return c.first == tenths; });
    return found == codes.end() ? iba::Rate::r2_5 : found->second;
}

/// The inverse, which orders rates: their codes do not.
constexpr unsigned tenths_of(iba::Rate rate) noexcept {
    for (unsigned tenths = 25; tenths <= 12000; tenths += 5)
        if (rate_of(tenths) == rate && (rate != iba::Rate::r2_5 || tenths == 25)) return tenths;
    return 0;
}

} // namespace comad::transports::sim
