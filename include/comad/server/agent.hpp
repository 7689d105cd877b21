// SPDX-License-Identifier: MIT
// agent.hpp - a responder at an end port: its registrations with a transport, its replies on their way. Whoever drives the
// transport hands it the requests. Knows no class and no clock.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/server/responder.hpp>

#include <deque>
#include <vector>

namespace comad::server {

struct agent_counters {
    u64 requests = 0;
    u64 replies = 0;    ///< that the transport took
    u64 unsent = 0;     ///< that it refused: longer than it carries, or the errno of a send
    u64 overflowed = 0; ///< that were dropped because too many waited
};

/// Serves one end port, beside the RPCs that are made there: `schedule.set_server(&agent)`. One thread, as the schedule's.
///
///     server::responder answers;
///     answers.add({MgmtClass::VendOUI, 1, mad::methods(Method::Get), OUI}, handler);
///     server::agent pong(transport, answers);
///     schedule.set_server(&pong);
class agent final : public mad::request_sink {
public:
    /// Replies that wait for a transport that blocks, at most; a requester repeats what was dropped.
    static constexpr std::size_t most_waiting = 1024;

    /// Registers what `answers` has handlers for. Both must outlive it. Throws std::system_error if the transport refuses.
    agent(mad::transport& carrier, const responder& answers);

    void on_request(const mad::received&, mad::time_point now) noexcept override;
    void resume_sends() noexcept override;

    const agent_counters& counters() const noexcept { return counters_; }
    std::size_t waiting() const noexcept { return waiting_.size(); }

private:
    struct reply {
        mad::any_path path;
        u32 agent;
        std::vector<u8> packet; // headroom in front
    };
    bool send(reply&) noexcept;

    mad::transport& carrier_;
    const responder& answers_;
    agent_counters counters_;
    std::deque<reply> waiting_;
};

} // namespace comad::server
