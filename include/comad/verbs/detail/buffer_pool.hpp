// SPDX-License-Identifier: MIT
// buffer_pool.hpp - buffer_pool: numbered buffers of equal size in one memory region, for work requests.
#pragma once
#include <comad/verbs/queue_pair.hpp>

#include <optional>
#include <span>
#include <vector>

namespace comad::verbs {

/// A pool of buffers. The wr_id of a work request is the number of its buffer; receives also have the bit is_receive.
class buffer_pool {
public:
    static constexpr u64 is_receive = u64{1} << 63;

    /// Creates `count` buffers of `size` bytes, filled with zeros.
    static result<buffer_pool> create(const pd&, std::size_t count, std::size_t size,
                                      int access = IBV_ACCESS_LOCAL_WRITE);

    /// Returns the number of buffers.
    std::size_t count() const noexcept { return count_; }
    /// Returns the size of each buffer in bytes.
    std::size_t size() const noexcept { return size_; }
    /// Returns the number of unused buffers.
    std::size_t free() const noexcept { return free_.size(); }
    const memory_region& region() const noexcept { return region_; }

    /// Takes an unused buffer and returns its number; nullopt: there is none.
    std::optional<u32> take() noexcept;
    /// Returns a buffer to the pool.
    void give_back(u32 number) noexcept { free_.push_back(number); }
    /// Returns the bytes of a buffer.
    std::span<u8> operator[](u32 number) const noexcept { return region_.bytes().subspan(number * size_, size_); }
    /// Returns the first `length` bytes of a buffer for a work request.
    ibv_sge piece(u32 number, std::size_t length) const noexcept { return region_.piece(number * size_, length); }

    /// Posts `many` receives, each with its own buffer, or fewer if the pool runs out of buffers. `Queue` is a
    /// queue_pair or a shared_receive_queue. If a receive cannot be posted, its buffer returns to the pool.
    template <class Queue> result<void> post_receives(const Queue&, std::size_t many);
    /// Posts the buffer of a completed receive again. Call it after reading the buffer.
    template <class Queue> result<void> post_again(const Queue&, u32 number) const;
    /// Processes completions: returns the buffers of sends to the pool, and posts the buffers of receives again.
    /// Returns the first error of a completion or of posting.
    template <class Queue> result<void> finish(const Queue&, std::span<const ibv_wc>);

private:
    buffer_pool(memory_region region, std::shared_ptr<u8[]> bytes, std::size_t count, std::size_t size);
    std::shared_ptr<u8[]> bytes_; // before the region, so that it is destroyed after the region
    memory_region region_;
    std::size_t count_, size_;
    std::vector<u32> free_; // has capacity for all buffers
};

} // namespace comad::verbs
