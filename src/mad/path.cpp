// SPDX-License-Identifier: MIT
// path.cpp - computes destination keys, timeouts, reverse paths and message texts of paths.
#include <comad/iba/detail/format.hpp>
#include <comad/iba/detail/value_codes.hpp>
#include <comad/mad/path.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace comad::mad {
namespace {

// Mixes a word into a hash by multiplying and folding. The table of destinations needs only a good spread of a few different input bits.
u64 mix(u64 hash, u64 word) noexcept {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

void swap_ends(path_headers& p) noexcept {
    std::swap(p.DLID, p.SLID);
    std::swap(p.dqpn, p.sqpn);
}

std::string text_of(const IBPath& p) {
    std::string ends = fmt::format("{} -> {}", p.SLID, p.DLID);
    if (p.has_grh)
        ends = fmt::format("{} {} -> {} {} TC={} FL={} HL={}", p.SGID, p.SLID, p.DGID, p.DLID, p.traffic_class,
                           p.flow_label, p.hop_limit);
    return fmt::format("Path {} SL={} PKey={:#06x} DQPN={}", ends, p.SL, p.pkey, p.dqpn);
}

std::string text_of(const IBDRPath& p) {
    const std::span<const u8> whole(p.drPath.data(), p.hopCount + std::size_t{1});
    std::string text = fmt::format("({})", fmt::join(whole, ", "));
    if (p.drSLID != iba::permissive_lid) text = fmt::format("{} -> {}", p.DLID, text);
    if (p.drDLID != iba::permissive_lid) text = fmt::format("{} -> {}", text, p.drDLID);
    return "DR Path " + text;
}

} // namespace

u64 destination_key(const any_path& p) noexcept {
    constexpr u64 seed = 0x243f6a8885a308d3u;
    u64 hash = 0;
    if (auto* route = directed(p)) {
        hash = mix(seed, u64{value(route->DLID)} << 32 | u64{value(route->drDLID)} << 16 | route->hopCount);
        for (unsigned at = 0; at <= route->hopCount; at += 8) hash = mix(hash, route_word(*route, at));
    } else {
        constexpr u64 by_lid = u64{1} << 48; // no directed route has this value
        hash = mix(seed, by_lid | value(headers_of(p).DLID));
    }
    return hash ? hash : 1;
}

duration mad_timeout(const path_headers& p) noexcept {
    constexpr u8 most = 49; // the time of this code and that of the next one together still fit the type
    return iba::time_of_code(std::min(p.packet_life_time, most) + 1u) + iba::time_of_code(std::min(p.resp_time, most));
}

IBPath reverse(IBPath p) noexcept {
    swap_ends(p);
    std::swap(p.DGID, p.SGID);
    if (p.has_grh) p.hop_limit = 255;
    return p;
}
IBDRPath reverse(IBDRPath p) noexcept {
    swap_ends(p);
    return p;
}
any_path reverse(const any_path& p) noexcept {
    if (auto* route = directed(p)) return reverse(*route);
    return reverse(*std::get_if<IBPath>(&p));
}

bool complete(const IBPath& p) noexcept {
    const bool has_gids = p.SGID != iba::gid{} && p.DGID != iba::gid{};
    return is_unicast(p.DLID) && is_unicast(p.SLID) && (!p.has_grh || has_gids);
}
bool complete(const IBDRPath& p) noexcept {
    const bool has_part_in_front = p.drSLID != iba::permissive_lid;
    return p.hopCount <= IBDRPath::max_hops && (!has_part_in_front || (is_unicast(p.DLID) && is_unicast(p.drSLID)));
}
bool complete(const any_path& p) noexcept {
    if (auto* route = directed(p)) return complete(*route);
    return complete(*std::get_if<IBPath>(&p));
}

any_path without_keys(any_path p) noexcept {
    if (auto* route = std::get_if<IBDRPath>(&p)) route->MKey = 0;
    if (auto* to = std::get_if<IBPath>(&p)) to->MKey = to->SMKey = to->CCKey = 0;
    return p;
}

std::string to_string(const any_path& p) {
    if (auto* route = directed(p)) return text_of(*route);
    return text_of(*std::get_if<IBPath>(&p));
}

} // namespace comad::mad
