// SPDX-License-Identifier: MIT
// dm.hpp - device management: the MAD format and all attributes (IBA 16.3).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Format ---------------------------------------------------------------------------------------------------------

namespace dm {

/// A device management MAD.
struct Format {
    MADHeader header{.mgmtClass = MgmtClass::DevMgt};
    std::array<u8, 40> reserved_192{};
    std::array<u8, 192> data{}; ///< the attribute

    friend bool operator==(const Format&, const Format&) = default;
};

} // namespace dm

template <> struct described<dm::Format> : std::true_type {
    using T = dm::Format;
    // clang-format off
    static constexpr auto layout = describe<256>("DMFormat", "16.3.1",
        inlined<&T::header,        at{0}>{},
        reserved<&T::reserved_192, at{24},  320>{},
        field<&T::data,            at{64}, 1536>{"data", show::data});
    // clang-format on
};

// ---- I/O units and controllers --------------------------------------------------------------------------------------

namespace dm {

/// An I/O unit: a node that contains I/O controllers.
struct IOUnitInfo {
    u16 changeID = 0; ///< changes if controllers are added or removed
    u8 maxControllers = 0;
    u8 reserved_24 = 0;
    bool diagDeviceID = false;            ///< DiagCode is supported
    bool optionROM = false;               ///< an option ROM is present
    std::array<u8, 128> controllerList{}; ///< 4 bits per slot: 0 empty, 1 controller, 15 no slot

    friend bool operator==(const IOUnitInfo&, const IOUnitInfo&) = default;
};

/// An I/O controller. The attribute modifier is its slot, starting with 1.
struct IOControllerProfile {
    guid GUID{};      ///< GUID of the controller
    u32 vendorID = 0; ///< 24 bits, an OUI
    u8 reserved_88 = 0;
    u32 deviceID = 0;
    u16 deviceVersion = 0;
    u16 reserved_144 = 0;
    u32 subsystemVendorID = 0; ///< 24 bits
    u8 reserved_184 = 0;
    u32 subsystemID = 0;
    u16 IOClass = 0;
    u16 IOSubclass = 0;
    u16 protocol = 0;
    u16 protocolVersion = 0;
    u16 reserved_288 = 0;
    u16 reserved_304 = 0;
    u16 sendMessageDepth = 0; ///< largest number of messages at the same time
    u8 reserved_336 = 0;
    u8 RDMAReadDepth = 0;            ///< largest number of RDMA reads at the same time
    u32 sendMessageSize = 0;         ///< bytes
    u32 RDMATransferSize = 0;        ///< bytes
    u8 controllerOperationsMask = 0; ///< set of bits, from bit 0: sends, RDMA reads, writes, atomics; for each one to
                                     ///< the controller and from the controller
    u8 reserved_424 = 0;
    u8 serviceEntries = 0; ///< number of ServiceEntries
    u8 reserved_440 = 0;
    u64 reserved_448 = 0;
    std::array<u8, 64> IDString{}; ///< UTF-8; NUL-terminated only if shorter than the field

    friend bool operator==(const IOControllerProfile&, const IOControllerProfile&) = default;
};

} // namespace dm

template <> struct described<dm::IOUnitInfo> : std::true_type {
    using T = dm::IOUnitInfo;
    // clang-format off
    static constexpr auto layout = describe<132>("DMIOUnitInfo", "16.3.3.3",
        field<&T::changeID,       at{0},      16>{"changeID"},
        field<&T::maxControllers, at{2},       8>{"maxControllers"},
        reserved<&T::reserved_24, at{3, 0},    6>{},
        field<&T::diagDeviceID,   at{3, 6},    1>{"diagDeviceID"},
        field<&T::optionROM,      at{3, 7},    1>{"optionROM"},
        field<&T::controllerList, at{4},    1024>{"controllerList", show::bytes});
    // clang-format on
};
template <>
struct attribute_of<dm::IOUnitInfo> : attribute_traits<0x0010, in_class<MgmtClass::DevMgt, 1, Method::Get>> {};

template <> struct described<dm::IOControllerProfile> : std::true_type {
    using T = dm::IOControllerProfile;
    // clang-format off
    static constexpr auto layout = describe<128>("DMIOControllerProfile", "16.3.3.4",
        field<&T::GUID,                     at{0},   64>{"GUID"},
        field<&T::vendorID,                 at{8},   24>{"vendorID", show::hex},
        reserved<&T::reserved_88,           at{11},   8>{},
        field<&T::deviceID,                 at{12},  32>{"deviceID", show::hex},
        field<&T::deviceVersion,            at{16},  16>{"deviceVersion"},
        reserved<&T::reserved_144,          at{18},  16>{},
        field<&T::subsystemVendorID,        at{20},  24>{"subsystemVendorID"},
        reserved<&T::reserved_184,          at{23},   8>{},
        field<&T::subsystemID,              at{24},  32>{"subsystemID"},
        field<&T::IOClass,                  at{28},  16>{"IOClass"},
        field<&T::IOSubclass,               at{30},  16>{"IOSubclass"},
        field<&T::protocol,                 at{32},  16>{"protocol"},
        field<&T::protocolVersion,          at{34},  16>{"protocolVersion"},
        reserved<&T::reserved_288,          at{36},  16>{},
        reserved<&T::reserved_304,          at{38},  16>{},
        field<&T::sendMessageDepth,         at{40},  16>{"sendMessageDepth"},
        reserved<&T::reserved_336,          at{42},   8>{},
        field<&T::RDMAReadDepth,            at{43},   8>{"RDMAReadDepth"},
        field<&T::sendMessageSize,          at{44},  32>{"sendMessageSize"},
        field<&T::RDMATransferSize,         at{48},  32>{"RDMATransferSize"},
        field<&T::controllerOperationsMask, at{52},   8>{"controllerOperationsMask"},
        reserved<&T::reserved_424,          at{53},   8>{},
        field<&T::serviceEntries,           at{54},   8>{"serviceEntries"},
        reserved<&T::reserved_440,          at{55},   8>{},
        reserved<&T::reserved_448,          at{56},  64>{},
        field<&T::IDString,                 at{64}, 512>{"IDString", show::text});
    // clang-format on
};
template <>
struct attribute_of<dm::IOControllerProfile> : attribute_traits<0x0011, in_class<MgmtClass::DevMgt, 1, Method::Get>> {};

