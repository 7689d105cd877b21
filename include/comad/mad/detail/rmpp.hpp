// SPDX-License-Identifier: MIT
// rmpp.hpp - sends and receives a message of many MADs, segment by segment, with a window and acknowledgments (IBA
// 13.6). For transports that carry single MADs. It does no I/O, and does not depend on a transport, a clock or
// records.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/mad/detail/time.hpp>
#include <comad/mad/transport.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace comad::mad {

/// The state of a transfer.
enum class rmpp_state : u8 {
    more,     ///< the transfer is in progress
    complete, ///< receiver: the message is complete; sender: all of it was acknowledged
    failed,   ///< status() is the reason
};

/// The time limits of a transfer.
struct rmpp_timing {
    duration response = std::chrono::seconds(2); ///< time limit for a reply of the peer; longer if the RRespTime of
                                                 ///< the peer is longer
    unsigned retries = 5;                        ///< further attempts if nothing arrives in time
    duration total = std::chrono::seconds(40);   ///< time limit for the whole transfer
};

/// The common part of both ends of a transfer.
///
/// The caller passes the MADs of the peer and the time to an end, and gets the MADs to send. After each of these
/// calls, call next_packet() until it returns false. Received MADs may be reordered, duplicated, lost or foreign. An
/// end ignores MADs of other transactions, by class, class version, method and transaction ID; the caller checks
/// addresses. Errors end the transfer as in IBA 13.6.2.2: with an ABORT, or with a STOP if resources are exhausted.
/// The end repeats it if the peer continues.
class rmpp_transfer {
public:
    /// Returns the state of the transfer.
    rmpp_state state() const noexcept { return state_; }
    /// Returns the reason why a transfer failed; otherwise Normal.
    iba::RMPPStatus status() const noexcept { return status_; }
    /// Returns whether the peer ended the transfer with STOP or ABORT; status() is then the status of that packet.
    bool failed_by_peer() const noexcept { return failed_by_peer_; }
    /// Ends a transfer that is in progress; the next packet is an ABORT, or a STOP for ResourcesExhausted.
    void abort(iba::RMPPStatus why = iba::RMPPStatus::Unspecified) noexcept { fail(why); }
    /// Returns when to call on_time(); time_point::max() if never.
    time_point next_deadline() const noexcept;

protected:
    /// `header`: the start of the MADs of this end, including the class header.
    rmpp_transfer(std::span<const u8> header, rmpp_timing timing, time_point now) noexcept;
    ~rmpp_transfer() = default;
    rmpp_transfer(const rmpp_transfer&) = default;
    rmpp_transfer(rmpp_transfer&&) = default;
    rmpp_transfer& operator=(const rmpp_transfer&) = default;
    rmpp_transfer& operator=(rmpp_transfer&&) = default;

    std::size_t header_size() const noexcept { return header_size_; }
    /// Returns the data bytes of a full segment.
    std::size_t segment_size() const noexcept { return mad_size - header_size_; }
    /// Returns the bytes of the class header, which PayloadLength counts for every segment in addition to its data
    /// (IBA 13.6.2.3).
    std::size_t class_header_size() const noexcept;

    /// Returns true for a DATA or an ACK of this transaction whose common fields are correct. Handles all other
    /// packets.
    bool admit(std::span<const u8> mad) noexcept;
    /// Returns true if the peer did not reply in time and attempts are left. If none are left, the transfer fails.
    bool must_retry(time_point now) noexcept;
    /// Sets the deadline for the next packet of the peer.
    void await_response(time_point now) noexcept;
    void await_nothing() noexcept { response_due_ = time_point::max(); }
    void progressed() noexcept { retried_ = 0; }
    void complete() noexcept { state_ = rmpp_state::complete; }
    void fail(iba::RMPPStatus) noexcept;
    bool ending_due() const noexcept { return ending_due_; }
    void write_ending(std::span<u8, mad_size> out) noexcept;
    /// Writes the header, followed by zeros.
    void write(std::span<u8, mad_size> out, iba::RMPPType, u8 flags, u32 data1, u32 data2) const noexcept;

private:
    /// Returns whether the MAD belongs to this transaction.
    bool concerns(std::span<const u8> mad) const noexcept;

    std::array<u8, mad_size> header_{};
    std::size_t header_size_;
    rmpp_timing timing_;
    time_point total_due_;
    time_point response_due_ = time_point::max();
    unsigned retried_ = 0;
    rmpp_state state_ = rmpp_state::more;
    iba::RMPPStatus status_ = iba::RMPPStatus::Normal;
    bool failed_by_peer_ = false;
    bool ending_due_ = false; // a STOP or an ABORT must be sent
};

/// Options of a receiver.
struct rmpp_receiver_options {
    rmpp_timing timing{};
    std::size_t max_message = std::size_t{64} << 20; ///< bytes; the receiver stops a longer message
    unsigned window = 64;                            ///< segments in flight, 1..64
};

