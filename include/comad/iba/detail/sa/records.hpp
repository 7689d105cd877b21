// SPDX-License-Identifier: MIT
// records.hpp - SA records that contain a subnet management attribute and identify its node or port (IBA 15.2.5).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>
#include <comad/iba/smp.hpp>

namespace comad::iba {

// ---- Nodes and ports ------------------------------------------------------------------------------------------------

namespace sa {

/// The properties of a node; one record for each of its ports that has a LID.
struct NodeRecord {
    lid LID{}; ///< LID of a port of the node
    u16 reserved_16 = 0;
    smp::NodeInfo nodeInfo;
    smp::NodeDescription nodeDescription;

    friend bool operator==(const NodeRecord&, const NodeRecord&) = default;
};

/// A port. All ports of a switch have the LID of its port 0.
struct PortInfoRecord {
    lid endportLID{}; ///< LID of the port; for a switch, of its port 0
    u8 portNum = 0;
    u8 reserved_24 = 0; ///< the field Options in later releases of the IBA
    smp::PortInfo portInfo;

    friend bool operator==(const PortInfoRecord&, const PortInfoRecord&) = default;
};

/// A subnet manager.
struct SMInfoRecord {
    lid LID{};
    u16 reserved_16 = 0;
    smp::SMInfo SMInfo;

    friend bool operator==(const SMInfoRecord&, const SMInfoRecord&) = default;
};

} // namespace sa

template <> struct described<sa::NodeRecord> : std::true_type {
    using T = sa::NodeRecord;
    // clang-format off
    static constexpr auto layout = describe<108>("SANodeRecord", "15.2.5.2",
        field<&T::LID,             at{0},   16>{"LID"},
        reserved<&T::reserved_16,  at{2},   16>{},
        field<&T::nodeInfo,        at{4},  320>{"nodeInfo"},
        field<&T::nodeDescription, at{44}, 512>{"nodeDescription"});
    // clang-format on
};
template <>
struct attribute_of<sa::NodeRecord>
    : attribute_traits<0x0011, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

template <> struct described<sa::PortInfoRecord> : std::true_type {
    using T = sa::PortInfoRecord;
    // clang-format off
    static constexpr auto layout = describe<68>("SAPortInfoRecord", "15.2.5.3",
        field<&T::endportLID,     at{0},  16>{"endportLID"},
        field<&T::portNum,        at{2},   8>{"portNum"},
        reserved<&T::reserved_24, at{3},   8>{},
        field<&T::portInfo,       at{4}, 512>{"portInfo"});
    // clang-format on
};
template <>
struct attribute_of<sa::PortInfoRecord>
    : attribute_traits<0x0012, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

template <> struct described<sa::SMInfoRecord> : std::true_type {
    using T = sa::SMInfoRecord;
    // clang-format off
    static constexpr auto layout = describe<28>("SASMInfoRecord", "15.2.5.10",
        field<&T::LID,            at{0},  16>{"LID"},
        reserved<&T::reserved_16, at{2},  16>{},
        field<&T::SMInfo,         at{4}, 192>{"SMInfo"});
    // clang-format on
};
template <>
struct attribute_of<sa::SMInfoRecord>
    : attribute_traits<0x0018, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

// ---- Switches -------------------------------------------------------------------------------------------------------

namespace sa {

/// The capabilities of a switch.
struct SwitchInfoRecord {
    lid LID{};
    u16 reserved_16 = 0;
    smp::SwitchInfo switchInfo;

    friend bool operator==(const SwitchInfoRecord&, const SwitchInfoRecord&) = default;
};

/// A block of the linear forwarding table of a switch.
struct LinearForwardingTableRecord {
    lid LID{};
    u16 blockNum = 0; ///< block n: LIDs from 64 * n
    u32 reserved_32 = 0;
    smp::LinearForwardingTable linearForwardingTable;

    friend bool operator==(const LinearForwardingTableRecord&, const LinearForwardingTableRecord&) = default;
};

/// A block of the random forwarding table of a switch.
struct RandomForwardingTableRecord {
    lid LID{};
    u16 blockNum = 0;
    u32 reserved_32 = 0;
    smp::RandomForwardingTable randomForwardingTable;

