// SPDX-License-Identifier: MIT
// gsi.hpp - enumerations of subnet administration and performance management (IBA 15.2, 15.4, 16.1).
#pragma once
#include <comad/iba/detail/enums/names.hpp>

namespace comad::iba {

/// The class status of the SA: the upper byte of MADHeader.status (IBA 15.2.2).
enum class SAStatus : u8 {
    None = 0,
    ERR_NO_RESOURCES = 1,
    ERR_REQ_INVALID = 2,
    ERR_NO_RECORDS = 3,
    ERR_TOO_MANY_RECORDS = 4,
    ERR_REQ_INVALID_GID = 5,
    ERR_REQ_INSUFFICIENT_COMPONENTS = 6,
    ERR_REQ_DENIED = 7,
    ERR_REQ_PRIORITY_SUGGESTED = 8,
};
inline constexpr enum_name sa_status_names[] = {
    {0, "none"},
    {1, "ERR_NO_RESOURCES"},
    {2, "ERR_REQ_INVALID"},
    {3, "ERR_NO_RECORDS"},
    {4, "ERR_TOO_MANY_RECORDS"},
    {5, "ERR_REQ_INVALID_GID"},
    {6, "ERR_REQ_INSUFFICIENT_COMPONENTS"},
    {7, "ERR_REQ_DENIED"},
    {8, "ERR_REQ_PRIORITY_SUGGESTED"},
};
template <> inline constexpr std::span<const enum_name> names_of<SAStatus> = sa_status_names;

/// The rate of a path in one direction (IBA 15.2.5.16). The names are in Gb/s.
enum class Rate : u8 {
    r2_5 = 2,
    r10 = 3,
    r30 = 4,
    r5 = 5,
    r20 = 6,
    r40 = 7,
    r60 = 8,
    r80 = 9,
    r120 = 10,
    r14 = 11,
    r56 = 12,
    r112 = 13,
    r168 = 14,
    r25 = 15,
    r100 = 16,
    r200 = 17,
    r300 = 18,
    r28 = 19,
    r50 = 20,
    r400 = 21,
    r600 = 22,
    r800 = 23,
    r1200 = 24,
    r1600 = 25,
};
inline constexpr enum_name rate_names[] = {
    {2, "2.5"},  {3, "10"},  {4, "30"},  {5, "5"},    {6, "20"},   {7, "40"},   {8, "60"},    {9, "80"},
    {10, "120"}, {11, "14"}, {12, "56"}, {13, "112"}, {14, "168"}, {15, "25"},  {16, "100"},  {17, "200"},
    {18, "300"}, {19, "28"}, {20, "50"}, {21, "400"}, {22, "600"}, {23, "800"}, {24, "1200"}, {25, "1600"},
};
template <> inline constexpr std::span<const enum_name> names_of<Rate> = rate_names;

/// How the MTU, rate or packet life time of a query restricts that of a path (IBA 15.2.5.16). Best: the largest MTU or
/// rate, the shortest life time.
enum class Selector : u8 { GreaterThan = 0, LessThan = 1, Exactly = 2, Best = 3 };
inline constexpr enum_name selector_names[] = {{0, "GreaterThan"}, {1, "LessThan"}, {2, "Exactly"}, {3, "Best"}};
template <> inline constexpr std::span<const enum_name> names_of<Selector> = selector_names;

/// ClassPortInfo.capabilityMask of the SA: the bits that the SA class defines (IBA 15.2.3).
enum class SACapability : u16 {
    IsSubnetOptionalRecordsSupported = 1u << 8,
    IsUDMulticastSupported = 1u << 9,
    IsMultiPathSupported = 1u << 10,
    IsReinitSupported = 1u << 11,
    IsGIDScopedMultiPathSupported = 1u << 12,
    IsPortInfoCapMaskMatchSupported = 1u << 13,
    IsLinkSpeedWidthPairsTableRecordSupported = 1u << 14,
    IsPAServicesSupported = 1u << 15,
};
inline constexpr enum_name sa_capability_names[] = {
    {1u << 8, "IsSubnetOptionalRecordsSupported"},
    {1u << 9, "IsUDMulticastSupported"},
    {1u << 10, "IsMultiPathSupported"},
    {1u << 11, "IsReinitSupported"},
    {1u << 12, "IsGIDScopedMultiPathSupported"},
    {1u << 13, "IsPortInfoCapMaskMatchSupported"},
    {1u << 14, "IsLinkSpeedWidthPairsTableRecordSupported"},
    {1u << 15, "IsPAServicesSupported"},
};
template <> inline constexpr std::span<const enum_name> names_of<SACapability> = sa_capability_names;

/// ClassPortInfo.capabilityMask2 of the SA (IBA 15.2.3).
enum class SACapability2 : u32 {
    IsUnPathRePathSupported = 1u << 0,
    IsQoSSupported = 1u << 1,
    IsReversePathPKeyMemberBitSupported = 1u << 2,
    IsMulticastFDBTopSupported = 1u << 3,
    IsHierarchyInfoSupported = 1u << 4,
    IsAdditionalGUIDSupported = 1u << 5,
    IsFullPortInfoRecordSupported = 1u << 6,
    IsExtendedSpeedsSupported = 1u << 7,
    IsMulticastServiceRecordSupported = 1u << 8,
    IsCableInfoRecordSupported = 1u << 9,
    IsPortInfoCapMask2MatchSupported = 1u << 10,
    IsPortInfoExtendedRecordSupported = 1u << 11,
};
inline constexpr enum_name sa_capability2_names[] = {
    {1u << 0, "IsUnPathRePathSupported"},
    {1u << 1, "IsQoSSupported"},
    {1u << 2, "IsReversePathPKeyMemberBitSupported"},
    {1u << 3, "IsMulticastFDBTopSupported"},
    {1u << 4, "IsHierarchyInfoSupported"},
    {1u << 5, "IsAdditionalGUIDSupported"},
    {1u << 6, "IsFullPortInfoRecordSupported"},
    {1u << 7, "IsExtendedSpeedsSupported"},
    {1u << 8, "IsMulticastServiceRecordSupported"},
    {1u << 9, "IsCableInfoRecordSupported"},
    {1u << 10, "IsPortInfoCapMask2MatchSupported"},
    {1u << 11, "IsPortInfoExtendedRecordSupported"},
};
template <> inline constexpr std::span<const enum_name> names_of<SACapability2> = sa_capability2_names;

/// ClassPortInfo.capabilityMask of performance management: the bits that the class defines (IBA 16.1.3.1).
enum class PMCapability : u16 {
    IsAllPortSelectSupported = 1u << 8,
    IsExtendedWidthSupported = 1u << 9,
    IsExtendedWidthSupportedNoIETF = 1u << 10,
    IsSamplesOnlySupported = 1u << 11,
    IsPortCountersXmitWaitSupported = 1u << 12,
    IsRSFECModeSupported = 1u << 14,
    IsQP1DroppedSupported = 1u << 15,
};
inline constexpr enum_name pm_capability_names[] = {
    {1u << 8, "IsAllPortSelectSupported"},         {1u << 9, "IsExtendedWidthSupported"},
    {1u << 10, "IsExtendedWidthSupportedNoIETF"},  {1u << 11, "IsSamplesOnlySupported"},
    {1u << 12, "IsPortCountersXmitWaitSupported"}, {1u << 14, "IsRSFECModeSupported"},
    {1u << 15, "IsQP1DroppedSupported"},
};
template <> inline constexpr std::span<const enum_name> names_of<PMCapability> = pm_capability_names;

/// ClassPortInfo.capabilityMask2 of performance management (IBA 16.1.3.1).
enum class PMCapability2 : u32 {
    IsPMKeySupported = 1u << 0,
    IsAdditionalPortCountersExtendedSupported = 1u << 1,
};
inline constexpr enum_name pm_capability2_names[] = {{1u << 0, "IsPMKeySupported"},
                                                     {1u << 1, "IsAdditionalPortCountersExtendedSupported"}};
template <> inline constexpr std::span<const enum_name> names_of<PMCapability2> = pm_capability2_names;

} // namespace comad::iba
