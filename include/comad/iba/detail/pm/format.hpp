// SPDX-License-Identifier: MIT
// format.hpp - the MAD format of performance management (IBA 16.1.1).
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Format ---------------------------------------------------------------------------------------------------------

namespace pm {

/// A performance management MAD.
struct Format {
    MADHeader header{.mgmtClass = MgmtClass::Performance};
    std::array<u8, 40> reserved_192{};
    std::array<u8, 192> data{}; ///< the attribute

    friend bool operator==(const Format&, const Format&) = default;
};

} // namespace pm

template <> struct described<pm::Format> : std::true_type {
    using T = pm::Format;
    // clang-format off
    static constexpr auto layout = describe<256>("PMFormat", "16.1.1",
        inlined<&T::header,        at{0}>{},
        reserved<&T::reserved_192, at{24},  320>{},
        field<&T::data,            at{64}, 1536>{"data", show::data});
    // clang-format on
};

} // namespace comad::iba
