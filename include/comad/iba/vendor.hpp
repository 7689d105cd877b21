// SPDX-License-Identifier: MIT
// vendor.hpp - vendor classes: the two formats, and attributes of Mellanox and of the OpenFabrics Alliance (IBA 16.5;
// infiniband-diags' vendstat and ibsysstat). Knows no device.
#pragma once
#include <comad/iba/attribute.hpp>
#include <comad/iba/enums.hpp>
#include <comad/iba/mad_header.hpp>
#include <comad/iba/rmpp.hpp>
#include <comad/iba/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Formats --------------------------------------------------------------------------------------------------------

namespace vend {

/// A MAD of the vendor classes 0x09 to 0x0f.
struct Format {
    MADHeader header{.mgmtClass = MgmtClass::Vend};
    std::array<u8, 232> data{}; ///< the attribute

    friend bool operator==(const Format&, const Format&) = default;
};

/// A MAD of the vendor classes 0x30 to 0x4f: RMPP, and the OUI of whose class it is.
struct OUIFormat {
    rmpp::Header rmpp{.header = {.mgmtClass = MgmtClass::VendOUI}};
    u8 reserved_288 = 0;
    u32 OUI = 0;                ///< 24 bits
    std::array<u8, 216> data{}; ///< the attribute

    friend bool operator==(const OUIFormat&, const OUIFormat&) = default;
};

} // namespace vend

template <> struct described<vend::Format> : std::true_type {
    using T = vend::Format;
    // clang-format off
    static constexpr auto layout = describe<256>("VendFormat", "16.5.1",
        inlined<&T::header, at{0}>{},
        field<&T::data,     at{24}, 1856>{"data", show::data});
    // clang-format on
};

template <> struct described<vend::OUIFormat> : std::true_type {
    using T = vend::OUIFormat;
    // clang-format off
    static constexpr auto layout = describe<256>("VendOUIFormat", "16.5.1",
        inlined<&T::rmpp,          at{0}>{},
        reserved<&T::reserved_288, at{36},    8>{},
        field<&T::OUI,             at{37},   24>{"OUI"},
        field<&T::data,            at{40}, 1728>{"data", show::data});
    // clang-format on
};

// ---- Mellanox -------------------------------------------------------------------------------------------------------

namespace vend {

/// Hardware and firmware of a Mellanox device (class 0x0a).
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
struct attribute_of<vend::MlxGeneralInfo> : attribute_traits<0x0017, in_class<MgmtClass{0x0a}, 1, Method::Get>> {};

// ---- OpenFabrics Alliance, OUI 0x001405 -----------------------------------------------------------------------------

namespace vend {

/// What ibping sends and gets back.
struct OFASysStatPing {
    u64 cookie = 0;
    std::array<u8, 56> reserved_64{};

    friend bool operator==(const OFASysStatPing&, const OFASysStatPing&) = default;
};

/// The name of a host that runs ibsysstat -S.
struct OFASysStatHostInfo {
    std::array<u8, 216> data_str{};

    friend bool operator==(const OFASysStatHostInfo&, const OFASysStatHostInfo&) = default;
};

/// The processors of a host that runs ibsysstat -S.
struct OFASysStatCPUInfo {
    std::array<u8, 216> data_str{};

    friend bool operator==(const OFASysStatCPUInfo&, const OFASysStatCPUInfo&) = default;
};

} // namespace vend

template <> struct described<vend::OFASysStatPing> : std::true_type {
    using T = vend::OFASysStatPing;
    // clang-format off
    static constexpr auto layout = describe<64>("OFASysStatPing", "vendor attribute 0x10",
        field<&T::cookie,         at{0},  64>{"cookie"},
        reserved<&T::reserved_64, at{8}, 448>{});
    // clang-format on
};
template <>
struct attribute_of<vend::OFASysStatPing>
    : attribute_traits<0x0010, in_vendor_class<MgmtClass{0x33}, 1, 0x001405, Method::Get>> {};

template <> struct described<vend::OFASysStatHostInfo> : std::true_type {
    using T = vend::OFASysStatHostInfo;
    // clang-format off
    static constexpr auto layout = describe<216>("OFASysStatHostInfo", "vendor attribute 0x11",
        field<&T::data_str, at{0}, 1728>{"data_str", show::text});
    // clang-format on
};
template <>
struct attribute_of<vend::OFASysStatHostInfo>
    : attribute_traits<0x0011, in_vendor_class<MgmtClass{0x33}, 1, 0x001405, Method::Get>> {};

template <> struct described<vend::OFASysStatCPUInfo> : std::true_type {
    using T = vend::OFASysStatCPUInfo;
    // clang-format off
    static constexpr auto layout = describe<216>("OFASysStatCPUInfo", "vendor attribute 0x12",
        field<&T::data_str, at{0}, 1728>{"data_str", show::text});
    // clang-format on
};
template <>
struct attribute_of<vend::OFASysStatCPUInfo>
    : attribute_traits<0x0012, in_vendor_class<MgmtClass{0x33}, 1, 0x001405, Method::Get>> {};

} // namespace comad::iba
