// SPDX-License-Identifier: MIT
// diags_cache.hpp - recognizes and reads the cache file of libibnetdisc.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <span>

namespace comad::discovery {

/// Returns whether the bytes start like a libibnetdisc cache.
bool is_diags_cache(std::span<const u8> bytes) noexcept;
/// Reads a libibnetdisc cache. Precondition: is_diags_cache().
/// Errors: throws std::runtime_error with one line.
subnet read_diags_cache(std::span<const u8> bytes);

} // namespace comad::discovery
