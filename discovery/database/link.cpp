// SPDX-License-Identifier: MIT
// link.cpp - compares widths and speeds by the rules of iblinkinfo, with all speeds in one set.
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/database/detail/link_sets.hpp>
#include <comad/discovery/database/detail/vendors.hpp>
#include <comad/iba/detail/enums.hpp>

#include <array>
#include <bit>

namespace comad::discovery {
namespace {

using iba::LinkWidth;
using iba::smp::PortInfo;

template <class T> constexpr u32 bits(T value) noexcept { return static_cast<u32>(value); }

constexpr link_speeds legacy_speeds = 7, QDR = bits(iba::LinkSpeed::QDR);
constexpr u8 extended_speeds_disabled = 30, extended_speeds = 0xf; // of linkSpeedExtEnabled, IBA 14.2.5.6
constexpr u8 FDR10 = 1;                                            // the bit in the speed sets of MlnxExtPortInfo

const PortInfo& info_at(const subnet& s, port_ref r) noexcept { return *s.at(r).info; }

/// Returns whether the PortInfo of both ends is known.
bool is_known(const subnet& s, port_ref r) noexcept {
    const port_ref peer = s.at(r).peer;
    return peer && s.at(r).info && s.at(peer).info;
}

bool are_up(const subnet& s, port_ref r) noexcept {
    return is_known(s, r) && info_at(s, r).portState != iba::PortState::Down &&
           info_at(s, s.at(r).peer).portState != iba::PortState::Down;
}

/// Returns the fastest speed that both ends support. Precondition: is_known().
link_speeds best_speed(const subnet& s, port_ref r) noexcept {
    return std::bit_floor(supported_speeds(s, r) & supported_speeds(s, s.at(r).peer));
}

} // namespace

bool has_extended_speeds(const PortInfo& end_port) noexcept {
    return end_port.capabilityMask & value(iba::CapabilityMask::IsExtendedSpeedsSupported);
}
bool has_extended_speeds(const subnet& s, port_ref r) noexcept {
    const auto& end = s.end_port(r).info;
    return end && has_extended_speeds(*end);
}

bool hides_extended_speeds(const PortInfo& end_port, const PortInfo& port) noexcept {
    return has_extended_speeds(end_port) &&
           (bits(port.linkSpeedExtSupported) | bits(port.linkSpeedExtEnabled) | bits(port.linkSpeedExtActive) |
            bits(port.linkSpeedExtSupported2) | bits(port.linkSpeedExtEnabled2) | bits(port.linkSpeedExtActive2)) == 0;
}

link_speeds supported_speeds(const subnet& s, port_ref r) noexcept {
    const PortInfo& p = info_at(s, r);
    link_speeds speeds = bits(p.linkSpeedSupported) & legacy_speeds;
    if (has_extended_speeds(s, r))
        speeds |= bits(p.linkSpeedExtSupported) << extended_speed_bit | bits(p.linkSpeedExtSupported2)
                                                                            << extended_speed2_bit;
    return speeds;
}

link_speeds enabled_speeds(const subnet& s, port_ref r) noexcept {
    const PortInfo& p = info_at(s, r);
    link_speeds speeds = bits(p.linkSpeedEnabled) & legacy_speeds;
    if (!has_extended_speeds(s, r)) return speeds;
    if (p.linkSpeedExtEnabled != extended_speeds_disabled)
        speeds |= bits(p.linkSpeedExtEnabled & extended_speeds) << extended_speed_bit;
    return speeds | bits(p.linkSpeedExtEnabled2) << extended_speed2_bit;
}

LinkWidth widest(u8 widths) noexcept {
    for (const LinkWidth width : {LinkWidth::w12x, LinkWidth::w8x, LinkWidth::w4x, LinkWidth::w2x, LinkWidth::w1x})
        if (widths & bits(width)) return width;
    return {};
}

LinkWidth active_width(const PortInfo& p) noexcept { return p.linkWidthActive; }

link_speeds active_speed(const PortInfo& p, bool extended) noexcept {
    if (extended && bits(p.linkSpeedExtActive2)) return bits(p.linkSpeedExtActive2) << extended_speed2_bit;
    if (extended && bits(p.linkSpeedExtActive)) return bits(p.linkSpeedExtActive) << extended_speed_bit;
    return bits(p.linkSpeedActive) & legacy_speeds;
}

LinkWidth active_width(const subnet& s, port_ref r) noexcept { return active_width(info_at(s, r)); }
link_speeds active_speed(const subnet& s, port_ref r) noexcept {
    return active_speed(info_at(s, r), has_extended_speeds(s, r));
}

LinkWidth possible_width(const subnet& s, port_ref r) noexcept {
    if (!is_known(s, r)) return {};
    const LinkWidth best = widest(info_at(s, r).linkWidthSupported & info_at(s, s.at(r).peer).linkWidthSupported);
    return lanes_of(best) > lanes_of(active_width(s, r)) ? best : LinkWidth{};
}

link_speeds possible_speed(const subnet& s, port_ref r) noexcept {
    if (!is_known(s, r)) return 0;
    const link_speeds best = best_speed(s, r);
    return best > active_speed(s, r) ? best : 0;
}

LinkWidth other_width(const subnet& s, port_ref r) noexcept {
    if (!are_up(s, r)) return {};
    const LinkWidth there = active_width(s, s.at(r).peer);
    return there != active_width(s, r) ? there : LinkWidth{};
}

link_speeds other_speed(const subnet& s, port_ref r) noexcept {
    if (!are_up(s, r)) return 0;
    const link_speeds there = active_speed(s, s.at(r).peer);
    return there != active_speed(s, r) ? there : 0;
}

bool is_degraded_to_1x(const subnet& s, port_ref r) noexcept {
    return active_width(s, r) == LinkWidth::w1x && info_at(s, r).linkWidthSupported != bits(LinkWidth::w1x);
}

bool may_be_fdr10(const node& n, u8 number) noexcept {
    const auto& end = n.ports[n.is_switch() ? 0 : number].info;
    const bool extended = !end || has_extended_speeds(*end);
    return active_speed(*n.ports[number].info, extended) == QDR && has_mlnx_ext_port_info(n.info);
}

void take_fdr10(port& p, const iba::smp::MlnxExtPortInfo& info) noexcept {
    p.fdr10 = info.LinkSpeedActive & FDR10;
    p.fdr10_supported = info.LinkSpeedSupported & FDR10;
}

bool is_fdr10(const subnet& s, port_ref r) noexcept { return active_speed(s, r) == QDR && s.at(r).fdr10; }

bool could_be_fdr10(const subnet& s, port_ref r) noexcept {
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

namespace {

double lane_bits_per_second(const subnet& s, port_ref r) noexcept {
    return is_fdr10(s, r) ? fdr10_bits_per_second : bits_per_second(active_speed(s, r));
}

} // namespace

double bits_per_second(const subnet& s, port_ref r) noexcept {
    return lane_bits_per_second(s, r) * lanes_of(active_width(s, r));
}

double lane_data_bits_per_second(double signaling_rate) noexcept {
    constexpr double qdr_rate = 10e9, hdr_rate = 53.125e9;
    if (signaling_rate <= qdr_rate) return signaling_rate * 8 / 10;
    if (signaling_rate < hdr_rate) return signaling_rate * 64 / 66;
    return signaling_rate * 514 / 544 * 256 / 257;
}

double lane_data_bits_per_second(const subnet& s, port_ref r) noexcept {
    return lane_data_bits_per_second(lane_bits_per_second(s, r));
}

double data_bits_per_second(const subnet& s, port_ref r) noexcept {
    return lane_data_bits_per_second(s, r) * lanes_of(active_width(s, r));
}

} // namespace comad::discovery
