// SPDX-License-Identifier: MIT
// diags_text.cpp - formats values with the labels and words of libibmad's dump.c and fields.c, and of infiniband-diags.
#include "text/diags_text.hpp"

#include "comad.hpp"
#include "text/dotted_lines.hpp"
#include <comad/discovery/database/detail/node_type_names.hpp>
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace ibtool {

namespace {

/// A bit with its name.
struct bit_name {
    unsigned bit;
    std::string_view name;
};

// The spelling is libibmad's, which sometimes differs from the IBA's.
constexpr bit_name capability_names[] = {
    {1, "IsSM"},
    {2, "IsNoticeSupported"},
    {3, "IsTrapSupported"},
    {4, "IsOptionalIPDSupported"},
    {5, "IsAutomaticMigrationSupported"},
    {6, "IsSLMappingSupported"},
    {7, "IsMKeyNVRAM"},
    {8, "IsPKeyNVRAM"},
    {9, "IsLedInfoSupported"},
    {10, "IsSMdisabled"},
    {11, "IsSystemImageGUIDsupported"},
    {12, "IsPkeySwitchExternalPortTrapSupported"},
    {14, "IsExtendedSpeedsSupported"},
    {15, "IsCapabilityMask2Supported"},
    {16, "IsCommunicatonManagementSupported"},
    {17, "IsSNMPTunnelingSupported"},
    {18, "IsReinitSupported"},
    {19, "IsDeviceManagementSupported"},
    {20, "IsVendorClassSupported"},
    {21, "IsDRNoticeSupported"},
    {22, "IsCapabilityMaskNoticeSupported"},
    {23, "IsBootManagementSupported"},
    {24, "IsLinkRoundTripLatencySupported"},
    {25, "IsClientRegistrationSupported"},
    {26, "IsOtherLocalChangesNoticeSupported"},
    {27, "IsLinkSpeedWidthPairsTableSupported"},
    {28, "IsVendorSpecificMadsTableSupported"},
    {29, "IsMcastPkeyTrapSuppressionSupported"},
    {30, "IsMulticastFDBTopSupported"},
    {31, "IsHierarchyInfoSupported"},
};
constexpr bit_name capability2_names[] = {
    {0, "IsSetNodeDescriptionSupported"},   {1, "IsPortInfoExtendedSupported"}, {2, "IsVirtualizationSupported"},
    {3, "IsSwitchPortStateTableSupported"}, {4, "IsLinkWidth2xSupported"},      {5, "IsLinkSpeedHDRSupported"},
    {6, "IsMKeyProtectBitsExtSupported"},   {7, "IsEnhancedTrap128Supported"},  {8, "IsPartitionTopSupported"},
    {9, "IsEnhancedQoSArbiterSupported"},   {10, "IsLinkSpeedNDRSupported"},
};
constexpr bit_name width_names[] = {{0, "1X"}, {1, "4X"}, {2, "8X"}, {3, "12X"}, {4, "2X"}};
constexpr bit_name speed_names[] = {{0, "2.5 Gbps"}, {1, "5.0 Gbps"}, {2, "10.0 Gbps"}};
constexpr bit_name speed_ext_names[] = {
    {0, "14.0625 Gbps"}, {1, "25.78125 Gbps"}, {2, "53.125 Gbps"}, {3, "106.25 Gbps"}};
constexpr bit_name speed_ext2_names[] = {{0, "212.5 Gbps"}};

/// Returns the mask, and a separate line for every bit with a name.
std::string format_mask(u64 mask, std::span<const bit_name> names) {
    std::string text = fmt::format("0x{:x}", mask);
    for (const bit_name& n : names)
        if (mask >> n.bit & 1) text += fmt::format("\n\t\t\t\t{}", n.name);
    return text;
}

/// Returns the name of a value with exactly one bit: `4X`.
std::string one_of(u64 value, std::span<const bit_name> names) {
    for (const bit_name& n : names)
        if (value == u64{1} << n.bit) return std::string(n.name);
    return fmt::format("undefined ({})", value);
}

/// Returns the names of a set of bits: `1X or 4X`. If there is no bit, or a bit without a name, the set is added as a number. `names` are
/// those of the lowest bits.
std::string any_of(u64 set, std::span<const bit_name> names) {
    std::vector<std::string> words;
    for (const bit_name& n : names)
        if (set >> n.bit & 1) words.emplace_back(n.name);
    if (set == 0 || set >> names.size()) words.push_back(fmt::format("undefined ({})", set));
    return fmt::to_string(fmt::join(words, " or "));
}

// The IBA defines only sets that include the lower speeds or widths. As in libibmad, other sets are marked as an extension of the IBA.
std::string widths_supported(u64 set) {
    constexpr u64 usual[] = {1, 3, 7, 11, 15, 17, 19, 23, 27, 31};
    const bool extension = !(set >> 5) && std::ranges::find(usual, set) == std::end(usual);
    return any_of(set, width_names) + (extension ? " (IBA extension)" : "");
}
std::string speeds(u64 set) {
    const bool extension = !(set >> 3) && !(set & 1);
    return any_of(set, speed_names) + (extension ? " (IBA extension)" : "");
}
std::string speeds_ext(u64 set, std::span<const bit_name> names) { return set == 0 ? "0" : any_of(set, names); }
std::string speeds_ext_enabled(u64 set) {
    return set == 30 ? "Extended link speeds disabled" : speeds_ext(set, speed_ext_names);
}

std::string word_of(u64 value, std::span<const std::string_view> words) {
    return value < words.size() && !words[value].empty() ? std::string(words[value]) : fmt::format("?({})", value);
}
constexpr std::string_view state_words[] = {"NoChange", "Down", "Initialize", "Armed", "Active"};
constexpr std::string_view down_default_words[] = {"NoChange", "Sleep", "Polling"};
constexpr std::string_view physical_words[] = {
    "NoChange", "Sleep", "Polling", "Disabled", "PortConfigurationTraining", "LinkUp", "LinkErrorRecovery", "PhyTest"};
constexpr std::string_view mtu_words[] = {"", "256", "512", "1024", "2048", "4096"};
constexpr std::string_view vl_cap_words[] = {"", "VL0", "VL0-1", "VL0-3", "VL0-7", "VL0-14"};
constexpr std::string_view oper_vl_words[] = {"No change", "VL0", "VL0-1", "VL0-3", "VL0-7", "VL0-14"};

template <class T> u64 number(T value) { return static_cast<u64>(value); }

} // namespace

std::string format_width(u64 bit) { return one_of(bit, width_names); }
std::string format_speed(u64 bit) { return bit == 0 ? "Extended speed" : one_of(bit, speed_names); }
std::string format_extended_speed(u64 bit) { return bit == 0 ? "No Extended Speed" : one_of(bit, speed_ext_names); }
std::string format_extended_speed2(u64 bit) { return bit == 0 ? "No Extended Speed 2" : one_of(bit, speed_ext2_names); }
std::string format_link_state(iba::PortState state) { return word_of(number(state), state_words); }
std::string format_physical_link_state(iba::PortPhysicalState state) { return word_of(number(state), physical_words); }

std::string format_place(const mad::any_path& path) {
    const mad::IBDRPath* route = mad::directed(path);
    if (!route) return fmt::format("Lid {}", number(mad::headers_of(path).DLID));
    const bool has_lid = route->drSLID != iba::permissive_lid;
    return fmt::format("{}DR path slid {}; dlid {}; {}",
                       has_lid ? fmt::format("Lid {} ", number(route->DLID)) : std::string(), number(route->drSLID),
                       number(route->drDLID),
                       fmt::join(route->drPath.begin(), route->drPath.begin() + route->hopCount + 1, ","));
}

std::string format_node_type(iba::NodeType type) {
    const comad::discovery::node_type_names words = comad::discovery::names_of_type(type);
    return words.are_known() ? std::string(words.full) : fmt::format("?({})?", number(type));
}

std::string format_diags(const smp::NodeInfo& n) {
    return dotted_lines()
        .number("BaseVers", n.baseVersion)
        .number("ClassVers", n.classVersion)
        .text("NodeType", format_node_type(n.nodeType))
        .number("NumPorts", n.numPorts)
        .hex("SystemGuid", n.systemImageGUID, 8)
        .hex("Guid", n.nodeGUID, 8)
        .hex("PortGuid", n.portGUID, 8)
        .number("PartCap", n.partitionCap)
        .hex("DevId", n.deviceID, 2)
        .hex("Revision", n.revision, 4)
        .number("LocalPort", n.localPortNum)
        .hex("VendorId", n.vendorID, 3)
        .take();
}

std::string format_diags(const smp::SwitchInfo& s) {
    return dotted_lines()
        .number("LinearFdbCap", s.linearFDBCap)
        .number("RandomFdbCap", s.randomFDBCap)
        .number("McastFdbCap", s.multicastFDBCap)
        .number("LinearFdbTop", s.linearFDBTop)
        .number("DefPort", s.defaultPort)
        .number("DefMcastPrimPort", s.defaultMulticastPrimaryPort)
        .number("DefMcastNotPrimPort", s.defaultMulticastNotPrimaryPort)
        .number("LifeTime", s.lifeTimeValue)
        .number("StateChange", s.portStateChange)
        .number("OptSLtoVLMapping", s.optimizedSLtoVLMappingProgramming)
        .number("LidsPerPort", s.LIDsPerPort)
        .number("PartEnforceCap", s.partitionEnforcementCap)
        .number("InboundPartEnf", s.inboundEnforcementCap)
        .number("OutboundPartEnf", s.outboundEnforcementCap)
        .number("FilterRawInbound", s.filterRawInboundCap)
        .number("FilterRawOutbound", s.filterRawOutboundCap)
        .number("EnhancedPort0", s.enhancedPort0)
        .hex("MulticastFDBTop", s.multicastFDBTop, 2)
        .take();
}

namespace {

void add_m_key(dotted_lines& l, const smp::PortInfo& p, bool show_keys) {
    if (show_keys) l.hex("Mkey", p.MKey, 8);
    else l.text("Mkey", "<not displayed>");
}

} // namespace

std::string format_port_state(const smp::PortInfo& p, bool extended, bool is_end_port, bool show_keys) {
    dotted_lines l;
    l.text("LinkState", format_link_state(p.portState))
        .text("PhysLinkState", format_physical_link_state(p.portPhysicalState))
        .number("Lid", p.LID)
        .number("SMLid", p.masterSMLID)
        .number("LMC", p.LMC)
        .text("LinkWidthSupported", widths_supported(number(p.linkWidthSupported)))
        .text("LinkWidthEnabled", any_of(number(p.linkWidthEnabled), width_names))
        .text("LinkWidthActive", format_width(number(p.linkWidthActive)))
        .text("LinkSpeedSupported", speeds(number(p.linkSpeedSupported)))
        .text("LinkSpeedEnabled", speeds(number(p.linkSpeedEnabled)))
        .text("LinkSpeedActive", format_speed(number(p.linkSpeedActive)));
    if (extended) {
        l.text("LinkSpeedExtSupported", speeds_ext(number(p.linkSpeedExtSupported), speed_ext_names))
            .text("LinkSpeedExtEnabled", speeds_ext_enabled(number(p.linkSpeedExtEnabled)))
            .text("LinkSpeedExtActive", format_extended_speed(number(p.linkSpeedExtActive)));
    }
    if (extended && (p.linkSpeedExtSupported2 != 0 || number(p.linkSpeedExtActive2) != 0)) {
        l.text("LinkSpeedExtSupported2", speeds_ext(number(p.linkSpeedExtSupported2), speed_ext2_names))
            .text("LinkSpeedExtEnabled2", speeds_ext(number(p.linkSpeedExtEnabled2), speed_ext2_names))
            .text("LinkSpeedExtActive2", format_extended_speed2(number(p.linkSpeedExtActive2)));
    }
    if (is_end_port) {
        add_m_key(l, p, show_keys);
        l.number("MkeyLeasePeriod", p.MKeyLeasePeriod).number("ProtectBits", p.MKeyProtectBits);
    }
    return l.take();
}

std::string format_diags(const smp::PortInfo& p, bool show_keys) {
    dotted_lines l;
    add_m_key(l, p, show_keys);
    l.hex("GidPrefix", p.GIDPrefix, 8)
        .number("Lid", p.LID)
        .number("SMLid", p.masterSMLID)
        .text("CapMask", format_mask(p.capabilityMask, capability_names))
        .hex("DiagCode", p.diagCode, 2)
        .number("MkeyLeasePeriod", p.MKeyLeasePeriod)
        .number("LocalPort", p.localPortNum)
        .text("LinkWidthEnabled", any_of(number(p.linkWidthEnabled), width_names))
        .text("LinkWidthSupported", widths_supported(number(p.linkWidthSupported)))
        .text("LinkWidthActive", format_width(number(p.linkWidthActive)))
        .text("LinkSpeedSupported", speeds(number(p.linkSpeedSupported)))
        .text("LinkState", format_link_state(p.portState))
        .text("PhysLinkState", format_physical_link_state(p.portPhysicalState))
        .text("LinkDownDefState", word_of(number(p.linkDownDefaultState), down_default_words))
        .number("ProtectBits", p.MKeyProtectBits)
        .number("LMC", p.LMC)
        .text("LinkSpeedActive", format_speed(number(p.linkSpeedActive)))
        .text("LinkSpeedEnabled", speeds(number(p.linkSpeedEnabled)))
        .text("NeighborMTU", word_of(number(p.neighborMTU), mtu_words))
        .number("SMSL", p.masterSMSL)
        .text("VLCap", word_of(number(p.VLCap), vl_cap_words))
        .hex("InitType", p.initType, 1)
        .number("VLHighLimit", p.VLHighLimit)
        .number("VLArbHighCap", p.VLArbitrationHighCap)
        .number("VLArbLowCap", p.VLArbitrationLowCap)
        .hex("InitReply", p.initTypeReply, 1)
        .text("MtuCap", word_of(number(p.MTUCap), mtu_words))
        .number("VLStallCount", p.VLStallCount)
        .number("HoqLife", p.HOQLife)
        .text("OperVLs", word_of(number(p.operationalVLs), oper_vl_words))
        .number("PartEnforceInb", p.partitionEnforcementInbound)
        .number("PartEnforceOutb", p.partitionEnforcementOutbound)
        .number("FilterRawInb", p.filterRawInbound)
        .number("FilterRawOutb", p.filterRawOutbound)
        .number("MkeyViolations", p.MKeyViolations)
        .number("PkeyViolations", p.PKeyViolations)
        .number("QkeyViolations", p.QKeyViolations)
        .number("GuidCap", p.GUIDCap)
        .number("ClientReregister", p.clientReregister)
        .number("McastPkeyTrapSuppressionEnabled", p.multicastPKeyTrapSuppressionEnabled)
        .number("SubnetTimeout", p.subnetTimeOut)
        .number("RespTimeVal", p.respTimeValue)
        .number("LocalPhysErr", p.localPhyErrors)
        .number("OverrunErr", p.overrunErrors)
        .number("MaxCreditHint", p.maxCreditHint)
        .number("RoundTrip", p.linkRoundTripLatency)
        .text("CapabilityMask2", format_mask(p.capabilityMask2, capability2_names))
        .text("LinkSpeedExtActive", format_extended_speed(number(p.linkSpeedExtActive)))
        .text("LinkSpeedExtSupported", speeds_ext(number(p.linkSpeedExtSupported), speed_ext_names))
        .text("LinkSpeedExtEnabled", speeds_ext_enabled(number(p.linkSpeedExtEnabled)));
    if (p.linkSpeedExtSupported2 != 0 || number(p.linkSpeedExtActive2) != 0) {
        l.text("LinkSpeedExtActive2", format_extended_speed2(number(p.linkSpeedExtActive2)))
            .text("LinkSpeedExtSupported2", speeds_ext(number(p.linkSpeedExtSupported2), speed_ext2_names))
            .text("LinkSpeedExtEnabled2", speeds_ext(number(p.linkSpeedExtEnabled2), speed_ext2_names));
    }
    return l.take();
}

std::string format_diags(const smp::PortInfoExtended& p) {
    return dotted_lines()
        .hex("CapMask", p.capabilityMask, 4)
        .number("FECModeActive", p.FECModeActive)
        .hex("FDRFECModeSupported", p.FDRFECModeSupported, 2)
        .hex("FDRFECModeEnabled", p.FDRFECModeEnabled, 2)
        .hex("EDRFECModeSupported", p.EDRFECModeSupported, 2)
        .hex("EDRFECModeEnabled", p.EDRFECModeEnabled, 2)
        .hex("HDRFECModeSupported", p.HDRFECModeSupported, 2)
        .hex("HDRFECModeEnabled", p.HDRFECModeEnabled, 2)
        .hex("NDRFECModeSupported", p.NDRFECModeSupported, 2)
        .hex("NDRFECModeEnabled", p.NDRFECModeEnabled, 2)
        .take();
}

std::string format_diags(const smp::MlnxExtPortInfo& p) {
    return dotted_lines()
        .hex("StateChangeEnable", p.StateChangeEnable, 1)
        .hex("LinkSpeedSupported", p.LinkSpeedSupported, 1)
        .hex("LinkSpeedEnabled", p.LinkSpeedEnabled, 1)
        .hex("LinkSpeedActive", p.LinkSpeedActive, 1)
        .take();
}

std::string format_diags(const smp::SLToVLMappingTable& t) {
    std::string text = "|";
    for (const u8 vl : t.SLtoVL) text += fmt::format("{:2}|", vl);
    return text + '\n';
}

std::string format_vl_arbitration(std::span<const u16> entries) {
    std::string VLs, weights;
    for (const u16 entry : entries) {
        VLs += fmt::format("0x{:<2X}|", entry >> 8 & 0xf);
        weights += fmt::format("0x{:<2X}|", entry & 0xff);
    }
    return fmt::format("\nVL    : |{}\nWEIGHT: |{}\n", VLs, weights);
}

namespace {

template <class T> std::string rows_of(std::span<const T> values, std::size_t size, std::size_t per_row, int digits) {
    std::string text;
    for (std::size_t row = 0; row < size; row += per_row) {
        text += fmt::format("{:4}:", row);
        for (std::size_t i = row; i < row + per_row; ++i)
            text += fmt::format(" 0x{:0{}x}", i < values.size() ? number(values[i]) : 0, digits);
        text += '\n';
    }
    return text;
}

} // namespace

std::string format_table(std::span<const u8> values, std::size_t size) { return rows_of(values, size, 8, 2); }
std::string format_table(std::span<const u16> values, std::size_t size) { return rows_of(values, size, 8, 4); }
std::string format_table(std::span<const iba::guid> values, std::size_t size) { return rows_of(values, size, 2, 16); }

std::string format_node_description(std::string_view name) {
    return fmt::format("Node Description:{}{}\n", std::string(name.size() < 32 ? 32 - name.size() : 1, '.'), name);
}

std::string format_hex(std::span<const u8> bytes) {
    std::string text;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const char* after = i % 16 == 15 ? "\n" : i % 2 ? " " : "";
        text += fmt::format("{:02x}{}", bytes[i], after);
    }
    return text;
}

