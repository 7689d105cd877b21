// SPDX-License-Identifier: MIT
// subnet.hpp - enumerations of nodes, ports and links (IBA 14.2.5).
#pragma once
#include <comad/iba/detail/enums/names.hpp>

namespace comad::iba {

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

/// One extended link speed (IBA 14.2.5.6): 14.0625, 25.78125, 53.125 and 106.25 Gb/s per lane; 0: see LinkSpeed. The
/// supported and enabled fields are sets of these bits.
enum class LinkSpeedExt : u8 { none = 0, FDR = 1, EDR = 2, HDR = 4, NDR = 8 };
inline constexpr enum_name link_speed_ext_names[] = {{0, "none"}, {1, "FDR"}, {2, "EDR"}, {4, "HDR"}, {8, "NDR"}};
template <> inline constexpr std::span<const enum_name> names_of<LinkSpeedExt> = link_speed_ext_names;

/// A link speed without a bit in LinkSpeedExt (IBA 14.2.5.6): 212.5 Gb/s per lane; 0: see LinkSpeedExt. The supported
/// and enabled fields are sets of these bits.
enum class LinkSpeedExt2 : u8 { none = 0, XDR = 1 };
inline constexpr enum_name link_speed_ext2_names[] = {{0, "none"}, {1, "XDR"}};
template <> inline constexpr std::span<const enum_name> names_of<LinkSpeedExt2> = link_speed_ext2_names;

/// The largest payload of a packet (IBA 14.2.5.6): 128 * 2^n bytes. The names are the number of bytes.
enum class MTU : u8 { m256 = 1, m512 = 2, m1024 = 3, m2048 = 4, m4096 = 5 };
inline constexpr enum_name mtu_names[] = {{1, "256"}, {2, "512"}, {3, "1024"}, {4, "2048"}, {5, "4096"}};
template <> inline constexpr std::span<const enum_name> names_of<MTU> = mtu_names;

/// The data VLs that a port supports (IBA 14.2.5.6).
enum class VLCap : u8 { VL0 = 1, VL0_1 = 2, VL0_3 = 3, VL0_7 = 4, VL0_14 = 5 };
inline constexpr enum_name vl_cap_names[] = {{1, "VL0"}, {2, "VL0-1"}, {3, "VL0-3"}, {4, "VL0-7"}, {5, "VL0-14"}};
template <> inline constexpr std::span<const enum_name> names_of<VLCap> = vl_cap_names;

/// PortInfo.capabilityMask: a set of bits (IBA 14.2.5.6).
enum class CapabilityMask : u32 {
    IsSM = 1u << 1,
    IsNoticeSupported = 1u << 2,
    IsTrapSupported = 1u << 3,
    IsOptionalIPDSupported = 1u << 4,
    IsAutomaticMigrationSupported = 1u << 5,
    IsSLMappingSupported = 1u << 6,
    IsMKeyNVRAM = 1u << 7,
    IsPKeyNVRAM = 1u << 8,
    IsLEDInfoSupported = 1u << 9,
    IsSMdisabled = 1u << 10,
    IsSystemImageGUIDSupported = 1u << 11,
    IsPKeySwitchExternalPortTrapSupported = 1u << 12,
    IsCableInfoSupported = 1u << 13,
    IsExtendedSpeedsSupported = 1u << 14,
    IsCapabilityMask2Supported = 1u << 15,
    IsCommunicationManagementSupported = 1u << 16,
    IsSNMPTunnelingSupported = 1u << 17,
    IsReinitSupported = 1u << 18,
    IsDeviceManagementSupported = 1u << 19,
    IsVendorClassSupported = 1u << 20,
    IsDRNoticeSupported = 1u << 21,
    IsCapabilityMaskNoticeSupported = 1u << 22,
    IsBootManagementSupported = 1u << 23,
    IsLinkRoundTripLatencySupported = 1u << 24,
    IsClientReregistrationSupported = 1u << 25,
    IsOtherLocalChangesNoticeSupported = 1u << 26,
    IsLinkSpeedWidthPairsTableSupported = 1u << 27,
    IsVendorSpecificMadsTableSupported = 1u << 28,
    IsMcastPKeyTrapSuppressionSupported = 1u << 29,
    IsMulticastFDBTopSupported = 1u << 30,
    IsHierarchyInfoSupported = 1u << 31,
};
inline constexpr enum_name capability_mask_names[] = {
    {1u << 1, "IsSM"},
    {1u << 2, "IsNoticeSupported"},
    {1u << 3, "IsTrapSupported"},
    {1u << 4, "IsOptionalIPDSupported"},
    {1u << 5, "IsAutomaticMigrationSupported"},
    {1u << 6, "IsSLMappingSupported"},
    {1u << 7, "IsMKeyNVRAM"},
    {1u << 8, "IsPKeyNVRAM"},
    {1u << 9, "IsLEDInfoSupported"},
    {1u << 10, "IsSMdisabled"},
    {1u << 11, "IsSystemImageGUIDSupported"},
    {1u << 12, "IsPKeySwitchExternalPortTrapSupported"},
    {1u << 13, "IsCableInfoSupported"},
    {1u << 14, "IsExtendedSpeedsSupported"},
    {1u << 15, "IsCapabilityMask2Supported"},
    {1u << 16, "IsCommunicationManagementSupported"},
    {1u << 17, "IsSNMPTunnelingSupported"},
    {1u << 18, "IsReinitSupported"},
    {1u << 19, "IsDeviceManagementSupported"},
    {1u << 20, "IsVendorClassSupported"},
    {1u << 21, "IsDRNoticeSupported"},
    {1u << 22, "IsCapabilityMaskNoticeSupported"},
    {1u << 23, "IsBootManagementSupported"},
    {1u << 24, "IsLinkRoundTripLatencySupported"},
    {1u << 25, "IsClientReregistrationSupported"},
    {1u << 26, "IsOtherLocalChangesNoticeSupported"},
    {1u << 27, "IsLinkSpeedWidthPairsTableSupported"},
    {1u << 28, "IsVendorSpecificMadsTableSupported"},
    {1u << 29, "IsMcastPKeyTrapSuppressionSupported"},
    {1u << 30, "IsMulticastFDBTopSupported"},
    {1u << 31, "IsHierarchyInfoSupported"},
};
template <> inline constexpr std::span<const enum_name> names_of<CapabilityMask> = capability_mask_names;

/// PortInfo.capabilityMask2: a set of bits (IBA 14.2.5.6).
enum class CapabilityMask2 : u16 {
    IsSetNodeDescriptionSupported = 1u << 0,
    IsPortInfoExtendedSupported = 1u << 1,
    IsVirtualizationSupported = 1u << 2,
    IsSwitchPortStateTableSupported = 1u << 3,
    IsLinkWidth2xSupported = 1u << 4,
    IsLinkSpeedHDRSupported = 1u << 5,
    IsMKeyProtectBitsExtSupported = 1u << 6,
    IsEnhancedTrap128Supported = 1u << 7,
    IsPartitionTopSupported = 1u << 8,
    IsEnhancedQoSArbiterSupported = 1u << 9,
    IsLinkSpeedNDRSupported = 1u << 10,
    IsExtendedSpeeds2Supported = 1u << 11,
    IsLinkSpeedXDRSupported = 1u << 12,
};
inline constexpr enum_name capability_mask2_names[] = {
    {1u << 0, "IsSetNodeDescriptionSupported"}, {1u << 1, "IsPortInfoExtendedSupported"},
    {1u << 2, "IsVirtualizationSupported"},     {1u << 3, "IsSwitchPortStateTableSupported"},
    {1u << 4, "IsLinkWidth2xSupported"},        {1u << 5, "IsLinkSpeedHDRSupported"},
    {1u << 6, "IsMKeyProtectBitsExtSupported"}, {1u << 7, "IsEnhancedTrap128Supported"},
    {1u << 8, "IsPartitionTopSupported"},       {1u << 9, "IsEnhancedQoSArbiterSupported"},
    {1u << 10, "IsLinkSpeedNDRSupported"},      {1u << 11, "IsExtendedSpeeds2Supported"},
    {1u << 12, "IsLinkSpeedXDRSupported"},
};
template <> inline constexpr std::span<const enum_name> names_of<CapabilityMask2> = capability_mask2_names;

/// PortInfoExtended.FECModeActive (IBA 14.2.5.19).
enum class FECMode : u16 { None = 0, FireCode = 1, RS = 2, LowLatencyRS = 3, RS2 = 4 };
inline constexpr enum_name fec_mode_names[] = {
    {0, "none"}, {1, "FireCode"}, {2, "RS"}, {3, "LowLatencyRS"}, {4, "RS2"}};
template <> inline constexpr std::span<const enum_name> names_of<FECMode> = fec_mode_names;

/// SMInfo.SMState (IBA 14.4.1).
enum class SMState : u8 { NotActive = 0, Discovering = 1, Standby = 2, Master = 3 };
inline constexpr enum_name sm_state_names[] = {{0, "NotActive"}, {1, "Discovering"}, {2, "Standby"}, {3, "Master"}};
template <> inline constexpr std::span<const enum_name> names_of<SMState> = sm_state_names;

} // namespace comad::iba
