// SPDX-License-Identifier: MIT
// destinations.hpp - who may be asked by how many at a time, and who waits for whom. Knows operations only as a queue.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/operation.hpp>

#include <cstddef>
#include <vector>

namespace comad::mad::detail {

/// Those with claims on them, found by key. Constant work and no allocation.
class destinations {
public:
    static constexpr u32 none = ~u32{0};

    /// At most so many at a time.
    explicit destinations(std::size_t most);

    /// Its index, which holds while it has claims or parked operations.
    u32 find_or_make(u64 key) noexcept;
    unsigned claims(u32 index) const noexcept { return all_[index].claims; }
    void claim(u32 index) noexcept { ++all_[index].claims; }
    /// Its parked operations may go on (next_free()).
    void release(u32 index) noexcept;

    void park(operation&, u32 index) noexcept;
    void withdraw(operation&) noexcept;
    std::size_t parked() const noexcept { return parked_; }
    /// The longest parked operation of some destination that has become free: it is no longer parked. Null: none may go.
    /// `bound_of(op)`: how many claims its destination may have with it.
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
        u32 next = none;       // in its bucket, or of the unused ones
        u32 next_freed = none; // in the list of the freed
        bool is_freed = false; // it is in that list
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
