// SPDX-License-Identifier: MIT
// frame_cache.hpp - recycles coroutine frames through per-thread free lists. After warm-up, a task per MAD allocates nothing.
#pragma once
#include <cstddef>

namespace comad::coro::detail {

/// Returns a block for a frame, from this thread's free list of that size if possible. Whether frames are recycled is
/// decided when the library is compiled, not in the program. Otherwise, if only one of them had sanitizers, one would
/// free what the other had allocated.
void* allocate_frame(std::size_t bytes);
/// Releases a block into this thread's free list. `bytes` must be the size that was requested.
void release_frame(void* frame, std::size_t bytes) noexcept;
/// Returns false under sanitizers, because a recycled frame would hide a use after free.
bool recycles_frames() noexcept;

/// Base of promises whose frames are recycled.
struct recycled {
    static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
    static void operator delete(void* p, std::size_t bytes) noexcept { release_frame(p, bytes); }
};

} // namespace comad::coro::detail
