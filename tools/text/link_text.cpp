// SPDX-License-Identifier: MIT
// link_text.cpp - formats links with the texts of iblinkinfo.c, and width and speed with those of libibmad.
#include "text/link_text.hpp"

#include "comad.hpp"
#include "text/diags_text.hpp"
#include <comad/discovery/database/detail/link.hpp>

#include <fmt/format.h>

#include <string_view>

namespace ibtool {

using discovery::port_ref;
using discovery::subnet;
using iba::smp::PortInfo;

namespace {

template <class T> u32 bits(T value) { return static_cast<u32>(value); }

const PortInfo& info_at(const subnet& s, port_ref r) { return *s.at(r).info; }

} // namespace

std::string format_any_speed(discovery::link_speeds speed) {
    if (speed >> discovery::extended_speed2_bit) return format_extended_speed2(speed >> discovery::extended_speed2_bit);
    if (speed >> discovery::extended_speed_bit) return format_extended_speed(speed >> discovery::extended_speed_bit);
    return format_speed(speed);
}

unsigned lid_at(const subnet& s, port_ref r) {
    const auto& info = s.end_port(r).info;
    return info ? value(info->LID) : 0;
}

std::string width_of(const subnet& s, port_ref r) { return format_width(bits(discovery::active_width(s, r))); }

std::string speed_of(const subnet& s, port_ref r) {
    return discovery::is_fdr10(s, r) ? "10.0 Gbps (FDR10)" : format_any_speed(discovery::active_speed(s, r));
}

std::string better_width(const subnet& s, port_ref r) {
    const u32 better = bits(discovery::possible_width(s, r));
    return better ? format_width(better) : std::string();
}

std::string better_speed(const subnet& s, port_ref r) {
    if (const u32 better = discovery::possible_speed(s, r)) return format_any_speed(better);
    return discovery::could_be_fdr10(s, r) ? "FDR10 (Found link at QDR but expected speed is FDR10)" : "";
}

std::string format_link(const subnet& s, port_ref r, bool with_times) {
    const PortInfo& p = info_at(s, r);
    const std::string states =
        fmt::format("{:>6}/{:>8}", format_link_state(p.portState), format_physical_link_state(p.portPhysicalState));
    if (p.portState == iba::PortState::Down) return fmt::format("(              {})", states);
    std::string text = fmt::format("({:>3} {:>18} {})", width_of(s, r), speed_of(s, r), states);
    if (with_times) text += fmt::format(" (HOQ:{} VL_Stall:{})", p.HOQLife, p.VLStallCount);
    return text;
}

std::string format_external_port(const discovery::system_groups& groups, port_ref r) {
    const unsigned number = groups.external_port(r);
    return number ? fmt::format("[{:2}]", number) : "[  ]";
}

std::string format_peer(const subnet& s, const discovery::node_names& names, port_ref r, bool with_guid,
                        const discovery::system_groups& groups) {
    const port_ref peer = s.at(r).peer;
    if (!peer) {
        const bool has_no_link = r.port == 0 || info_at(s, r).portState == iba::PortState::Down;
        return std::string(has_no_link ? no_peer_text : "    \"Port not available\"");
    }
    const auto could_be = [](const std::string& better, const std::string& at_other_end) {
        if (!better.empty()) return "Could be " + better;
        return at_other_end.empty() ? at_other_end : at_other_end + " at the other end";
    };
    const u32 other_width = bits(discovery::other_width(s, r)), other_speed = discovery::other_speed(s, r);
    return fmt::format("{}{:6} {:4}{} \"{}\" ({} {})",
                       with_guid ? fmt::format("0x{:016x} ", value(s.at(peer).portGUID)) : std::string(),
                       lid_at(s, peer), peer.port, format_external_port(groups, peer), names.of(s.nodes[peer.node]),
                       could_be(better_width(s, r), other_width ? format_width(other_width) : std::string()),
                       could_be(better_speed(s, r), other_speed ? format_any_speed(other_speed) : std::string()));
}

} // namespace ibtool