    friend bool operator==(const RandomForwardingTableRecord&, const RandomForwardingTableRecord&) = default;
};

/// A block of the multicast forwarding table of a switch.
struct MulticastForwardingTableRecord {
    lid LID{};
    u8 position = 0; ///< 4 bits, position p: ports from 16 * p
    u8 reserved_20 = 0;
    u16 blockNum = 0; ///< 9 bits, block n: LIDs from 0xc000 + 32 * n
    u32 reserved_32 = 0;
    smp::MulticastForwardingTable multicastForwardingTable;

    friend bool operator==(const MulticastForwardingTableRecord&, const MulticastForwardingTableRecord&) = default;
};

} // namespace sa

template <> struct described<sa::SwitchInfoRecord> : std::true_type {
    using T = sa::SwitchInfoRecord;
    // clang-format off
    static constexpr auto layout = describe<24>("SASwitchInfoRecord", "15.2.5.5",
        field<&T::LID,            at{0},  16>{"LID"},
        reserved<&T::reserved_16, at{2},  16>{},
        field<&T::switchInfo,     at{4}, 160>{"switchInfo"});
    // clang-format on
};
template <>
struct attribute_of<sa::SwitchInfoRecord>
    : attribute_traits<0x0014, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

template <> struct described<sa::LinearForwardingTableRecord> : std::true_type {
    using T = sa::LinearForwardingTableRecord;
    // clang-format off
    static constexpr auto layout = describe<72>("SALinearForwardingTableRecord", "15.2.5.6",
        field<&T::LID,                   at{0},  16>{"LID"},
        field<&T::blockNum,              at{2},  16>{"blockNum"},
        reserved<&T::reserved_32,        at{4},  32>{},
        field<&T::linearForwardingTable, at{8}, 512>{"linearForwardingTable"});
    // clang-format on
};
template <>
struct attribute_of<sa::LinearForwardingTableRecord>
    : attribute_traits<0x0015, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

template <> struct described<sa::RandomForwardingTableRecord> : std::true_type {
    using T = sa::RandomForwardingTableRecord;
    // clang-format off
    static constexpr auto layout = describe<72>("SARandomForwardingTableRecord", "15.2.5.7",
        field<&T::LID,                   at{0},  16>{"LID"},
        field<&T::blockNum,              at{2},  16>{"blockNum"},
        reserved<&T::reserved_32,        at{4},  32>{},
        field<&T::randomForwardingTable, at{8}, 512>{"randomForwardingTable"});
    // clang-format on
};
template <>
struct attribute_of<sa::RandomForwardingTableRecord>
    : attribute_traits<0x0016, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

template <> struct described<sa::MulticastForwardingTableRecord> : std::true_type {
    using T = sa::MulticastForwardingTableRecord;
    // clang-format off
    // position and blockNum as in OpenSM and Wireshark; in other descriptions they start at bits 18 and 22.
    static constexpr auto layout = describe<72>("SAMulticastForwardingTableRecord", "15.2.5.8",
        field<&T::LID,                      at{0},     16>{"LID"},
        field<&T::position,                 at{2, 0},   4>{"position"},
        reserved<&T::reserved_20,           at{2, 4},   3>{},
        field<&T::blockNum,                 at{2, 7},   9>{"blockNum"},
        reserved<&T::reserved_32,           at{4},     32>{},
        field<&T::multicastForwardingTable, at{8},    512>{"multicastForwardingTable"});
    // clang-format on
};
template <>
struct attribute_of<sa::MulticastForwardingTableRecord>
    : attribute_traits<0x0017, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

// ---- Tables of ports ------------------------------------------------------------------------------------------------

namespace sa {

/// How a port maps service levels to virtual lanes.
struct SLToVLMappingTableRecord {
    lid LID{};
    u8 inputPortNum = 0;  ///< only for switches
    u8 outputPortNum = 0; ///< only for switches
    u32 reserved_32 = 0;
    smp::SLToVLMappingTable SLToVLMappingTable;

    friend bool operator==(const SLToVLMappingTableRecord&, const SLToVLMappingTableRecord&) = default;
};

/// A block of the P_Key table of a port.
struct PKeyTableRecord {
    lid LID{};
    u16 blockNum = 0;
    u8 portNum = 0; ///< only for switches
    u32 reserved_40 = 0;
    smp::PKeyTable PKeyTable;

