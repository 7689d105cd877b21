// SPDX-License-Identifier: MIT
// ibsim_relay.hpp - stands between an ibsim server and its clients, and adds delay, loss and a small buffer to their MADs, as
// distance, cables and switches do, or repeats them, as a kernel does. Knows of ibsim only its unix sockets.
#pragma once
#include "ibsim/relay_counts.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace comad::test {

struct relay_options {
    std::string server;   ///< base name of the server's sockets
    std::string sockname; ///< that of the relay's: where clients look for the server
    std::chrono::nanoseconds request_delay{0}, reply_delay{0};
    double request_loss = 0, reply_loss = 0; ///< probability
    /// The same seed loses the same ones, counted over all clients.
    u64 seed = 1;

    /// When it has been delayed, each MAD takes its place in one buffer, that of all clients and both directions, until it has
    /// been served (relay_buffer). 0 places: any number.
    unsigned buffer_places = 0;
    std::chrono::nanoseconds service_time{0};

    /// Not 0: repeats the clients' requests as a kernel does (kernel_repeats), and does nothing of the above. In front of a
    /// relay that does it is for clients that leave repetitions to a kernel.
    std::chrono::nanoseconds kernel_timeout{0};
    unsigned kernel_retries = 3;

    /// Called when a client has gone or the relay ends, in the thread of run().
    std::function<void(const relay_counts&)> on_gone;
    /// Called after report(), in the thread of run(), with those that are connected, in the order in which they came.
    std::function<void(const std::vector<relay_counts>&)> on_report;
};

/// To its clients a server - whichever client it is: ours, or a program under `ibsim-run` with IBSIM_SOCKNAME -, to the server
/// as many clients. Any number of MADs may be on the way; the order stays. What clients ask the server by other than MADs is
/// neither delayed nor lost.
///
/// A client that died is noticed when a reply cannot be delivered, and when another connects; its slot is given back.
/// Once the server has ended, clients are refused as by the server.
///
/// A MAD that is lost is told to nobody. Our schedules repeat it; infiniband-diags and OpenSM leave that to the kernel, of which
/// ibsim's preloaded library has nothing: without a relay that plays the kernel they give up, or wait for ever.
///
/// Errors: construction throws std::system_error when the name is taken, std::invalid_argument when the options exclude each
/// other, run() std::system_error when the kernel has no more sockets.
class ibsim_relay {
public:
    explicit ibsim_relay(relay_options options);
    ~ibsim_relay();
    ibsim_relay(const ibsim_relay&) = delete;
    ibsim_relay& operator=(const ibsim_relay&) = delete;

    /// Relays until stop().
    void run();
    /// These from any thread, or a signal handler.
    void stop() noexcept;
    void report() noexcept;

private:
    class loop;
    std::unique_ptr<loop> loop_;
};

} // namespace comad::test
