// SPDX-License-Identifier: MIT
// cache.hpp - a subnet as bytes of a file, and back: a format of this library, and libibnetdisc's, which infiniband-diags'
// `--cache` writes. Knows no file and no clock.
#pragma once
#include <comad/discovery/database/subnet.hpp>

#include <chrono>
#include <span>
#include <string>

namespace comad::discovery {

/// A subnet, and when it was discovered.
struct cached_subnet {
    subnet found;
    /// Nothing if the file does not say, as libibnetdisc's do not.
    std::optional<std::chrono::sys_seconds> discovered_at;
};

/// The bytes of a cache file: magic, version, time, nodes with their ports and routes, failures, and a CRC-32 of all that.
/// Structures are as on the wire, without M_Keys; numbers are big-endian. What reads it gets an equal subnet, but for the
/// M_Keys, and of each route its hops.
std::string cache_bytes(const subnet&, std::chrono::sys_seconds discovered_at);

/// The bytes of libibnetdisc's cache file (version 1, little-endian): what ibnetdiscover, iblinkinfo and ibqueryerrors load.
/// It has no place for routes, failures, FDR10 and the time. M_Keys are 0, which libibnetdisc writes as ports report them.
std::string diags_cache_bytes(const subnet&);

/// Whether bytes begin as one of the two formats does.
bool is_cache(std::span<const u8> bytes) noexcept;

/// A subnet of either kind of bytes, from whomever: all lengths, numbers and indices are checked before they are used, and
/// memory is bounded by the size of the file and by max_cached_nodes and max_cached_ports. Of libibnetdisc's, nodes are put in
/// order from where that discovery began, and get routes.
/// Throws std::runtime_error with one line: what is wrong, and at which byte.
cached_subnet read_cache(std::span<const u8> bytes);

/// The limits of a discovery by default.
inline constexpr std::size_t max_cached_nodes = 200'000, max_cached_ports = 4'000'000;

} // namespace comad::discovery
