// SPDX-License-Identifier: MIT
// memory.hpp - protection domains, and memory that a device can access.
#pragma once
#include <comad/verbs/detail/device.hpp>

#include <cstdint>
#include <span>

namespace comad::verbs {

/// A protection domain: its objects can be used together, but not with objects of other domains.
///
///     auto device = verbs::context::open("mlx5_0");
///     auto domain = verbs::pd::create(device.value());
///     std::vector<u8> bytes(4096);
///     auto region = verbs::memory_region::create(domain.value(), bytes);
class pd : public owned<ibv_pd> {
public:
    /// Creates a protection domain on a device.
    static result<pd> create(const context&);
    /// Returns the device of the domain.
    const context& device() const noexcept { return device_; }

private:
    pd(std::shared_ptr<ibv_pd> handle, context device) : owned(std::move(handle)), device_(std::move(device)) {}
    context device_;
};

/// Memory that the device can access while the region exists.
/// Lifetime: The caller owns the bytes, which must not move or end before the region.
class memory_region : public owned<ibv_mr> {
public:
    /// Registers memory. `access`: IBV_ACCESS_... Errors: also ENOMEM if the memory exceeds RLIMIT_MEMLOCK.
    static result<memory_region> create(const pd&, std::span<u8> bytes, int access = IBV_ACCESS_LOCAL_WRITE);

    /// Returns the registered memory.
    std::span<u8> bytes() const noexcept { return {static_cast<u8*>(get()->addr), get()->length}; }
    /// Returns the address of the memory, for remote access.
    u64 address() const noexcept { return reinterpret_cast<std::uintptr_t>(get()->addr); }
    /// Returns the local key.
    u32 lkey() const noexcept { return get()->lkey; }
    /// Returns the remote key.
    u32 rkey() const noexcept { return get()->rkey; }
    /// Returns a part of the region for a work request. Precondition: the part is inside.
    ibv_sge piece(std::size_t offset, std::size_t length) const noexcept {
        return {address() + offset, static_cast<u32>(length), lkey()};
    }

private:
    using owned::owned;
};

} // namespace comad::verbs
