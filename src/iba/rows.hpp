// SPDX-License-Identifier: MIT
// rows.hpp - reads and formats the values of single rows in encoded structures. It does not depend on any structure or
// output format.
#pragma once
#include <comad/iba/detail/table.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace comad::iba::detail {

/// Encoded bytes.
using byte_span = std::span<const u8>;

/// Returns true if the whole row is within `bytes`. Here and below, `bytes` start with the structure.
inline bool is_within(const row_info& row, byte_span bytes) { return row.off + row.bits() <= bytes.size() * 8; }

/// Returns the row of one element of an array, or of one byte of a text or byte string.
row_info element_of_row(const row_info&, unsigned element);

/// Returns an element of a numeric row.
u64 number_in(const row_info&, byte_span, unsigned element = 0);
/// Returns the bytes of a row.
byte_span blob_in(const row_info&, byte_span);
/// Returns the text up to the first NUL.
std::string_view text_in(const row_info&, byte_span);

/// Returns `0x` and two digits for each byte.
std::string hex_bytes(byte_span);
/// Returns `0x` and as many digits as the width of an element has.
std::string hex_number(const row_info&, u64 n);
/// Returns the text of a GID in a row.
std::string format_gid(const row_info&, byte_span, unsigned element);
/// Returns an element in the format that `show` specifies.
std::string element_text(const row_info&, byte_span, unsigned element);

/// A structure inside a record: an element of a nested row, or the attribute in a data area.
struct part {
    std::string name;
    const record_info* info;
    unsigned byte; ///< offset in the record, in bytes
};
/// Returns the structures of a nested row; none for other rows.
std::vector<part> parts_of(const row_info&);
/// Returns the structures in a row of `record`: parts_of(), the attribute `data` of a row that shows data, or the
/// details of a notice. Empty if the row has none or they are unknown.
std::vector<part> parts_in(const record_info& record, byte_span, const row_info&, const record_info* data);
/// Returns the structure of the details of a notice; null if the notice is not generic, or its trap is unknown.
const record_info* details_in(const record_info& notice, byte_span) noexcept;

} // namespace comad::iba::detail
