// SPDX-License-Identifier: MIT
// frame_cache.hpp - recycles coroutine frames through per-thread free lists, so that a task per MAD allocates nothing
// once warm. Knows no promise.
#pragma once
#include <array>
#include <cstddef>
#include <new>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COMAD_RECYCLE_FRAMES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define COMAD_RECYCLE_FRAMES 0
#endif
#endif
#ifndef COMAD_RECYCLE_FRAMES
#define COMAD_RECYCLE_FRAMES 1 // not under sanitizers: a recycled frame would hide a use after free
#endif

namespace comad::coro::detail {

/// Free lists of blocks in 64-byte classes up to 2 KiB; larger frames go to the heap. One per thread: a frame is freed
/// by the thread that runs its schedule then, where strands move it into that one's.
class frame_cache {
public:
    static void* allocate(std::size_t bytes) {
        const std::size_t size_class = (bytes + granule - 1) / granule;
        if constexpr (!COMAD_RECYCLE_FRAMES) return ::operator new(bytes);
        if (size_class >= classes) return ::operator new(bytes);
        block*& head = local().free_[size_class];
        if (!head) return ::operator new(size_class* granule);
        block* b = head;
        head = b->next;
        return b;
    }
    static void release(void* p, std::size_t bytes) noexcept {
        const std::size_t size_class = (bytes + granule - 1) / granule;
        if (!COMAD_RECYCLE_FRAMES || size_class >= classes) return ::operator delete(p);
        block*& head = local().free_[size_class];
        head = new (p) block{head};
    }

private:
    static constexpr std::size_t granule = 64, classes = 33;
    struct block {
        block* next;
    };
    static frame_cache& local() noexcept {
        static thread_local frame_cache cache;
        return cache;
    }
    frame_cache() = default;
    ~frame_cache() {
        for (block* head : free_) {
            while (head) {
                block* next = head->next;
                ::operator delete(head);
                head = next;
            }
        }
    }
    std::array<block*, classes> free_{};
};

/// Base of promises whose frames are recycled.
struct recycled {
    static void* operator new(std::size_t bytes) { return frame_cache::allocate(bytes); }
    static void operator delete(void* p, std::size_t bytes) noexcept { frame_cache::release(p, bytes); }
};

} // namespace comad::coro::detail
