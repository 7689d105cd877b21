// SPDX-License-Identifier: MIT
// text.hpp - makes text from the network safe for terminals and JSON.
#pragma once
#include <string>
#include <string_view>

namespace comad::iba {

/// Returns `raw` for a terminal. Valid UTF-8 is unchanged, except for these characters, whose bytes become `\xNN`:
/// control characters (C0, DEL, C1), invisible ones (zero-width characters, byte-order mark, tags, fillers, variation
/// selectors: Default_Ignorable_Code_Point of Unicode), and those that reorder or break the line. Bytes that are not
/// UTF-8 become `\xNN`, too. A backslash is unchanged, so that ordinary descriptions have the same text as in
/// infiniband-diags.
///
/// clean_nodedesc() of infiniband-diags (rdma-core, util/node_name_map.c) differs: it truncates at 63 bytes and replaces every
/// byte outside printable ASCII with a space. UTF-8 is lost, and different descriptions may look the same.
std::string escaped(std::string_view raw);

/// Returns `raw` as valid UTF-8, for JSON and other formats that require it: a byte that is not UTF-8 becomes the
/// character U+00NN.
std::string valid_utf8(std::string_view raw);

/// Returns untrusted input for an error message of one line: quoted, escaped, and truncated if long.
std::string as_given(std::string_view text);

} // namespace comad::iba
