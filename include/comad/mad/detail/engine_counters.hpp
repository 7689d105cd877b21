// SPDX-License-Identifier: MIT
// engine_counters.hpp - counters of the MADs of an engine or of a schedule.
#pragma once
#include <comad/iba/types.hpp>

namespace comad::mad {

/// What happened so far. sent = replied + timed_out + canceled + lost + operations in flight; retries are not
/// included.
struct engine_counters {
    u64 sent = 0;    ///< operations whose first attempt the transport accepted, without one-way operations
    u64 retried = 0; ///< further attempts
    u64 replied = 0;
    u64 timed_out = 0;    ///< operations whose attempts all expired
    u64 cancelled = 0;    ///< operations canceled or withdrawn while in flight
    u64 lost = 0;         ///< operations in flight when the transport failed or rejected a further attempt
    u64 unanswered = 0;   ///< sent operations that expect no reply
    u64 send_failed = 0;  ///< operations of which the transport accepted no attempt
    u64 would_block = 0;  ///< sends that had to be repeated because the transport would have blocked
    u64 busy = 0;         ///< BUSY replies that were followed by another attempt
    u64 late_replies = 0; ///< accepted replies to an attempt before the latest one; included in `replied`
    u64 stale = 0;        ///< replies that match no pending operation: late, duplicate or foreign
    u64 spurious = 0;     ///< replies to attempts that were declared lost, whether or not their operation was pending
    u64 revived = 0;      ///< replies to operations that had been given up, which show that the target is not
                          ///< unresponsive
    u64 probes = 0;       ///< attempts made to detect whether anything replies, while all attempts in flight were late
    u64 expired_reports = 0; ///< sends that the transport reported as expired
    u64 mismatched = 0;      ///< MADs with our transaction ID, but another class, method, attribute, modifier or route
    u64 malformed = 0;       ///< messages that are too short or too long for a MAD
};

} // namespace comad::mad