    friend bool operator==(const PKeyTableRecord&, const PKeyTableRecord&) = default;
};

/// A part of the VL arbitration table of a port.
struct VLArbitrationTableRecord {
    lid LID{};
    u8 outputPortNum = 0; ///< only for switches
    u8 blockNum = 0;      ///< 1 and 2: low priority, 3 and 4: high priority
    u32 reserved_32 = 0;
    smp::VLArbitrationTable VLArbitrationTable;

    friend bool operator==(const VLArbitrationTableRecord&, const VLArbitrationTableRecord&) = default;
};

/// A block of the GUIDs of a port. Set and Delete change the GUIDs whose bits are set in the component mask, which has
/// one bit for each GUID.
struct GUIDInfoRecord {
    lid LID{};
    u8 blockNum = 0;
    u8 reserved_24 = 0;
    u32 reserved_32 = 0;
    smp::GUIDInfo GUIDInfo;

    friend bool operator==(const GUIDInfoRecord&, const GUIDInfoRecord&) = default;
};

} // namespace sa

template <> struct described<sa::SLToVLMappingTableRecord> : std::true_type {
    using T = sa::SLToVLMappingTableRecord;
    // clang-format off
    static constexpr auto layout = describe<16>("SASLToVLMappingTableRecord", "15.2.5.4",
        field<&T::LID,                at{0}, 16>{"LID"},
        field<&T::inputPortNum,       at{2},  8>{"inputPortNum"},
        field<&T::outputPortNum,      at{3},  8>{"outputPortNum"},
        reserved<&T::reserved_32,     at{4}, 32>{},
        field<&T::SLToVLMappingTable, at{8}, 64>{"SLToVLMappingTable"});
    // clang-format on
};
template <>
struct attribute_of<sa::SLToVLMappingTableRecord>
    : attribute_traits<0x0013, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

template <> struct described<sa::PKeyTableRecord> : std::true_type {
    using T = sa::PKeyTableRecord;
    // clang-format off
    static constexpr auto layout = describe<72>("SAPKeyTableRecord", "15.2.5.11",
        field<&T::LID,            at{0},  16>{"LID"},
        field<&T::blockNum,       at{2},  16>{"blockNum"},
        field<&T::portNum,        at{4},   8>{"portNum"},
        reserved<&T::reserved_40, at{5},  24>{},
        field<&T::PKeyTable,      at{8}, 512>{"PKeyTable"});
    // clang-format on
};
template <>
struct attribute_of<sa::PKeyTableRecord>
    : attribute_traits<0x0033, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

template <> struct described<sa::VLArbitrationTableRecord> : std::true_type {
    using T = sa::VLArbitrationTableRecord;
    // clang-format off
    static constexpr auto layout = describe<72>("SAVLArbitrationTableRecord", "15.2.5.9",
        field<&T::LID,                at{0},  16>{"LID"},
        field<&T::outputPortNum,      at{2},   8>{"outputPortNum"},
        field<&T::blockNum,           at{3},   8>{"blockNum"},
        reserved<&T::reserved_32,     at{4},  32>{},
        field<&T::VLArbitrationTable, at{8}, 512>{"VLArbitrationTable"});
    // clang-format on
};
template <>
struct attribute_of<sa::VLArbitrationTableRecord>
    : attribute_traits<0x0036, in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable>> {};

template <> struct described<sa::GUIDInfoRecord> : std::true_type {
    using T = sa::GUIDInfoRecord;
    // clang-format off
    static constexpr auto layout = describe<72>("SAGUIDInfoRecord", "15.2.5.18",
        field<&T::LID,            at{0},  16>{"LID"},
        field<&T::blockNum,       at{2},   8>{"blockNum"},
        reserved<&T::reserved_24, at{3},   8>{},
        reserved<&T::reserved_32, at{4},  32>{},
        field<&T::GUIDInfo,       at{8}, 512>{"GUIDInfo"});
    // clang-format on
};
template <>
struct attribute_of<sa::GUIDInfoRecord>
    : attribute_traits<0x0030,
                       in_class<MgmtClass::SubnAdm, 2, Method::Get, Method::GetTable, Method::Set, Method::Delete>> {};

} // namespace comad::iba
