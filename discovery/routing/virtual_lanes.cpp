// SPDX-License-Identifier: MIT
// virtual_lanes.cpp - stores SLs by source and LID, and VLs by switch and ports.
#include <comad/discovery/routing/detail/virtual_lanes.hpp>

#include <algorithm>

namespace comad::discovery {

void virtual_lanes::set_sl(port_ref source, unsigned LID, u8 SL) {
    auto& of = sls_[key(source)];
    if (of.size() <= LID) of.resize(LID + 1);
    of[LID] = SL % sls;
}

void virtual_lanes::set_map(u32 sw, u8 in, u8 out, const sl_to_vl& map) { maps_[key(sw, in, out)] = map; }

unsigned virtual_lanes::VLs() const noexcept {
    std::array<bool, sls> is_used{};
    if (sls_.empty()) is_used[0] = true;
    for (const auto& [source, of] : sls_)
        for (const u8 SL : of) is_used[SL] = true;
    unsigned most = 1;
    for (unsigned SL = 0; SL < sls; ++SL) {
        if (!is_used[SL]) continue;
        if (maps_.empty()) most = std::max(most, SL + 1);
        for (const auto& [where, map] : maps_)
            if (map[SL] < dropped) most = std::max(most, map[SL] + 1u);
    }
    if (!maps_.empty()) // without a map, the VL is the SL
        for (unsigned SL = 0; SL < dropped; ++SL)
            if (is_used[SL]) most = std::max(most, SL + 1);
    return most;
}

} // namespace comad::discovery
