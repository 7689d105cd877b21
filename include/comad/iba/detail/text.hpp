// SPDX-License-Identifier: MIT
// text.hpp - text from the network made safe for terminals and JSON. Knows no structure.
#pragma once
#include <string>
#include <string_view>

namespace comad::iba {

/// `raw` for a terminal: valid UTF-8 passes unchanged; every byte of a control character (C0, DEL, C1), of a character that
/// is not shown (zero-width ones, the byte-order mark, tags, fillers, variation selectors: Unicode's
/// Default_Ignorable_Code_Point) or reorders or breaks the line, and of what is no UTF-8 becomes `\xNN`. A backslash stays as it
/// is, so that ordinary descriptions print as infiniband-diags print them.
///
/// infiniband-diags' clean_nodedesc() (rdma-core, util/node_name_map.c) differs: it cuts at 63 bytes and replaces every
/// byte outside printable ASCII by a space, so that UTF-8 is lost and different descriptions may look the same.
std::string escaped(std::string_view raw);

/// `raw` as valid UTF-8, for JSON and other formats that require it: a byte that is not UTF-8 becomes the character U+00NN.
std::string valid_utf8(std::string_view raw);

/// What a stranger wrote, for an error in one line: quoted, escaped, and cut if long.
std::string as_given(std::string_view text);

} // namespace comad::iba
