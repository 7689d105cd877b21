// SPDX-License-Identifier: MIT
// buffer_pool.cpp - takes buffers from a pool of registered memory, and returns them.
#include <comad/verbs/detail/buffer_pool.hpp>

#include <cstdlib>
#include <new>
#include <numeric>
#include <utility>

namespace comad::verbs {

namespace {

constexpr std::align_val_t page{4096};

std::shared_ptr<u8[]> zeroed_pages(std::size_t size) {
    return {new (page) u8[size]{}, [](u8* p) { ::operator delete[](p, page); }};
}

} // namespace

buffer_pool::buffer_pool(memory_region region, std::shared_ptr<u8[]> bytes, std::size_t count, std::size_t size)
    : bytes_(std::move(bytes)), region_(std::move(region)), count_(count), size_(size), free_(count) {
    std::iota(free_.rbegin(), free_.rend(), 0u); // descending, so that buffer 0 is taken first
}

result<buffer_pool> buffer_pool::create(const pd& domain, std::size_t count, std::size_t size, int access) {
    auto bytes = zeroed_pages(count * size);
    auto region = memory_region::create(domain, {bytes.get(), count * size}, access);
    if (!region) return std::move(region.error());
    return buffer_pool(std::move(region.value()), std::move(bytes), count, size);
}

std::optional<u32> buffer_pool::take() noexcept {
    if (free_.empty()) return std::nullopt;
    const u32 number = free_.back();
    free_.pop_back();
    return number;
}

template <class Queue> result<void> buffer_pool::post_again(const Queue& queue, u32 number) const {
    ibv_sge whole = piece(number, size_);
    ibv_recv_wr request = receive_request(is_receive | number, {&whole, 1});
    return queue.post_receives({&request, 1});
}

template <class Queue> result<void> buffer_pool::post_receives(const Queue& queue, std::size_t many) {
    for (; many > 0; --many) {
        const auto number = take();
        if (!number) break;
        if (auto posted = post_again(queue, *number); !posted) {
            give_back(*number);
            return posted;
        }
    }
    return success();
}

template <class Queue> result<void> buffer_pool::finish(const Queue& queue, std::span<const ibv_wc> over) {
    result<void> all = success();
    const auto keep_first = [&](error e) {
        if (all) all = std::move(e);
    };
    for (const ibv_wc& wc : over) {
        const auto number = static_cast<u32>(wc.wr_id & ~is_receive);
        if (wc.status != IBV_WC_SUCCESS) keep_first(error_of(wc));
        if (!(wc.wr_id & is_receive)) {
            give_back(number);
        } else if (auto posted = post_again(queue, number); !posted) {
            give_back(number);
            keep_first(std::move(posted.error()));
        }
    }
    return all;
}

template result<void> buffer_pool::post_receives(const queue_pair&, std::size_t);
template result<void> buffer_pool::post_receives(const shared_receive_queue&, std::size_t);
template result<void> buffer_pool::post_again(const queue_pair&, u32) const;
template result<void> buffer_pool::post_again(const shared_receive_queue&, u32) const;
template result<void> buffer_pool::finish(const queue_pair&, std::span<const ibv_wc>);
template result<void> buffer_pool::finish(const shared_receive_queue&, std::span<const ibv_wc>);

} // namespace comad::verbs
