// SPDX-License-Identifier: MIT
// sa_path.hpp - sets a path to the SA for schedules over wires that ignore addresses, because a schedule without a path
// refuses SA queries.
#pragma once
#include <comad/coro/schedule.hpp>

namespace comad::test {

/// Sets LID 1 as the address of the SA.
inline void lead_to_sa(coro::MADSchedule& schedule) {
    mad::IBPath to;
    to.DLID = iba::lid{1};
    schedule.set_sa_path(to);
}

} // namespace comad::test
