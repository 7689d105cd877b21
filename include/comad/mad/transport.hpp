// SPDX-License-Identifier: MIT
// transport.hpp - the one small interface between the engine and whatever carries MADs.
// A transport knows no window, no retry, no coroutine: it writes one MAD, reads one MAD, and says when it cannot.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/mad/detail/port_tables.hpp>
#include <comad/mad/detail/time.hpp>
#include <comad/mad/path.hpp>

#include <cerrno>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace comad::mad {

/// Bytes of a MAD (IBA 13.4.2).
inline constexpr std::size_t mad_size = 256;
/// Writable bytes that every outgoing MAD has in front of it: a transport puts its own header there, so that header
/// and MAD leave in one write without a copy. A transport's header must fit.
inline constexpr std::size_t headroom = 64;

/// Which of a transport's agents; to whom it belongs is the transport's affair.
inline constexpr u32 any_agent = ~u32{0};

struct send_request {
    const any_path* path;     ///< where to; valid during the call
    u8* mad;                  ///< the MAD; `headroom` writable bytes precede it
    std::size_t size;         ///< bytes of the MAD; more than mad_size only where limits().kernel_rmpp
    u8 mgmt_class;            ///< IBA management class, for the agent
    u8 class_version;         ///< its class version
    bool expects_reply;       ///< false: Send, Trap, a reply
    duration attempt_timeout; ///< after this time, the attempt is late
    duration
        operation_timeout; ///< remaining time of the operation, retries included: replies to this attempt are accepted
                           ///< until then
    u32 agent = any_agent; ///< of a reply: source_address::agent of the request
    bool timeout_is_estimate = false; ///< attempt_timeout is an estimate: the destination has not replied before
    unsigned in_flight =
        0; ///< requests in flight as the sender's window counts them, including this one. A transport that
           ///< holds more knows that the others are lost, or that their replies will be late
};

enum class send_state : u8 {
    sent,
    would_block, ///< nothing was written; offer it again when `wants_writable()`'s descriptor is writable, or after a
                 ///< receive(), which next_event() may ask for
    failed,      ///< nothing was written and never will be: see `error`
};
struct send_result {
    send_state state = send_state::sent;
    int error = 0; ///< errno of `failed`
};

enum class receive_state : u8 {
    message,     ///< one message
    would_block, ///< nothing there
    failed,      ///< the transport is gone (device removed, server ended): see `error`
};
/// Where a received MAD came from, as its headers say. Host order.
struct source_address {
    iba::lid SLID{};
    u8 SL = 0;
    u16 pkey_index = 0; ///< in the table of the local port
    u16 pkey = 0xffff;  ///< the P_Key at that index; 0xffff also if the transport does not know the table
    u32 sqpn = 0;
    u8 path_bits = 0;     ///< the low bits of our LID that it was sent to, as many as LMC says
    bool has_grh = false; ///< it came with a global route header, which the members from SGID on describe
    u8 SGID_index = 0;    ///< where our GID that it was sent to stands in the table of the local port
    u8 hop_limit = 0;     ///< as it arrived
    u8 traffic_class = 0;
    u32 flow_label = 0;
    iba::gid SGID;         ///< of the sender
    u32 agent = any_agent; ///< for send_request: a reply goes out through the agent that got the request
};
/// Where an answer goes that is routed by LID: back to the source (IBA 13.5.4). Of our own LID it has the path bits alone.
IBPath path_back(const source_address&) noexcept;

struct received {
    receive_state state = receive_state::would_block;
    int error = 0;  ///< errno of `failed`
    u32 status = 0; ///< 0: a MAD arrived. ETIMEDOUT (110): a send of ours expired; `mad` is at least its MAD header
    bool is_part = false; ///< `mad` is a piece of a longer message that is still on its way: the answer to a request of
                          ///< ours has begun
    std::span<const u8> mad{}; ///< the bytes, inside the caller's buffer. Any length: the wire is not trusted
    std::size_t full_size = 0; ///< bytes of the whole message; larger than `mad` when the buffer was too small
    source_address source{};
};

