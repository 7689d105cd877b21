// SPDX-License-Identifier: MIT
// cache_edit.hpp - changes GUIDs in a libibnetdisc cache, as infiniband-diags' ibcacheedit does. Works on bytes and opens no files.
#pragma once
#include <comad/iba/types.hpp>

#include <optional>
#include <span>
#include <string>

namespace comad::discovery {

/// Replaces one GUID by another.
struct guid_change {
    iba::guid before, after;
};

/// The changes to make, in this order: each one works on the result of those before it.
struct cache_edits {
    std::optional<guid_change> switch_guid; ///< of a switch node, and of its ports, which have the node's GUID
    std::optional<guid_change> ca_guid;     ///< of a CA node, not of its ports
    std::optional<guid_change> system_image_guid;
    iba::guid node;                       ///< the node whose port `port_guid` changes
    std::optional<guid_change> port_guid; ///< of a port; on a switch also the node's GUID
};

/// Returns the cache with changed GUIDs. NodeInfo keeps its other fields, except for systemImageGUID. The records are in the order in
/// which libibnetdisc writes a cache that it has loaded.
/// Errors: throws std::runtime_error with one line if the bytes are not a libibnetdisc cache, or it does not contain the GUID
/// (`switchguid = 5000 not found`).
std::string edited_diags_cache(std::span<const u8> bytes, const cache_edits&);

} // namespace comad::discovery
