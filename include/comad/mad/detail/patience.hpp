// SPDX-License-Identifier: MIT
// patience.hpp - the time limits of requests without a timeout of their own.
#pragma once
#include <comad/mad/detail/time.hpp>

namespace comad::mad {

/// How long requests wait for replies if the caller gives no timeout: most Gets, and Sets as described below.
struct patience_options {
    duration first_deadline = std::chrono::milliseconds(2); ///< retry interval before any round trip was measured
    duration longest_deadline = std::chrono::seconds(1);    ///< upper limit of the retry interval
    /// Time limit of a request to a destination that has replied before: busy hosts and switches are not always
    /// unresponsive. It is longer, up to first_patience, for destinations with long round trips.
    duration patience = std::chrono::milliseconds(250);
    duration first_patience = std::chrono::seconds(1); ///< time limit of a request to a destination that never replied
    /// Lower limit of the retry interval of Sets: two copies of a Set must not be in flight. OpenSM's transaction_timeout
    /// has the same default.
    duration least_set_timeout = std::chrono::milliseconds(200);
};

} // namespace comad::mad
