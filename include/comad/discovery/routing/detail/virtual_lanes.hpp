// SPDX-License-Identifier: MIT
// virtual_lanes.hpp - the service level of each path and the virtual lane of each hop, which separate the channels of a link.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <array>
#include <unordered_map>
#include <vector>

namespace comad::discovery {

/// The SL of each path, and the SL-to-VL maps of switches. Without entries, every path has SL 0, and each SL uses the VL of its number.
class virtual_lanes {
public:
    static constexpr unsigned sls = 16;
    static constexpr u8 dropped = 15; ///< VL 15: no data VL, packets are dropped (IBA 7.6.6)
    using sl_to_vl = std::array<u8, sls>;

    /// Sets the SL of packets from a port to a LID.
    void set_sl(port_ref source, unsigned LID, u8 SL);
    /// Sets the SL-to-VL map of a switch for packets that enter by one port and leave by another.
    void set_map(u32 sw, u8 in, u8 out, const sl_to_vl&);

    u8 SL(port_ref source, unsigned LID) const noexcept {
        const auto of = sls_.find(key(source));
        return of != sls_.end() && LID < of->second.size() ? of->second[LID] : u8{0};
    }
    u8 VL(u32 sw, u8 in, u8 out, u8 SL) const noexcept {
        const auto map = maps_.find(key(sw, in, out));
        return map != maps_.end() ? map->second[SL] : SL;
    }
    /// The highest data VL in use, plus 1.
    unsigned VLs() const noexcept;
    /// Returns whether there are no entries, so that all traffic uses one VL.
    bool is_single() const noexcept { return sls_.empty() && maps_.empty(); }

private:
    static u64 key(port_ref source) noexcept { return u64{source.node} << 8 | source.port; }
    static u64 key(u32 sw, u8 in, u8 out) noexcept { return u64{sw} << 16 | u64{in} << 8 | out; }
    std::unordered_map<u64, std::vector<u8>> sls_;
    std::unordered_map<u64, sl_to_vl> maps_;
};

} // namespace comad::discovery
