// SPDX-License-Identifier: MIT
// allocations.cpp - an operator new that counts allocations. It replaces every form, because AddressSanitizer itself
// would provide the other forms.
#include "support/allocations.hpp"

#include <cstdlib>
#include <new>

namespace {

allocations all;

/// Counts an allocation and returns the memory; null if no memory is left.
void* counted(std::size_t size) noexcept {
    ++all.count;
    all.bytes += size;
    return std::malloc(size);
}

/// Allocates like counted(), but throws std::bad_alloc if no memory is left.
void* counted_or_throw(std::size_t size) {
    if (void* p = counted(size)) return p;
    throw std::bad_alloc();
}

} // namespace

allocations allocations::so_far() noexcept { return all; }

void* operator new(std::size_t size) { return counted_or_throw(size); }
void* operator new[](std::size_t size) { return counted_or_throw(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept { return counted(size); }
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
