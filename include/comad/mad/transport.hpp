// SPDX-License-Identifier: MIT
// transport.hpp - the interface between the engine and the code that carries MADs. A transport sends single MADs,
// receives single MADs, and reports errors. It does not depend on the window, retries or coroutines.
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
/// Writable bytes before every outgoing MAD. A transport writes its own header there, so that one write sends the
/// header and the MAD without a copy. The header of a transport must not be longer.
inline constexpr std::size_t headroom = 64;

/// An agent number that means any agent. Only the transport interprets agent numbers.
inline constexpr u32 any_agent = ~u32{0};

/// One MAD for transport::send(), with its destination and timeouts.
struct send_request {
    const any_path* path;     ///< destination; valid during the call
    u8* mad;                  ///< the MAD; `headroom` writable bytes precede it
    std::size_t size;         ///< bytes of the MAD; more than mad_size only if limits().kernel_rmpp
    u8 mgmt_class;            ///< IBA management class, which selects the agent
    u8 class_version;         ///< class version, which selects the agent
    bool expects_reply;       ///< false for a Send, a Trap or a reply
    duration attempt_timeout; ///< the attempt is late after this time
    duration
        operation_timeout; ///< remaining time of the operation, retries included: replies to this attempt are accepted
                           ///< until then
    u32 agent = any_agent; ///< for a reply: source_address::agent of the request
    bool timeout_is_estimate = false; ///< attempt_timeout is an estimate, because the destination has not replied
                                      ///< before
    unsigned in_flight =
        0; ///< requests in flight by the sender's count, including this one. If the transport holds more, the others
           ///< are lost, or their replies will be late
};

/// What a transport did with a MAD.
enum class send_state : u8 {
    sent,
    would_block, ///< nothing was sent. Offer the MAD again when the descriptor is writable (wants_writable()), or
                 ///< after the next receive() (next_event())
    failed,      ///< nothing was sent, and no retry can succeed: see `error`
};
/// The result of transport::send().
struct send_result {
    send_state state = send_state::sent;
    int error = 0; ///< errno of `failed`
};

/// What receive() returned.
enum class receive_state : u8 {
    message,     ///< one message
    would_block, ///< nothing to receive
    failed,      ///< the transport is disconnected (device removed, server ended): see `error`
};
/// The source of a received MAD, from its headers. Host order.
struct source_address {
    iba::lid SLID{};
    u8 SL = 0;
    u16 pkey_index = 0; ///< index of `pkey` in the P_Key table of the local port
    u16 pkey = 0xffff;  ///< P_Key at that index; 0xffff even if the transport does not know the table
    u32 sqpn = 0;
    u8 path_bits = 0;     ///< the low LMC bits of the local LID that the MAD was sent to
    bool has_grh = false; ///< the MAD has a global route header; the members from SGID on describe it
    u8 SGID_index = 0;    ///< index, in the table of the local port, of the local GID that the MAD was sent to
    u8 hop_limit = 0;     ///< hop limit on arrival
    u8 traffic_class = 0;
    u32 flow_label = 0;
    iba::gid SGID;         ///< GID of the sender
    u32 agent = any_agent; ///< the agent that received the MAD: pass it in send_request, so that the reply leaves
                           ///< through the same agent
};
/// Returns the LID-routed path of a reply: back to the source (IBA 13.5.4). Only the path bits of the local LID are
/// known.
IBPath path_back(const source_address&) noexcept;

/// The result of transport::receive().
struct received {
    receive_state state = receive_state::would_block;
    int error = 0;  ///< errno of `failed`
    u32 status = 0; ///< 0: a MAD arrived. ETIMEDOUT (110): a request of ours expired; `mad` contains at least its MAD
                    ///< header
    bool is_part = false; ///< `mad` is a segment of a longer message that has not arrived completely. It shows that
                          ///< the peer is replying
    std::span<const u8> mad{}; ///< the bytes, inside the caller's buffer. They come from the network and may have any
                               ///< length
    std::size_t full_size = 0; ///< bytes of the whole message; larger than `mad` if the buffer was too small
    source_address source{};
};

/// The requests that a server wants to receive.
struct registration {
    iba::MgmtClass mgmt_class;
    u8 class_version;
    u32 methods;       ///< bit n: requests with method n
    u32 OUI = 0;       ///< OUI of a vendor class in the range 0x30..0x4f
    bool rmpp = false; ///< requests and replies may be longer than a MAD if limits().kernel_rmpp
};
/// Returns whether a registration covers this request. It does not check the response bit. Precondition: the header is
/// complete, for vendor classes including the class header.
bool describes(const registration&, std::span<const u8> request) noexcept;
/// Returns the value of registration::methods for these methods.
template <class... Methods> constexpr u32 methods(Methods... all) noexcept {
    return ((u32{1} << value(all)) | ... | 0);
}

