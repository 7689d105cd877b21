// SPDX-License-Identifier: MIT
// counter_fields.cpp - the names of the elements of counters that are arrays.
#include <comad/counters/detail/counter_fields.hpp>

#include <fmt/format.h>

namespace comad::counters {

std::string counter_field::name() const {
    return row.count > 1 ? fmt::format("{}[{}]", row.name, index) : std::string(row.name);
}

} // namespace comad::counters
