// SPDX-License-Identifier: MIT
// rmpp_receiver.cpp - reassembles a message from segments that arrive in any order.
#include <comad/iba/detail/rmpp.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/rmpp.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace comad::mad {
namespace {

using iba::RMPPFlag;
using iba::RMPPStatus;
using iba::RMPPType;
using rmpp = iba::rmpp::Header;

constexpr u32 transferred_data = sizeof(iba::rmpp::Data::data);

bool has_flag(const u8* mad, RMPPFlag flag) noexcept {
    return (iba::get<&rmpp::RMPPFlags>(mad) & iba::value(flag)) != 0;
}

/// Returns the header of replies to `mad`. The class header is copied unchanged: Linux copies it, and needs it to find
/// the agent of a vendor class with OUI.
std::array<u8, mad_size> answering_header(std::span<const u8> mad) noexcept {
    std::array<u8, mad_size> header{};
    std::copy(mad.begin(), mad.end(), header.begin());
    const u8 method = iba::value(iba::get<&iba::MADHeader::method>(mad.data()));
    iba::put<&iba::MADHeader::method>(header.data(), iba::Method{static_cast<u8>(method ^ iba::response_bit)});
    iba::put<&rmpp::RRespTime>(header.data(), 31); // not specified
    return header;
}

} // namespace

rmpp_receiver::rmpp_receiver(std::span<const u8> first, std::size_t header_size, time_point now,
                             rmpp_receiver_options options)
    : rmpp_transfer(std::span<const u8>(answering_header(first)).first(header_size), options.timing, now),
      max_message_(options.max_message), window_(std::clamp(options.window, 1u, 64u)) {
    assert(first.size() == mad_size && is_rmpp(first));
    await_response(now);
    feed(first, now);
}

bool rmpp_receiver::begins(std::span<const u8> mad) noexcept {
    return mad.size() == mad_size && is_rmpp(mad) && iba::get<&rmpp::RMPPType>(mad.data()) == RMPPType::DATA &&
           has_flag(mad.data(), RMPPFlag::First);
}

rmpp_state rmpp_receiver::feed(std::span<const u8> mad, time_point now) {
    if (admit(mad)) {
        const u8* p = mad.data();
        if (iba::get<&rmpp::RMPPType>(p) == RMPPType::DATA) take_segment(p, now);
        else if (state() == rmpp_state::complete && iba::get<&rmpp::data1>(p) == 0)
            reply_window_ = std::max(iba::get<&rmpp::data2>(p), u32{1}); // the peer turns the direction
    } else if (failed_by_peer()) {
        ack_due_ = false; // an ACK would make the peer repeat its STOP or ABORT
    }
    return state();
}

void rmpp_receiver::take_segment(const u8* mad, time_point now) {
    const u32 segment = iba::get<&rmpp::data1>(mad);
    if (segment == 0 || has_flag(mad, RMPPFlag::First) != (segment == 1))
        return fail(RMPPStatus::InconsistentFirstAndSegmentNumber);
    if (segment <= in_order_) {
        ack_due_ = true; // the segment is a duplicate, so the previous ACK was lost
        return;
    }
    // As in Linux, segments outside of the window are dropped.
    if (state() != rmpp_state::more || segment > window_last_) return;
    const u64 bit = u64{1} << (segment - in_order_ - 1);
    if ((arrived_ & bit) != 0) return;

    const bool is_last = has_flag(mad, RMPPFlag::Last);
    const u32 payload_length = iba::get<&rmpp::data2>(mad);
    if (!plausible(segment, is_last, payload_length)) return;

    const std::size_t begin = header_size() + std::size_t{segment - 1} * segment_size();
    const std::size_t size = is_last ? payload_length - class_header_size() : segment_size();
    if (size > max_message_ || begin > max_message_ - size) return fail(RMPPStatus::ResourcesExhausted);
    if (message_.size() < begin + size) message_.resize(begin + size);
    if (segment == 1) std::copy(mad, mad + header_size(), message_.begin());
    std::copy(mad + header_size(), mad + header_size() + size, message_.begin() + static_cast<std::ptrdiff_t>(begin));

    highest_ = std::max(highest_, segment);
    arrived_ |= bit;
    const int run = std::countr_one(arrived_);
    in_order_ += static_cast<u32>(run);
    arrived_ = run == 64 ? 0 : arrived_ >> run;
    progressed();
    await_response(now);
    if (in_order_ == last_segment_) complete();
    // The ACK is early enough for the sender to continue without a pause.
    if (state() == rmpp_state::complete || window_last_ - in_order_ <= window_ / 2) ack_due_ = true;
}

bool rmpp_receiver::plausible(u32 segment, bool is_last, u32 payload_length) noexcept {
    const auto refuse = [&](RMPPStatus why) {
        fail(why);
        return false;
    };
    if (segment == 1) {
        announced_ = payload_length;
        const u64 full_segments = announced_ == 0 ? 0 : (announced_ - 1) / transferred_data;
        if (header_size() + full_segments * segment_size() > max_message_)
            return refuse(RMPPStatus::ResourcesExhausted);
    }
    const u64 all_fields = u64{segment} * transferred_data;
    bool holds;
    if (is_last) {
        const u64 valid = all_fields - transferred_data + payload_length;
        holds = payload_length >= class_header_size() && payload_length <= transferred_data && segment > highest_ &&
                last_segment_ == 0 &&
                // The IBA can be read so that the first segment announces the size of all fields, including padding.
                (announced_ == 0 || announced_ == valid || announced_ == all_fields);
        last_segment_ = segment;
    } else {
        holds = (last_segment_ == 0 || segment < last_segment_) && (announced_ == 0 || announced_ > all_fields);
    }
    return holds || refuse(RMPPStatus::InconsistentLastAndPayloadLength);
}

rmpp_state rmpp_receiver::on_time(time_point now) noexcept {
    if (must_retry(now)) {
        ack_due_ = in_order_ != 0;
        await_response(now);
    }
    return state();
}

bool rmpp_receiver::next_packet(std::span<u8, mad_size> out) noexcept {
    if (ending_due()) {
        write_ending(out);
        ack_due_ = false;
        return true;
    }
    if (!std::exchange(ack_due_, false)) return false;
    window_last_ = in_order_ + window_;
    write(out, RMPPType::ACK, 0, in_order_, window_last_);
    return true;
}

std::vector<u8> rmpp_receiver::take_message() noexcept {
    assert(state() == rmpp_state::complete);
    return std::move(message_);
}

} // namespace comad::mad