/// Limits and capabilities of a transport.
struct transport_limits {
    unsigned max_window = 4096; ///< requests in flight beyond which throughput does not grow
    unsigned sa_window = 4096;  ///< limit of requests in flight to the SA, part of max_window. The transport holds
                                ///< back further ones while their timeout runs
    bool smi = true;            ///< the transport carries SMPs (QP0)
    bool smi_by_lid = true;     ///< the transport carries LID-routed SMPs, too; false if the planes of a fabric are
                                ///< separate, because such a fabric does not forward them
    /// Accuracy of measured round-trip times, and the smallest margin of deadlines. Waking up a sleeping program takes
    /// longer than a round trip.
    duration timer_resolution = std::chrono::microseconds(100);
    bool kernel_rmpp = false; ///< sends and receives messages of any length, because the kernel does RMPP
};

/// Receives the requests that arrive. A driver with a request_sink passes every MAD to it that is not a response.
class request_sink {
public:
    /// Handles one request. `r` is valid during the call.
    virtual void on_request(const received& r, time_point now) noexcept = 0;
    /// Offers blocked replies again.
    virtual void resume_sends() noexcept = 0;

protected:
    ~request_sink() = default;
};

/// A call of a transport, for transport::advice().
enum class transport_call : u8 { serve, send, receive };

/// Carries MADs to and from one end port.
/// Errors: construction opens the device, file or connection. If that fails, it throws std::system_error or std::runtime_error
///         with a message of one line. Destruction closes it in every case.
/// Threads: not thread-safe; one schedule and one thread use a transport.
class transport {
public:
    virtual ~transport() = default;

    /// Returns a descriptor that becomes readable when a message arrives; -1 for a transport in virtual time.
    virtual int native_handle() const noexcept = 0;
    /// Sends one MAD, or reports that it would block or has failed.
    virtual send_result send(const send_request&) noexcept = 0;
    /// Reads one message, header included, into `buffer` (at least headroom + mad_size bytes). If the message is
    /// longer (received::full_size), a transport that reassembles RMPP returns its first bytes and keeps the message.
    /// Only a receive() into headroom + full_size bytes removes it from the transport.
    virtual received receive(std::span<u8> buffer) noexcept = 0;
    /// Returns the limits and capabilities of the transport.
    virtual transport_limits limits() const noexcept = 0;

    /// Returns a name of the device or connection for messages: `mlx5_0/1 (umad0)`. Empty if the transport has no
    /// name.
    virtual std::string name() const { return {}; }
    /// Returns a possible fix, in a few words, for the errno with which the latest such call failed. Empty if none is
    /// known.
    virtual std::string_view advice(transport_call, int /*error*/) const noexcept { return {}; }

    /// Returns the P_Key and GID tables of the local port. A program that reads the port again updates them. Null if
    /// the transport does not know the tables: it then sends paths unchanged. A transport that joins several ports
    /// returns null unless the ports share the tables.
    /// Lifetime: that of the transport. Threads: that of the transport.
    virtual port_tables* tables() noexcept { return nullptr; }

    /// Returns how many requests of this class the kernel or another lower layer holds: sent, neither replied to nor
    /// returned. nullopt if the transport does not know.
    virtual std::optional<unsigned> held(iba::MgmtClass) const noexcept { return std::nullopt; }

    /// Registers a server: from now on receive() also returns the requests that the registration covers. Returns 0 or
    /// an errno. EOPNOTSUPP: this transport does not receive requests. EINVAL (umad): possibly another process on this
    /// port has registered for them.
    virtual int serve(const registration&) noexcept { return EOPNOTSUPP; }

    /// Returns true after a would_block that ends only when native_handle() is writable (POLLOUT).
    virtual bool wants_writable() const noexcept { return false; }

    /// Returns when to call receive() even if the descriptor is not readable. In virtual time: when the next message
    /// is due. For a transport that retries a call: when the retry is due.
    virtual std::optional<time_point> next_event() const noexcept { return std::nullopt; }
    /// Returns the current time if it is virtual. A schedule starts with this time.
    virtual std::optional<time_point> simulated_time() const noexcept { return std::nullopt; }
    /// Sets the time of the driver, before each receive(). In virtual time, sends happen at this time, and receive()
    /// returns the messages that are due.
    virtual void set_now(time_point) noexcept {}
};

} // namespace comad::mad
