// SPDX-License-Identifier: MIT
// engine_counters.hpp - what became of the MADs of an engine, or of a schedule.
#pragma once
#include <comad/iba/types.hpp>

namespace comad::mad {

/// What happened so far. sent = replied + timed_out + cancelled + lost + those under way, retries apart.
struct engine_counters {
    u64 sent = 0;    ///< operations whose first attempt the transport took; those without reply apart
    u64 retried = 0; ///< further attempts
    u64 replied = 0;
    u64 timed_out = 0;    ///< operations, all of whose attempts expired
    u64 cancelled = 0;    ///< or withdrawn, while in flight
    u64 lost = 0;         ///< in flight when the transport failed or refused a further attempt
    u64 unanswered = 0;   ///< operations sent that expect no reply
    u64 send_failed = 0;  ///< operations of which the transport never took an attempt
    u64 would_block = 0;  ///< sends that had to be offered again
    u64 busy = 0;         ///< replies that said BUSY and were followed by another attempt
    u64 late_replies = 0; ///< accepted replies to an attempt before the latest; in `replied`
    u64 stale = 0;        ///< replies for no pending operation: late, doubled or foreign
    u64 spurious = 0;     ///< replies to attempts that were taken for lost, whether their operation was pending or not
    u64 revived = 0;      ///< replies to operations that had been given up: their target is not silent
    u64 probes = 0;       ///< attempts made to see whether anything answers, while everything was late
    u64 expired_reports = 0; ///< sends that the transport itself reported as expired
    u64 mismatched = 0;      ///< our transaction ID, but class, method, attribute, modifier or route of something else
    u64 malformed = 0;       ///< too short or too long to be a MAD
};

} // namespace comad::mad
