// SPDX-License-Identifier: MIT
// mellanox.hpp - what Mellanox' devices let read and write in their vendor class, 0x0a (infiniband-diags' vendstat.c).
// Knows no device.
#pragma once
#include <comad/iba/attribute.hpp>
#include <comad/iba/wire.hpp>

#include <array>

namespace comad::iba {

namespace vend {

inline constexpr MgmtClass mellanox_class{0x0a};

/// Hardware and firmware of a device.
struct MlxGeneralInfo {
    u64 reserved_0 = 0;
    u16 hw_revision = 0;
    u16 device_id = 0;
    std::array<u8, 24> reserved_96{};
    u32 uptime = 0; ///< seconds since the last reset
    u8 reserved_320 = 0;
    u8 fw_major = 0;
    u8 fw_minor = 0;
    u8 fw_sub_minor = 0;
    u32 fw_build_id = 0;
    u8 fw_month = 0; ///< binary-coded decimal, as day, year and hour
    u8 fw_day = 0;
    u16 fw_year = 0;
    u16 reserved_416 = 0;
    u16 fw_hour = 0;              ///< and minute
    std::array<u8, 16> fw_psid{}; ///< NUL-terminated only if it is shorter
    u32 fw_init_file_version = 0;
    u8 reserved_608 = 0;
    u8 hw_major = 0;
    u8 hw_minor = 0;
    u8 hw_sub_minor = 0;
    std::array<u8, 28> reserved_640{};

    friend bool operator==(const MlxGeneralInfo&, const MlxGeneralInfo&) = default;
};

/// A word of a device's configuration space.
struct MlxConfigRecord {
    u32 address = 0;
    u32 data = 0;
    u32 mask = 0; ///< bits that count

    friend bool operator==(const MlxConfigRecord&, const MlxConfigRecord&) = default;
};

/// Up to 18 words of a device's configuration space. The attribute modifier says how many: config_space_modifier().
struct MlxConfigSpace {
    u64 reserved_0 = 0;
    std::array<MlxConfigRecord, 18> record{};

    friend bool operator==(const MlxConfigSpace&, const MlxConfigSpace&) = default;
};

constexpr u32 config_space_modifier(unsigned records) noexcept { return 2u << 22 | records << 16; }

/// Groups of counters that a port has. The attribute modifier is the port.
struct MlxCounterGroupInfo {
    u64 reserved_0 = 0;
    std::array<u8, 3> reserved_64{};
    u8 groupCount = 0;
    std::array<u32, 2> groupMask{};

    friend bool operator==(const MlxCounterGroupInfo&, const MlxCounterGroupInfo&) = default;
};

/// Which counters the two groups of a port count. The attribute modifier is the port.
struct MlxCounterGroupConfig {
    u64 reserved_0 = 0;
    u32 reserved_64 = 0;
    std::array<u32, 2> groupSelect{}; ///< 8 bits each

    friend bool operator==(const MlxCounterGroupConfig&, const MlxCounterGroupConfig&) = default;
};

} // namespace vend

template <> struct described<vend::MlxGeneralInfo> : std::true_type {
    using T = vend::MlxGeneralInfo;
    // clang-format off
    // vendstat of infiniband-diags; VendorSpec_GeneralInfo of ibis.
    static constexpr auto layout = describe<108>("MlxGeneralInfo", "vendor attribute 0x17",
        reserved<&T::reserved_0,        at{0},   64>{},
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
        reserved<&T::reserved_608,      at{76},   8>{},
        field<&T::hw_major,             at{77},   8>{"hw_major"},
        field<&T::hw_minor,             at{78},   8>{"hw_minor"},
        field<&T::hw_sub_minor,         at{79},   8>{"hw_sub_minor"},
        reserved<&T::reserved_640,      at{80}, 224>{});
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
        reserved<&T::reserved_0, at{0},   64>{},
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
        reserved<&T::reserved_0,  at{0},  64>{},
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
        reserved<&T::reserved_0,  at{0},  64>{},
        reserved<&T::reserved_64, at{8},  32>{},
        field<&T::groupSelect,    at{12}, 64>{"groupSelect"});
    // clang-format on
};
template <>
struct attribute_of<vend::MlxCounterGroupConfig>
    : attribute_traits<0x0091, in_class<vend::mellanox_class, 1, Method::Get, Method::Set>> {};

} // namespace comad::iba
