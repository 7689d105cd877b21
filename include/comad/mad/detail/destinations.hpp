// SPDX-License-Identifier: MIT
// destinations.hpp - the requests in flight to each destination, and the operations that wait because a destination is at its bound.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/operation.hpp>

#include <cstddef>
#include <vector>

namespace comad::mad::detail {

/// The destinations with claims, by key. A claim is one request that counts at the destination. Constant work and no allocation.
class destinations {
public:
    static constexpr u32 none = ~u32{0};

    /// `most`: limit of destinations at a time.
    explicit destinations(std::size_t most);

    /// The index of a destination. It is valid while the destination has claims or parked operations.
    u32 find_or_make(u64 key) noexcept;
    unsigned claims(u32 index) const noexcept { return all_[index].claims; }
    void claim(u32 index) noexcept { ++all_[index].claims; }
    /// Removes a claim. Operations that are parked at the destination become available in next_free().
    void release(u32 index) noexcept;

    void park(operation&, u32 index) noexcept;
    void withdraw(operation&) noexcept;
    std::size_t parked() const noexcept { return parked_; }
    /// Takes out the operation that was parked longest at a destination below its bound. Null: there is none.
    /// `bound_of(operation)`: the bound of its destination.
    template <class Bound> operation* next_free(Bound bound_of) noexcept {
        while (freed_ != none) {
            entry& d = all_[freed_];
            operation* const first = d.parked.front();
            if (first && d.claims < bound_of(*first)) {
                d.parked.pop_front();
                --parked_;
                return first;
            }
            unlist();
        }
        return nullptr;
    }
    bool has_freed() const noexcept { return freed_ != none; }

private:
    struct entry {
        u64 key = 0;
        unsigned claims = 0;
        u32 next = none;       // in its bucket, or in the list of unused entries
        u32 next_freed = none; // in the list of freed destinations
        bool is_freed = false; // it is in this list
        operation_queue parked;
    };
    u32 bucket_of(u64 key) const noexcept { return static_cast<u32>(key & (buckets_.size() - 1)); }
    void unlist() noexcept;
    void drop_if_unused(u32 index) noexcept;

    std::vector<entry> all_;
    std::vector<u32> buckets_;
    u32 unused_ = none;
    u32 freed_ = none,
        last_freed_ = none; // that had a claim released, and have parked operations: looked at in this order
    std::size_t parked_ = 0;
};

} // namespace comad::mad::detail
