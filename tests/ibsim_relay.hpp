// SPDX-License-Identifier: MIT
// ibsim_relay.hpp - stands between an ibsim server and its clients, and adds delay and loss to their MADs, as distance
// and cables do. Knows no MAD, and of ibsim only its unix sockets.
#pragma once
#include <comad/iba/types.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace comad::test {

/// What passed by a relay of one client, from its CONNECT until it went.
struct relay_counts {
    u64 requests = 0;      ///< MADs of the client, those that were lost included
    u64 replies = 0;       ///< MADs of the server, likewise; what it cannot deliver it sends back, too
    u64 lost_requests = 0; ///< of these
    u64 lost_replies = 0;
};

struct relay_options {
    std::string server;   ///< base name of the server's sockets
    std::string sockname; ///< that of the relay's: where clients look for the server
    std::chrono::nanoseconds request_delay{0}, reply_delay{0};
    double request_loss = 0, reply_loss = 0; ///< probability
    /// The same seed loses the same ones, counted over all clients.
    u64 seed = 1;
    /// Called when a client has gone or the relay ends, in the thread of run().
    std::function<void(const relay_counts&)> on_gone;
};

/// To its clients a server - whichever client it is: ours, or a program under `ibsim-run` with IBSIM_SOCKNAME -, to the server
/// as many clients. Any number of MADs may be on the way; the order stays. What clients ask the server by other than MADs is
/// neither delayed nor lost.
///
/// A client that died is noticed when a reply cannot be delivered, and when another connects; its slot is given back.
/// Once the server has ended, clients are refused as by the server.
///
/// A MAD that is lost is told to nobody. Our schedules repeat it; infiniband-diags leave that to the kernel, of which ibsim's
/// preloaded library has nothing: they give up, or wait for ever.
///
/// Errors: construction throws std::system_error when the name is taken, run() when the kernel has no more sockets.
class ibsim_relay {
public:
    explicit ibsim_relay(relay_options options);
    ~ibsim_relay();
    ibsim_relay(const ibsim_relay&) = delete;
    ibsim_relay& operator=(const ibsim_relay&) = delete;

    /// Relays until stop().
    void run();
    /// From any thread, or a signal handler.
    void stop() noexcept;

private:
    class loop;
    std::unique_ptr<loop> loop_;
};

} // namespace comad::test
