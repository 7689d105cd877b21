// SPDX-License-Identifier: MIT
// overrides.hpp - values that managers have written to nodes and ports and that the topology does not contain. It stores them without
// interpreting them.
#pragma once
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/time.hpp>

#include <array>
#include <map>
#include <optional>
#include <span>
#include <tuple>

namespace comad::transports::sim {

/// Written values. It is empty until the first write; attributes.hpp has the values of nodes without writes.
class overrides {
public:
    using block = std::array<u8, 64>;
    struct port_settings {
        iba::smp::PortInfo info; ///< only the writable components are used
        /// The physical state while the link is not up: Disabled, Sleep or Polling.
        iba::PortPhysicalState resting = iba::PortPhysicalState::Polling;
        std::optional<mad::time_point> lease_end{}; ///< end of the M_Key lease; set while its lease period runs
    };

    /// Stores a block of a table. `port`: the port with the table, 0 for a switch; `modifier` as in SMPs.
    void set_block(u32 node, u8 port, u16 attributeID, u32 modifier, std::span<const u8, 64> bytes);
    /// Returns a stored block; null: it was not written.
    const block* find_block(u32 node, u8 port, u16 attributeID, u32 modifier) const noexcept;
    /// Returns how many times P_Key tables, GUID tables or port settings were written.
    u64 port_writes() const noexcept { return port_writes_; }

    /// Returns whether any P_Key table was written.
    bool has_pkeys() const noexcept { return has_pkeys_; }

    port_settings& port(u32 node, u8 number) {
        ++port_writes_;
        return ports_[{node, number}];
    }
    const port_settings* find_port(u32 node, u8 number) const noexcept;

    iba::smp::SwitchInfo& switch_info(u32 node) { return switches_[node]; }
    const iba::smp::SwitchInfo* find_switch(u32 node) const noexcept;

    /// Returns whether any switch has a written forwarding table or SwitchInfo.
    bool forwards() const noexcept { return has_linear_ || !switches_.empty(); }
    /// Returns whether a packet with this service level has an operational virtual lane at an output port. `input`:
    /// the input port of a switch.
    bool has_lane(u32 node, std::optional<u8> input, u8 output, u8 SL) const noexcept;
    /// Returns the port through which a switch forwards a LID; nullopt: its table was not written.
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
