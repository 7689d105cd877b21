// SPDX-License-Identifier: MIT
// rates.hpp - computes the rate of a cable and its IBA code. It does not depend on routing.
#pragma once
#include <comad/iba/detail/value_codes.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <array>
#include <bit>

namespace comad::transports::sim {

/// Returns the number of lanes of an active width; 0: no link.
constexpr unsigned lanes_of(link_codes active) noexcept {
    constexpr std::array<unsigned, 5> lanes{1, 4, 8, 12, 2}; // lanes by the bit of the width
    const auto width = static_cast<unsigned>(std::countr_zero(active.width));
    return width < lanes.size() ? lanes[width] : 0;
}

/// Returns the rate of an active width and speed: the number of lanes times the nominal IBA rate, in 0.1 Gb/s; 0: no
/// link. An FDR10 link has the rate of QDR, because FDR10 has no code of its own.
constexpr unsigned tenths_of_gbps(link_codes active) noexcept {
    if (active.has_fdr10()) active.speed = iba::lane_speed::QDR;
    constexpr std::array<unsigned, 8> lane{25, 50, 100, 140, 250, 500, 1000, 2000}; // SDR to XDR
    const auto speed = static_cast<unsigned>(std::countr_zero(active.speed));
    return speed < lane.size() ? lanes_of(active) * lane[speed] : 0;
}

/// Returns the data rate of an active width and speed in bits per second, without line encoding and error correction (IBA volume 2):
/// 1e11 for 4x EDR; 0: no link.
constexpr double data_bits_per_second(link_codes active) noexcept {
    if (active.has_fdr10()) return lanes_of(active) * 10e9;
    constexpr std::array<double, 8> lane{2e9, 4e9, 8e9, 14.0625e9 * 64 / 66, 25e9, 50e9, 100e9, 200e9}; // SDR to XDR
    const auto speed = static_cast<unsigned>(std::countr_zero(active.speed));
    return speed < lane.size() ? lanes_of(active) * lane[speed] : 0;
}

/// Returns the bits that a link sends per second, including the line code and FEC; 0: no link.
constexpr double signaling_rate(link_codes active) noexcept {
    constexpr std::array lane{2.5e9, 5e9, 10e9, 14.0625e9, 25.78125e9, 53.125e9, 106.25e9, 212.5e9}; // SDR to XDR
    if (active.has_fdr10()) return lanes_of(active) * 10.3125e9;
    const auto speed = static_cast<unsigned>(std::countr_zero(active.speed));
    return speed < lane.size() ? lanes_of(active) * lane[speed] : 0;
}

/// Returns whether a tick is a number of bytes of the link, as in Quantum, and not of a lane, as in the IBA.
inline bool is_tick_of_link(const node& n) noexcept {
    return n.is_switch() && (n.deviceID == 0xd2f0 || n.deviceID == 0xd2f2 || n.deviceID == 0xd2f4);
}

/// Returns the usual forward error correction of a link at this speed.
constexpr iba::FECMode fec_of(link_codes active) noexcept {
    if (active.extended_speed2() != 0) return iba::FECMode::RS2; // XDR
    switch (active.extended_speed()) {
    case 0: return iba::FECMode::None;
    case 1: return iba::FECMode::FireCode; // FDR
    case 2: return iba::FECMode::RS;       // EDR
    default: return iba::FECMode::RS2;     // HDR and NDR
    }
}

/// Returns PathRecord.rate: the highest code that does not exceed the rate, or the lowest code of all. 12x XDR has no
/// code of its own.
constexpr iba::Rate rate_of(unsigned tenths) noexcept {
    return iba::rate_at_most(tenths * u64{100'000'000}).value_or(iba::Rate::r2_5);
}

/// Returns the rate of a code. Compare rates by this value, because the codes are not ordered.
constexpr unsigned tenths_of(iba::Rate rate) noexcept {
    return static_cast<unsigned>(iba::bits_per_second(rate) / 100'000'000);
}

} // namespace comad::transports::sim
