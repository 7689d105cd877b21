// SPDX-License-Identifier: MIT
// agent.hpp - connects a responder to a transport: registers its requests, and sends its replies. A driver passes the requests to
// it. It does not depend on a class or a clock.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/server/responder.hpp>

#include <deque>
#include <vector>

namespace comad::server {

/// Counts of an agent.
struct agent_counters {
    u64 requests = 0;   ///< received
    u64 replies = 0;    ///< that the transport accepted
    u64 unsent = 0;     ///< replies that the transport refused: too long, or the errno of a send
    u64 overflowed = 0; ///< replies dropped because too many waited
};

/// A server at a local port. The same schedule can send RPCs.
///
///     server::responder answers;
///     answers.add({MgmtClass::VendOUI, 1, mad::methods(Method::Get), OUI}, handler);
///     server::agent pong(transport, answers);
///     schedule.set_server(&pong);
///     coro::run_until(schedule, [&] { return stopped; });
///
/// Errors:   The constructor throws std::system_error if the transport refuses a registration.
/// Lifetime: The transport and the responder must outlive it.
/// Threads:  Not thread-safe: it is called in the thread of the schedule.
class agent final : public mad::request_sink {
public:
    /// The largest number of replies that wait while the transport blocks. Further replies are dropped, and their requesters retry.
    static constexpr std::size_t most_waiting = 1024;

    /// Registers the requests for which `answers` has handlers.
    agent(mad::transport& carrier, const responder& answers);

    void on_request(const mad::received&, mad::time_point now) noexcept override;
    void resume_sends() noexcept override;

    const agent_counters& counters() const noexcept { return counters_; }
    /// Replies that wait while the transport blocks.
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
