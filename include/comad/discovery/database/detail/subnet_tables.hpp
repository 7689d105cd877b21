// SPDX-License-Identifier: MIT
// subnet_tables.hpp - what a subnet's ports hold beside PortInfo, fetched only when it is asked for: P_Key, SL-to-VL and VL arbitration
// tables, GUIDs, subnet managers. Forwarding tables are not among it.
#pragma once
#include <comad/coro/schedule.hpp>
#include <comad/discovery/database/subnet.hpp>
#include <comad/iba/smp.hpp>

#include <compare>
#include <map>
#include <string>
#include <vector>

namespace comad::discovery {

/// Which kinds to fetch.
struct table_kinds {
    bool PKeys = false;
    bool SLToVL = false;
    bool VLArbitration = false;
    bool guids = false;
    bool SMs = false;
};

/// One block of a table: the port that has it, and the attributeModifier by which an SMP asks for it. Of SL to VL of a switch
/// that is the output port, and the modifier names the input port, too.
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

/// The facts of a kind. Places are indices of the subnet that they were read for, whose order must not change meanwhile.
template <class T> struct block_table {
    std::map<table_key, T> values;
    std::size_t wanted =
        0; ///< blocks that there are, as nodes and ports say; 0: it was not asked for, or nobody has any

    bool complete() const noexcept { return values.size() >= wanted; }
    const T* at(port_ref where, u32 modifier = 0) const {
        const auto found = values.find({where, modifier});
        return found == values.end() ? nullptr : &found->second;
    }
    friend bool operator==(const block_table&, const block_table&) = default;
};

struct subnet_tables {
    block_table<iba::smp::PKeyTable> PKeys; ///< of all ports that partitionCap or partitionEnforcementCap give one
    block_table<iba::smp::SLToVLMappingTable> SLToVL;        ///< between ports in use that have more than VL 0
    block_table<iba::smp::VLArbitrationTable> VLArbitration; ///< of ports in use, blocks 1 to 4 as the caps say
    block_table<iba::smp::GUIDInfo> guids;                   ///< of end ports
    block_table<iba::smp::SMInfo> SMs;                       ///< of end ports whose CapabilityMask has IsSM
    std::vector<failure> failures;                           ///< one for each block that is missing
};

/// Asks every port itself, by its node's route or, of another port of a CA, by the cable that leads there.
/// Errors:  what does not answer is missing, and a failure. Cancel: ends soon with what was read; the rest is missing.
/// Lifetime: schedule and subnet must outlive the task.
coro::task<subnet_tables> read_subnet_tables(coro::MADSchedule& schedule, const subnet&, table_kinds);

/// The same from the SA's tables, one SubnAdmGetTable for each kind, without an SMP. SAs have no record of a block of P_Keys that
/// is empty: it is zeros here, as the SMP would say. OpenSM tells P_Keys only to who knows its SM_Key, and SL to VL and VL
/// arbitration only where it was started with `--qos`.
/// A kind of which there is no table is missing as a whole, with one failure.
coro::task<subnet_tables> read_subnet_tables_by_sa(coro::MADSchedule& schedule, const subnet&, table_kinds);

} // namespace comad::discovery
