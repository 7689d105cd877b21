// SPDX-License-Identifier: MIT
// relay_counts.hpp - counters of the MADs that a relay forwarded for one client.
#pragma once
#include <comad/iba/types.hpp>

#include <string>

namespace comad::test {

/// Counters of one direction.
struct direction_counts {
    u64 came = 0;           ///< MADs that arrived, including dropped MADs
    u64 lost = 0;           ///< MADs dropped at random
    u64 overflowed = 0;     ///< MADs dropped because the buffer was full
    unsigned most_held = 0; ///< largest number of MADs in the shared buffer when one of these MADs entered
};

/// Counters of one client, from its CONNECT until now or until its end.
struct relay_counts {
    std::string node;          ///< node to which the client is attached, as the server names it
    direction_counts requests; ///< MADs from the client
    direction_counts replies;  ///< MADs from the server, including undeliverable requests that it returns
    u64 repeated = 0;          ///< retried requests, not included above
    u64 given_back = 0;        ///< requests that were returned without a reply
    u64 unawaited = 0;         ///< replies to requests that no longer waited, not included above
};

} // namespace comad::test
