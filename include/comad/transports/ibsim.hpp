// SPDX-License-Identifier: MIT
// ibsim.hpp - a client of the fabric simulator ibsim, by its own datagrams over abstract unix sockets.
// Knows neither LD_PRELOAD nor ibsim's UDP mode, and no IBA structure beyond the class byte of a MAD.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/mad/unique_fd.hpp>

#include <array>
#include <chrono>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <sys/types.h>
#include <vector>

namespace comad::transports {

/// Which server, and where in its fabric. Starts out as ibsim's own clients do, from the environment.
struct ibsim_options {
    ibsim_options();

    /// Base name of the server's sockets: the environment's IBSIM_SOCKNAME, else `sim`.
    std::string sockname;
    /// Node to attach to, by node id or description, at most 31 characters: the environment's SIM_HOST, else empty
    /// for the first node of the topology.
    std::string node;
    /// How long an answer to CONNECT is awaited. Long, because a client that gives up while its CONNECT is still
    /// queued makes ibsim 0.10 and 0.12 exit: the server cannot connect back to sockets that are closed.
    std::chrono::milliseconds patience{5000};
};

/// A client of a running ibsim: one of its ten slots, attached at one node.
///
/// What ibsim does differently from a fabric: a MAD that it cannot deliver or does not support comes back at once,
/// with received::status ETIMEDOUT; the top 16 bits of the transaction ID are overwritten on the way.
///
/// Errors:   construction throws std::system_error or std::runtime_error with one line that says what to do: no such
///           server, no free slot, no such node, no answer. That the server has ended, the sockets tell the next send()
///           alone: that fails with ECONNREFUSED, the kernel throws away what had arrived, and from then on receive()
///           and every send() fail. A server started again is another one.
/// Blocking: ibsim spins while a client does not read, so go on reading while wants_writable() says that the queue
///           to the server is full.
/// Lifetime: destruction gives the slot back (DISCONNECT) and waits up to a second for the server's word, so that
///           whoever connects next finds it free.
class ibsim_transport final : public mad::transport {
public:
    explicit ibsim_transport(const ibsim_options& options = {});
    ~ibsim_transport() override;
    ibsim_transport(const ibsim_transport&) = delete;
    ibsim_transport& operator=(const ibsim_transport&) = delete;

    int native_handle() const noexcept override { return data_.get(); }
    mad::send_result send(const mad::send_request& request) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    bool wants_writable() const noexcept override { return wants_writable_; }
    std::optional<mad::time_point> next_event() const noexcept override;
    /// `ibsim server 'sim'`
    std::string name() const override;

    /// Id of the node we are attached to, as the server says it (cut to 31 characters).
    const std::string& node() const noexcept { return node_; }
    /// Our slot in the server, 0..9; it appears in the top 16 bits of transaction IDs.
    u32 client_id() const noexcept { return client_id_; }

    /// NodeInfo and PortInfo of where we are attached, wire order: the server's own, no MAD is sent for them.
    /// Of a CA it says the node's GUID for the port's. Throws std::system_error if the server does not answer.
    std::array<u8, 64> node_info();
    std::array<u8, 64> port_info();

    /// A subnet manager runs here: the port says so (IsSM of its capability mask), and requests to it that the server does not
    /// answer itself are messages from now on; or no more. Gives 0, or an errno if the server does not answer.
    int set_is_sm(bool is_sm) noexcept;

private:
    struct sockets;
    struct control_message;
    static constexpr u32 detached = ~u32{0};

    explicit ibsim_transport(sockets&& bound) noexcept;
    static sockets bind_sockets(const std::string& sockname);
    void attach(const ibsim_options& options);
    control_message connect_as(const std::string& node, const ibsim_options& options);
    int converse(control_message& message, std::chrono::milliseconds patience) noexcept;
    std::array<u8, 64> attribute(u32 question);
    ssize_t receive_datagram(std::span<u8> buffer) noexcept;

    mad::unique_fd control_;
    mad::unique_fd data_;
    std::string sockname_;
    u32 id_;                   ///< ours: the number in our sockets' names
    u32 client_id_ = detached; ///< the server's
    std::string node_;
    bool wants_writable_ = false;
    std::deque<std::vector<u8>> early_; ///< messages that came while the server was asked something
    int gone_ = 0;                      ///< errno; 0: the server has not ended
};

} // namespace comad::transports