// ---- Services -------------------------------------------------------------------------------------------------------

namespace dm {

/// A service of an I/O controller.
struct ServiceEntry {
    std::array<u8, 40> serviceName{}; ///< UTF-8; NUL-terminated only if shorter than the field
    u64 serviceID = 0;

    friend bool operator==(const ServiceEntry&, const ServiceEntry&) = default;
};

/// Up to four services of a controller. Attribute modifier: slot times 65536, last entry times 256, first entry.
struct ServiceEntries {
    std::array<ServiceEntry, 4> serviceEntry{};

    friend bool operator==(const ServiceEntries&, const ServiceEntries&) = default;
};

} // namespace dm

template <> struct described<dm::ServiceEntry> : std::true_type {
    using T = dm::ServiceEntry;
    // clang-format off
    static constexpr auto layout = describe<48>("DMServiceEntry", "16.3.3",
        field<&T::serviceName, at{0},  320>{"serviceName", show::text},
        field<&T::serviceID,   at{40},  64>{"serviceID", show::hex});
    // clang-format on
};

template <> struct described<dm::ServiceEntries> : std::true_type {
    using T = dm::ServiceEntries;
    // clang-format off
    static constexpr auto layout = describe<192>("DMServiceEntries", "16.3.3.5",
        field<&T::serviceEntry, at{0}, 1536>{"serviceEntry"});
    // clang-format on
};
template <>
struct attribute_of<dm::ServiceEntries> : attribute_traits<0x0012, in_class<MgmtClass::DevMgt, 1, Method::Get>> {};

// ---- Diagnostics ----------------------------------------------------------------------------------------------------

namespace dm {

/// The longest duration of a test. The attribute modifier is the slot.
struct DiagnosticTimeout {
    u32 maxDiagTime = 0; ///< milliseconds

    friend bool operator==(const DiagnosticTimeout&, const DiagnosticTimeout&) = default;
};

/// Set prepares a device for a test; Get queries whether the device is prepared. The attribute has no data.
struct PrepareToTest {
    friend bool operator==(const PrepareToTest&, const PrepareToTest&) = default;
};

/// Set tests a device once. The attribute has no data.
struct TestDeviceOnce {
    friend bool operator==(const TestDeviceOnce&, const TestDeviceOnce&) = default;
};

/// Set tests a device until the next Set. The attribute has no data.
struct TestDeviceLoop {
    friend bool operator==(const TestDeviceLoop&, const TestDeviceLoop&) = default;
};

/// The result of a test. The attribute modifier is the slot.
struct DiagCode {
    u16 diagCode = 0; ///< 0: passed; other values are defined by the vendor
    u16 reserved_16 = 0;

    friend bool operator==(const DiagCode&, const DiagCode&) = default;
};

} // namespace dm

template <> struct described<dm::DiagnosticTimeout> : std::true_type {
    using T = dm::DiagnosticTimeout;
    // clang-format off
    static constexpr auto layout = describe<4>("DMDiagnosticTimeout", "16.3.3.6",
        field<&T::maxDiagTime, at{0}, 32>{"maxDiagTime"});
    // clang-format on
};
template <>
struct attribute_of<dm::DiagnosticTimeout> : attribute_traits<0x0020, in_class<MgmtClass::DevMgt, 1, Method::Get>> {};

template <> struct described<dm::PrepareToTest> : std::true_type {
    using T = dm::PrepareToTest;
    // clang-format off
    static constexpr auto layout = describe<0>("DMPrepareToTest", "16.3.3.7");
    // clang-format on
};
template <>
struct attribute_of<dm::PrepareToTest>
    : attribute_traits<0x0021, in_class<MgmtClass::DevMgt, 1, Method::Get, Method::Set>> {};

template <> struct described<dm::TestDeviceOnce> : std::true_type {
    using T = dm::TestDeviceOnce;
    // clang-format off
    static constexpr auto layout = describe<0>("DMTestDeviceOnce", "16.3.3.8");
    // clang-format on
};
template <>
struct attribute_of<dm::TestDeviceOnce> : attribute_traits<0x0022, in_class<MgmtClass::DevMgt, 1, Method::Set>> {};

template <> struct described<dm::TestDeviceLoop> : std::true_type {
    using T = dm::TestDeviceLoop;
    // clang-format off
    static constexpr auto layout = describe<0>("DMTestDeviceLoop", "16.3.3.9");
    // clang-format on
};
template <>
struct attribute_of<dm::TestDeviceLoop> : attribute_traits<0x0023, in_class<MgmtClass::DevMgt, 1, Method::Set>> {};

template <> struct described<dm::DiagCode> : std::true_type {
    using T = dm::DiagCode;
    // clang-format off
    static constexpr auto layout = describe<4>("DMDiagCode", "16.3.3.10",
        field<&T::diagCode,       at{0}, 16>{"diagCode", show::hex},
        reserved<&T::reserved_16, at{2}, 16>{});
    // clang-format on
};
template <>
struct attribute_of<dm::DiagCode> : attribute_traits<0x0024, in_class<MgmtClass::DevMgt, 1, Method::Get>> {};

} // namespace comad::iba
