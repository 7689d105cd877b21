// SPDX-License-Identifier: MIT
// diags_cache.hpp - libibnetdisc's cache file, for who tells formats apart.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <span>

namespace comad::discovery {

bool is_diags_cache(std::span<const u8> bytes) noexcept;
/// Throws std::runtime_error with one line. Precondition: it is one.
subnet read_diags_cache(std::span<const u8> bytes);

} // namespace comad::discovery
