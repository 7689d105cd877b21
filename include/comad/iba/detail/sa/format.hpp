// SPDX-License-Identifier: MIT
// format.hpp - the header and the MAD format of subnet administration (IBA 15.2.1).
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/rmpp.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Header and format ----------------------------------------------------------------------------------------------

namespace sa {

/// The header of every SA MAD.
struct Header {
    rmpp::Header rmpp{.header = {.mgmtClass = MgmtClass::SubnAdm, .classVersion = 2}};
    u64 SMKey = 0;
    u16 attributeOffset = 0; ///< distance between two records of a reply, in 8 bytes
    u16 reserved_368 = 0;
    u64 componentMask = 0; ///< for a query: the components that records must match

    friend bool operator==(const Header&, const Header&) = default;
};

/// An SA MAD.
struct Format {
    Header header;
    std::array<u8, 200> data{}; ///< a record, or a part of several records

    friend bool operator==(const Format&, const Format&) = default;
};

} // namespace sa

template <> struct described<sa::Header> : std::true_type {
    using T = sa::Header;
    // clang-format off
    static constexpr auto layout = describe<56>("SAHeader", "15.2.1.1",
        inlined<&T::rmpp,          at{0}>{},
        field<&T::SMKey,           at{36}, 64>{"SMKey", show::hex},
        field<&T::attributeOffset, at{44}, 16>{"attributeOffset"},
        reserved<&T::reserved_368, at{46}, 16>{},
        field<&T::componentMask,   at{48}, 64>{"componentMask"});
    // clang-format on
};

template <> struct described<sa::Format> : std::true_type {
    using T = sa::Format;
    // clang-format off
    static constexpr auto layout = describe<256>("SAFormat", "15.2.1.1",
        inlined<&T::header, at{0}>{},
        field<&T::data,     at{56}, 1600>{"data", show::data});
    // clang-format on
};

} // namespace comad::iba
