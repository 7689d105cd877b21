// SPDX-License-Identifier: MIT
// buffer_pool.hpp - buffers of one size in one memory region, by number: lent to work requests and given back.
#pragma once
#include <comad/verbs/queue_pair.hpp>

#include <optional>
#include <span>
#include <vector>

namespace comad::verbs {

/// A work request's wr_id is the number of its buffer, of receives with is_receive set.
class buffer_pool {
public:
    static constexpr u64 is_receive = u64{1} << 63;

    /// `count` buffers of `size` bytes, zeroed.
    static result<buffer_pool> create(const pd&, std::size_t count, std::size_t size,
                                      int access = IBV_ACCESS_LOCAL_WRITE);

    std::size_t count() const noexcept { return count_; }
    std::size_t size() const noexcept { return size_; }
    std::size_t free() const noexcept { return free_.size(); }
    const memory_region& region() const noexcept { return region_; }

    /// A buffer that nobody has; nothing: there is none.
    std::optional<u32> take() noexcept;
    void give_back(u32 number) noexcept { free_.push_back(number); }
    std::span<u8> operator[](u32 number) const noexcept { return region_.bytes().subspan(number * size_, size_); }
    /// The first `length` bytes of a buffer for a work request.
    ibv_sge piece(u32 number, std::size_t length) const noexcept { return region_.piece(number * size_, length); }

    /// Posts as many receives, each into a buffer of its own; fewer if there are no more. `Queue`: a queue_pair or a
    /// shared_receive_queue. What is refused is given back.
    template <class Queue> result<void> post_receives(const Queue&, std::size_t many);
    /// The buffer of a receive again, which its owner has read.
    template <class Queue> result<void> post_again(const Queue&, u32 number) const;
    /// What is over: buffers of sends are given back, those of receives are posted again. The error is that of the first that
    /// failed, if one did, or of the posting.
    template <class Queue> result<void> finish(const Queue&, std::span<const ibv_wc>);

private:
    buffer_pool(memory_region region, std::shared_ptr<u8[]> bytes, std::size_t count, std::size_t size);
    std::shared_ptr<u8[]> bytes_; // before the region that it lies in: it goes after that
    memory_region region_;
    std::size_t count_, size_;
    std::vector<u32> free_; // has room for all
};

} // namespace comad::verbs
