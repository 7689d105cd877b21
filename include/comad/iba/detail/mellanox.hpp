// SPDX-License-Identifier: MIT
// mellanox.hpp - attributes of Mellanox devices: those of vendor class 0x0a (vendstat.c of infiniband-diags), and
// adaptive routing in SMPs.
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

namespace vend {

/// The vendor class of Mellanox devices.
inline constexpr MgmtClass mellanox_class{0x0a};

/// Hardware, firmware, software and capabilities of a device: HWInfo, FWInfo, SWInfo and the capability mask of
/// VendorSpec_GeneralInfo of ibdiagnet. They follow the vs_key, with which the data of every MAD of this class starts.
/// Older devices have SWInfo instead of the extended firmware version, and nothing after it (is3_general_info_t of
/// vendstat.c).
struct MlxGeneralInfo {
    u64 VSKey = 0; ///< the vs_key; 0: the device requires none
    u16 hw_revision = 0;
    u16 device_id = 0;
    std::array<u8, 24> reserved_96{};
    u32 uptime = 0; ///< seconds since the last reset
    u8 reserved_320 = 0;
    u8 fw_major = 0;
    u8 fw_minor = 0;
    u8 fw_sub_minor = 0;
    u32 fw_build_id = 0;
    u8 fw_month = 0; ///< binary-coded decimal, as are day, year and hour
    u8 fw_day = 0;
    u16 fw_year = 0;
    u16 reserved_416 = 0;
    u16 fw_hour = 0;              ///< hour and minute
    std::array<u8, 16> fw_psid{}; ///< NUL-terminated only if shorter than the field
    u32 fw_init_file_version = 0;
    u32 fw_ext_major = 0; ///< the firmware version of newer devices: see firmware_version()
    u32 fw_ext_minor = 0;
    u32 fw_ext_sub_minor = 0;
    std::array<u8, 16> reserved_704{};
    u8 reserved_832 = 0;
    u8 sw_major = 0; ///< version of the oldest compatible driver
    u8 sw_minor = 0;
    u8 sw_sub_minor = 0;
    std::array<u8, 28> reserved_864{};
    std::array<u32, 4> capability_mask{}; ///< bit n is bit n % 32 of word n / 32; bit 20: AccessRegister by GMPs

    friend bool operator==(const MlxGeneralInfo&, const MlxGeneralInfo&) = default;
};

/// Returns whether the device has an extended firmware version. An older device has SWInfo at the same
/// position. The major number of SWInfo makes the value larger than any firmware version.
constexpr bool has_extended_version(const MlxGeneralInfo& g) noexcept {
    constexpr u32 highest_major = 0xff;
    return (g.fw_ext_major != 0 || g.fw_ext_minor != 0 || g.fw_ext_sub_minor != 0) && g.fw_ext_major <= highest_major;
}

/// Returns major, minor and sub-minor number of the firmware: the extended version if there is one, else the version
/// with 8 bits each, as in ibdiagnet. Example: 31.2012.1068.
constexpr std::array<u32, 3> firmware_version(const MlxGeneralInfo& g) noexcept {
    if (has_extended_version(g)) return {g.fw_ext_major, g.fw_ext_minor, g.fw_ext_sub_minor};
    return {g.fw_major, g.fw_minor, g.fw_sub_minor};
}

/// A word of the configuration space of a device.
struct MlxConfigRecord {
    u32 address = 0;
    u32 data = 0;
    u32 mask = 0; ///< bits of the word that are valid

    friend bool operator==(const MlxConfigRecord&, const MlxConfigRecord&) = default;
};

/// Up to 18 words of the configuration space of a device. The attribute modifier contains the number of words:
/// config_space_modifier().
struct MlxConfigSpace {
    u64 VSKey = 0; ///< the vs_key; 0: the device requires none
    std::array<MlxConfigRecord, 18> record{};

    friend bool operator==(const MlxConfigSpace&, const MlxConfigSpace&) = default;
};

/// Returns the attribute modifier of MlxConfigSpace for this number of words.
constexpr u32 config_space_modifier(unsigned records) noexcept { return 2u << 22 | records << 16; }

/// The counter groups that a port has. The attribute modifier is the port.
struct MlxCounterGroupInfo {
    u64 VSKey = 0; ///< the vs_key; 0: the device requires none
    std::array<u8, 3> reserved_64{};
    u8 groupCount = 0;
    std::array<u32, 2> groupMask{};

    friend bool operator==(const MlxCounterGroupInfo&, const MlxCounterGroupInfo&) = default;
};

/// The counters that the two groups of a port count. The attribute modifier is the port.
struct MlxCounterGroupConfig {
    u64 VSKey = 0; ///< the vs_key; 0: the device requires none
    u32 reserved_64 = 0;
    std::array<u32, 2> groupSelect{}; ///< 8 bits each

    friend bool operator==(const MlxCounterGroupConfig&, const MlxCounterGroupConfig&) = default;
};

} // namespace vend

