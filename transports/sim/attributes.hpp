// SPDX-License-Identifier: MIT
// attributes.hpp - what nodes are and have, as attributes of subnet management: the one source of what their SMAs answer
// and of what the SA's records say. Knows no MAD.
#pragma once
#include "forwarding.hpp"
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/port_tables.hpp>
#include <comad/mad/detail/time.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace comad::transports::sim {

/// Common status bits (IBA 13.4.7), beside those that a server knows.
namespace mad_status {
inline constexpr u16 busy = 0x01;
} // namespace mad_status

/// Whether a packet with one of these P_Keys may enter where the other one is (IBA 10.9.3).
bool is_pkey_match(u16 a, u16 b) noexcept;

class attributes {
public:
    using block = std::span<u8, 64>;
    using const_block = std::span<const u8, 64>;

    /// `t` must outlive it.
    explicit attributes(topology& t);

    /// After the cable between a's port and b was cut or put back; it stays down if its ends may not train.
    void cable_changed(u32 a, unsigned port_a, u32 b);
    /// Whether cables, states or LIDs have changed since this was asked last.
    bool take_changed() noexcept { return std::exchange(changed_, false); }

    /// Writes the attribute that `node` gives when it is asked by `in_port`, zeros behind it. Gives the status; 0: done.
    u16 get(u32 node, u8 in_port, u16 attributeID, u32 modifier, block out) noexcept;

    /// Writes what may be written of an attribute, which `node` got by `in_port`, and its consequences: links go down and
    /// come up, LIDs lead elsewhere. Gives the status; 0: done. Otherwise nothing has happened.
    u16 set(u32 node, u8 in_port, u16 attributeID, u32 modifier, const_block in);

    u64 gid_prefix(u32 node, u8 port) const noexcept;
    /// Of the capability mask of an end port; the port of the topology's manager has it anyway.
    void set_is_sm(u32 node, u8 port, bool is_sm);

    /// Of an end port, of a switch its port 0: the P_Key at an index of its table; 0: there is none.
    u16 pkey_at(router::place at, u16 index) const noexcept;
    /// Where its table has a P_Key that a packet with `pkey` matches (IBA 10.9.3); full membership comes first.
    std::optional<u16> matching_pkey(router::place at, u16 pkey) const noexcept;
    /// The P_Key of a packet that is to have `pkey`: that one, or the one of its table for the same partition; 0: the table
    /// has neither.
    u16 sent_pkey(router::place at, u16 pkey) const noexcept;
    /// The P_Key by which `a` reaches `b`, as `a` has it, of the partition of `wanted` if there is one; the default partition comes
    /// first. 0: they share no partition.
    u16 shared_pkey(router::place a, router::place b, std::optional<u16> wanted) const noexcept;
    /// The GID at an index of its table, zero if there is none; and the index of a GID by which it is reached.
    iba::gid gid_at(router::place at, u16 index) const noexcept;
    std::optional<u8> gid_index(router::place at, const iba::gid& GID) const noexcept;

    /// As an SMP that came in by `in_port` gets it.
    iba::smp::PortInfo port_info(u32 node, u8 in_port, u32 number) const noexcept;
    /// From now on this end port answers SMInfo so; of the topology's manager only state and priority count.
    void set_manager(u32 node, u8 port, iba::SMState, u8 priority);
    /// Whether a switch of Mellanox routes adaptively (MlnxARInfo); its tables stay as they are.
    void set_adaptive_routing(u32 node, bool is_on);
    /// Whether a port has a GID beside its own (GUIDInfo).
    bool has_alias(u32 node, u8 port, const iba::gid& GID) const noexcept;

    /// A CA's port that became Active, or was it no more.
    struct service_change {
        u32 node;
        u8 port;
        bool is_in_service;
    };
    std::vector<service_change> take_service_changes() noexcept { return std::exchange(service_changes_, {}); }
    /// A link that went down or came up, seen from one of its ends.
    struct link_change {
        u32 node;
        u8 port;
        bool is_up;
    };
    std::vector<link_change> take_link_changes() noexcept { return std::exchange(link_changes_, {}); }
    /// The link of this port is about to go down.
    void link_goes_down(u32 node, unsigned port);

    /// M_Keys and SM_Keys that nobody has written: fabric::set_keys().
    void set_keys(u64 all) noexcept { keys_ = all; }
    /// What guards a port: of a switch its port 0 all of it.
    struct key {
        u64 MKey;
        u8 protect_bits;
    };
    /// At this time: when a lease has run out, nothing is protected any more (IBA 14.2.4.2).
    key key_of(u32 node, u8 in_port, mad::time_point now) noexcept;
    /// An SMP had the M_Key: a lease that is running ends.
    void renew_lease(u32 node, u8 in_port) noexcept;
    void count_mkey_violation(u32 node, u8 in_port, mad::time_point now);
    void count_pkey_violation(router::place at) { count_violation<&iba::smp::PortInfo::PKeyViolations>(at); }
    void count_qkey_violation(router::place at) { count_violation<&iba::smp::PortInfo::QKeyViolations>(at); }

