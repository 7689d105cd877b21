// SPDX-License-Identifier: MIT
// held_requests.cpp - selects the timeout that the kernel gets, and finds messages that end a request.
#include <comad/iba/detail/rmpp.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/transports/detail/held_requests.hpp>

#include <algorithm>
#include <chrono>
#include <climits>

namespace comad::transports {
namespace {

/// Returns whether a MAD belongs to a transfer that the kernel does not reassemble: a segment after the first, or an
/// acknowledgement.
bool is_later_part(std::span<const u8> mad) noexcept {
    using iba::rmpp::Header;
    if (!mad::is_rmpp(mad)) return false;
    const auto type = iba::get<&Header::RMPPType>(mad.data());
    return type == iba::RMPPType::ACK || (type == iba::RMPPType::DATA && iba::get<&Header::data1>(mad.data()) > 1);
}

} // namespace

u32 held_requests::timeout_ms(const mad::send_request& request) const noexcept {
    if (!request.expects_reply) return 0;
    const unsigned few = request.timeout_is_estimate ? request.in_flight + most_late : roomy;
    const bool is_long =
        how_ == kernel_timeout::automatic ? count_ < std::min(few, bound_ / 2) : how_ == kernel_timeout::operation;
    const mad::duration wanted = is_long ? request.operation_timeout : request.attempt_timeout;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wanted).count();
    // A timeout of 0 would mean that no reply is expected. The kernel stores it in an int.
    return static_cast<u32>(std::clamp<std::int64_t>(ms, 1, INT_MAX));
}

void held_requests::add(iba::MgmtClass c) noexcept {
    ++count_;
    ++by_class_[value(c)];
}

void held_requests::take_back(const mad::received& message, iba::MgmtClass c) noexcept {
    // A status report with a response means that a peer did not acknowledge an RMPP reply, which add() never counted.
    if (count_ == 0 || (message.status != 0) == mad::is_response(message.mad)) return;
    if (message.status == 0 && is_later_part(message.mad)) return;
    --count_;
    if (by_class_[value(c)] > 0) --by_class_[value(c)];
}

} // namespace comad::transports
