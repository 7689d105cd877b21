// SPDX-License-Identifier: MIT
// kernel_repeats.cpp - a table of the requests that wait for their replies, by transaction ID.
#include "kernel/kernel_repeats.hpp"

#include <comad/iba/detail/mad_header.hpp>
#include <comad/mad/detail/message.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <endian.h>

namespace comad::test {

namespace {

using iba::MADHeader;

// The layout of ibsim's `struct sim_request`: LIDs, QPs, status, length, then the MAD.
constexpr std::size_t status_at = 16, mad_at = 32;

/// Returns the MAD in a datagram; empty if the datagram is too short.
std::span<const u8> mad_of(std::span<const u8> datagram) noexcept {
    return datagram.subspan(std::min(datagram.size(), mad_at));
}

/// Returns true if the MAD contains a whole header.
bool has_header(std::span<const u8> mad) noexcept { return mad.size() >= iba::wire_size<MADHeader>; }

/// Returns the transaction ID of a MAD.
u64 transaction_of(std::span<const u8> mad) noexcept { return iba::get<&MADHeader::transactionID>(mad.data()); }

/// Returns true if a MAD is a request that expects a reply.
bool expects_reply(std::span<const u8> mad) noexcept {
    const iba::Method method = iba::get<&MADHeader::method>(mad.data());
    return !mad::is_response(mad) && method != iba::Method::Trap && mad::response_method(method).has_value();
}

/// Returns true if the datagram has a status, so the server or the kernel has returned it.
bool is_given_back(std::span<const u8> datagram) noexcept {
    return std::any_of(datagram.begin() + status_at, datagram.begin() + status_at + 4,
                       [](u8 byte) { return byte != 0; });
}

/// Sets the status of a datagram.
void set_status(std::span<u8> datagram, u32 status) noexcept {
    status = htobe32(status);
    std::memcpy(datagram.data() + status_at, &status, sizeof status);
}

} // namespace

void kernel_repeats::note(std::span<const u8> datagram, time_point now) {
    const std::span<const u8> mad = mad_of(datagram);
    if (!has_header(mad) || !expects_reply(mad)) return;
    waiting_.insert_or_assign(transaction_of(mad),
                              request{std::vector<u8>(datagram.begin(), datagram.end()), now + timeout_, retries_});
}

bool kernel_repeats::accepts(std::span<const u8> datagram) {
    const std::span<const u8> mad = mad_of(datagram);
    if (!has_header(mad) || !(mad::is_response(mad) || is_given_back(datagram))) return true;
    return waiting_.erase(transaction_of(mad)) != 0;
}

std::optional<kernel_repeats::time_point> kernel_repeats::due() const noexcept {
    std::optional<time_point> first;
    for (const auto& [transaction, r] : waiting_)
        if (!first || r.deadline < *first) first = r.deadline;
    return first;
}

std::optional<kernel_repeats::overdue> kernel_repeats::next(time_point now) {
    const auto late =
        std::find_if(waiting_.begin(), waiting_.end(), [&](const auto& w) { return w.second.deadline <= now; });
    if (late == waiting_.end()) return {};
    request& r = late->second;
    if (r.retries_left != 0) {
        --r.retries_left;
        r.deadline = now + timeout_;
        return overdue{r.datagram, false};
    }
    overdue given_back{std::move(r.datagram), true};
    set_status(given_back.datagram, ETIMEDOUT);
    waiting_.erase(late);
    return given_back;
}

} // namespace comad::test
