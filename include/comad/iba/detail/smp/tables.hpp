// SPDX-License-Identifier: MIT
// tables.hpp - tables of ports and switches: partitions, virtual lanes, forwarding (IBA 14.2.5). Each attribute
// contains one block of a table.
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Partitions and virtual lanes -----------------------------------------------------------------------------------

namespace smp {

/// 32 P_Keys of a port. Attribute modifier: number of the block; for a port of a switch plus its number times 65536.
struct PKeyTable {
    std::array<u16, 32> PKeyBlock{}; ///< bit 15: full member; other bits all 0: unused entry

    friend bool operator==(const PKeyTable&, const PKeyTable&) = default;
};

/// The virtual lane of each service level. Attribute modifier for a switch: input port times 256, plus output port.
struct SLToVLMappingTable {
    std::array<u8, 16> SLtoVL{}; ///< [SL], 4 bits each; 15: packets are discarded

    friend bool operator==(const SLToVLMappingTable&, const SLToVLMappingTable&) = default;
};

/// Half of a VL arbitration table. Attribute modifier: port number, plus part times 65536: parts 1 and 2 are the
/// low-priority table, parts 3 and 4 the high-priority table.
struct VLArbitrationTable {
    std::array<u16, 32> VLWeightBlock{}; ///< VL in bits 11 to 8, weight in 64 bytes in the low byte

    friend bool operator==(const VLArbitrationTable&, const VLArbitrationTable&) = default;
};

} // namespace smp

template <> struct described<smp::PKeyTable> : std::true_type {
    using T = smp::PKeyTable;
    // clang-format off
    static constexpr auto layout = describe<64>("SMPPKeyTable", "14.2.5.7",
        field<&T::PKeyBlock, at{0}, 512>{"PKeyBlock", show::hex});
    // clang-format on
};
template <>
struct attribute_of<smp::PKeyTable>
    : attribute_traits<0x0016, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

template <> struct described<smp::SLToVLMappingTable> : std::true_type {
    using T = smp::SLToVLMappingTable;
    // clang-format off
    static constexpr auto layout = describe<8>("SMPSLToVLMappingTable", "14.2.5.8",
        field<&T::SLtoVL, at{0, 0}, 64>{"SLtoVL"});
    // clang-format on
};
template <>
struct attribute_of<smp::SLToVLMappingTable>
    : attribute_traits<0x0017, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

template <> struct described<smp::VLArbitrationTable> : std::true_type {
    using T = smp::VLArbitrationTable;
    // clang-format off
    static constexpr auto layout = describe<64>("SMPVLArbitrationTable", "14.2.5.9",
        field<&T::VLWeightBlock, at{0}, 512>{"VLWeightBlock"});
    // clang-format on
};
template <>
struct attribute_of<smp::VLArbitrationTable>
    : attribute_traits<0x0018, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

// ---- Forwarding -----------------------------------------------------------------------------------------------------

namespace smp {

/// The ports to which a switch forwards 64 unicast LIDs. Attribute modifier n: LIDs from 64 * n.
struct LinearForwardingTable {
    std::array<u8, 64> portBlock{}; ///< 255: the LID is not forwarded

    friend bool operator==(const LinearForwardingTable&, const LinearForwardingTable&) = default;
};

/// An entry of a random forwarding table: a range of LIDs and the port to which the switch forwards it.
struct LIDPortBlock {
    lid LID{};          ///< first LID of the range
    bool valid = false; ///< false: unused entry
    u8 LMC = 0;         ///< 3 bits: the range has 2^LMC LIDs
    u8 reserved_20 = 0;
    u8 port = 0;

    friend bool operator==(const LIDPortBlock&, const LIDPortBlock&) = default;
};

/// 16 entries of a random forwarding table; the attribute modifier is the number of the block.
struct RandomForwardingTable {
    std::array<smp::LIDPortBlock, 16> LIDPortBlock{};

    friend bool operator==(const RandomForwardingTable&, const RandomForwardingTable&) = default;
};

/// For each of 32 multicast LIDs, the ports to which a switch forwards packets, out of 16 ports. Attribute modifier:
/// block n (LIDs from 0xc000 + 32 * n), plus position p times 2^28 (ports from 16 * p).
struct MulticastForwardingTable {
    std::array<u16, 32> portMaskBlock{}; ///< bit b: port 16 * p + b

    friend bool operator==(const MulticastForwardingTable&, const MulticastForwardingTable&) = default;
};

} // namespace smp

template <> struct described<smp::LinearForwardingTable> : std::true_type {
    using T = smp::LinearForwardingTable;
    // clang-format off
    static constexpr auto layout = describe<64>("SMPLinearForwardingTable", "14.2.5.10",
        field<&T::portBlock, at{0}, 512>{"portBlock"});
    // clang-format on
};
template <>
struct attribute_of<smp::LinearForwardingTable>
    : attribute_traits<0x0019, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

template <> struct described<smp::LIDPortBlock> : std::true_type {
    using T = smp::LIDPortBlock;
    // clang-format off
    static constexpr auto layout = describe<4>("SMPLIDPortBlock", "14.2.5.11",
        field<&T::LID,            at{0},    16>{"LID"},
        field<&T::valid,          at{2, 0},  1>{"valid"},
        field<&T::LMC,            at{2, 1},  3>{"LMC"},
        reserved<&T::reserved_20, at{2, 4},  4>{},
        field<&T::port,           at{3},     8>{"port"});
    // clang-format on
};

template <> struct described<smp::RandomForwardingTable> : std::true_type {
    using T = smp::RandomForwardingTable;
    // clang-format off
    static constexpr auto layout = describe<64>("SMPRandomForwardingTable", "14.2.5.11",
        field<&T::LIDPortBlock, at{0}, 512>{"LIDPortBlock"});
    // clang-format on
};
template <>
struct attribute_of<smp::RandomForwardingTable>
    : attribute_traits<0x001a, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

template <> struct described<smp::MulticastForwardingTable> : std::true_type {
    using T = smp::MulticastForwardingTable;
    // clang-format off
    static constexpr auto layout = describe<64>("SMPMulticastForwardingTable", "14.2.5.12",
        field<&T::portMaskBlock, at{0}, 512>{"portMaskBlock"});
    // clang-format on
};
template <>
struct attribute_of<smp::MulticastForwardingTable>
    : attribute_traits<0x001b, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

// ---- SwitchPortStateTable -------------------------------------------------------------------------------------------

namespace smp {

/// The states of 128 ports of a switch; attribute modifier n: ports from 128 * n. Query only switches whose port 0 has
/// the bit for this attribute in capabilityMask2.
struct SwitchPortStateTable {
    std::array<PortState, 128> portState{};

    friend bool operator==(const SwitchPortStateTable&, const SwitchPortStateTable&) = default;
};

} // namespace smp

template <> struct described<smp::SwitchPortStateTable> : std::true_type {
    using T = smp::SwitchPortStateTable;
    // clang-format off
    // The layout is the layout of ib_switch_port_state_table_t of NVIDIA's OpenSM and smp_SwitchPortStateTable of ibis.
    static constexpr auto layout = describe<64>("SMPSwitchPortStateTable", "14.2.5.20",
        field<&T::portState, at{0, 0}, 512>{"portState", show::name});
    // clang-format on
};
template <>
struct attribute_of<smp::SwitchPortStateTable>
    : attribute_traits<0x0034, in_class<MgmtClass::SubnLID, 1, Method::Get>> {};

} // namespace comad::iba