    /// SwitchInfo.linearFDBTop.
    u16 linear_top(u32 node) const noexcept { return switch_info(node).linearFDBTop; }

    const topology& graph() const noexcept { return topology_; }
    /// The P_Key and GID tables of an end port, as its device has them.
    mad::port_tables port_tables_of(u32 node, u8 port) noexcept;
    const overrides& tables_written() const noexcept { return written_; }
    forwarding& tables() noexcept { return forwarding_; }

    static constexpr u64 GIDPrefix = 0xfe80'0000'0000'0000; // the default (IBA 4.1.1)
    static constexpr u8 packet_life_time = 18;              // PortInfo.subnetTimeOut, PathRecord.packetLifeTime
    static constexpr u16 default_pkey = 0xffff;
    static constexpr u8 gid_capacity = 32, gids_of_block = 8;

private:
    iba::smp::NodeDescription node_description(u32 node) const noexcept;
    iba::smp::NodeInfo node_info(u32 node, u8 in_port) const noexcept;
    iba::smp::SwitchInfo switch_info(u32 node) const noexcept;
    u16 pkey_blocks(u32 node) const noexcept;
    const overrides::block* pkey_block(router::place at, u16 part) const noexcept;
    template <class Condition> std::optional<u16> find_pkey(router::place at, Condition&& holds) const;
    overrides::port_settings& settings_of(u32 node, u8 number);

    struct table_place {
        u8 port;
        u32 modifier;
    };
    table_place block_at(u32 node, u8 in_port, u16 attributeID, u32 modifier) const noexcept;
    /// It stops at its highest value.
    template <u16 iba::smp::PortInfo::*Counter> void count_violation(router::place at) {
        u16& counter = settings_of(at.node, at.port).info.*Counter;
        if (counter != 0xffff) ++counter;
    }
    u16 get_unwritten(u32 node, u8 in_port, u16 attributeID, u32 modifier, block out) noexcept;
    u16 get_port_info(u32 node, u8 in_port, u32 modifier, block out) noexcept;
    u16 get_port_info_extended(u32 node, u8 in_port, u32 modifier, block out) noexcept;
    u16 get_mlnx_ext_port_info(u32 node, u8 in_port, u32 modifier, block out) noexcept;
    u16 get_mlnx_ar_info(u32 node, u32 modifier, block out) noexcept;
    u16 get_hierarchy(u32 node, u32 modifier, block out) noexcept;
    u16 get_port_states(u32 node, u32 modifier, block out) noexcept;
    u16 get_guid_info(u32 node, u8 in_port, u32 modifier, block out) noexcept;
    u16 get_pkey_table(u32 node, u32 modifier, block out) noexcept;
    u16 get_sl_to_vl(u32 node, u32 modifier, block out) noexcept;
    u16 get_vl_arbitration(u32 node, u32 modifier, block out) noexcept;
    u16 get_linear(u32 node, u32 modifier, block out) noexcept;
    u16 get_multicast(u32 node, u32 modifier, block out) noexcept;
    u16 get_sm_info(u32 node, u8 in_port, block out) noexcept;

    u16 set_switch_info(u32 node, const iba::smp::SwitchInfo&);
    u16 set_sm_info(u32 modifier);
    u16 set_block(u32 node, u8 in_port, u16 attributeID, u32 modifier, const_block in);
    u16 set_port_info(u32 node, u8 in_port, u32 modifier, const iba::smp::PortInfo&);
    u16 set_mlnx_ext_port_info(u32 node, u8 in_port, u32 modifier, const iba::smp::MlnxExtPortInfo&);
    u16 check_port_info(u32 node, u8 number, const iba::smp::PortInfo& now, const iba::smp::PortInfo& wanted) const;
    void write_link(u32 node, u8 number, const iba::smp::PortInfo& wanted);
    void write_end_port(u32 node, u8 number, const iba::smp::PortInfo& wanted);
    void change_state(u32 node, u8 number, const iba::smp::PortInfo& now, const iba::smp::PortInfo& wanted);
    void relink(u32 node, u8 number);
    bool may_train(u32 node, unsigned number) const noexcept;
    void set_port_state_change(u32 node) noexcept { port_state_change_[node] = true; }

    topology& topology_;
    overrides written_;
    forwarding forwarding_;
    std::vector<bool> port_state_change_;
    std::set<std::pair<u32, u8>> managers_; // by node and port, beside the topology's
    iba::SMState sm_state_ = iba::SMState::Master;
    u8 sm_priority_ = 0;
    struct other_manager {
        iba::SMState state;
        u8 priority;
    };
    std::map<std::pair<u32, u8>, other_manager> other_managers_; // by node and port, beside the topology's
    std::set<u32> adaptive_switches_;
    u64 keys_ = 0;
    bool changed_ = false;
    std::vector<service_change> service_changes_;
    std::vector<link_change> link_changes_;
};

} // namespace comad::transports::sim
