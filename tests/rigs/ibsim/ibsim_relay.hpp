// SPDX-License-Identifier: MIT
// ibsim_relay.hpp - a relay between an ibsim server and its clients. It adds delay, loss and a small buffer to their
// MADs, or retries requests as a kernel does.
#pragma once
#include "ibsim/relay_counts.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace comad::test {

/// Options of a relay.
struct relay_options {
    std::string server;   ///< base name of the server's sockets
    std::string sockname; ///< base name of the relay's sockets, which clients use as the server's name
    std::chrono::nanoseconds request_delay{0}, reply_delay{0};
    double request_loss = 0, reply_loss = 0; ///< probability of a loss
    /// Seed of the losses. With equal seeds, the relay loses equal MADs, counted over all clients.
    u64 seed = 1;

    /// Size of the buffer (relay_buffer) that all clients and both directions share. A MAD stays in the buffer from the
    /// end of its delay until it has been served. 0: unlimited.
    unsigned buffer_places = 0;
    std::chrono::nanoseconds service_time{0};

    /// If this is not 0, the relay only retries the clients' requests as a kernel does (kernel_repeats), without delay,
    /// loss or buffer. For clients that leave retries to the kernel, put such a relay before another relay.
    std::chrono::nanoseconds kernel_timeout{0};
    unsigned kernel_retries = 3;

    /// Called in the thread of run() when a client has exited or the relay ends.
    std::function<void(const relay_counts&)> on_gone;
    /// Called in the thread of run() after report(), with the connected clients in the order of their connections.
    std::function<void(const std::vector<relay_counts>&)> on_report;
};

/// A relay acts as a server for its clients and as a set of clients for the server. Clients are programs of this project,
/// or programs under `ibsim-run` with IBSIM_SOCKNAME. The relay forwards any number of MADs in order, and forwards control
/// messages without delay or loss.
///
/// The relay detects an exited client when it cannot deliver a reply or when another client connects, and releases its
/// slot. After the server has ended, the relay refuses clients as the server would.
///
/// The relay reports no lost MAD. Our schedules retry lost requests. infiniband-diags and OpenSM leave retries to the
/// kernel, and ibsim's preloaded library does not retry. Without a relay that acts as a kernel they give up or wait forever.
///
/// Errors: the constructor throws std::system_error if the name is in use and std::invalid_argument if options exclude each
/// other. run() throws std::system_error if the kernel has no more sockets.
class ibsim_relay {
public:
    explicit ibsim_relay(relay_options options);
    ~ibsim_relay();
    ibsim_relay(const ibsim_relay&) = delete;
    ibsim_relay& operator=(const ibsim_relay&) = delete;

    /// Forwards MADs until stop().
    void run();
    /// Threads: these functions may be called from any thread or a signal handler.
    void stop() noexcept;
    void report() noexcept;

private:
    class loop;
    std::unique_ptr<loop> loop_;
};

} // namespace comad::test
