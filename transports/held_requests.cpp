// SPDX-License-Identifier: MIT
// held_requests.cpp - which timeout the kernel is told, and which message ends a request.
#include <comad/mad/message.hpp>
#include <comad/transports/held_requests.hpp>

#include <algorithm>
#include <chrono>
#include <climits>

namespace comad::transports {

u32 held_requests::timeout_ms(const mad::send_request& request) const noexcept {
    if (!request.expects_reply) return 0;
    const unsigned few = request.is_guess ? request.in_flight + most_late : roomy;
    const bool is_roomy = count_ < std::min(few, bound_ / 2);
    const mad::duration wanted = is_roomy ? request.operation_timeout : request.attempt_timeout;
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(wanted).count();
    // 0 would mean that no reply is expected; the kernel keeps it in an int.
    return static_cast<u32>(std::clamp<std::int64_t>(ms, 1, INT_MAX));
}

void held_requests::add(iba::MgmtClass c) noexcept {
    ++count_;
    ++by_class_[value(c)];
}

void held_requests::take_back(const mad::received& message, iba::MgmtClass c) noexcept {
    // A report of a response is that of a reply by RMPP which nobody acknowledged: it was never counted.
    if (count_ == 0 || (message.status != 0) == mad::is_response(message.mad)) return;
    --count_;
    if (by_class_[value(c)] > 0) --by_class_[value(c)];
}

} // namespace comad::transports
