// SPDX-License-Identifier: MIT
// verbs.hpp - GMPs over a UD queue pair of libibverbs: for hosts whose umad device is missing or not for this user. Knows of a
// MAD its class, its transaction ID and whether it is a response, nothing else.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/mad/unique_fd.hpp>
#include <comad/transports/sysfs.hpp>
#include <comad/verbs/address_cache.hpp>
#include <comad/verbs/buffer_pool.hpp>

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace comad::transports {

struct verbs_options {
    std::string name;              ///< of the transport, for messages; empty: `mlx5_0/1 (verbs)`
    unsigned receives = 512;       ///< datagrams that may lie there unread, 320 bytes of locked memory each
    unsigned sends = 128;          ///< MADs on their way out, 256 bytes each
    unsigned max_addresses = 1024; ///< address handles kept
    /// Of the P_Key of all its MADs: a UD QP has one. look_up: the port's default one, as of port_tables.
    u16 pkey_index = mad::path_headers::look_up;
    u32 qkey = 0x80010000; ///< of QP1: others send to us with that (IBA 3.5.3)
    u32 session = 0;       ///< upper half of the transaction IDs of its requests; 0: by chance
    /// Hears of each event of the port or the device, after what it changed was read anew: `port` is as it is now. Called in
    /// receive().
    std::function<void(const verbs::event&, const end_port& port)> on_event{};
};

/// A UD queue pair of one end port. Single MADs: RMPP is that of rmpp_transport, see open_verbs_port().
///
/// SMPs:      have QP0, which no QP of a user reaches: send() fails with EPROTONOSUPPORT. smi_gsi_transport joins a
///            umad_transport for them with this one for the rest.
/// TIDs:      the upper half of a request's transaction ID is written here, the same for all requests of one transport and
///            another in each, as the kernel does with umad's; responses with another one are dropped, those with ours are
///            given with 0 there.
/// P_Key:     all MADs have that of the QP. A path that needs another P_Key fails with EADDRNOTAVAIL: open another transport
///            for it. When the table changes, the QP follows its P_Key to the new index; paths may have the new index or the
///            one of the options.
/// Requests:  of others come to QP1, the kernel's. Only what is sent to this QP's number arrives here: after serve().
/// Addresses: the first MAD to a path makes an address handle. Of RoCE the kernel looks for the neighbour meanwhile, which
///            takes a second where there is none, and send() fails with ETIMEDOUT.
/// Events:    LID, GID, P_Key, subnet manager and state of the port are read anew when the device tells that they have
///            changed, and address handles are made anew. A device that has failed or was removed ends the transport, as
///            umad's does: receive() fails with ENODEV. When the queue pair fails, another is made, at most nine times
///            without a datagram in between; answers to what was under way are lost, and asked for again by the engine.
/// Errors:    construction throws std::runtime_error with one line: no such device or permission, too little locked memory
///            (ulimit -l), a kernel that takes CAP_NET_RAW for a Q_Key like QP1's.
class verbs_transport final : public mad::transport {
public:
    explicit verbs_transport(const end_port& port, verbs_options options = {});
    ~verbs_transport() override;

    /// An epoll(7) instance: readable when something was received, or an event is there.
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

    /// The port, as it was when an event told of it last.
    const end_port& port() const noexcept { return port_; }
    u32 qp_number() const noexcept { return lane_->pair.number(); }
    const verbs::queue_pair& pair() const noexcept { return lane_->pair; }
    /// Responses that were not for us: of another transport that had this QP's number before.
    u64 foreign() const noexcept { return foreign_; }
    /// Queue pairs that failed and were replaced.
    unsigned replaced() const noexcept { return replaced_; }

    /// As if the device had told it: for events that a driver does not raise. Heard at the next receive().
    void inject(const verbs::event&);

private:
    /// A queue pair and what belongs to it; all of it is made anew when it fails.
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
    bool look_who_is_readable() noexcept;
    std::optional<mad::received> take(const ibv_wc&, std::span<u8> buffer) noexcept;
    bool is_for_us(std::span<u8> mad) noexcept;

    void hear() noexcept;
    void on_event(const verbs::event&) noexcept;
    void refresh() noexcept;
    void follow_pkey();

    end_port port_;
    verbs_options options_;
    mad::port_tables tables_;
    std::string misfit_;   // of the latest path that did not fit them
    bool is_default_pkey_; // nobody chose it
    u16 pkey_place_;       // options_.pkey_index until the table changes
    u16 pkey_;             // what was there
    verbs::context device_;
    verbs::pd domain_;
    verbs::address_cache addresses_;
    mad::unique_fd readable_;
    std::unique_ptr<lane> lane_;
    std::array<ibv_wc, 16> batch_;
    std::span<ibv_wc> unread_; // of batch_
    std::vector<mad::registration> served_;
    std::vector<verbs::event> injected_;
    bool is_broken_ = false; // the lane
    unsigned broken_in_a_row_ = 0;
    bool waits_for_room_ = false; // a send
    bool has_waited_ = false;     // the last receive() gave nothing
    int gone_ = 0;                // errno: the device is
    u64 foreign_ = 0;
    unsigned replaced_ = 0;
    mad::time_point now_{};
};

/// An end port over verbs alone: GMPs and, by our own RMPP, messages of any length. Errors: as verbs_transport's.
std::unique_ptr<mad::transport> open_verbs_port(const end_port& port, verbs_options options = {});

} // namespace comad::transports
