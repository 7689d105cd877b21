// SPDX-License-Identifier: MIT
// collector.cpp - compares the SA records of a simulated subnet with a query, and stores services.
#include "records.hpp"

#include <algorithm>
#include <chrono>

namespace comad::transports::sim {

collector::collector(const iba::record_info& record, u64 mask, std::span<const u8> wanted)
    : record_(record), mask_(mask), wanted_(wanted.first(record.bytes)), compared_(iba::compared_bits(record, mask)) {}

bool collector::admits(std::span<const u8> head) const noexcept {
    for (std::size_t i = 0; i < head.size(); ++i)
        if (((head[i] ^ wanted_[i]) & compared_[i]) != 0) return false;
    return true;
}

void collector::offer(std::span<const u8> record) {
    if (admits(record)) found_.insert(found_.end(), record.begin(), record.end());
}

void collector::leave_out(u64 components) { compared_ = iba::compared_bits(record_, mask_ & ~components); }

// ---- Services --------------------------------------------------------------------------------------------------------

namespace {

constexpr u32 for_ever = 0xffffffff;

bool is_same(const services::record& a, const services::record& b) noexcept {
    return a.serviceID == b.serviceID && a.serviceGID == b.serviceGID && a.servicePKey == b.servicePKey;
}

} // namespace

void services::drop_expired(mad::time_point now) {
    std::erase_if(leases_, [&](const lease& l) { return l.ends <= now; });
}

std::vector<services::lease>::iterator services::find(const record& r, mad::time_point now) {
    drop_expired(now);
    return std::find_if(leases_.begin(), leases_.end(), [&](const lease& l) { return is_same(l.what, r); });
}

services::outcome services::set(const record& r, mad::time_point now) {
    auto known = find(r, now);
    if (known == leases_.end()) known = leases_.insert(leases_.end(), {r, now});
    else if (known->what.serviceKey != r.serviceKey) return outcome::denied;
    const mad::time_point ends =
        r.serviceLease == for_ever ? mad::time_point::max() : now + std::chrono::seconds(r.serviceLease);
    *known = {r, ends};
    return outcome::done;
}

services::outcome services::remove(record& r, mad::time_point now) {
    const auto known = find(r, now);
    if (known == leases_.end()) return outcome::unknown;
    if (known->what.serviceKey != r.serviceKey) return outcome::denied;
    r = known->what;
    leases_.erase(known);
    return outcome::done;
}

void services::find(collector& found, mad::time_point now) {
    drop_expired(now);
    for (const lease& l : leases_) {
        record shown = l.what;
        shown.serviceKey = {};
        found.offer(shown);
    }
}

} // namespace comad::transports::sim