namespace smp {

/// Adaptive routing of a switch (SMP 0xff20; struct adaptive_routing_info in packets_layouts.h of ibdiagnet, with the
/// same field names). The attribute modifier is 0. Only switches of Mellanox support it. Words are big-endian; the
/// tables of the groups are other attributes.
struct MlnxARInfo {
    bool reserved_0 = false;
    bool dyn_cap_calc_sup = false; ///< capabilities depend on other settings
    bool by_transp_cap = false;    ///< by_transport_disable is supported
    bool by_sl_en = false;         ///< only the SLs in enable_by_sl_mask are routed adaptively; false: all SLs
    bool by_sl_cap = false;        ///< enable_by_sl_mask is supported
    bool glb_groups = false;       ///< the groups are the same for all private forwarding tables
    bool is4_mode = false;
    bool no_fallback = false;
    u8 direction_num_sup = 0;
    u8 group_table_copy_sup = 0; ///< 4 bits
    u8 sub_grps_active = 0;      ///< 4 bits: number of subgroups in use in each group
    u8 reserved_24 = 0;          ///< 2 bits
    bool rn_xmit_enabled = false;
    bool fr_enabled = false; ///< fallback routing is on
    bool is_fr_sup = false;
    bool is_frn_sup = false;
    bool is_arn_sup = false;
    bool e = false;            ///< adaptive routing is on
    u8 string_width_cap = 0;   ///< 4 bits
    u8 group_table_cap = 0;    ///< 4 bits
    u16 group_top = 0;         ///< 12 bits: the highest group in use
    u16 group_cap = 0;         ///< 12 bits: largest number of groups; 0: no adaptive routing
    u16 enable_by_sl_mask = 0; ///< a bit for each SL
    u8 sub_grps_supported = 0;
    u8 rn_version_cap = 0; ///< 4 bits
    u8 ar_version_cap = 0; ///< 4 bits
    std::array<u8, 3> reserved_96{};
    u8 by_transport_disable = 0; ///< bit 0 UD, 1 RC, 2 UC, 3 DCT
    u32 ageing_time_value = 0;   ///< microseconds
    std::array<u8, 44> reserved_160{};

    friend bool operator==(const MlnxARInfo&, const MlnxARInfo&) = default;
};

} // namespace smp

template <> struct described<smp::MlnxARInfo> : std::true_type {
    using T = smp::MlnxARInfo;
    // clang-format off
    static constexpr auto layout = describe<64>("MlnxARInfo", "vendor attribute 0xFF20",
        reserved<&T::reserved_0,           at{0, 0},    1>{},
        field<&T::dyn_cap_calc_sup,        at{0, 1},    1>{"dyn_cap_calc_sup"},
        field<&T::by_transp_cap,           at{0, 2},    1>{"by_transp_cap"},
        field<&T::by_sl_en,                at{0, 3},    1>{"by_sl_en"},
        field<&T::by_sl_cap,               at{0, 4},    1>{"by_sl_cap"},
        field<&T::glb_groups,              at{0, 5},    1>{"glb_groups"},
        field<&T::is4_mode,                at{0, 6},    1>{"is4_mode"},
        field<&T::no_fallback,             at{0, 7},    1>{"no_fallback"},
        field<&T::direction_num_sup,       at{1},       8>{"direction_num_sup"},
        field<&T::group_table_copy_sup,    at{2, 0},    4>{"group_table_copy_sup"},
        field<&T::sub_grps_active,         at{2, 4},    4>{"sub_grps_active"},
        reserved<&T::reserved_24,          at{3, 0},    2>{},
        field<&T::rn_xmit_enabled,         at{3, 2},    1>{"rn_xmit_enabled"},
        field<&T::fr_enabled,              at{3, 3},    1>{"fr_enabled"},
        field<&T::is_fr_sup,               at{3, 4},    1>{"is_fr_sup"},
        field<&T::is_frn_sup,              at{3, 5},    1>{"is_frn_sup"},
        field<&T::is_arn_sup,              at{3, 6},    1>{"is_arn_sup"},
        field<&T::e,                       at{3, 7},    1>{"e"},
        field<&T::string_width_cap,        at{4, 0},    4>{"string_width_cap"},
        field<&T::group_table_cap,         at{4, 4},    4>{"group_table_cap"},
        field<&T::group_top,               at{5, 0},   12>{"group_top"},
        field<&T::group_cap,               at{6, 4},   12>{"group_cap"},
        field<&T::enable_by_sl_mask,       at{8},      16>{"enable_by_sl_mask", show::hex},
        field<&T::sub_grps_supported,      at{10},      8>{"sub_grps_supported"},
        field<&T::rn_version_cap,          at{11, 0},   4>{"rn_version_cap"},
        field<&T::ar_version_cap,          at{11, 4},   4>{"ar_version_cap"},
        reserved<&T::reserved_96,          at{12},     24>{},
        field<&T::by_transport_disable,    at{15},      8>{"by_transport_disable", show::hex},
        field<&T::ageing_time_value,       at{16},     32>{"ageing_time_value"},
        reserved<&T::reserved_160,         at{20},    352>{});
    // clang-format on
};
template <>
struct attribute_of<smp::MlnxARInfo>
    : attribute_traits<0xff20, in_class<MgmtClass::SubnLID, 1, Method::Get, Method::Set>> {};

