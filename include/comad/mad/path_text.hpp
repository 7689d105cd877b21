// SPDX-License-Identifier: MIT
// path_text.hpp - converts paths from and to the text that users write. It does not depend on devices or on the
// subnet: end ports remain names, and a GID remains without a LID until a resolver finds it.
#pragma once
#include <comad/iba/detail/error.hpp>
#include <comad/mad/path.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace comad::mad {

/// A parsed target.
struct address {
    any_path path;                       ///< the path; for a GID or GUID only DGID is set, for a LID only DLID
    std::optional<std::string> end_port; ///< name of the local port to send from, if the text contains one

    friend bool operator==(const address&, const address&) = default;
};

/// The meaning of `0x` and up to 16 hexadecimal digits, such as `0x2c90300001491`.
enum class hex_means : u8 { LID, GUID };

/// Parses a target. The function tries these forms in this order:
///
///   IBPath(DLID=7, SL=1)            path specification (see below), if the text contains a `(`
///   0,1,4                           directed route, if it contains a `,`; ports in decimal, each below 255, the first is 0
///   fe80::2:c903:0:1491%mlx5_0/1    GID and the local port to send from, if it contains a `%`
///   fe80::2:c903:0:1491             GID: an IPv6 address
///   0002:c903:0000:1491             port GUID, which becomes a link-local GID; leading zeros of a group, or all colons, may
///                                   be omitted
///   7, 0x1f                         unicast LID, 1 to 0xbfff
///
/// A path specification is `IBPath(...)` (or `Path(...)`) or `IBDRPath(...)` with names and values of members, each at most
/// once. Integers are decimal, or hexadecimal after 0x, and must fit the field of the header. A GID is an address or
/// GID('fe80::1'), drPath is `0:1:4:`, and end_port is 'mlx5_0/1' or None.
///
/// Errors: unreadable, unknown_name (of a member), out_of_range; the message has one line for any input. It does not throw
/// for invalid text.
iba::result<address> from_string(std::string_view text, hex_means = hex_means::LID);

/// Returns the path specification from which from_string() makes an equal path: `IBPath(DLID=7, SL=1)`. It omits
/// members that have their default value. Precondition: each value fits the field of the header, and the ports of a
/// route are below 255.
std::string spec_string(const any_path& p);

} // namespace comad::mad
