// SPDX-License-Identifier: MIT
// rows.hpp - values of single rows in encoded structures, read and shown. Knows no structure and no layout of output.
#pragma once
#include <comad/iba/detail/table.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace comad::iba::detail {

using byte_span = std::span<const u8>;

/// True if the whole row is in `bytes`, which begin where the structure does, as everywhere here.
inline bool is_within(const row_info& row, byte_span bytes) { return row.off + row.bits() <= bytes.size() * 8; }

/// One element of an array; of a text or byte string, one byte.
row_info element_of_row(const row_info&, unsigned element);

u64 number_in(const row_info&, byte_span, unsigned element = 0);
byte_span blob_in(const row_info&, byte_span);
/// Up to the first NUL.
std::string_view text_in(const row_info&, byte_span);

/// `0x` and two digits for each byte.
std::string hex_bytes(byte_span);
/// `0x` and as many digits as the width of an element has.
std::string hex_number(const row_info&, u64 n);
std::string gid_text(const row_info&, byte_span, unsigned element);
/// As show says.
std::string element_text(const row_info&, byte_span, unsigned element);

/// A structure inside a record: of a nested row, of each element of an array of them, or the attribute in a data area.
struct part {
    std::string name;
    const record_info* info;
    unsigned byte; ///< where it begins in the record
};
/// The structures of a nested row; none of another.
std::vector<part> parts_of(const row_info&);
/// The structures in a row of `record`: parts_of(), the attribute `data` of a row that shows data, the details of a
/// notice; none if there are none or they are not known.
std::vector<part> parts_in(const record_info& record, byte_span, const row_info&, const record_info* data);
/// The structure of the row that shows details, null if the notice does not tell or has an unknown trap.
const record_info* details_in(const record_info& notice, byte_span) noexcept;

} // namespace comad::iba::detail
