// SPDX-License-Identifier: MIT
// record_table.hpp - the records of an SA reply: how far apart they stand, how many there are (IBA 15.2.1.1). Knows no
// record's contents.
#pragma once
#include <comad/iba/detail/error.hpp>
#include <comad/iba/types.hpp>

#include <cstddef>
#include <span>

namespace comad::mad {

/// AttributeOffset of records of `size` bytes: each begins at a multiple of 8.
constexpr u16 attribute_offset_of(std::size_t size) noexcept { return static_cast<u16>((size + 7) / 8); }

/// A view of the records in an SA message, one after the other. The message must outlive it.
class record_table {
public:
    /// `message`: SA header and data, as rmpp_receiver or the kernel give it. Records have `record_size` bytes, not 0, and
    /// stand AttributeOffset apart; 0 means that there are none. The last one's padding may be missing.
    /// Errors: too_short, if the message is shorter than its header, the records overlap, the last one is not whole, or
    ///         there is something although there are none.
    static iba::result<record_table> of(std::span<const u8> message, std::size_t record_size);
    /// Of a successful reply to a request for a table, as a transport gives it. A single MAD of 256 bytes has as many records as
    /// its PayloadLength says, and must be the last segment, too.
    /// Errors: as of(). The same if the reply is not an RMPP transfer, which such a reply must be (IBA 15.2.2): how many records
    ///         it has, and which of them are missing, cannot be known.
    static iba::result<record_table> of_reply(std::span<const u8> reply, std::size_t record_size);

    std::size_t size() const noexcept { return size_; }
    /// Bytes from one record to the next; 0: there are none.
    std::size_t stride() const noexcept { return stride_; }
    /// The record's bytes, without padding. Precondition: index < size().
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
