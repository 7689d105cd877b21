// SPDX-License-Identifier: MIT
// no_records.hpp - recognizes the reply of an SA that has no matching record (IBA 15.2.2). It sends nothing.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/mad/error.hpp>

namespace comad::sa {

/// Returns true if the SA replied ERR_NO_RECORDS.
inline bool is_no_records(const mad::mad_error& e) noexcept {
    return e.code == mad::errc::class_status &&
           iba::class_status(e.status) == iba::value(iba::SAStatus::ERR_NO_RECORDS);
}

} // namespace comad::sa
