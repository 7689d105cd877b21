// SPDX-License-Identifier: MIT
// frame_cache.hpp - recycles coroutine frames through per-thread free lists, so that a task per MAD allocates nothing
// once warm. Knows no promise.
#pragma once
#include <cstddef>

namespace comad::coro::detail {

/// A block for a frame, from this thread's free list of its size if there is one. Whether frames are recycled is decided where the
/// library is compiled, not in each user's: with sanitizers in one of the two, one would free what the other had allocated.
void* allocate_frame(std::size_t bytes);
/// Gives it back, with the size that was asked for; into this thread's list.
void release_frame(void* frame, std::size_t bytes) noexcept;
/// False under sanitizers: a recycled frame would hide a use after free.
bool recycles_frames() noexcept;

/// Base of promises whose frames are recycled.
struct recycled {
    static void* operator new(std::size_t bytes) { return allocate_frame(bytes); }
    static void operator delete(void* p, std::size_t bytes) noexcept { release_frame(p, bytes); }
};

} // namespace comad::coro::detail
