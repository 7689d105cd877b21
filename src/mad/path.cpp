// SPDX-License-Identifier: MIT
// path.cpp - destination keys and message texts of paths.
#include <comad/mad/path.hpp>

#include <fmt/format.h>

#include <iterator>

namespace comad::mad {
namespace {

// Multiply and fold; a good spread of few input bits is all that the destination table needs.
u64 mix(u64 hash, u64 word) noexcept {
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 32;
}

} // namespace

u64 destination_key(const any_path& p) noexcept {
    const IBPath& headers = headers_of(p);
    u64 hash = mix(0x243f6a8885a308d3u, value(headers.DLID));
    if (auto* route = directed(p)) {
        hash = mix(hash, u64{value(route->drDLID)} << 16 | route->hopCount);
        for (unsigned at = 0; at <= route->hopCount; at += 8) hash = mix(hash, route_word(*route, at));
    }
    return hash ? hash : 1;
}

std::string to_string(const any_path& p) {
    auto* route = directed(p);
    if (!route) return fmt::format("Lid {}", value(headers_of(p).DLID));
    std::string text = "DR Path (0";
    for (u8 port : route->hops()) fmt::format_to(std::back_inserter(text), ", {}", port);
    if (route->DLID != iba::permissive_lid) {
        text.insert(9, fmt::format("from Lid {}, ", value(route->DLID)));
    }
    return text + ")";
}

} // namespace comad::mad
