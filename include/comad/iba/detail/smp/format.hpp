// SPDX-License-Identifier: MIT
// format.hpp - the two MAD formats of subnet management packets (IBA 14.2.1).
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Formats --------------------------------------------------------------------------------------------------------

namespace smp {

/// A LID-routed SMP.
struct Format {
    MADHeader header{.mgmtClass = MgmtClass::SubnLID};
    u64 MKey = 0;
    std::array<u8, 32> reserved_256{};
    std::array<u8, 64> data{}; ///< the attribute
    std::array<u8, 128> reserved_1024{};

    friend bool operator==(const Format&, const Format&) = default;
};

/// A directed-route SMP.
struct FormatDirected {
    MADHeaderDirected header;
    u64 MKey = 0;
    lid drSLID = permissive_lid; ///< permissive: no LID-routed part before the route
    lid drDLID = permissive_lid; ///< permissive: no LID-routed part after the route
    std::array<u8, 28> reserved_288{};
    std::array<u8, 64> data{};        ///< the attribute
    std::array<u8, 64> initialPath{}; ///< [0] is unused; [i] is the egress port of hop i
    std::array<u8, 64> returnPath{};  ///< [i] is the ingress port of hop i

    friend bool operator==(const FormatDirected&, const FormatDirected&) = default;
};

} // namespace smp

template <> struct described<smp::Format> : std::true_type {
    using T = smp::Format;
    // clang-format off
    static constexpr auto layout = describe<256>("SMPFormat", "14.2.1.1",
        inlined<&T::header,         at{0}>{},
        field<&T::MKey,             at{24},    64>{"MKey", show::hex},
        reserved<&T::reserved_256,  at{32},   256>{},
        field<&T::data,             at{64},   512>{"data", show::data},
        reserved<&T::reserved_1024, at{128}, 1024>{});
    // clang-format on
};

template <> struct described<smp::FormatDirected> : std::true_type {
    using T = smp::FormatDirected;
    // clang-format off
    static constexpr auto layout = describe<256>("SMPFormatDirected", "14.2.1.2",
        inlined<&T::header,        at{0}>{},
        field<&T::MKey,            at{24},   64>{"MKey", show::hex},
        field<&T::drSLID,          at{32},   16>{"drSLID"},
        field<&T::drDLID,          at{34},   16>{"drDLID"},
        reserved<&T::reserved_288, at{36},  224>{},
        field<&T::data,            at{64},  512>{"data", show::data},
        field<&T::initialPath,     at{128}, 512>{"initialPath"},
        field<&T::returnPath,      at{192}, 512>{"returnPath"});
    // clang-format on
};

} // namespace comad::iba