namespace {

/// Ranges of the IDs of devices whose firmware version has more than eight bits per part, from vendstat's list. The list lacks later
/// devices (Quantum-2: 0xd2f2), which has_extended_version() recognizes.
constexpr u16 with_long_versions[][2] = {
    {0x0245, 0x0245}, {0xc738, 0xc73b}, {0xcb20, 0xcb20}, {0xcf08, 0xcf08}, {0xd2f0, 0xd2f0}, {0x01b3, 0x01b3},
    {0x1003, 0x101b}, {0xa2d2, 0xa2d2}, {0x1b02, 0x1b02}, {0x1b50, 0x1b50}, {0x1ba0, 0x1ba0}, {0x1bd0, 0x1bd5},
    {0x1bf0, 0x1bf0}, {0x1b33, 0x1b33}, {0x1b73, 0x1b73}, {0x1b40, 0x1b41}, {0x1b60, 0x1b61}, {0x1b83, 0x1b83},
    {0x1b93, 0x1b94}, {0x1bb4, 0x1bb5}, {0x1bc4, 0x1bc6}};

bool has_long_version(u16 device) {
    return std::ranges::any_of(with_long_versions, [&](const auto& r) { return r[0] <= device && device <= r[1]; });
}

} // namespace

std::string format_diags(const iba::vend::MlxGeneralInfo& g) {
    const std::string_view PSID(reinterpret_cast<const char*>(g.fw_psid.data()), g.fw_psid.size());
    const bool is_long = has_long_version(g.device_id);
    std::array fw = iba::vend::firmware_version(g);
    if (is_long) fw = {g.fw_ext_major, g.fw_ext_minor, g.fw_ext_sub_minor};
    std::array<unsigned, 3> sw{g.sw_major, g.sw_minor, g.sw_sub_minor};
    if (!is_long && !has_extended_version(g)) // this field is their software version
        sw = {g.fw_ext_major >> 16 & 0xff, g.fw_ext_major >> 8 & 0xff, g.fw_ext_major & 0xff};
    return fmt::format("hw_dev_rev:  0x{:04x}\nhw_dev_id:   0x{:04x}\nhw_uptime:   0x{:08x}\n"
                       "fw_version:  {:02}.{:02}.{:02}\nfw_build_id: 0x{:04x}\nfw_date:     {:02x}/{:02x}/{:04x}\n"
                       "fw_psid:     '{}'\nfw_ini_ver:  {}\nsw_version:  {:02}.{:02}.{:02}\n",
                       g.hw_revision, g.device_id, g.uptime, fw[0], fw[1], fw[2], g.fw_build_id, g.fw_month, g.fw_day,
                       g.fw_year, iba::escaped(PSID.substr(0, PSID.find('\0'))), g.fw_init_file_version, sw[0], sw[1],
                       sw[2]);
}

} // namespace ibtool
