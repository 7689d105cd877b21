// SPDX-License-Identifier: MIT
// rmpp.hpp - sans-I/O: a message of many MADs, sent and received segment by segment, windowed and acknowledged
// (IBA 13.6). For transports that carry single MADs. Knows no transport, no clock, no record.
#pragma once
#include <comad/iba/detail/enums.hpp>
#include <comad/mad/detail/time.hpp>
#include <comad/mad/transport.hpp>

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace comad::mad {

enum class rmpp_state : u8 {
    more,     ///< the transfer is under way
    complete, ///< of a receiver: the message is whole; of a sender: all of it was acknowledged
    failed,   ///< status() says why
};

struct rmpp_timing {
    duration response = std::chrono::seconds(2); ///< what the other side may take to answer; longer if its RRespTime is
    unsigned retries = 5;                        ///< further attempts after nothing came in time
    duration total = std::chrono::seconds(40);   ///< of the whole transfer
};

/// What both ends of a transfer have in common.
///
/// An end is fed with the MADs of the other one and with the time, and gives the MADs that are to be sent: ask after every
/// call until it gives none. What is fed may come in any order, twice, or never, and from anybody: MADs of other
/// transactions are ignored (class, class version, method, transaction ID; the caller knows addresses). Faults end the
/// transfer as IBA 13.6.2.2 says, with an ABORT, or a STOP where resources are exhausted, which is repeated to a side
/// that goes on.
class rmpp_transfer {
public:
    rmpp_state state() const noexcept { return state_; }
    /// Of a failed transfer: why. Otherwise Normal.
    iba::RMPPStatus status() const noexcept { return status_; }
    /// The other side ended it: with STOP or ABORT, status() is what it said.
    bool failed_by_peer() const noexcept { return failed_by_peer_; }
    /// Ends a transfer that is under way; the other side is told.
    void abort(iba::RMPPStatus why = iba::RMPPStatus::Unspecified) noexcept { fail(why); }
    /// When on_time() has something to do; time_point::max() if never.
    time_point next_deadline() const noexcept;

protected:
    /// `header`: what our MADs begin with, class header included.
    rmpp_transfer(std::span<const u8> header, rmpp_timing timing, time_point now) noexcept;
    ~rmpp_transfer() = default;
    rmpp_transfer(const rmpp_transfer&) = default;
    rmpp_transfer(rmpp_transfer&&) = default;
    rmpp_transfer& operator=(const rmpp_transfer&) = default;
    rmpp_transfer& operator=(rmpp_transfer&&) = default;

    std::size_t header_size() const noexcept { return header_size_; }
    /// Data of a full segment.
    std::size_t segment_size() const noexcept { return mad_size - header_size_; }
    /// What PayloadLength counts of every segment beside its data: the class header (IBA 13.6.2.3).
    std::size_t class_header_size() const noexcept;

    /// True if it is a DATA or an ACK of this transaction without fault in what all packets have; otherwise all is done.
    bool admit(std::span<const u8> mad) noexcept;
    /// True if the other side did not answer in time and there is something to try again.
    bool must_retry(time_point now) noexcept;
    void await_response(time_point now) noexcept;
    void await_nothing() noexcept { response_due_ = time_point::max(); }
    void progressed() noexcept { retried_ = 0; }
    void complete() noexcept { state_ = rmpp_state::complete; }
    void fail(iba::RMPPStatus) noexcept;
    bool ending_due() const noexcept { return ending_due_; }
    void write_ending(std::span<u8, mad_size> out) noexcept;
    /// Writes our header, zeros behind it.
    void write(std::span<u8, mad_size> out, iba::RMPPType, u8 flags, u32 data1, u32 data2) const noexcept;

private:
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
    bool ending_due_ = false; // STOP or ABORT is to be sent
};

struct rmpp_receiver_options {
    rmpp_timing timing{};
    std::size_t max_message = std::size_t{64} << 20; ///< bytes; a longer message is stopped
    unsigned window = 64;                            ///< segments under way, 1..64
};

/// Puts a message together. Memory grows with what arrives, never with what is announced.
/// Keep it for a while after the message is whole (Linux: 10 seconds): if its last ACK is lost, the sender repeats
/// segments until it gets another.
class rmpp_receiver : public rmpp_transfer {
public:
    /// Takes the first MAD that came, whatever it is. Precondition: is_rmpp(first), 256 bytes; `header_size`, 36..255, is
    /// where the data begin: 56 in SA MADs, 40 in those of vendors with OUI.
    rmpp_receiver(std::span<const u8> first, std::size_t header_size, time_point now, rmpp_receiver_options = {});

    /// A MAD that begins a transfer: for those who are sent to unasked, as only it is worth a receiver.
    static bool begins(std::span<const u8> mad) noexcept;

    rmpp_state feed(std::span<const u8> mad, time_point now);
    rmpp_state on_time(time_point now) noexcept;
    bool has_packet() const noexcept { return ending_due() || ack_due_; }
    /// Writes the next MAD to be sent. False: there is none.
    bool next_packet(std::span<u8, mad_size> out) noexcept;
    /// Bytes of the message that it holds.
    std::size_t held() const noexcept { return message_.size(); }
    /// Frees them. Precondition: failed.
    void drop_message() noexcept { std::vector<u8>().swap(message_); } // `= {}` would keep the memory

    /// The whole message: the first segment's header, then the data of all, as Linux gives it to user space.
    /// Precondition: complete, not taken yet.
    std::vector<u8> take_message() noexcept;
    /// Segments that the answer to this message may have under way before its first ACK: what the other side said when it
    /// turned the direction of a double-sided transfer, otherwise 1. For rmpp_sender_options::first_window.
    u32 reply_window() const noexcept { return reply_window_; }

private:
    void take_segment(const u8* mad, time_point now);
    /// Whether it may be what it says that it is; otherwise the transfer failed.
    bool plausible(u32 segment, bool is_last, u32 payload_length) noexcept;

    std::size_t max_message_;
    u32 window_;
    u32 in_order_ = 0;     // the last segment before the first gap
    u32 window_last_ = 1;  // the last segment that the sender was allowed to send
    u32 highest_ = 0;      // the last segment of those that arrived
    u32 last_segment_ = 0; // the message's last, 0: not known yet
    u32 announced_ = 0;    // PayloadLength of the first segment, 0: not told
    u64 arrived_ = 0;      // bit n: segment in_order_ + 1 + n is there
    u32 reply_window_ = 1;
    bool ack_due_ = false;
    std::vector<u8> message_;
};

struct rmpp_sender_options {
    rmpp_timing timing{};
    u32 first_window = 1;      ///< segments under way before the first ACK; see rmpp_receiver::reply_window()
    bool double_sided = false; ///< the answer is a transfer, too (SubnAdmGetMulti): the direction is turned at the end
};

/// Sends a message. For double-sided transfers the answer's receiver is one of its own: DATA are ignored here.
class rmpp_sender : public rmpp_transfer {
public:
    /// `message`: a header of `header_size` bytes, 36..255, with all but what is RMPP's (of that RRespTime counts), then
    /// any number of data.
    rmpp_sender(std::vector<u8> message, std::size_t header_size, time_point now, rmpp_sender_options = {});

    rmpp_state feed(std::span<const u8> mad, time_point now) noexcept;
    rmpp_state on_time(time_point now) noexcept;
    bool has_packet() const noexcept;
    /// Writes the next MAD to be sent, which is sent now. False: there is none.
    bool next_packet(std::span<u8, mad_size> out, time_point now) noexcept;

    u32 segments() const noexcept { return segments_; }
    u32 acknowledged() const noexcept { return acknowledged_; }

private:
    void write_segment(std::span<u8, mad_size> out, u32 segment) const noexcept;

    std::vector<u8> message_;
    u32 segments_;
    u32 acknowledged_ = 0; // the last of those in order that arrived
    u32 next_ = 1;         // to be sent
    u32 sent_ = 0;         // the last that was, ever
    u32 window_last_;      // that may be
    bool double_sided_;
    bool turn_due_ = false; // the ACK that turns the direction
};

} // namespace comad::mad
