// SPDX-License-Identifier: MIT
// attributes.hpp - the state of nodes and ports as subnet management attributes. SMAs and the SA of a simulated subnet both use it. It
// does not depend on MADs.
#pragma once
#include "forwarding.hpp"
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/port_tables.hpp>
#include <comad/mad/detail/time.hpp>
#include <comad/transports/sim/detail/topology.hpp>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace comad::transports::sim {

/// Common status bits (IBA 13.4.7), in addition to those of servers.
namespace mad_status {
inline constexpr u16 busy = 0x01;
} // namespace mad_status

/// Returns whether a packet with P_Key `a` may enter a port with P_Key `b` (IBA 10.9.3).
bool is_pkey_match(u16 a, u16 b) noexcept;

/// The attributes of all nodes of a simulated subnet.
class attributes {
public:
    using block = std::span<u8, 64>;
    using const_block = std::span<const u8, 64>;

    /// `t` must outlive it.
    explicit attributes(topology& t);

    /// Updates the state after the cable between port_a of node a and node b was cut or restored. The link stays down
    /// if its ends may not train.
    void cable_changed(u32 a, unsigned port_a, u32 b);
    /// Returns whether cables, states or LIDs have changed since the last call.
    bool take_changed() noexcept { return std::exchange(changed_, false); }

    /// Writes the attribute that `node` returns for an SMP through `in_port`, followed by zeros. Returns the status;
    /// 0: success.
    u16 get(u32 node, u8 in_port, u16 attributeID, u32 modifier, block out) noexcept;

    /// Sets the writable components of an attribute that `node` received through `in_port`, and applies the
    /// consequences: links go down and come up, LIDs move. Returns the status; 0: success. After another status,
    /// nothing has changed.
    u16 set(u32 node, u8 in_port, u16 attributeID, u32 modifier, const_block in);

    /// Returns the GID prefix of a port.
    u64 gid_prefix(u32 node, u8 port) const noexcept;
    /// Sets IsSM in the capability mask of an end port. The port of the topology's manager always has it.
    void set_is_sm(u32 node, u8 port, bool is_sm);

    /// Returns the P_Key at an index of an end port's table; 0: none. For a switch, use port 0.
    u16 pkey_at(router::node_port at, u16 index) const noexcept;
    /// Returns the index of a P_Key that matches `pkey` of a packet (IBA 10.9.3). Full membership comes first.
    std::optional<u16> matching_pkey(router::node_port at, u16 pkey) const noexcept;
    /// Returns the P_Key of an outgoing packet for `pkey`: `pkey` itself, or the table's P_Key of the same partition;
    /// 0: the table has neither.
    u16 sent_pkey(router::node_port at, u16 pkey) const noexcept;
    /// Returns the P_Key of `a` with which it reaches `b`, in the partition of `wanted` if given. The default
    /// partition comes first. 0: they share no partition.
    u16 shared_pkey(router::node_port a, router::node_port b, std::optional<u16> wanted) const noexcept;
    /// Returns the GID at an index of the table; zero: none.
    iba::gid gid_at(router::node_port at, u16 index) const noexcept;
    /// Returns the index of one of the port's GIDs.
    std::optional<u8> gid_index(router::node_port at, const iba::gid& GID) const noexcept;

    /// Returns the PortInfo that an SMP through `in_port` reads.
    iba::smp::PortInfo port_info(u32 node, u8 in_port, u32 number) const noexcept;
    /// Makes an end port reply to SMInfo with this state and priority. At the topology's manager, only state and
    /// priority change.
    void set_manager(u32 node, u8 port, iba::SMState, u8 priority);
    /// Sets whether a Mellanox switch uses adaptive routing (MlnxARInfo). Its forwarding tables stay unchanged.
    void set_adaptive_routing(u32 node, bool is_on);
    /// Returns whether a port has this GID in addition to its default one (GUIDInfo).
    bool has_alias(u32 node, u8 port, const iba::gid& GID) const noexcept;

