// SPDX-License-Identifier: MIT
// table.hpp - the records in a reply of the subnet administrator (IBA 15.2.1.1, 15.4.2): where they lie. Knows no record.
#pragma once
#include <comad/iba/types.hpp>

#include <cstddef>
#include <optional>
#include <span>

namespace comad::mad {

/// Where records lie in a reply: `count` of them, `stride` bytes apart.
struct table_reply {
    const u8* first = nullptr;
    std::size_t count = 0;
    std::size_t stride = 0;
};

/// The records of `record_size` bytes in a successful reply: one MAD, or several put together, the SA header of the first
/// in front. A reply without RMPP has one record. Nothing if it is too short, if only its first segment is there, or if its
/// records are smaller than record_size. Records with attributeOffset 0 are none.
std::optional<table_reply> read_table(std::span<const u8> reply, std::size_t record_size) noexcept;

} // namespace comad::mad
