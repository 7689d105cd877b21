// SPDX-License-Identifier: MIT
// overrides.hpp - what managers have written to nodes and ports, as far as it does not stand in the topology. Knows what is
// kept, and not what it means.
#pragma once
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/time.hpp>

#include <array>
#include <map>
#include <optional>
#include <span>
#include <tuple>

namespace comad::transports::sim {

/// Nothing until somebody writes: what nodes are without it says attributes.hpp.
class overrides {
public:
    using block = std::array<u8, 64>;
    struct port_settings {
        iba::smp::PortInfo info; ///< its writable components
        /// What its physical state is unless the link is up: Disabled, Sleep or Polling.
        iba::PortPhysicalState resting = iba::PortPhysicalState::Polling;
        std::optional<mad::time_point> lease_end{}; ///< of the M_Key, while its lease is running out
    };

    /// Blocks of tables. `port`: of a CA the one that has the table, of a switch 0; `modifier` as SMPs tell it.
    void set_block(u32 node, u8 port, u16 attributeID, u32 modifier, std::span<const u8, 64> bytes);
    const block* find_block(u32 node, u8 port, u16 attributeID, u32 modifier) const noexcept;
    /// How many times tables of P_Keys, GUIDs or settings of ports were written.
    u64 port_writes() const noexcept { return port_writes_; }

    /// Whether any table of P_Keys was written.
    bool has_pkeys() const noexcept { return has_pkeys_; }

    port_settings& port(u32 node, u8 number) {
        ++port_writes_;
        return ports_[{node, number}];
    }
    const port_settings* find_port(u32 node, u8 number) const noexcept;

    iba::smp::SwitchInfo& switch_info(u32 node) { return switches_[node]; }
    const iba::smp::SwitchInfo* find_switch(u32 node) const noexcept;

    /// Whether any switch has a forwarding table or its end written.
    bool forwards() const noexcept { return has_linear_ || !switches_.empty(); }
    /// Whether a packet of this service level has an operational virtual lane at an output port, of a switch from this input
    /// port.
    bool has_lane(u32 node, std::optional<u8> input, u8 output, u8 SL) const noexcept;
    /// The port by which a switch forwards a LID: nothing where its table was not written.
    std::optional<u8> port_to(u32 node, iba::lid to) const noexcept;
    static constexpr u8 no_port = 255;

private:
    using block_key = std::tuple<u16, u32, u8, u32>;
    std::map<block_key, block> blocks_;
    std::map<std::pair<u32, u8>, port_settings> ports_;
    std::map<u32, iba::smp::SwitchInfo> switches_;
    bool has_linear_ = false, has_pkeys_ = false;
    u64 port_writes_ = 0;
};

} // namespace comad::transports::sim
