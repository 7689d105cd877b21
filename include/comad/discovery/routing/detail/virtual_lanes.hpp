// SPDX-License-Identifier: MIT
// virtual_lanes.hpp - the service level of each path and the virtual lane of each hop: what tells apart channels of one link.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <array>
#include <unordered_map>
#include <vector>

namespace comad::discovery {

/// Without any entry: SL 0 everywhere, and each SL on the VL of its number.
class virtual_lanes {
public:
    static constexpr unsigned sls = 16;
    static constexpr u8 dropped = 15; ///< no VL of data (IBA 7.6.6)
    using sl_to_vl = std::array<u8, sls>;

    /// Of packets from a port to a LID.
    void set_sl(port_ref source, unsigned LID, u8 SL);
    /// Of what a switch takes in by one port and sends by another.
    void set_map(u32 sw, u8 in, u8 out, const sl_to_vl&);

    u8 SL(port_ref source, unsigned LID) const noexcept {
        const auto of = sls_.find(key(source));
        return of != sls_.end() && LID < of->second.size() ? of->second[LID] : u8{0};
    }
    u8 VL(u32 sw, u8 in, u8 out, u8 SL) const noexcept {
        const auto map = maps_.find(key(sw, in, out));
        return map != maps_.end() ? map->second[SL] : SL;
    }
    /// 1 more than the highest VL of data that there is.
    unsigned VLs() const noexcept;
    /// Nothing is known but that all is on one.
    bool is_single() const noexcept { return sls_.empty() && maps_.empty(); }

private:
    static u64 key(port_ref source) noexcept { return u64{source.node} << 8 | source.port; }
    static u64 key(u32 sw, u8 in, u8 out) noexcept { return u64{sw} << 16 | u64{in} << 8 | out; }
    std::unordered_map<u64, std::vector<u8>> sls_;
    std::unordered_map<u64, sl_to_vl> maps_;
};

} // namespace comad::discovery
