// SPDX-License-Identifier: MIT
// link.cpp - widths and speeds compared as iblinkinfo does, in one set of speeds.
#include <comad/discovery/link.hpp>

#include <array>
#include <bit>

namespace comad::discovery {
namespace {

using iba::LinkWidth;
using iba::smp::PortInfo;

template <class T> constexpr u32 bits(T value) noexcept { return static_cast<u32>(value); }

const PortInfo& info_at(const subnet& s, port_ref r) noexcept { return *s.at(r).info; }

/// Whether extended speeds mean something there; a switch says it by port 0.
bool knows_extended(const subnet& s, port_ref r) noexcept {
    const auto& info = s.end_port(r).info;
    return info && has_extended_speeds(*info);
}

link_speeds supported_speeds(const subnet& s, port_ref r) noexcept {
    const PortInfo& p = info_at(s, r);
    link_speeds speeds = bits(p.linkSpeedSupported) & 7;
    if (knows_extended(s, r))
        speeds |= bits(p.linkSpeedExtSupported) << extended_speed_bit | bits(p.linkSpeedExtSupported2)
                                                                            << extended_speed2_bit;
    return speeds;
}

/// Both ends were read.
bool is_known(const subnet& s, port_ref r) noexcept {
    const port_ref peer = s.at(r).peer;
    return peer && s.at(r).info && s.at(peer).info;
}

/// The fastest that both ends support. Precondition: is_known().
link_speeds best_speed(const subnet& s, port_ref r) noexcept {
    return std::bit_floor(supported_speeds(s, r) & supported_speeds(s, s.at(r).peer));
}

} // namespace

LinkWidth active_width(const subnet& s, port_ref r) noexcept { return info_at(s, r).linkWidthActive; }

link_speeds active_speed(const subnet& s, port_ref r) noexcept {
    const PortInfo& p = info_at(s, r);
    if (knows_extended(s, r)) {
        if (bits(p.linkSpeedExtActive2)) return bits(p.linkSpeedExtActive2) << extended_speed2_bit;
        if (bits(p.linkSpeedExtActive)) return bits(p.linkSpeedExtActive) << extended_speed_bit;
    }
    return bits(p.linkSpeedActive);
}

LinkWidth possible_width(const subnet& s, port_ref r) noexcept {
    if (!is_known(s, r)) return {};
    const u32 common = bits(info_at(s, r).linkWidthSupported) & bits(info_at(s, s.at(r).peer).linkWidthSupported);
    for (const LinkWidth width : {LinkWidth::w12x, LinkWidth::w8x, LinkWidth::w4x, LinkWidth::w2x, LinkWidth::w1x}) {
        if (!(common & bits(width))) continue;
        return bits(active_width(s, r)) & bits(width) ? LinkWidth{} : width;
    }
    return {};
}

link_speeds possible_speed(const subnet& s, port_ref r) noexcept {
    if (!is_known(s, r)) return 0;
    const link_speeds best = best_speed(s, r);
    return active_speed(s, r) & best ? 0 : best;
}

bool could_be_FDR10(const subnet& s, port_ref r) noexcept {
    constexpr link_speeds QDR = bits(iba::LinkSpeed::QDR);
    return is_known(s, r) && best_speed(s, r) == QDR && active_speed(s, r) == QDR && s.at(r).fdr10_supported &&
           s.at(s.at(r).peer).fdr10_supported && !s.at(r).fdr10;
}

unsigned lanes_of(LinkWidth width) noexcept {
    switch (width) {
    case LinkWidth::w1x: return 1;
    case LinkWidth::w2x: return 2;
    case LinkWidth::w4x: return 4;
    case LinkWidth::w8x: return 8;
    case LinkWidth::w12x: return 12;
    }
    return 0;
}

double bits_per_second(link_speeds speeds) noexcept {
    // SDR, DDR, QDR; FDR, EDR, HDR, NDR; XDR
    constexpr std::array gigabits{2.5, 5.0, 10.0, 14.0625, 25.78125, 53.125, 106.25, 212.5};
    const auto fastest = static_cast<unsigned>(std::bit_width(speeds));
    return fastest == 0 || fastest > gigabits.size() ? 0 : gigabits[fastest - 1] * 1e9;
}

double bits_per_second(const subnet& s, port_ref r) noexcept {
    const double lane = s.at(r).fdr10 ? FDR10_bits_per_second : bits_per_second(active_speed(s, r));
    return lane * lanes_of(active_width(s, r));
}

} // namespace comad::discovery