template <> struct described<vend::MlxGeneralInfo> : std::true_type {
    using T = vend::MlxGeneralInfo;
    // clang-format off
    // The layout follows vendstat of infiniband-diags (is4_general_info_t) and VendorSpec_GeneralInfo of ibis.
    static constexpr auto layout = describe<152>("MlxGeneralInfo", "vendor attribute 0x17",
        field<&T::VSKey,                at{0},   64>{"VSKey", show::hex},
        field<&T::hw_revision,          at{8},   16>{"hw_revision"},
        field<&T::device_id,            at{10},  16>{"device_id"},
        reserved<&T::reserved_96,       at{12}, 192>{},
        field<&T::uptime,               at{36},  32>{"uptime"},
        reserved<&T::reserved_320,      at{40},   8>{},
        field<&T::fw_major,             at{41},   8>{"fw_major"},
        field<&T::fw_minor,             at{42},   8>{"fw_minor"},
        field<&T::fw_sub_minor,         at{43},   8>{"fw_sub_minor"},
        field<&T::fw_build_id,          at{44},  32>{"fw_build_id"},
        field<&T::fw_month,             at{48},   8>{"fw_month"},
        field<&T::fw_day,               at{49},   8>{"fw_day"},
        field<&T::fw_year,              at{50},  16>{"fw_year"},
        reserved<&T::reserved_416,      at{52},  16>{},
        field<&T::fw_hour,              at{54},  16>{"fw_hour"},
        field<&T::fw_psid,              at{56}, 128>{"fw_psid", show::text},
        field<&T::fw_init_file_version, at{72},  32>{"fw_init_file_version"},
        field<&T::fw_ext_major,         at{76},  32>{"fw_ext_major"},
        field<&T::fw_ext_minor,         at{80},  32>{"fw_ext_minor"},
        field<&T::fw_ext_sub_minor,     at{84},  32>{"fw_ext_sub_minor"},
        reserved<&T::reserved_704,      at{88}, 128>{},
        reserved<&T::reserved_832,      at{104},  8>{},
        field<&T::sw_major,             at{105},  8>{"sw_major"},
        field<&T::sw_minor,             at{106},  8>{"sw_minor"},
        field<&T::sw_sub_minor,         at{107},  8>{"sw_sub_minor"},
        reserved<&T::reserved_864,      at{108}, 224>{},
        field<&T::capability_mask,      at{136}, 128>{"capability_mask", show::hex});
    // clang-format on
};
template <>
struct attribute_of<vend::MlxGeneralInfo> : attribute_traits<0x0017, in_class<vend::mellanox_class, 1, Method::Get>> {};

template <> struct described<vend::MlxConfigRecord> : std::true_type {
    using T = vend::MlxConfigRecord;
    // clang-format off
    static constexpr auto layout = describe<12>("MlxConfigRecord", "vendor attribute 0x50",
        field<&T::address, at{0}, 32>{"address", show::hex},
        field<&T::data,    at{4}, 32>{"data", show::hex},
        field<&T::mask,    at{8}, 32>{"mask", show::hex});
    // clang-format on
};

template <> struct described<vend::MlxConfigSpace> : std::true_type {
    using T = vend::MlxConfigSpace;
    // clang-format off
    static constexpr auto layout = describe<224>("MlxConfigSpace", "vendor attribute 0x50",
        field<&T::VSKey,         at{0},   64>{"VSKey", show::hex},
        field<&T::record,        at{8}, 1728>{"record"});
    // clang-format on
};
template <>
struct attribute_of<vend::MlxConfigSpace>
    : attribute_traits<0x0050, in_class<vend::mellanox_class, 1, Method::Get, Method::Set>> {};

template <> struct described<vend::MlxCounterGroupInfo> : std::true_type {
    using T = vend::MlxCounterGroupInfo;
    // clang-format off
    static constexpr auto layout = describe<20>("MlxCounterGroupInfo", "vendor attribute 0x90",
        field<&T::VSKey,          at{0},  64>{"VSKey", show::hex},
        reserved<&T::reserved_64, at{8},  24>{},
        field<&T::groupCount,     at{11},  8>{"groupCount"},
        field<&T::groupMask,      at{12}, 64>{"groupMask", show::hex});
    // clang-format on
};
template <>
struct attribute_of<vend::MlxCounterGroupInfo>
    : attribute_traits<0x0090, in_class<vend::mellanox_class, 1, Method::Get>> {};

template <> struct described<vend::MlxCounterGroupConfig> : std::true_type {
    using T = vend::MlxCounterGroupConfig;
    // clang-format off
    static constexpr auto layout = describe<20>("MlxCounterGroupConfig", "vendor attribute 0x91",
        field<&T::VSKey,          at{0},  64>{"VSKey", show::hex},
        reserved<&T::reserved_64, at{8},  32>{},
        field<&T::groupSelect,    at{12}, 64>{"groupSelect"});
    // clang-format on
};
template <>
struct attribute_of<vend::MlxCounterGroupConfig>
    : attribute_traits<0x0091, in_class<vend::mellanox_class, 1, Method::Get, Method::Set>> {};

} // namespace comad::iba
