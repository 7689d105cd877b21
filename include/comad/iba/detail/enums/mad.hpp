// SPDX-License-Identifier: MIT
// mad.hpp - enumerations that all management classes have in common: classes, methods, status, RMPP, notices (IBA
// chapter 13).
#pragma once
#include <comad/iba/detail/enums/names.hpp>

namespace comad::iba {

/// Management classes (IBA 13.4.4). Vend and VendOUI are each the first class of a range: 0x09..0x0f, 0x30..0x4f.
enum class MgmtClass : u8 {
    SubnLID = 0x01,
    SubnAdm = 0x03,
    Performance = 0x04,
    BM = 0x05,
    DevMgt = 0x06,
    CommMgt = 0x07,
    SNMP = 0x08,
    Vend = 0x09,
    DevAdm = 0x10,
    BootMgt = 0x11,
    BIS = 0x12,
    CongestionControl = 0x21,
    VendOUI = 0x30,
    SubnDirected = 0x81,
};
inline constexpr enum_name mgmt_class_names[] = {
    {0x01, "SubnLID"},           {0x03, "SubnAdm"},      {0x04, "Performance"}, {0x05, "BM"},      {0x06, "DevMgt"},
    {0x07, "CommMgt"},           {0x08, "SNMP"},         {0x10, "DevAdm"},      {0x11, "BootMgt"}, {0x12, "BIS"},
    {0x21, "CongestionControl"}, {0x81, "SubnDirected"},
};
template <> inline constexpr std::span<const enum_name> names_of<MgmtClass> = mgmt_class_names;

/// Returns true for the subnet management classes, whose packets (SMPs) go to QP0; all other classes use QP1 (IBA
/// 13.4.4).
constexpr bool is_smp(MgmtClass c) noexcept { return c == MgmtClass::SubnLID || c == MgmtClass::SubnDirected; }
/// Returns true for the vendor classes without OUI.
constexpr bool is_vendor(MgmtClass c) noexcept { return value(c) >= 0x09 && value(c) <= 0x0f; }
/// Returns true for the vendor classes whose MADs contain an OUI.
constexpr bool is_vendor_oui(MgmtClass c) noexcept { return value(c) >= 0x30 && value(c) <= 0x4f; }

/// Methods (IBA 13.4.5; from GetTable on, 15.2.2). The name of an RPC consists of class and method: SubnGet.
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

/// The R bit, which is set in the method of a response (IBA 13.4.5). TrapRepress, the reply to a Trap, does not have
/// it.
inline constexpr u8 response_bit = 0x80;
/// Returns whether the method has the response bit.
constexpr bool is_response(Method m) noexcept { return (value(m) & response_bit) != 0; }

/// The flags in MADHeader.status (IBA 13.4.7).
inline constexpr u16 status_busy = 0x0001;
inline constexpr u16 status_redirect = 0x0002;
/// The code in bits 2 to 4 of MADHeader.status (IBA 13.4.7).
enum class StatusCode : u8 {
    None = 0,
    BadVersion = 1,
    MethodNotSupported = 2,
    MethodAttributeNotSupported = 3,
    InvalidAttribute = 7,
};
/// Returns the code in a status.
constexpr StatusCode status_code(u16 status) noexcept { return StatusCode{static_cast<u8>(status >> 2 & 7)}; }
/// Returns the upper byte of MADHeader.status, which the class defines (SAStatus).
constexpr u8 class_status(u16 status) noexcept { return static_cast<u8>(status >> 8); }
inline constexpr enum_name status_code_names[] = {
    {0, "none"},
    {1, "bad base or class version"},
    {2, "method not supported"},
    {3, "method and attribute combination not supported"},
    {7, "invalid attribute or attribute modifier"},
};
template <> inline constexpr std::span<const enum_name> names_of<StatusCode> = status_code_names;

/// ClassPortInfo.capabilityMask: bits with the same meaning in every class (IBA 13.4.8.1). Each class defines the
/// upper byte.
enum class ClassCapability : u16 {
    IsTrapSupported = 0x0001,
    IsGetSetNoticeSupported = 0x0002,
    IsCapabilityMask2Supported = 0x0004,
};
inline constexpr enum_name class_capability_names[] = {
    {0x0001, "IsTrapSupported"}, {0x0002, "IsGetSetNoticeSupported"}, {0x0004, "IsCapabilityMask2Supported"}};
template <> inline constexpr std::span<const enum_name> names_of<ClassCapability> = class_capability_names;

/// RMPPType (IBA 13.6.2.1).
enum class RMPPType : u8 { None = 0, DATA = 1, ACK = 2, STOP = 3, ABORT = 4 };
inline constexpr enum_name rmpp_type_names[] = {{0, "none"}, {1, "DATA"}, {2, "ACK"}, {3, "STOP"}, {4, "ABORT"}};
template <> inline constexpr std::span<const enum_name> names_of<RMPPType> = rmpp_type_names;

/// RMPPFlags: a set of bits (IBA 13.6.2.1).
enum class RMPPFlag : u8 { Active = 1, First = 2, Last = 4 };
inline constexpr enum_name rmpp_flag_names[] = {{1, "Active"}, {2, "First"}, {4, "Last"}};
template <> inline constexpr std::span<const enum_name> names_of<RMPPFlag> = rmpp_flag_names;

/// RMPPStatus: why a transfer was stopped or aborted (IBA 13.6.2.2).
enum class RMPPStatus : u8 {
    Normal = 0,
    ResourcesExhausted = 1,
    TotalTimeTooLong = 118,
    InconsistentLastAndPayloadLength = 119,
    InconsistentFirstAndSegmentNumber = 120,
    BadRMPPType = 121,
    NewWindowLastTooSmall = 122,
    SegmentNumberTooBig = 123,
    IllegalStatus = 124,
    UnsupportedVersion = 125,
    TooManyRetries = 126,
    Unspecified = 127,
};
inline constexpr enum_name rmpp_status_names[] = {
    {0, "Normal"},
    {1, "ResourcesExhausted"},
    {118, "TotalTimeTooLong"},
    {119, "InconsistentLastAndPayloadLength"},
    {120, "InconsistentFirstAndSegmentNumber"},
    {121, "BadRMPPType"},
    {122, "NewWindowLastTooSmall"},
    {123, "SegmentNumberTooBig"},
    {124, "IllegalStatus"},
    {125, "UnsupportedVersion"},
    {126, "TooManyRetries"},
    {127, "Unspecified"},
};
template <> inline constexpr std::span<const enum_name> names_of<RMPPStatus> = rmpp_status_names;

/// Notice.noticeType (IBA 13.4.8.2). Empty is the reply to a Get(Notice) if no notice is queued.
enum class NoticeType : u8 {
    Fatal = 0,
    Urgent = 1,
    Security = 2,
    SubnetManagement = 3,
    Informational = 4,
    Empty = 0x7f
};
inline constexpr enum_name notice_type_names[] = {
    {0, "Fatal"}, {1, "Urgent"}, {2, "Security"}, {3, "SubnetManagement"}, {4, "Informational"}, {0x7f, "Empty"}};
template <> inline constexpr std::span<const enum_name> names_of<NoticeType> = notice_type_names;

/// Type of the node that reports a generic notice: 24 bits (IBA 13.4.8.2).
enum class ProducerType : u32 { CA = 1, Switch = 2, Router = 3, ClassManager = 4 };
inline constexpr enum_name producer_type_names[] = {{1, "CA"}, {2, "Switch"}, {3, "Router"}, {4, "ClassManager"}};
template <> inline constexpr std::span<const enum_name> names_of<ProducerType> = producer_type_names;

/// Traps of subnet management and administration (IBA 14.2.5.1, 14.4.9).
enum class TrapNumber : u16 {
    GIDInService = 64,
    GIDOutOfService = 65,
    MulticastGroupCreated = 66,
    MulticastGroupDeleted = 67,
    UnPath = 68,
    RePath = 69,
    LinkStateChange = 128,
    LinkIntegrityThreshold = 129,
    BufferOverrunThreshold = 130,
    FlowControlWatchdog = 131,
    LocalChange = 144,
    SystemImageGUIDChange = 145,
    BadMKey = 256,
    BadPKey = 257,
    BadQKey = 258,
    BadPKeyAtSwitch = 259,
};
inline constexpr enum_name trap_number_names[] = {
    {64, "GIDInService"},
    {65, "GIDOutOfService"},
    {66, "MulticastGroupCreated"},
    {67, "MulticastGroupDeleted"},
    {68, "UnPath"},
    {69, "RePath"},
    {128, "LinkStateChange"},
    {129, "LinkIntegrityThreshold"},
    {130, "BufferOverrunThreshold"},
    {131, "FlowControlWatchdog"},
    {144, "LocalChange"},
    {145, "SystemImageGUIDChange"},
    {256, "BadMKey"},
    {257, "BadPKey"},
    {258, "BadQKey"},
    {259, "BadPKeyAtSwitch"},
};
template <> inline constexpr std::span<const enum_name> names_of<TrapNumber> = trap_number_names;

} // namespace comad::iba
