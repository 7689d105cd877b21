// SPDX-License-Identifier: MIT
// verbs.hpp - a transport that sends GMPs through a UD queue pair of libibverbs: for hosts without a umad device, or users who may not
// open it. Of a MAD, it only reads class, transaction ID, and whether it is a response.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/mad/transport.hpp>
#include <comad/transports/sysfs.hpp>
#include <comad/verbs/detail/address_cache.hpp>
#include <comad/verbs/detail/buffer_pool.hpp>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace comad::transports {

/// Options of a verbs_transport.
struct verbs_options {
    std::string name;              ///< of the transport, for messages; empty: `mlx5_0/1 (verbs)`
    unsigned receives = 512;       ///< received MADs that can wait to be read; 320 bytes of locked memory each
    unsigned sends = 128;          ///< MADs that the queue pair is sending; 256 bytes each
    unsigned max_addresses = 1024; ///< address handles in the cache
    /// P_Key index of all its MADs, because a UD queue pair has one. look_up: the port's default P_Key, as in port_tables.
    u16 pkey_index = mad::path_headers::look_up;
    u32 qkey = 0x80010000; ///< of QP1, which others use to send to us (IBA 3.5.3)
    u32 session = 0;       ///< upper half of the transaction IDs of its requests; 0: random
    /// Called in receive(), after an event of the port or the device, when the port has been read again. `port` is its present state.
    std::function<void(const verbs::event&, const end_port& port)> on_event{};
};

/// A transport over one UD queue pair of a local port. It carries single MADs; open_verbs_port() adds RMPP.
///
///     const auto port = transports::get_end_port("mlx5_0/1", "/sys/class", transports::port_use::GMPs);
///     auto transport = transports::open_verbs_port(port);
///
/// SMPs:      They use QP0, which user queue pairs cannot reach: send() fails with EPROTONOSUPPORT. A smi_gsi_transport can join
///            a umad_transport for SMPs with this transport.
/// TIDs:      It writes the upper half of a request's transaction ID: one value for all requests of a transport, and a different
///            value in each transport, as the kernel does for umad. Responses with another value are dropped. In responses
///            to us, the upper half is set to 0.
/// P_Key:     All MADs have the P_Key of the queue pair. A path that needs another P_Key fails with EADDRNOTAVAIL; open another
///            transport for it. If the table changes, the queue pair follows its P_Key to the new index. Paths can have the new
///            index, or the index in the options.
/// Requests:  Requests of other nodes go to QP1, which belongs to the kernel. After serve(), only requests that are sent to the
///            number of this queue pair arrive here.
/// Addresses: The first MAD to a path makes an address handle. For RoCE, the kernel then resolves the neighbor. If there is none,
///            that takes a second, and send() fails with ETIMEDOUT.
/// Events:    If the device reports a change of LID, GID, P_Key, subnet manager or state, they are read again, and the address
///            handles are made again. If the device failed or was removed, the transport ends as umad's does: receive() fails
///            with ENODEV. If the queue pair fails, it is replaced, at most nine times without a received MAD in between.
///            Replies in flight are lost then, and the engine repeats the requests.
/// Errors:    The constructor throws std::runtime_error with one line: no such device, no permission, too little locked memory
///            (ulimit -l), or a kernel that requires CAP_NET_RAW for a Q_Key such as QP1's.
/// Lifetime:  It owns the queue pair and the device.
/// Threads:   Not thread-safe.
class verbs_transport final : public mad::transport {
public:
    explicit verbs_transport(const end_port& port, verbs_options options = {});
    ~verbs_transport() override;

    /// An epoll(7) instance: readable if a message was received or an event is pending.
    int native_handle() const noexcept override { return readable_.get(); }
    mad::send_result send(const mad::send_request&) noexcept override;
    mad::received receive(std::span<u8> buffer) noexcept override;
    mad::transport_limits limits() const noexcept override;
    std::string name() const override { return options_.name; }
    std::string_view advice(mad::transport_call, int error) const noexcept override;
    mad::port_tables* tables() noexcept override { return &tables_; }
    int serve(const mad::registration& what) noexcept override;
    std::optional<mad::time_point> next_event() const noexcept override;
    void set_now(mad::time_point now) noexcept override { now_ = now; }

    /// The port, as it was after the last event.
    const end_port& port() const noexcept { return port_; }
    u32 qp_number() const noexcept { return lane_->pair.number(); }
    const verbs::queue_pair& pair() const noexcept { return lane_->pair; }
    /// Responses that were dropped because they belong to another transport that had the number of this queue pair before.
    u64 foreign() const noexcept { return foreign_; }
    /// The number of queue pairs that failed and were replaced.
    unsigned replaced() const noexcept { return replaced_; }

    /// Handles an event at the next receive(), as if the device had reported it: for events that a driver does not raise.
    void inject(const verbs::event&);

private:
    /// A queue pair and its queues and buffers. A failure replaces all of it.
    struct lane {
        verbs::completions received;
        verbs::completion_queue sent;
        verbs::buffer_pool receives, sends;
        verbs::queue_pair pair;
        std::vector<std::optional<verbs::address_handle>> on_their_way; // by number of their buffer in sends
    };
    verbs::result<std::unique_ptr<lane>> make_lane() const;
    verbs::result<void> watch(const lane&) const;
    bool replace_lane() noexcept;
    void reap() noexcept;
    void stamp(std::span<u8> mad) const noexcept;

    bool fill() noexcept;
    bool poll_events() noexcept;
    std::optional<mad::received> take(const ibv_wc&, std::span<u8> buffer) noexcept;
    bool is_for_us(std::span<u8> mad) noexcept;

    void read_events() noexcept;
    void on_event(const verbs::event&) noexcept;
    void refresh() noexcept;
    void follow_pkey();

    end_port port_;
    verbs_options options_;
    mad::port_tables tables_;
    std::string misfit_;   // of the latest path that did not fit them
    bool is_default_pkey_; // true: the options did not select it
    u16 pkey_place_;       // options_.pkey_index until the table changes
    u16 pkey_;             // the P_Key at pkey_place_
    verbs::context device_;
    verbs::pd domain_;
    verbs::address_cache addresses_;
    mad::unique_fd readable_;
    std::unique_ptr<lane> lane_;
    std::array<ibv_wc, 16> batch_;
    std::span<ibv_wc> unread_; // of batch_
    std::vector<mad::registration> served_;
    std::vector<verbs::event> injected_;
    bool is_broken_ = false; // the lane failed
    unsigned broken_in_a_row_ = 0;
    bool waits_for_room_ = false; // a send blocked
    bool has_waited_ = false;     // the last receive() returned nothing
    int gone_ = 0;                // errno of the device's failure
    u64 foreign_ = 0;
    unsigned replaced_ = 0;
    mad::time_point now_{};
};

/// Opens a local port through libibverbs only: GMPs and, with RMPP in this process, messages of any length.
/// Errors: those of the constructor of verbs_transport.
std::unique_ptr<mad::transport> open_verbs_port(const end_port& port, verbs_options options = {});

} // namespace comad::transports
