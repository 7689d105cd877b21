// SPDX-License-Identifier: MIT
// cache_edit.hpp - other GUIDs in a libibnetdisc cache, as infiniband-diags' ibcacheedit writes them. Bytes in, bytes out: knows no
// file.
#pragma once
#include <comad/iba/types.hpp>

#include <optional>
#include <span>
#include <string>

namespace comad::discovery {

struct guid_change {
    iba::guid before, after;
};

/// What is to be changed, in this order: each sees what those before have changed.
struct cache_edits {
    std::optional<guid_change> switch_guid; ///< of the node, and so of its ports, which have the same
    std::optional<guid_change> ca_guid;     ///< of the node alone
    std::optional<guid_change> system_image_guid;
    iba::guid node;                       ///< whose port `port_guid` is about
    std::optional<guid_change> port_guid; ///< of a switch it is the node's GUID, too
};

/// The cache with other GUIDs. What NodeInfo says stays, but for systemImageGUID; records stand in the order in which
/// libibnetdisc writes what it has loaded.
/// Throws std::runtime_error with one line: the bytes are no such cache, or it has no such GUID (`switchguid = 5000 not found`).
std::string edited_diags_cache(std::span<const u8> bytes, const cache_edits&);

} // namespace comad::discovery
