// SPDX-License-Identifier: MIT
// class_port_info.hpp - ClassPortInfo, an attribute of all management classes except subnet management (IBA 13.4.8.1).
#pragma once
#include <comad/iba/detail/attribute.hpp>
#include <comad/iba/detail/wire.hpp>

namespace comad::iba {

/// The capabilities of a management class at a port, the target of its requests if they are redirected, and the target
/// of its traps.
struct ClassPortInfo {
    u8 baseVersion = 0;      ///< version of MADs
    u8 classVersion = 0;     ///< version of the class
    u16 capabilityMask = 0;  ///< set of ClassCapability; the upper byte is defined by the class
    u32 capabilityMask2 = 0; ///< 27 bits, defined by the class
    u8 respTimeValue = 0;    ///< 5 bits: the port replies to requests within 4.096 us * 2^n
    gid redirectGID;         ///< zero: redirectLID is sufficient
    u8 redirectTC = 0;       ///< traffic class of redirected requests; all members that start with `redirect` apply to
                             ///< them
    u8 redirectSL = 0;       ///< 4 bits
    u32 redirectFL = 0;      ///< 20 bits
    lid redirectLID{};       ///< zero: no redirection, unless redirectGID is set
    u16 redirectPKey = 0;
    u8 reserved_256 = 0;
    u32 redirectQP = 0; ///< 24 bits
    u32 redirectQKey = 0;
    gid trapGID;    ///< zero: trapLID is sufficient
    u8 trapTC = 0;  ///< traffic class of traps; all members that start with `trap` apply to them
    u8 trapSL = 0;  ///< 4 bits
    u32 trapFL = 0; ///< 20 bits
    lid trapLID{};  ///< zero: the port sends no traps
    u16 trapPKey = 0;
    u8 trapHL = 0;  ///< hop limit
    u32 trapQP = 0; ///< 24 bits
    u32 trapQKey = 0;

    friend bool operator==(const ClassPortInfo&, const ClassPortInfo&) = default;
};

template <> struct described<ClassPortInfo> : std::true_type {
    using T = ClassPortInfo;
    // clang-format off
    static constexpr auto layout = describe<72>("MADClassPortInfo", "13.4.8.1",
        field<&T::baseVersion,     at{0},       8>{"baseVersion"},
        field<&T::classVersion,    at{1},       8>{"classVersion"},
        field<&T::capabilityMask,  at{2},      16>{"capabilityMask", show::hex},
        field<&T::capabilityMask2, at{4, 0},   27>{"capabilityMask2", show::hex},
        field<&T::respTimeValue,   at{7, 3},    5>{"respTimeValue"},
        field<&T::redirectGID,     at{8},     128>{"redirectGID"},
        field<&T::redirectTC,      at{24},      8>{"redirectTC", show::hex},
        field<&T::redirectSL,      at{25, 0},   4>{"redirectSL"},
        field<&T::redirectFL,      at{25, 4},  20>{"redirectFL"},
        field<&T::redirectLID,     at{28},     16>{"redirectLID"},
        field<&T::redirectPKey,    at{30},     16>{"redirectPKey", show::hex},
        reserved<&T::reserved_256, at{32},      8>{},
        field<&T::redirectQP,      at{33},     24>{"redirectQP", show::hex},
        field<&T::redirectQKey,    at{36},     32>{"redirectQKey", show::hex},
        field<&T::trapGID,         at{40},    128>{"trapGID"},
        field<&T::trapTC,          at{56},      8>{"trapTC"},
        field<&T::trapSL,          at{57, 0},   4>{"trapSL"},
        field<&T::trapFL,          at{57, 4},  20>{"trapFL"},
        field<&T::trapLID,         at{60},     16>{"trapLID"},
        field<&T::trapPKey,        at{62},     16>{"trapPKey", show::hex},
        field<&T::trapHL,          at{64},      8>{"trapHL"},
        field<&T::trapQP,          at{65},     24>{"trapQP", show::hex},
        field<&T::trapQKey,        at{68},     32>{"trapQKey", show::hex});
    // clang-format on
};
template <>
struct attribute_of<ClassPortInfo>
    : attribute_traits<
          0x0001, in_class<MgmtClass::SubnAdm, 2, Method::Get>, in_class<MgmtClass::Performance, 1, Method::Get>,
          in_class<MgmtClass::BM, 1, Method::Get, Method::Set>,
          in_class<MgmtClass::DevMgt, 1, Method::Get, Method::Set>,
          in_class<MgmtClass::CommMgt, 2, Method::Get, Method::Set>, in_class<MgmtClass::SNMP, 1, Method::Get>,
          in_class<MgmtClass::CongestionControl, 2, Method::Get, Method::Set>,
          in_class<MgmtClass::Vend, 1, Method::Get>, in_class<MgmtClass::VendOUI, 1, Method::Get>> {};

} // namespace comad::iba
