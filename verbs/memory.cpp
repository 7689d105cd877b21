// SPDX-License-Identifier: MIT
// memory.cpp - implements protection domains and memory regions.
#include <comad/verbs/detail/memory.hpp>

#include <fmt/format.h>

#include <cerrno>

namespace comad::verbs {

result<pd> pd::create(const context& device) {
    errno = 0;
    ibv_pd* const raw = ::ibv_alloc_pd(device.get());
    if (!raw) return failed(fmt::format("cannot allocate a protection domain on {}", device.name()), errno);
    return pd(own(raw, ::ibv_dealloc_pd, device), device);
}

result<memory_region> memory_region::create(const pd& domain, std::span<u8> bytes, int access) {
    errno = 0;
    ibv_mr* const raw = ibv_reg_mr(domain.get(), bytes.data(), bytes.size(), access);
    if (!raw) {
        const int error = errno;
        const char* advice = error == ENOMEM ? " (the limit of locked memory may be too low: ulimit -l)" : "";
        return failed(fmt::format("cannot register {} bytes with {}{}", bytes.size(), domain.device().name(), advice),
                      error);
    }
    return memory_region(own(raw, ::ibv_dereg_mr, domain));
}

} // namespace comad::verbs
