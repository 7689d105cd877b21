// SPDX-License-Identifier: MIT
// engine_states.hpp - the states of operations and attempts, the events that change them, and the function of the engine that does it.
// The engine does not read these tables. They are its documentation, and tests/mad/engine_states_test.cpp checks that every transition of
// the engine is a row, and that every row occurs.
//
// In short, for most requests:
//
//   operation   idle -> in_flight -> idle                    submitted, replied to
//   attempt     unused -> blocked -> sent -> unused          started, accepted by the transport, replied to
//
// If the window is full, the operation first is queued, or parked if only the bound of its destination is reached. An attempt without a
// reply becomes late at its deadline, and lost as soon as a later attempt is replied to, so that a stalled fabric does not cause
// retries. The operation then is retry_queued until the window has space. An attempt does not end with its operation: it stays in the
// table until it is replied to, until the transport drops it, or until its entry is needed.
#pragma once
#include <comad/mad/detail/attempts.hpp>
#include <comad/mad/detail/operation.hpp>

#include <array>
#include <string_view>

namespace comad::mad::detail {

/// What happens to an attempt.
enum class attempt_event : u8 {
    started,              ///< its operation starts, or retries
    accepted,             ///< the transport sent the request
    accepted_one_way,     ///< the transport sent a request that expects no reply
    rejected,             ///< the transport rejected the request
    deadline,             ///< the time that its deadline was armed for has passed
    later_replied,        ///< an attempt with a higher sequence was replied to
    stall_over,           ///< it was late for longer than a stall may last
    given_up,             ///< the time limit of its operation has passed
    replied,              ///< a reply arrived
    replied_busy,         ///< a BUSY reply arrived, and its operation has BUSY retries left
    segment_received,     ///< a part of its reply arrived
    earlier_replied_late, ///< an earlier attempt of its operation was replied to after its deadline
    send_expired,         ///< the transport reported that the send expired (ETIMEDOUT)
    send_failed,          ///< the transport reported another error of the send
    transport_failed,     ///< the transport is disconnected
    operation_ended,      ///< its operation ended in another way
    superseded,           ///< its operation starts another attempt
    reused,               ///< its entry of the table is needed
};

/// Which attempts a row applies to.
enum class attempt_condition : u8 {
    any,
    measured,       ///< its operation has no timeout of its own
    caller_timeout, ///< its timeout came from the caller
    owned,          ///< its operation has not ended
    not_owned,      ///< its operation has ended
    latest,         ///< it is the latest attempt of its operation
    earlier,        ///< its operation has a later attempt
    not_latest,     ///< its operation has a later attempt, or has ended
    orphaned,       ///< its operation has ended, and nothing shows that the peer still queues the attempt
    queued_at_peer, ///< its operation has ended, and a late reply showed that the peer still queues the attempt
};

/// One row of the table of attempts.
struct attempt_transition {
    attempt_state from;
    attempt_event event;
    attempt_condition condition;
    attempt_state to;
    std::string_view function; ///< of engine or attempt_table
};

/// All transitions of attempts.
inline constexpr auto attempt_transitions = [] {
    using enum attempt_state;
    using event = attempt_event;
    using when = attempt_condition;
    return std::to_array<attempt_transition>({
        {unused, event::started, when::any, blocked, "begin_attempt"},
        {blocked, event::accepted, when::owned, sent, "offer"},
        {blocked, event::accepted_one_way, when::owned, returned, "offer"},
        {blocked, event::rejected, when::owned, returned, "offer"},

        {sent, event::deadline, when::measured, late, "on_late"},
        {sent, event::deadline, when::caller_timeout, lost, "declare_lost"},
        {late, event::later_replied, when::any, lost, "declare_lost"},
        {late, event::stall_over, when::owned, lost, "declare_late_lost"},
        {late, event::given_up, when::owned, lost, "declare_late_lost"},
        {backing_off, event::deadline, when::latest, backed_off, "on_deadline"},
        {late, event::deadline, when::not_latest, lost, "forget"},
        {lost, event::deadline, when::not_latest, lost, "forget"},
        {returned, event::deadline, when::not_latest, unused, "forget"},

        {sent, event::replied, when::any, unused, "end"},
        {late, event::replied, when::any, unused, "end"},
        {lost, event::replied, when::any, unused, "end"},
        {returned, event::replied, when::any, unused, "end"},
        {sent, event::replied_busy, when::latest, backing_off, "back_off"},
        {late, event::replied_busy, when::latest, backing_off, "back_off"},
        {lost, event::replied_busy, when::latest, backing_off, "back_off"},
        {returned, event::replied_busy, when::latest, backing_off, "back_off"},
        {sent, event::replied_busy, when::earlier, unused, "back_off"},
        {late, event::replied_busy, when::earlier, unused, "back_off"},
        {lost, event::replied_busy, when::earlier, unused, "back_off"},
        {sent, event::segment_received, when::owned, sent, "rearm"},
        {late, event::segment_received, when::owned, sent, "rearm"},
        {lost, event::segment_received, when::owned, sent, "rearm"},
        {returned, event::segment_received, when::owned, sent, "rearm"},
        {sent, event::earlier_replied_late, when::any, sent, "rearm"},
        {late, event::earlier_replied_late, when::any, sent, "rearm"},
        {lost, event::earlier_replied_late, when::any, sent, "rearm"},
        {returned, event::earlier_replied_late, when::any, sent, "rearm"},

        {sent, event::send_expired, when::latest, returned, "on_report"},
        {late, event::send_expired, when::latest, returned, "on_report"},
        {lost, event::send_expired, when::latest, returned, "on_report"},
        {sent, event::send_expired, when::earlier, unused, "on_report"},
        {late, event::send_expired, when::earlier, unused, "on_report"},
        {lost, event::send_expired, when::earlier, unused, "on_report"},
        {sent, event::send_expired, when::orphaned, unused, "on_report"},
        {late, event::send_expired, when::orphaned, unused, "on_report"},
        {lost, event::send_expired, when::orphaned, unused, "on_report"},
        {sent, event::send_expired, when::queued_at_peer, returned, "on_report"},
        {late, event::send_expired, when::queued_at_peer, returned, "on_report"},
        {lost, event::send_expired, when::queued_at_peer, returned, "on_report"},
        {sent, event::send_failed, when::latest, unused, "end"},
        {late, event::send_failed, when::latest, unused, "end"},
        {lost, event::send_failed, when::latest, unused, "end"},
        {sent, event::send_failed, when::earlier, unused, "on_report"},
        {sent, event::send_failed, when::orphaned, unused, "on_report"},
        {late, event::send_failed, when::earlier, unused, "on_report"},
        {late, event::send_failed, when::orphaned, unused, "on_report"},
        {lost, event::send_failed, when::earlier, unused, "on_report"},
        {lost, event::send_failed, when::orphaned, unused, "on_report"},
        {sent, event::send_failed, when::queued_at_peer, returned, "on_report"},
        {late, event::send_failed, when::queued_at_peer, returned, "on_report"},
        {lost, event::send_failed, when::queued_at_peer, returned, "on_report"},

        {blocked, event::transport_failed, when::owned, returned, "on_transport_failed"},
        {sent, event::transport_failed, when::owned, returned, "on_transport_failed"},
        {late, event::transport_failed, when::owned, returned, "on_transport_failed"},
        {lost, event::transport_failed, when::owned, returned, "on_transport_failed"},
        {returned, event::transport_failed, when::owned, returned, "on_transport_failed"},
        {backing_off, event::transport_failed, when::owned, returned, "on_transport_failed"},
        {backed_off, event::transport_failed, when::owned, returned, "on_transport_failed"},
        {sent, event::transport_failed, when::not_owned, unused, "on_transport_failed"},
        {late, event::transport_failed, when::not_owned, unused, "on_transport_failed"},
        {lost, event::transport_failed, when::not_owned, unused, "on_transport_failed"},
        {returned, event::transport_failed, when::queued_at_peer, unused, "on_transport_failed"},

        {sent, event::operation_ended, when::any, sent, "orphan"},
        {late, event::operation_ended, when::any, late, "orphan"},
        {lost, event::operation_ended, when::any, lost, "orphan"},
        {blocked, event::operation_ended, when::any, unused, "orphan"},
        {returned, event::operation_ended, when::any, unused, "orphan"},
        {backing_off, event::operation_ended, when::any, unused, "orphan"},
        {backed_off, event::operation_ended, when::any, unused, "orphan"},
        {late, event::superseded, when::any, late, "supersede"},
        {lost, event::superseded, when::any, lost, "supersede"},
        {returned, event::superseded, when::any, unused, "supersede"},
        {backed_off, event::superseded, when::any, unused, "supersede"},
        {lost, event::reused, when::not_latest, unused, "take"},
    });
}();

/// What happens to an operation.
enum class operation_event : u8 {
    submitted,        ///< the program submits it
    space,            ///< the window has space
    destination_free, ///< its destination is below its bound again
    attempt_lost,     ///< its latest attempt is lost, returned or backed off, and attempts are left
    deadline,         ///< the window had no space during its timeout, which counts as an attempt
    attempt_restored, ///< its latest attempt is backing off or in time again
    replied,          ///< a reply to one of its attempts ends it
    given_up,         ///< its time limit has passed, or no attempts are left
    send_failed,      ///< the transport reported that its latest attempt could not be sent
    sent_one_way,     ///< it expects no reply, and was sent
    rejected,         ///< the transport rejected its latest attempt
    transport_failed, ///< the transport is disconnected
    cancelled,        ///< the program cancels it
    completed,        ///< run_ready() calls its `done`
    withdrawn,        ///< its owner withdraws it
};

/// One row of the table of operations.
struct operation_transition {
    operation_state from;
    operation_event event;
    operation_state to;
    std::string_view function; ///< of engine
};

/// All transitions of operations.
inline constexpr auto operation_transitions = [] {
    using enum operation_state;
    using event = operation_event;
    return std::to_array<operation_transition>({
        {idle, event::submitted, in_flight, "launch"},  // the window has space, and its destination is below its bound
        {idle, event::submitted, parked, "try_launch"}, // the window has space
        {idle, event::submitted, queued, "submit"},     // the window has no space, or other operations wait for it
        {queued, event::space, in_flight, "launch"},
        {queued, event::space, parked, "try_launch"}, // its destination is at its bound
        {parked, event::destination_free, in_flight, "launch"},

        {in_flight, event::attempt_lost, retry_queued, "queue_retry"},
        {retry_queued, event::space, in_flight, "launch_more"},
        {retry_queued, event::deadline, in_flight, "on_deadline"}, // and back to retry_queued, or given up
        {retry_queued, event::attempt_restored, in_flight, "remove_from_lists"},

        {in_flight, event::replied, idle, "end"},
        {retry_queued, event::replied, idle, "end"},
        {in_flight, event::given_up, idle, "give_up"},
        {retry_queued, event::given_up, idle, "give_up"},
        {in_flight, event::send_failed, idle, "on_report"},
        {retry_queued, event::send_failed, idle, "on_report"},

        {in_flight, event::sent_one_way, ready_in_flight, "make_ready"},
        {in_flight, event::rejected, ready_in_flight, "make_ready"},
        {in_flight, event::transport_failed, ready_in_flight, "on_transport_failed"},
        {retry_queued, event::transport_failed, ready_in_flight, "on_transport_failed"},
        {queued, event::cancelled, ready, "cancel"},
        {parked, event::cancelled, ready, "cancel"},
        {in_flight, event::cancelled, ready, "cancel"},
        {retry_queued, event::cancelled, ready, "cancel"},
        {ready, event::completed, idle, "run_ready"},
        {ready_in_flight, event::completed, idle, "run_ready"},

        {queued, event::withdrawn, idle, "withdraw"},
        {parked, event::withdrawn, idle, "withdraw"},
        {in_flight, event::withdrawn, idle, "withdraw"},
        {retry_queued, event::withdrawn, idle, "withdraw"},
        {ready, event::withdrawn, idle, "withdraw"},
        {ready_in_flight, event::withdrawn, idle, "withdraw"},
    });
}();

/// Whether the latest attempt of an operation in this state can be in that one. Operations in other states than these have no attempts.
constexpr bool may_have_latest(operation_state o, attempt_state latest) noexcept {
    using enum attempt_state;
    switch (o) {
    case operation_state::in_flight: return latest != unused;
    case operation_state::retry_queued: return latest == lost || latest == returned || latest == backed_off;
    case operation_state::ready_in_flight: return latest == returned;
    default: return false;
    }
}
/// Whether an earlier attempt of an operation can be in this state.
constexpr bool may_be_earlier(attempt_state s) noexcept {
    return s == attempt_state::sent || s == attempt_state::late || s == attempt_state::lost;
}
/// Whether an attempt without an operation can be in this state; returned only if it is queued_at_peer.
constexpr bool may_be_orphaned(attempt_state s, bool queued_at_peer) noexcept {
    return may_be_earlier(s) || (s == attempt_state::returned && queued_at_peer);
}

} // namespace comad::mad::detail