/// Receives a message. Its memory grows with the data that arrive, not with the announced length. Keep the receiver
/// for a while after the message is complete (Linux: 10 seconds): if its last ACK is lost, the sender repeats segments
/// until it receives another ACK.
class rmpp_receiver : public rmpp_transfer {
public:
    /// Starts with the first MAD that arrived, which may be any segment. Precondition: is_rmpp(first), 256 bytes.
    /// `header_size`, 36..255, is the offset of the data: 56 in SA MADs, 40 in those of vendor classes with OUI.
    rmpp_receiver(std::span<const u8> first, std::size_t header_size, time_point now, rmpp_receiver_options = {});

    /// Returns true if the MAD starts a transfer. Programs that receive unsolicited messages create a receiver only
    /// for such a MAD.
    static bool begins(std::span<const u8> mad) noexcept;

    /// Handles a MAD of the peer. Returns the new state.
    rmpp_state feed(std::span<const u8> mad, time_point now);
    /// Handles a deadline that has passed, see next_deadline(). Returns the new state.
    rmpp_state on_time(time_point now) noexcept;
    bool has_packet() const noexcept { return ending_due() || ack_due_; }
    /// Writes the next MAD to send. Returns false if there is none.
    bool next_packet(std::span<u8, mad_size> out) noexcept;
    /// Returns the number of message bytes in memory.
    std::size_t held() const noexcept { return message_.size(); }
    /// Frees the memory of the message. Precondition: failed.
    void drop_message() noexcept { std::vector<u8>().swap(message_); } // `= {}` would keep the memory

    /// Returns the whole message: the header of the first segment, then the data of all segments, as Linux returns it
    /// to user space. Precondition: complete, not taken yet.
    std::vector<u8> take_message() noexcept;
    /// Returns how many segments of the reply to this message may be in flight before its first ACK: the value of the
    /// peer when it turned the direction of a double-sided transfer, otherwise 1. For
    /// rmpp_sender_options::first_window.
    u32 reply_window() const noexcept { return reply_window_; }

private:
    void take_segment(const u8* mad, time_point now);
    /// Returns whether the segment can have this number and length; if not, the transfer fails.
    bool plausible(u32 segment, bool is_last, u32 payload_length) noexcept;

    std::size_t max_message_;
    u32 window_;
    u32 in_order_ = 0;     // the last segment before the first missing one
    u32 window_last_ = 1;  // the last segment that the sender may send
    u32 highest_ = 0;      // the highest segment that arrived
    u32 last_segment_ = 0; // the last segment of the message, 0: not known yet
    u32 announced_ = 0;    // PayloadLength of the first segment, 0: not specified
    u64 arrived_ = 0;      // bit n: segment in_order_ + 1 + n has arrived
    u32 reply_window_ = 1;
    bool ack_due_ = false;
    std::vector<u8> message_;
};

/// Options of a sender.
struct rmpp_sender_options {
    rmpp_timing timing{};
    u32 first_window = 1;      ///< segments in flight before the first ACK; see rmpp_receiver::reply_window()
    bool double_sided = false; ///< the reply is a transfer, too (SubnAdmGetMulti), so the sender turns the direction
                               ///< at the end
};

/// Sends a message. In a double-sided transfer, a separate receiver handles the reply, and the sender ignores its DATA
/// packets.
class rmpp_sender : public rmpp_transfer {
public:
    /// `message`: a header of `header_size` bytes, 36..255, followed by any number of data bytes. The sender writes
    /// the RMPP fields of the header, except RRespTime, which it keeps.
    rmpp_sender(std::vector<u8> message, std::size_t header_size, time_point now, rmpp_sender_options = {});

    /// Handles a MAD of the peer. Returns the new state.
    rmpp_state feed(std::span<const u8> mad, time_point now) noexcept;
    /// Handles a deadline that has passed, see next_deadline(). Returns the new state.
    rmpp_state on_time(time_point now) noexcept;
    bool has_packet() const noexcept;
    /// Writes the next MAD, which the caller sends now. Returns false if there is none.
    bool next_packet(std::span<u8, mad_size> out, time_point now) noexcept;

    /// Returns the number of segments of the message.
    u32 segments() const noexcept { return segments_; }
    u32 acknowledged() const noexcept { return acknowledged_; }

private:
    void write_segment(std::span<u8, mad_size> out, u32 segment) const noexcept;

    std::vector<u8> message_;
    u32 segments_;
    u32 acknowledged_ = 0; // the last segment that arrived in order at the receiver
    u32 next_ = 1;         // the next segment to send
    u32 sent_ = 0;         // the highest segment that was sent
    u32 window_last_;      // the last segment that may be sent
    bool double_sided_;
    bool turn_due_ = false; // the ACK that turns the direction must be sent
};

} // namespace comad::mad
