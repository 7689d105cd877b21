// SPDX-License-Identifier: MIT
// no_records.hpp - the answer of an SA that has nothing of the kind (IBA 15.2.2), told from errors. Asks nobody.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/mad/error.hpp>

namespace comad::sa {

/// True if the SA answered ERR_NO_RECORDS.
inline bool is_no_records(const mad::mad_error& e) noexcept {
    return e.code == mad::errc::class_status &&
           iba::class_status(e.status) == iba::value(iba::SAStatus::ERR_NO_RECORDS);
}

} // namespace comad::sa
