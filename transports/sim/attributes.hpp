// SPDX-License-Identifier: MIT
// attributes.hpp - what nodes are and have, as attributes of subnet management: the one source of what their SMAs answer
// and of what the SA's records say. Knows no MAD.
#pragma once
#include "forwarding.hpp"
#include <comad/iba/smp.hpp>
#include <comad/transports/sim/topology.hpp>

#include <span>
#include <vector>

namespace comad::transports::sim {

/// Common status bits (IBA 13.4.7), beside those that a server knows.
namespace mad_status {
inline constexpr u16 busy = 0x01;
} // namespace mad_status

class attributes {
public:
    using block = std::span<u8, 64>;

    /// `t` must outlive it.
    explicit attributes(const topology& t);

    /// After any change of cables and states.
    void topology_changed() noexcept { forwarding_.topology_changed(); }
    /// SwitchInfo.portStateChange.
    void set_port_state_change(u32 node) noexcept { port_state_change_[node] = true; }

    /// Writes the attribute that `node` gives when it is asked by `in_port`, zeros behind it. Gives the status; 0: done.
    u16 get(u32 node, u8 in_port, u16 attributeID, u32 modifier, block out) noexcept;

    const topology& graph() const noexcept { return topology_; }
    forwarding& tables() noexcept { return forwarding_; }

    static constexpr u64 GIDPrefix = 0xfe80'0000'0000'0000; // the default (IBA 4.1.1)
    static constexpr u8 packet_life_time = 18;              // PortInfo.subnetTimeOut, PathRecord.packetLifeTime
    static constexpr u16 default_PKey = 0xffff;

private:
    iba::smp::NodeDescription node_description(u32 node) const noexcept;
    iba::smp::NodeInfo node_info(u32 node, u8 in_port) const noexcept;
    iba::smp::SwitchInfo switch_info(u32 node) const noexcept;
    iba::smp::PortInfo port_info(u32 node, u8 in_port, u32 number) const noexcept;

    u16 get_port_info(u32 node, u8 in_port, u32 modifier, block out) noexcept;
    u16 get_guid_info(u32 node, u8 in_port, u32 modifier, block out) noexcept;
    u16 get_pkey_table(u32 node, u32 modifier, block out) noexcept;
    u16 get_sl_to_vl(u32 node, u32 modifier, block out) noexcept;
    u16 get_vl_arbitration(u32 node, u32 modifier, block out) noexcept;
    u16 get_linear(u32 node, u32 modifier, block out) noexcept;
    u16 get_multicast(u32 node, u32 modifier, block out) noexcept;
    u16 get_sm_info(u32 node, u8 in_port, block out) noexcept;

    const topology& topology_;
    forwarding forwarding_;
    std::vector<bool> port_state_change_;
};

} // namespace comad::transports::sim
