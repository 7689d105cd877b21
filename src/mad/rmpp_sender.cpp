// SPDX-License-Identifier: MIT
// rmpp_sender.cpp - splits a message into segments, and sends as many as the window of the receiver permits.
#include <comad/iba/detail/rmpp.hpp>
#include <comad/mad/detail/rmpp.hpp>

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

namespace comad::mad {
namespace {

using iba::RMPPFlag;
using iba::RMPPStatus;
using iba::RMPPType;
using rmpp = iba::rmpp::Header;

} // namespace

rmpp_sender::rmpp_sender(std::vector<u8> message, std::size_t header_size, time_point now, rmpp_sender_options options)
    : rmpp_transfer(std::span(message).first(header_size), options.timing, now), message_(std::move(message)),
      window_last_(std::max(options.first_window, 1u)), double_sided_(options.double_sided) {
    const std::size_t data = message_.size() - header_size;
    segments_ = std::max(static_cast<u32>((data + segment_size() - 1) / segment_size()), 1u);
}

rmpp_state rmpp_sender::feed(std::span<const u8> mad, time_point now) noexcept {
    if (!admit(mad) || iba::get<&rmpp::RMPPType>(mad.data()) != RMPPType::ACK) return state();
    const u32 segment = iba::get<&rmpp::data1>(mad.data());
    const u32 new_window_last = iba::get<&rmpp::data2>(mad.data());
    if (state() == rmpp_state::complete) {
        // The receiver repeats its last ACK, so the ACK that turned the direction was lost.
        turn_due_ |= double_sided_ && segment == segments_;
    } else if (new_window_last < segment) {
        fail(RMPPStatus::NewWindowLastTooSmall);
    } else if (segment > sent_) {
        fail(RMPPStatus::SegmentNumberTooBig);
    } else {
        // An ACK that arrives after a newer one changes nothing.
        window_last_ = std::max(window_last_, new_window_last);
        if (segment > acknowledged_) {
            acknowledged_ = segment;
            next_ = std::max(next_, segment + 1);
            progressed();
            if (acknowledged_ == sent_) await_nothing();
            else await_response(now);
        }
        if (acknowledged_ == segments_) {
            complete();
            turn_due_ = double_sided_;
        }
    }
    return state();
}

rmpp_state rmpp_sender::on_time(time_point now) noexcept {
    if (must_retry(now)) {
        next_ = acknowledged_ + 1;
        await_response(now);
    }
    return state();
}

bool rmpp_sender::has_packet() const noexcept {
    return ending_due() || turn_due_ || (state() == rmpp_state::more && next_ <= std::min(window_last_, segments_));
}

bool rmpp_sender::next_packet(std::span<u8, mad_size> out, time_point now) noexcept {
    if (!has_packet()) return false;
    if (ending_due()) {
        write_ending(out);
    } else if (std::exchange(turn_due_, false)) {
        write(out, RMPPType::ACK, 0, 0, 1); // a window of one segment, as receivers start with
    } else {
        write_segment(out, next_);
        sent_ = std::max(sent_, next_);
        ++next_;
        await_response(now);
    }
    return true;
}

void rmpp_sender::write_segment(std::span<u8, mad_size> out, u32 segment) const noexcept {
    const std::size_t begin = header_size() + std::size_t{segment - 1} * segment_size();
    const std::size_t size = std::min(message_.size() - begin, segment_size());
    u8 flags = 0;
    u64 payload_length = 0;
    if (segment == 1) {
        flags |= iba::value(RMPPFlag::First);
        payload_length = message_.size() - header_size() + u64{segments_} * class_header_size();
        if (payload_length > std::numeric_limits<u32>::max()) payload_length = 0; // not specified
    }
    if (segment == segments_) {
        flags |= iba::value(RMPPFlag::Last);
        payload_length = size + class_header_size();
    }
    write(out, RMPPType::DATA, flags, segment, static_cast<u32>(payload_length));
    std::copy_n(message_.begin() + static_cast<std::ptrdiff_t>(begin), size,
                out.begin() + static_cast<std::ptrdiff_t>(header_size()));
}

} // namespace comad::mad
