// SPDX-License-Identifier: MIT
// bm.hpp - baseboard management: the MAD format (IBA 16.2). ClassPortInfo and Notice are in other headers.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mad_header.hpp>
#include <comad/iba/detail/wire.hpp>

#include <array>

namespace comad::iba {

// ---- Format ---------------------------------------------------------------------------------------------------------

namespace bm {

/// A baseboard management MAD.
struct Format {
    MADHeader header{.mgmtClass = MgmtClass::BM};
    u64 BKey = 0;
    std::array<u8, 32> reserved_256{};
    std::array<u8, 192> data{}; ///< the attribute

    friend bool operator==(const Format&, const Format&) = default;
};

} // namespace bm

template <> struct described<bm::Format> : std::true_type {
    using T = bm::Format;
    // clang-format off
    // The layout follows bm.c of libibmad and BM_MAD of Intel.
    static constexpr auto layout = describe<256>("BMFormat", "16.2.1",
        inlined<&T::header,        at{0}>{},
        field<&T::BKey,            at{24},   64>{"BKey", show::hex},
        reserved<&T::reserved_256, at{32},  256>{},
        field<&T::data,            at{64}, 1536>{"data", show::data});
    // clang-format on
};

} // namespace comad::iba
