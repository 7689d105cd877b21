// SPDX-License-Identifier: MIT
// frame_cache.cpp - allocates coroutine frames from per-thread free lists, one list per size class.
#include <comad/coro/detail/frame_cache.hpp>

#include <array>
#include <new>

#if defined(__has_feature)
#define COMAD_HAS_FEATURE(NAME) __has_feature(NAME)
#else
#define COMAD_HAS_FEATURE(NAME) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || COMAD_HAS_FEATURE(address_sanitizer) ||           \
    COMAD_HAS_FEATURE(thread_sanitizer)
#define COMAD_RECYCLE_FRAMES 0
#else
#define COMAD_RECYCLE_FRAMES 1
#endif

namespace comad::coro::detail {
namespace {

/// Free lists of blocks in 64-byte classes up to 2 KiB; larger frames go to the heap. Each thread has one set of
/// lists. The thread that runs the schedule frees a frame. If a strand moves the schedule to another thread, the
/// block moves to that thread's lists.
class frame_cache {
public:
    static frame_cache& local() noexcept {
        static thread_local frame_cache cache;
        return cache;
    }
    void* allocate(std::size_t bytes) {
        const std::size_t size_class = (bytes + granule - 1) / granule;
        if (size_class >= classes) return ::operator new(bytes);
        block*& head = free_[size_class];
        if (!head) return ::operator new(size_class* granule);
        block* const first = head;
        head = first->next;
        return first;
    }
    void release(void* p, std::size_t bytes) noexcept {
        const std::size_t size_class = (bytes + granule - 1) / granule;
        if (size_class >= classes) return ::operator delete(p);
        block*& head = free_[size_class];
        head = new (p) block{head};
    }

private:
    static constexpr std::size_t granule = 64, classes = 33;
    struct block {
        block* next;
    };
    frame_cache() = default;
    ~frame_cache() {
        for (block* head : free_) {
            while (head) {
                block* const next = head->next;
                ::operator delete(head);
                head = next;
            }
        }
    }
    std::array<block*, classes> free_{};
};

} // namespace

bool recycles_frames() noexcept { return COMAD_RECYCLE_FRAMES; }

void* allocate_frame(std::size_t bytes) {
    return recycles_frames() ? frame_cache::local().allocate(bytes) : ::operator new(bytes);
}

void release_frame(void* frame, std::size_t bytes) noexcept {
    if (recycles_frames()) frame_cache::local().release(frame, bytes);
    else ::operator delete(frame);
}

} // namespace comad::coro::detail
