// SPDX-License-Identifier: MIT
// vendor.hpp - vendor classes: the two MAD formats, and attributes of the OpenFabrics Alliance (IBA 16.5; vendstat and
// ibsysstat of infiniband-diags).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/rmpp.hpp>
#include <comad/iba/detail/wire.hpp>

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

/// A MAD of the vendor classes 0x30 to 0x4f: it has an RMPP header and the OUI of the vendor.
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

// ---- OpenFabrics Alliance, OUI 0x001405 -----------------------------------------------------------------------------

namespace vend {

/// The data of ibping, which the peer returns unchanged.
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
