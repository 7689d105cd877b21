// SPDX-License-Identifier: MIT
// record_table.hpp - access to the records of an SA reply: their distance and number (IBA 15.2.1.1). It does not
// depend on the contents of records.
#pragma once
#include <comad/iba/detail/error.hpp>
#include <comad/iba/types.hpp>

#include <cstddef>
#include <span>

namespace comad::mad {

/// Returns the AttributeOffset of records of `size` bytes: each record starts at a multiple of 8.
constexpr u16 attribute_offset_of(std::size_t size) noexcept { return static_cast<u16>((size + 7) / 8); }

/// A view of the consecutive records in an SA message. Lifetime: the message must outlive the view.
class record_table {
public:
    /// Returns the records of a message. `message`: SA header and data, as rmpp_receiver or the kernel returns them.
    /// Records have `record_size` bytes, not 0, and their distance is AttributeOffset; 0 means no records. The padding
    /// of the last record may be missing.
    /// Errors: too_short, if the message is shorter than its header, the records overlap, the last one is incomplete, or the
    ///         message has data although it has no records.
    static iba::result<record_table> of(std::span<const u8> message, std::size_t record_size);
    /// Returns the records of a successful reply to a request for a table, as a transport returns it. If the reply is
    /// a single MAD of 256 bytes, its PayloadLength determines the number of records, and it must be the last segment.
    /// Errors: as of(); also too_short if the reply is not an RMPP transfer, as IBA 15.2.2 requires: the number of records, and
    ///         which of them are missing, would be unknown.
    static iba::result<record_table> of_reply(std::span<const u8> reply, std::size_t record_size);

    /// Returns the number of records.
    std::size_t size() const noexcept { return size_; }
    /// Returns the bytes from one record to the next; 0 without records.
    std::size_t stride() const noexcept { return stride_; }
    /// Returns the bytes of a record, without padding. Precondition: index < size().
    std::span<const u8> operator[](std::size_t index) const noexcept {
        return data_.subspan(index * stride_, record_size_);
    }

private:
    record_table(std::span<const u8> data, std::size_t record_size, std::size_t stride, std::size_t size) noexcept
        : data_(data), record_size_(record_size), stride_(stride), size_(size) {}

    std::span<const u8> data_;
    std::size_t record_size_;
    std::size_t stride_;
    std::size_t size_;
};

} // namespace comad::mad
