// SPDX-License-Identifier: MIT
// memory.hpp - protection domains and the memory that a device may reach.
#pragma once
#include <comad/verbs/device.hpp>

#include <cstdint>
#include <span>

namespace comad::verbs {

/// A protection domain: what was made in one works together, and with nothing else.
class pd : public owned<ibv_pd> {
public:
    static result<pd> create(const context&);
    const context& device() const noexcept { return device_; }

private:
    pd(std::shared_ptr<ibv_pd> handle, context device) : owned(std::move(handle)), device_(std::move(device)) {}
    context device_;
};

/// Memory that the device may reach while this lives. The bytes are the caller's, who keeps them where they are for as long.
class memory_region : public owned<ibv_mr> {
public:
    /// `access`: IBV_ACCESS_... Errors: ENOMEM also where more memory would be locked than RLIMIT_MEMLOCK allows.
    static result<memory_region> create(const pd&, std::span<u8> bytes, int access = IBV_ACCESS_LOCAL_WRITE);

    std::span<u8> bytes() const noexcept { return {static_cast<u8*>(get()->addr), get()->length}; }
    u64 address() const noexcept { return reinterpret_cast<std::uintptr_t>(get()->addr); }
    u32 lkey() const noexcept { return get()->lkey; }
    u32 rkey() const noexcept { return get()->rkey; }
    /// A piece of it for a work request. Precondition: it lies within.
    ibv_sge piece(std::size_t offset, std::size_t length) const noexcept {
        return {address() + offset, static_cast<u32>(length), lkey()};
    }

private:
    using owned::owned;
};

} // namespace comad::verbs
