// SPDX-License-Identifier: MIT
// rmpp.cpp - the code that both ends of a transfer share: recognizes packets, checks them, ends the transfer, and
// handles timeouts.
#include <comad/iba/detail/rmpp.hpp>
#include <comad/iba/detail/value_codes.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/mad/detail/rmpp.hpp>

#include <algorithm>
#include <cassert>

namespace comad::mad {
namespace {

using iba::MADHeader;
using iba::RMPPFlag;
using iba::RMPPStatus;
using iba::RMPPType;
using rmpp = iba::rmpp::Header;

constexpr std::size_t rmpp_header_size = iba::wire_size<rmpp>;
constexpr u8 version = 1;
constexpr u8 no_response_time = 31;

/// Returns whether an ABORT may contain this status (IBA 13.6.2.2).
bool is_abort_status(u8 status) noexcept {
    return status >= iba::value(RMPPStatus::TotalTimeTooLong) && status <= iba::value(RMPPStatus::Unspecified);
}

time_point later(time_point now, duration by) noexcept {
    return by < time_point::max() - now ? now + by : time_point::max();
}

} // namespace

rmpp_transfer::rmpp_transfer(std::span<const u8> header, rmpp_timing timing, time_point now) noexcept
    : header_size_(header.size()), timing_(timing), total_due_(later(now, timing.total)) {
    assert(header.size() >= rmpp_header_size && header.size() < mad_size);
    std::copy(header.begin(), header.end(), header_.begin());
}

std::size_t rmpp_transfer::class_header_size() const noexcept { return header_size_ - rmpp_header_size; }

time_point rmpp_transfer::next_deadline() const noexcept {
    return state_ == rmpp_state::more ? std::min(response_due_, total_due_) : time_point::max();
}

bool rmpp_transfer::concerns(std::span<const u8> mad) const noexcept {
    if (mad.size() != mad_size || !is_rmpp(mad)) return false;
    const u8 *ours = header_.data(), *theirs = mad.data();
    const u8 method = iba::value(iba::get<&MADHeader::method>(ours));
    // The high 32 bits of a request's transaction ID belong to the transport.
    const u64 differing = iba::get<&MADHeader::transactionID>(ours) ^ iba::get<&MADHeader::transactionID>(theirs);
    return iba::get<&MADHeader::baseVersion>(theirs) == iba::get<&MADHeader::baseVersion>(ours) &&
           iba::get<&MADHeader::mgmtClass>(theirs) == iba::get<&MADHeader::mgmtClass>(ours) &&
           iba::get<&MADHeader::classVersion>(theirs) == iba::get<&MADHeader::classVersion>(ours) &&
           iba::value(iba::get<&MADHeader::method>(theirs)) == (method ^ iba::response_bit) &&
           ((method & iba::response_bit) != 0 ? differing : static_cast<u32>(differing)) == 0;
}

bool rmpp_transfer::admit(std::span<const u8> mad) noexcept {
    if (!concerns(mad)) return false;
    const u8* p = mad.data();
    const RMPPType type = iba::get<&rmpp::RMPPType>(p);
    const u8 status = iba::get<&rmpp::RMPPStatus>(p);
    const bool is_ending = type == RMPPType::STOP || type == RMPPType::ABORT;
    if (state_ == rmpp_state::failed) {
        // The peer continues, so it did not receive the packet that ended the transfer. A STOP or ABORT is never the
        // reply to another one, because two ends would then exchange them forever.
        ending_due_ = ending_due_ || (!failed_by_peer_ && !is_ending);
        return false;
    }
    const auto refuse = [&](RMPPStatus why) {
        fail(why);
        return false;
    };
    if (iba::get<&rmpp::RMPPVersion>(p) != version) return refuse(RMPPStatus::UnsupportedVersion);
    if (is_ending) {
        if (type == RMPPType::STOP ? status != iba::value(RMPPStatus::ResourcesExhausted) : !is_abort_status(status))
            return refuse(RMPPStatus::IllegalStatus);
        if (state_ == rmpp_state::more) {
            state_ = rmpp_state::failed;
            status_ = RMPPStatus{status};
            failed_by_peer_ = true;
        }
        return false;
    }
    if (type != RMPPType::DATA && type != RMPPType::ACK) return refuse(RMPPStatus::BadRMPPType);
    if (status != iba::value(RMPPStatus::Normal)) return refuse(RMPPStatus::IllegalStatus);
    if (const u8 exponent = iba::get<&rmpp::RRespTime>(p); exponent != no_response_time)
        timing_.response = std::max(timing_.response, iba::time_of_code(exponent));
    return true;
}

bool rmpp_transfer::must_retry(time_point now) noexcept {
    if (state_ != rmpp_state::more) return false;
    if (now >= total_due_) {
        fail(RMPPStatus::TotalTimeTooLong);
        return false;
    }
    if (now < response_due_) return false;
    if (retried_ == timing_.retries) {
        fail(RMPPStatus::TooManyRetries);
        return false;
    }
    ++retried_;
    return true;
}

void rmpp_transfer::await_response(time_point now) noexcept { response_due_ = later(now, timing_.response); }

void rmpp_transfer::fail(RMPPStatus why) noexcept {
    if (state_ != rmpp_state::more) return;
    state_ = rmpp_state::failed;
    status_ = why;
    ending_due_ = true;
}

void rmpp_transfer::write(std::span<u8, mad_size> out, RMPPType type, u8 flags, u32 data1, u32 data2) const noexcept {
    u8* p = out.data();
    std::copy(header_.begin(), header_.end(), p);
    iba::put<&rmpp::RMPPVersion>(p, version);
    iba::put<&rmpp::RMPPType>(p, type);
    iba::put<&rmpp::RMPPFlags>(p, static_cast<u8>(flags | iba::value(RMPPFlag::Active)));
    iba::put<&rmpp::RMPPStatus>(p, iba::value(RMPPStatus::Normal));
    iba::put<&rmpp::data1>(p, data1);
    iba::put<&rmpp::data2>(p, data2);
}

void rmpp_transfer::write_ending(std::span<u8, mad_size> out) noexcept {
    write(out, status_ == RMPPStatus::ResourcesExhausted ? RMPPType::STOP : RMPPType::ABORT, 0, 0, 0);
    iba::put<&rmpp::RMPPStatus>(out.data(), iba::value(status_));
    ending_due_ = false;
}

} // namespace comad::mad
