// SPDX-License-Identifier: MIT
// subnet_tables.hpp - reads the tables of a subnet's ports that a discovery does not read: P_Keys, SL-to-VL, VL arbitration, GUIDs and
// SMInfo. Forwarding tables are in forwarding.hpp.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/iba/smp.hpp>

#include <compare>
#include <map>
#include <string>
#include <vector>

namespace comad::discovery {

/// Selects the kinds of tables to read.
struct table_kinds {
    bool PKeys = false;
    bool SLToVL = false;
    bool VLArbitration = false;
    bool guids = false;
    bool SMs = false;
};

/// Identifies one block of a table by its port and by the attribute modifier of the SMP that reads it. For SL-to-VL tables of a
/// switch, the port is the output port, and the modifier also contains the input port.
struct table_key {
    port_ref where;
    u32 modifier = 0;

    friend bool operator==(const table_key&, const table_key&) = default;
    friend bool operator<(const table_key& a, const table_key& b) noexcept {
        if (a.where.node != b.where.node) return a.where.node < b.where.node;
        if (a.where.port != b.where.port) return a.where.port < b.where.port;
        return a.modifier < b.modifier;
    }
};

/// All blocks of one kind of table. The keys contain node indices of the subnet that was read; its nodes must not be reordered.
template <class T> struct block_table {
    std::map<table_key, T> values;
    std::size_t wanted =
        0; ///< blocks that nodes and ports announce; 0: this kind was not requested, or no port has a block

    bool complete() const noexcept { return values.size() >= wanted; }
    const T* at(port_ref where, u32 modifier = 0) const {
        const auto found = values.find({where, modifier});
        return found == values.end() ? nullptr : &found->second;
    }
    friend bool operator==(const block_table&, const block_table&) = default;
};

/// The result of read_subnet_tables().
struct subnet_tables {
    /// Of all ports for which partitionCap or partitionEnforcementCap announces a table.
    block_table<iba::smp::PKeyTable> PKeys;
    block_table<iba::smp::SLToVLMappingTable> SLToVL; ///< between ports in use that have more VLs than VL 0
    /// Of ports in use; blocks 1 to 4, as the capability fields announce.
    block_table<iba::smp::VLArbitrationTable> VLArbitration;
    block_table<iba::smp::GUIDInfo> guids; ///< of end ports
    block_table<iba::smp::SMInfo> SMs;     ///< of end ports whose CapabilityMask has IsSM
    std::vector<failure> failures;         ///< one for each missing block
};

/// Reads the tables from every port by SMPs along the route of its node. For other ports of a CA, the SMPs go through the neighbor
/// of the port.
/// Errors:   none; a block that could not be read is missing and has a failure.
/// Cancel:   ends soon with what was read; the other blocks are missing.
/// Lifetime: schedule and subnet must outlive the task.
coro::task<subnet_tables> read_subnet_tables(coro::MADSchedule& schedule, const subnet&, table_kinds);

/// Reads the same tables from the SA, with one SubnAdmGetTable for each kind and without SMPs. An SA has no record of an empty
/// P_Key block: the result contains zeros, as the reply to an SMP would. OpenSM returns P_Keys only if the request has its SM_Key,
/// and SL-to-VL and VL arbitration tables only if it was started with `--qos`.
/// Errors:   if the SA returns no table of a kind, the whole kind is missing and has one failure.
/// Cancel:   ends soon with what was read; the other kinds are missing.
/// Lifetime: schedule and subnet must outlive the task.
coro::task<subnet_tables> read_subnet_tables_by_sa(coro::MADSchedule& schedule, const subnet&, table_kinds);

} // namespace comad::discovery
