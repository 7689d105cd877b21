// SPDX-License-Identifier: MIT
// counter_fields.hpp - the counters of any performance attribute, by its field table. Sends nothing.
#pragma once
#include <comad/iba/detail/table.hpp>

#include <string>

namespace comad::counters {

/// Returns whether a row holds counters: it is neither reserved nor one of the fields that select a port and its counters.
constexpr bool holds_counters(const iba::row_info& row) noexcept {
    return !row.is_reserved && row.name != "opCode" && row.name != "portSelect" && row.name != "counterSelect" &&
           row.name != "counterSelect2";
}

/// One counter of an attribute: a field, or an element of an array.
struct counter_field {
    const iba::row_info& row;
    unsigned index; ///< in the array; 0 if the field is not an array

    /// The position of its first bit.
    unsigned offset() const noexcept { return row.off + row.width * index; }
    unsigned width() const noexcept { return row.width; }
    /// `portRcvErrors`, `portVLXmitWait[3]`.
    std::string name() const;
};

/// Calls f(counter_field) for each counter, in wire order.
template <class F> void for_each_counter_field(const iba::record_info& info, F&& f) {
    for (const iba::row_info& row : info.rows)
        if (holds_counters(row))
            for (unsigned i = 0; i < row.count; ++i) f(counter_field{row, i});
}

} // namespace comad::counters