    /// A CA port that became Active or stopped being Active.
    struct service_change {
        u32 node;
        u8 port;
        bool is_in_service;
    };
    /// Returns the service changes since the last call.
    std::vector<service_change> take_service_changes() noexcept { return std::exchange(service_changes_, {}); }
    /// A link that went down or came up, as seen from one of its ends.
    struct link_change {
        u32 node;
        u8 port;
        bool is_up;
    };
    /// Returns the link changes since the last call.
    std::vector<link_change> take_link_changes() noexcept { return std::exchange(link_changes_, {}); }
    /// Sweeps as the topology's subnet manager does while it is the master: sets links to Active and gives LIDs to ports
    /// that have none. Does not reach nodes for which `is_mute` is true, nor what is beyond them.
    void sweep(const std::function<bool(u32 node)>& is_mute);
    /// Spreads the routes of the topology's subnet manager over parallel paths; `other`, too, then follows them.
    void use_spread_routes(router& other);
    /// Prepares for the link of this port going down.
    void link_goes_down(u32 node, unsigned port);

    /// Sets the M_Keys and SM_Keys of all ports whose key was not written by a manager; see fabric::set_keys().
    void set_keys(u64 all) noexcept { keys_ = all; }
    /// The key that protects a port. Port 0 of a switch protects the whole switch.
    struct key {
        u64 MKey;
        u8 protect_bits;
    };
    /// Returns the key at this time. After a lease has expired, nothing is protected (IBA 14.2.4.2).
    key key_of(u32 node, u8 in_port, mad::time_point now) noexcept;
    /// Ends a running lease, because an SMP had the M_Key.
    void renew_lease(u32 node, u8 in_port) noexcept;
    void count_mkey_violation(u32 node, u8 in_port, mad::time_point now);
    void count_pkey_violation(router::node_port at) { count_violation<&iba::smp::PortInfo::PKeyViolations>(at); }
    void count_qkey_violation(router::node_port at) { count_violation<&iba::smp::PortInfo::QKeyViolations>(at); }

    /// Returns SwitchInfo.linearFDBTop.
    u16 linear_top(u32 node) const noexcept { return switch_info(node).linearFDBTop; }

    const topology& graph() const noexcept { return topology_; }
    /// Returns the P_Key and GID tables of an end port as its device has them.
    mad::port_tables port_tables_of(u32 node, u8 port) noexcept;
    const overrides& tables_written() const noexcept { return written_; }
    forwarding& tables() noexcept { return forwarding_; }

    static constexpr u64 GIDPrefix = 0xfe80'0000'0000'0000; // the default prefix (IBA 4.1.1)
    static constexpr u8 packet_life_time = 18;              // PortInfo.subnetTimeOut, PathRecord.packetLifeTime
    static constexpr u16 default_pkey = 0xffff;
    static constexpr u8 gid_capacity = 32, gids_of_block = 8;

private:
    iba::smp::NodeDescription node_description(u32 node) const noexcept;
    iba::smp::NodeInfo node_info(u32 node, u8 in_port) const noexcept;
    iba::smp::SwitchInfo switch_info(u32 node) const noexcept;
    u16 pkey_blocks(u32 node) const noexcept;
    const overrides::block* pkey_block(router::node_port at, u16 part) const noexcept;
    template <class Condition> std::optional<u16> find_pkey(router::node_port at, Condition&& holds) const;
    overrides::port_settings& settings_of(u32 node, u8 number);

    struct table_place {
        u8 port;
        u32 modifier;
    };
    table_place block_at(u32 node, u8 in_port, u16 attributeID, u32 modifier) const noexcept;
    /// Increments a counter, which stops at its largest value.
    template <u16 iba::smp::PortInfo::*Counter> void count_violation(router::node_port at) {
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
    std::vector<bool> reached_by_manager(const std::function<bool(u32 node)>& is_mute) const;
    bool activate(u32 node, unsigned number);
    bool give_lids(const std::vector<bool>& reached);
    void set_port_state_change(u32 node) noexcept { port_state_change_[node] = true; }

    topology& topology_;
    overrides written_;
    std::unique_ptr<spread_routes> spread_;
    forwarding forwarding_;
    std::vector<bool> port_state_change_;
    std::set<std::pair<u32, u8>> managers_; // node and port of each manager, without the topology's manager
    iba::SMState sm_state_ = iba::SMState::Master;
    u8 sm_priority_ = 0;
    struct other_manager {
        iba::SMState state;
        u8 priority;
    };
    std::map<std::pair<u32, u8>, other_manager> other_managers_; // by node and port, without the topology's manager
    std::set<u32> adaptive_switches_;
    u64 keys_ = 0;
    bool changed_ = false;
    std::vector<service_change> service_changes_;
    std::vector<link_change> link_changes_;
};

} // namespace comad::transports::sim
