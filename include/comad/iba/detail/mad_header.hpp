// SPDX-License-Identifier: MIT
// mad_header.hpp - the headers at the start of every MAD (IBA 13.4.3, 14.2.1.2).
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/wire.hpp>

namespace comad::iba {

/// The common MAD header. Host order.
struct MADHeader {
    u8 baseVersion = 1;
    MgmtClass mgmtClass{};
    u8 classVersion = 1;
    Method method{};
    u16 status = 0; ///< 0: success; the low byte has the same meaning in all classes (IBA 13.4.7)
    u16 classSpecific = 0;
    u64 transactionID = 0; ///< with umad, the kernel sets the upper 32 bits
    u16 attributeID = 0;
    u16 reserved_144 = 0;
    u32 attributeModifier = 0;

    friend bool operator==(const MADHeader&, const MADHeader&) = default;
};

/// The header of a directed-route SMP, where the bits of status and classSpecific have other meanings. Host order.
struct MADHeaderDirected {
    u8 baseVersion = 1;
    MgmtClass mgmtClass = MgmtClass::SubnDirected;
    u8 classVersion = 1;
    Method method{};
    bool D = false;    ///< false: outbound, true: returning
    u16 status = 0;    ///< 15 bits
    u8 hopPointer = 0; ///< the hop where the SMP is now
    u8 hopCount = 0;   ///< hops of the route, 0..63
    u64 transactionID = 0;
    u16 attributeID = 0;
    u16 reserved_144 = 0;
    u32 attributeModifier = 0;

    friend bool operator==(const MADHeaderDirected&, const MADHeaderDirected&) = default;
};

template <> struct described<MADHeader> : std::true_type {
    using T = MADHeader;
    // clang-format off
    static constexpr auto layout = describe<24>("MADHeader", "13.4.3",
        field<&T::baseVersion,       at{0},   8>{"baseVersion"},
        field<&T::mgmtClass,         at{1},   8>{"mgmtClass"},
        field<&T::classVersion,      at{2},   8>{"classVersion"},
        field<&T::method,            at{3},   8>{"method"},
        field<&T::status,            at{4},  16>{"status"},
        field<&T::classSpecific,     at{6},  16>{"classSpecific"},
        field<&T::transactionID,     at{8},  64>{"transactionID", show::hex},
        field<&T::attributeID,       at{16}, 16>{"attributeID"},
        reserved<&T::reserved_144,   at{18}, 16>{},
        field<&T::attributeModifier, at{20}, 32>{"attributeModifier"});
    // clang-format on
};

template <> struct described<MADHeaderDirected> : std::true_type {
    using T = MADHeaderDirected;
    // clang-format off
    static constexpr auto layout = describe<24>("MADHeaderDirected", "13.4.3",
        field<&T::baseVersion,       at{0},     8>{"baseVersion"},
        field<&T::mgmtClass,         at{1},     8>{"mgmtClass"},
        field<&T::classVersion,      at{2},     8>{"classVersion"},
        field<&T::method,            at{3},     8>{"method"},
        field<&T::D,                 at{4, 0},  1>{"D"},
        field<&T::status,            at{4, 1}, 15>{"status"},
        field<&T::hopPointer,        at{6},     8>{"hopPointer"},
        field<&T::hopCount,          at{7},     8>{"hopCount"},
        field<&T::transactionID,     at{8},    64>{"transactionID", show::hex},
        field<&T::attributeID,       at{16},   16>{"attributeID"},
        reserved<&T::reserved_144,   at{18},   16>{},
        field<&T::attributeModifier, at{20},   32>{"attributeModifier"});
    // clang-format on
};

} // namespace comad::iba
