// SPDX-License-Identifier: MIT
// ibsim.hpp - a client of the fabric simulator ibsim, which uses ibsim's datagrams over abstract unix sockets.
// It does not need LD_PRELOAD, does not support ibsim's UDP mode, and of a MAD it only reads the class byte.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/mad/transport.hpp>

#include <array>
#include <chrono>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace comad::transports {

/// Which ibsim server to use, and at which node. The defaults come from the environment, as for ibsim's own clients.
struct ibsim_options {
    ibsim_options();
    /// `[SOCKNAME[,NODE]]`; omitted parts come from the environment.
    explicit ibsim_options(std::string_view place);

    /// Base name of the server's sockets [IBSIM_SOCKNAME, else `sim`].
    std::string sockname;
    /// The node to attach to, by node id or description, at most 31 characters; empty: the first node of the topology [SIM_HOST].
    std::string node;
    /// The time limit for the reply to CONNECT. It is long, because ibsim 0.10 and 0.12 exit if a client gives up while its
    /// CONNECT is still queued: the server cannot connect to sockets that are closed.
    std::chrono::milliseconds patience{5000};
};

/// A client of a running ibsim server: one of its ten slots, attached to one node.
///
///     transports::ibsim_transport subnet({}); // or ibsim_options("sockname,node")
///     coro::MADSchedule schedule(subnet);
///
/// Differences from a fabric: ibsim returns a MAD that it cannot deliver or does not support immediately, with the status
/// ETIMEDOUT. It overwrites the upper 16 bits of the transaction ID.
///
/// Errors:   The constructor throws std::system_error or std::runtime_error with one line that includes a possible fix: no such
///           server, no free slot, no such node, no reply. Only the next send() detects that the server has ended: it fails with
///           ECONNREFUSED, the kernel drops what has arrived, and from then on receive() and every send() fail. If the server is
///           started again, make another transport.
/// Blocking: ibsim spins while a client does not read. Therefore go on reading while wants_writable() reports that the queue
///           to the server is full.
/// Lifetime: The destructor frees the slot (DISCONNECT). It waits up to a second for the server's confirmation, so that the next
///           client finds the slot free.
/// Threads:  Not thread-safe.
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

    /// Id of the node that we are attached to, as the server reports it (at most 31 characters).
    const std::string& node() const noexcept { return node_; }
    /// Our slot in the server, 0..9. It is in the upper 16 bits of transaction IDs.
    u32 client_id() const noexcept { return client_id_; }

    /// NodeInfo and PortInfo of the port that we are attached to, in wire order. The server returns them without a MAD. For a CA, the
    /// port GUID is the node GUID. Throws std::system_error if the server does not reply.
    std::array<u8, 64> node_info();
    std::array<u8, 64> port_info();

    /// Sets whether a subnet manager runs at this port. If so, the port sets IsSM in its CapabilityMask, and receive() returns the
    /// requests to it to which the server does not reply itself. Returns 0, or an errno if the server does not reply.
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
    std::deque<std::vector<u8>> early_; ///< MADs that arrived during a control request
    int gone_ = 0;                      ///< errno; 0: the server has not ended
};

} // namespace comad::transports
