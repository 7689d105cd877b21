// SPDX-License-Identifier: MIT
// link_text.cpp - words of iblinkinfo.c; of width and speed those of libibmad.
#include "link_text.hpp"

#include "diags_text.hpp"

#include <fmt/format.h>

#include <bit>
#include <string_view>

namespace ibtool {

namespace discovery = comad::discovery;
namespace iba = comad::iba;
using comad::u32;
using comad::u64;
using discovery::port_ref;
using discovery::subnet;
using iba::smp::PortInfo;

namespace {

template <class T> u32 bits(T value) { return static_cast<u32>(value); }

const PortInfo& info_at(const subnet& s, port_ref r) { return *s.at(r).info; }

/// Whether extended speeds mean something there; a switch says it by port 0.
bool knows_extended(const subnet& s, port_ref r) {
    const auto& info = s.end_port(r).info;
    return info && discovery::has_extended_speeds(*info);
}

// All speeds as one set, the slower the lower: LinkSpeed, LinkSpeedExt, LinkSpeedExt2.
constexpr unsigned extended_bit = 3, extended2_bit = 7;

u32 supported_speeds(const subnet& s, port_ref r) {
    const PortInfo& p = info_at(s, r);
    u32 speeds = bits(p.linkSpeedSupported) & 7;
    if (knows_extended(s, r))
        speeds |= bits(p.linkSpeedExtSupported) << extended_bit | bits(p.linkSpeedExtSupported2) << extended2_bit;
    return speeds;
}

u32 active_speed(const subnet& s, port_ref r) {
    const PortInfo& p = info_at(s, r);
    if (knows_extended(s, r)) {
        if (bits(p.linkSpeedExtActive2)) return bits(p.linkSpeedExtActive2) << extended2_bit;
        if (bits(p.linkSpeedExtActive)) return bits(p.linkSpeedExtActive) << extended_bit;
    }
    return bits(p.linkSpeedActive);
}

std::string any_speed_text(u32 speed) {
    if (speed >> extended2_bit) return extended_speed2_text(speed >> extended2_bit);
    if (speed >> extended_bit) return extended_speed_text(speed >> extended_bit);
    return speed_text(speed);
}

/// Both ends were read.
bool is_known(const subnet& s, port_ref r) {
    const port_ref peer = s.at(r).peer;
    return peer && s.at(r).info && s.at(peer).info;
}

} // namespace

unsigned LID_at(const subnet& s, port_ref r) {
    const auto& info = s.end_port(r).info;
    return info ? value(info->LID) : 0;
}

std::string width_of(const subnet& s, port_ref r) { return width_text(bits(info_at(s, r).linkWidthActive)); }

std::string speed_of(const subnet& s, port_ref r) {
    const u32 active = active_speed(s, r);
    const bool is_QDR = active == bits(iba::LinkSpeed::QDR);
    return is_QDR && s.at(r).fdr10 ? "10.0 Gbps (FDR10)" : any_speed_text(active);
}

std::string better_width(const subnet& s, port_ref r) {
    if (!is_known(s, r)) return {};
    const u32 common = bits(info_at(s, r).linkWidthSupported) & bits(info_at(s, s.at(r).peer).linkWidthSupported);
    for (const iba::LinkWidth width :
         {iba::LinkWidth::w12x, iba::LinkWidth::w8x, iba::LinkWidth::w4x, iba::LinkWidth::w2x, iba::LinkWidth::w1x}) {
        if (!(common & bits(width))) continue;
        return bits(info_at(s, r).linkWidthActive) & bits(width) ? std::string() : width_text(bits(width));
    }
    return {};
}

std::string better_speed(const subnet& s, port_ref r) {
    if (!is_known(s, r)) return {};
    const port_ref peer = s.at(r).peer;
    const u32 best = std::bit_floor(supported_speeds(s, r) & supported_speeds(s, peer));
    if (!(active_speed(s, r) & best)) return best ? any_speed_text(best) : std::string();
    const bool could_be_FDR10 =
        best == bits(iba::LinkSpeed::QDR) && s.at(r).fdr10_supported && s.at(peer).fdr10_supported && !s.at(r).fdr10;
    return could_be_FDR10 ? "FDR10 (Found link at QDR but expected speed is FDR10)" : "";
}

std::string link_text(const subnet& s, port_ref r, bool with_times) {
    const PortInfo& p = info_at(s, r);
    const std::string states =
        fmt::format("{:>6}/{:>8}", link_state_text(p.portState), physical_link_state_text(p.portPhysicalState));
    if (p.portState == iba::PortState::Down) return fmt::format("(              {})", states);
    std::string text = fmt::format("({:>3} {:>18} {})", width_of(s, r), speed_of(s, r), states);
    if (with_times) text += fmt::format(" (HOQ:{} VL_Stall:{})", p.HOQLife, p.VLStallCount);
    return text;
}

std::string peer_text(const subnet& s, const discovery::node_names& names, port_ref r, bool with_GUID) {
    const port_ref peer = s.at(r).peer;
    if (!peer) {
        const bool has_no_link = r.port == 0 || info_at(s, r).portState == iba::PortState::Down;
        return has_no_link ? "           [  ] \"\" ( )" : "    \"Port not available\"";
    }
    const auto could_be = [](const std::string& what) { return what.empty() ? what : "Could be " + what; };
    return fmt::format("{}{:6} {:4}[  ] \"{}\" ({} {})",
                       with_GUID ? fmt::format("0x{:016x} ", value(s.at(peer).portGUID)) : std::string(),
                       LID_at(s, peer), peer.port, names.of(s.nodes[peer.node]), could_be(better_width(s, r)),
                       could_be(better_speed(s, r)));
}

} // namespace ibtool
