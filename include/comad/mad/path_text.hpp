// SPDX-License-Identifier: MIT
// path_text.hpp - paths as users write them, and as they can be read back. Knows no device and no subnet: end ports are
// names here, GIDs wait for somebody who resolves them.
#pragma once
#include <comad/iba/detail/error.hpp>
#include <comad/mad/path.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace comad::mad {

/// What a text means.
struct address {
    any_path path;                       ///< of a GID or GUID only DGID is set, of a LID only DLID
    std::optional<std::string> end_port; ///< the local port to go from, as written, if it was

    friend bool operator==(const address&, const address&) = default;
};

/// What up to 16 hex digits behind a `0x` are: `0x2c90300001491`.
enum class hex_means : u8 { LID, GUID };

/// Reads a target. Tried in this order:
///
///   IBPath(DLID=7, SL=1)            path specification, see below: there is a `(`
///   0,1,4                           directed route: there is a `,`. Ports in decimal, each below 255; the first is 0
///   fe80::2:c903:0:1491%mlx5_0/1    GID, and the end port to go from: there is a `%`
///   fe80::2:c903:0:1491             GID: an IPv6 address
///   0002:c903:0000:1491             GUID of a port, whose GID is then the link-local one; zeros in front of a group may
///                                   be missing, or all the colons
///   7, 0x1f                         unicast LID, 1 to 0xbfff
///
/// A path specification is `IBPath(...)` (or `Path(...)`) or `IBDRPath(...)` with the members' names and values, each at
/// most once: integers in decimal or behind 0x that fit the header's field; GIDs as they are or as GID('fe80::1'); drPath
/// as `0:1:4:`; and end_port='mlx5_0/1', or None.
///
/// Errors: unreadable, unknown_name (of a member), out_of_range; the text is one line whatever was read. Never throws
/// for a bad text.
iba::result<address> from_string(std::string_view text, hex_means = hex_means::LID);

/// The path specification that from_string() reads back as an equal path: `IBPath(DLID=7, SL=1)`. Members that have their
/// default are left out. Precondition: each value fits the header's field, and the ports of a route are below 255.
std::string spec_string(const any_path& p);

} // namespace comad::mad