/// Which requests a server wants to have.
struct registration {
    iba::MgmtClass mgmt_class;
    u8 class_version;
    u32 methods;       ///< bit n: method n, of requests
    u32 OUI = 0;       ///< of a vendor class that tells it
    bool rmpp = false; ///< requests and replies may be longer than a MAD, where limits().kernel_rmpp
};
/// Whether a request is one of these; responses are not told apart here. Precondition: the header is whole, of vendors
/// their class header, too.
bool describes(const registration&, std::span<const u8> request) noexcept;
/// `methods` of a registration.
template <class... Methods> constexpr u32 methods(Methods... all) noexcept {
    return ((u32{1} << value(all)) | ... | 0);
}

struct transport_limits {
    unsigned max_window = 4096; ///< more requests in flight than this buy nothing
    unsigned sa_window = 4096;  ///< of those, to the SA: what is beyond is held back, and its timeout passes meanwhile
    bool smi = true;            ///< carries SMPs (QP0)
    bool smi_by_lid = true;     ///< LID-routed ones, too; with a fabric's planes apart a LID leads nowhere
    /// Accuracy of measured round-trip times, and the least margin of deadlines: waking a sleeping program takes longer than
    /// the fabric.
    duration timer_resolution = std::chrono::microseconds(100);
    bool kernel_rmpp = false; ///< sends and receives messages of any length: segments are its affair
};

/// Hears of the requests that arrive. A driver that has one gives it every MAD that is no response.
class request_sink {
public:
    /// `r` is valid during the call.
    virtual void on_request(const received& r, time_point now) noexcept = 0;
    /// Offers blocked replies again.
    virtual void resume_sends() noexcept = 0;

protected:
    ~request_sink() = default;
};

/// What was asked of a transport.
enum class transport_call : u8 { serve, send, receive };

/// Carries MADs to and from one end port. Not thread-safe: one schedule, one thread.
/// Construction opens whatever is behind it and throws (std::system_error or std::runtime_error with one clear line)
/// when that fails; destruction closes it, always.
class transport {
public:
    virtual ~transport() = default;

    /// A descriptor that becomes readable when a message is there; -1 for a transport in virtual time.
    virtual int native_handle() const noexcept = 0;
    virtual send_result send(const send_request&) noexcept = 0;
    /// One message into `buffer` (at least headroom + mad_size bytes), header included. Of one that is longer
    /// (received::full_size), a transport that puts RMPP together gives the beginning and keeps the whole: only a
    /// receive() into headroom + full_size bytes takes it away.
    virtual received receive(std::span<u8> buffer) noexcept = 0;
    virtual transport_limits limits() const noexcept = 0;

    /// What carries the MADs, for messages: `mlx5_0/1 (umad0)`. Empty: it has no name.
    virtual std::string name() const { return {}; }
    /// What somebody may do about the errno with which the latest such call failed, in a few words; empty: nothing is known.
    virtual std::string_view advice(transport_call, int /*error*/) const noexcept { return {}; }

    /// The P_Key and GID tables of the local port. A program that reads the port again puts the new tables into it. Null: the
    /// transport does not know them, and sends paths as they are. Of one that joins several ports: null, unless they share
    /// the tables.
    /// Lifetime: the transport's. Threads: the transport's.
    virtual port_tables* tables() noexcept { return nullptr; }

    /// How many requests of this class it holds, as kernels do: sent, and neither answered nor given back. Nothing: it does
    /// not know.
    virtual std::optional<unsigned> held(iba::MgmtClass) const noexcept { return std::nullopt; }

    /// From now on receive() also gives the requests that `what` describes. Gives 0, or an errno: EOPNOTSUPP if this
    /// transport brings no requests; of umad EINVAL also where somebody else at this port has them.
    virtual int serve(const registration&) noexcept { return EOPNOTSUPP; }

    /// True after a would_block that only POLLOUT on native_handle() resolves.
    virtual bool wants_writable() const noexcept { return false; }

    /// When to call receive() although the descriptor tells of nothing: in virtual time, when the next message is due; of
    /// a transport that repeats something itself, when that is due.
    virtual std::optional<time_point> next_event() const noexcept { return std::nullopt; }
    /// What time it is, where time is simulated: a schedule begins with it.
    virtual std::optional<time_point> simulated_time() const noexcept { return std::nullopt; }
    /// The driver's clock, before each receive(). In virtual time, sends happen now and receive() gives what is due.
    virtual void set_now(time_point) noexcept {}
};

} // namespace comad::mad
