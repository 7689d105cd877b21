// SPDX-License-Identifier: MIT
// relay_counts.hpp - what passed by a relay of one client. Plain numbers.
#pragma once
#include <comad/iba/types.hpp>

#include <string>

namespace comad::test {

/// MADs of one direction.
struct direction_counts {
    u64 came = 0;           ///< those that were dropped included
    u64 lost = 0;           ///< of these, by chance
    u64 overflowed = 0;     ///< of these, because all places of the buffer were taken
    unsigned most_held = 0; ///< MADs in the buffer, those of all clients, when one of these came in
};

/// Of one client, from its CONNECT until now or until it went.
struct relay_counts {
    std::string node;          ///< where it is attached, as the server names it
    direction_counts requests; ///< of the client
    direction_counts replies;  ///< of the server; what it cannot deliver it sends back, too
    u64 repeated = 0;          ///< requests that were sent again for it, not counted above
    u64 given_back = 0;        ///< requests that it got back because nobody answered
    u64 unawaited = 0;         ///< replies that came when nobody awaited them any more, not counted above
};

} // namespace comad::test
