// SPDX-License-Identifier: MIT
// enums.hpp - the enumerations of the IBA and the names of their values. Knows no structure.
// Values come from the wire: any number may stand in any enumeration, and every printer must cope.
#pragma once
#include <comad/iba/table.hpp>
#include <comad/iba/types.hpp>

#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace comad::iba {

/// The number of an enumerator.
template <class E>
    requires std::is_enum_v<E>
constexpr auto value(E e) noexcept {
    return static_cast<std::underlying_type_t<E>>(e);
}

/// The name of `number` among `names`, empty if it has none.
constexpr std::string_view find_name(std::span<const enum_name> names, u64 number) noexcept {
    for (const enum_name& n : names)
        if (n.value == number) return n.name;
    return {};
}

/// The name, or `?? 7` for a number without one.
inline std::string name_or_number(std::span<const enum_name> names, u64 number) {
    const std::string_view name = find_name(names, number);
    return name.empty() ? "?? " + std::to_string(number) : std::string(name);
}
template <class E>
    requires std::is_enum_v<E>
std::string name_or_number(E e) {
    static_assert(!names_of<E>.empty(), "enumeration has no names_of");
    return name_or_number(names_of<E>, static_cast<u64>(e));
}

/// Management classes (IBA 13.4.4). Vend and VendOUI are the first of a range each: 0x09..0x0f, 0x30..0x4f.
enum class MgmtClass : u8 {
    SubnLID = 0x01,
    SubnAdm = 0x03,
    Performance = 0x04,
    BM = 0x05,
    DevMgt = 0x06,
    CommMgt = 0x07,
    SNMP = 0x08,
    Vend = 0x09,
    CongestionControl = 0x21,
    VendOUI = 0x30,
    SubnDirected = 0x81,
};
inline constexpr enum_name mgmt_class_names[] = {
    {0x01, "SubnLID"}, {0x03, "SubnAdm"}, {0x04, "Performance"},       {0x05, "BM"},           {0x06, "DevMgt"},
    {0x07, "CommMgt"}, {0x08, "SNMP"},    {0x21, "CongestionControl"}, {0x81, "SubnDirected"},
};
template <> inline constexpr std::span<const enum_name> names_of<MgmtClass> = mgmt_class_names;

/// Methods (IBA 13.4.5 and, from GetTable on, 15.2.2). An RPC is named by class and method: SubnGet.
enum class Method : u8 {
    Get = 0x01,
    Set = 0x02,
    Send = 0x03,
    Trap = 0x05,
    Report = 0x06,
    TrapRepress = 0x07,
    GetTable = 0x12,
    GetTraceTable = 0x13,
    GetMulti = 0x14,
    Delete = 0x15,
    GetResp = 0x81,
    ReportResp = 0x86,
    GetTableResp = 0x92,
    GetMultiResp = 0x94,
    DeleteResp = 0x95,
};
inline constexpr enum_name method_names[] = {
    {0x01, "Get"},         {0x02, "Set"},        {0x03, "Send"},          {0x05, "Trap"},         {0x06, "Report"},
    {0x07, "TrapRepress"}, {0x12, "GetTable"},   {0x13, "GetTraceTable"}, {0x14, "GetMulti"},     {0x15, "Delete"},
    {0x81, "GetResp"},     {0x86, "ReportResp"}, {0x92, "GetTableResp"},  {0x94, "GetMultiResp"}, {0x95, "DeleteResp"},
};
template <> inline constexpr std::span<const enum_name> names_of<Method> = method_names;

/// The R bit: set in the method of a response (IBA 13.4.5). TrapRepress answers a Trap without it.
inline constexpr u8 response_bit = 0x80;
constexpr bool is_response(Method m) noexcept { return (value(m) & response_bit) != 0; }

/// NodeInfo.nodeType (IBA 14.2.5.3).
enum class NodeType : u8 { CA = 1, Switch = 2, Router = 3 };
inline constexpr enum_name node_type_names[] = {{1, "CA"}, {2, "Switch"}, {3, "Router"}};
template <> inline constexpr std::span<const enum_name> names_of<NodeType> = node_type_names;

/// PortInfo.portState (IBA 14.2.5.6).
enum class PortState : u8 { NoChange = 0, Down = 1, Initialize = 2, Armed = 3, Active = 4 };
inline constexpr enum_name port_state_names[] = {
    {0, "NoChange"}, {1, "Down"}, {2, "Initialize"}, {3, "Armed"}, {4, "Active"}};
template <> inline constexpr std::span<const enum_name> names_of<PortState> = port_state_names;

/// PortInfo.portPhysicalState (IBA 14.2.5.6).
enum class PortPhysicalState : u8 {
    NoChange = 0,
    Sleep = 1,
    Polling = 2,
    Disabled = 3,
    PortConfigurationTraining = 4,
    LinkUp = 5,
    LinkErrorRecovery = 6,
    PhyTest = 7,
};
inline constexpr enum_name port_physical_state_names[] = {
    {0, "NoChange"},
    {1, "Sleep"},
    {2, "Polling"},
    {3, "Disabled"},
    {4, "PortConfigurationTraining"},
    {5, "LinkUp"},
    {6, "LinkErrorRecovery"},
    {7, "PhyTest"},
};
template <> inline constexpr std::span<const enum_name> names_of<PortPhysicalState> = port_physical_state_names;

/// One link width (IBA 14.2.5.6). The supported and enabled fields are sets of these bits.
enum class LinkWidth : u8 { w1x = 1, w4x = 2, w8x = 4, w12x = 8, w2x = 16 };
inline constexpr enum_name link_width_names[] = {{1, "1x"}, {2, "4x"}, {4, "8x"}, {8, "12x"}, {16, "2x"}};
template <> inline constexpr std::span<const enum_name> names_of<LinkWidth> = link_width_names;

/// One link speed (IBA 14.2.5.6): 2.5, 5 and 10 Gb/s per lane. The supported and enabled fields are sets of these bits.
enum class LinkSpeed : u8 { SDR = 1, DDR = 2, QDR = 4 };
inline constexpr enum_name link_speed_names[] = {{1, "SDR"}, {2, "DDR"}, {4, "QDR"}};
template <> inline constexpr std::span<const enum_name> names_of<LinkSpeed> = link_speed_names;

/// One extended link speed (IBA 14.2.5.6): 14.0625, 25.78125, 53.125 and 106.25 Gb/s per lane; 0: LinkSpeed tells.
/// The supported and enabled fields are sets of these bits.
enum class LinkSpeedExt : u8 { none = 0, FDR = 1, EDR = 2, HDR = 4, NDR = 8 };
inline constexpr enum_name link_speed_ext_names[] = {{0, "none"}, {1, "FDR"}, {2, "EDR"}, {4, "HDR"}, {8, "NDR"}};
template <> inline constexpr std::span<const enum_name> names_of<LinkSpeedExt> = link_speed_ext_names;

} // namespace comad::iba
