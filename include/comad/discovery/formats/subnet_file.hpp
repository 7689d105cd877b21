// SPDX-License-Identifier: MIT
// subnet_file.hpp - converts subnets to and from the contents of caches, in a format of this library and in the format of libibnetdisc,
// which infiniband-diags' `--cache` writes. Also reads the contents of topology files, which reports.hpp writes. Opens no files and reads
// no clock.
#pragma once
#include <comad/discovery/database/subnet.hpp>
#include <comad/topology_file/detail/read.hpp>

#include <chrono>
#include <span>
#include <string>
#include <string_view>

namespace comad::discovery {

// ---- caches ----------------------------------------------------------------------------------------------------------

/// A subnet from a cache, and the time of its discovery.
struct cached_subnet {
    subnet found;
    /// Nullopt if the file does not contain the time; libibnetdisc's files never do.
    std::optional<std::chrono::sys_seconds> discovered_at;
};

/// Returns the bytes of a cache file: magic, version, time, nodes with their ports and routes, failures, and a CRC-32 of all these.
/// Structures have their wire format, without M_Keys; numbers are big-endian. read_cache() returns an equal subnet, except that M_Keys
/// are zero and each route contains only its hops.
std::string cache_bytes(const subnet&, std::chrono::sys_seconds discovered_at);

/// Returns the bytes of a libibnetdisc cache file (version 1, little-endian), which ibnetdiscover, iblinkinfo and ibqueryerrors load.
/// The format has no fields for routes, failures, FDR10 and the time. M_Keys are 0; libibnetdisc writes them as ports report them.
std::string diags_cache_bytes(const subnet&);

/// Returns whether the bytes start like one of the two formats.
bool is_cache(std::span<const u8> bytes) noexcept;

/// Reads a subnet from either format. The bytes are not trusted: all lengths, numbers and indices are checked before they are used, and
/// memory is bounded by the file size, max_cached_nodes and max_cached_ports. Nodes of a libibnetdisc cache are sorted from the node
/// where its discovery started, and get routes.
/// Errors: throws std::runtime_error with one line that describes the error and its byte offset.
cached_subnet read_cache(std::span<const u8> bytes);

/// The largest numbers of nodes and ports in a cache; equal to the default limits of a discovery.
inline constexpr std::size_t max_cached_nodes = 200'000, max_cached_ports = 4'000'000;

// ---- topology files --------------------------------------------------------------------------------------------------

/// A subnet from a topology file, and the lines that could not be used: one line for users, empty if all were used.
struct described_subnet {
    subnet found;
    std::string skipped;
};

/// The order of the nodes of a described_subnet.
enum class described_order : u8 {
    of_file, ///< the order of the file; nodes have no routes
    /// Breadth-first with routes, as put_in_order(): from the node where the file was made, or else from the first CA.
    discovery,
};

/// Reads the text of a topology file, or the list of links that OpenSM and ibutils write (opensm-subnet.lst, ibdiagnet.lst). Data that the file does not contain is marked: see node::known, port::assumed and
/// subnet::may_lack_nodes. Ports without a cable have no PortInfo. A port is Active if both ends of its cable have LIDs. A width or speed
/// that the file does not contain is 0. Supported and enabled widths and speeds are equal to the active ones.
/// `name`: the name of the file in messages.
/// Errors: as topology_file::read().
described_subnet read_topology_file(std::string_view text, std::string_view name,
                                    topology_file::reading how = topology_file::reading::tolerant,
                                    described_order order = described_order::discovery);

} // namespace comad::discovery
