// SPDX-License-Identifier: MIT
// destinations.cpp - the table of the engine's destinations.
#include <comad/mad/detail/destinations.hpp>

#include <bit>
#include <cassert>
#include <utility>

namespace comad::mad::detail {

destinations::destinations(std::size_t most) : all_(most), buckets_(std::bit_ceil(2 * most), none) {
    for (auto i = static_cast<u32>(most); i-- > 0;) all_[i].next = std::exchange(unused_, i);
}

u32 destinations::find_or_make(u64 key) noexcept {
    u32& bucket = buckets_[bucket_of(key)];
    for (u32 i = bucket; i != none; i = all_[i].next)
        if (all_[i].key == key) return i;
    assert(unused_ != none);
    const u32 i = unused_;
    entry& d = all_[i];
    unused_ = d.next;
    d.key = key;
    d.claims = 0;
    d.next = std::exchange(bucket, i);
    return i;
}

void destinations::release(u32 index) noexcept {
    entry& d = all_[index];
    --d.claims;
    if (d.parked.empty()) return drop_if_unused(index);
    if (std::exchange(d.is_freed, true)) return;
    d.next_freed = none;
    (freed_ == none ? freed_ : all_[last_freed_].next_freed) = index;
    last_freed_ = index;
}

void destinations::park(operation& o, u32 index) noexcept {
    o.destination_index = index;
    all_[index].parked.push_back(o);
    ++parked_;
}

void destinations::withdraw(operation& o) noexcept {
    all_[o.destination_index].parked.remove(o);
    --parked_;
    drop_if_unused(o.destination_index);
}

void destinations::unlist() noexcept {
    const u32 index = freed_;
    freed_ = all_[index].next_freed;
    all_[index].is_freed = false;
    drop_if_unused(index);
}

void destinations::drop_if_unused(u32 index) noexcept {
    entry& d = all_[index];
    if (d.claims != 0 || !d.parked.empty() || d.is_freed) return;
    u32* link = &buckets_[bucket_of(d.key)];
    while (*link != index) link = &all_[*link].next;
    *link = d.next;
    d.next = std::exchange(unused_, index);
}

} // namespace comad::mad::detail
