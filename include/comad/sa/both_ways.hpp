// SPDX-License-Identifier: MIT
// both_ways.hpp - a path to another port and one back from there, which need not be its reverse: with an LMC, or by services levels, the
// two directions may have other LIDs, SLs, rates. Knows no device.
#pragma once
#include <comad/sa/client.hpp>

namespace comad::sa {

struct both_ways {
    mad::IBPath there; ///< of what we send
    mad::IBPath back;  ///< of what the other end sends: its source is there; for who tells the other end
};

/// Asks the SA for each direction by itself, and not for a path that is good for both. What `to` has beside is in both: QPs change
/// places on the way back.
/// `properties`: as of client::resolve_path(), which has the errors, too.
coro::task<mad::result<both_ways>> resolve_both_ways(client&, mad::IBPath to,
                                                     iba::query<iba::sa::PathRecord> properties = {});

} // namespace comad::sa
