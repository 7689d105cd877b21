// SPDX-License-Identifier: MIT
// port_series.hpp - the Prometheus series of ports in addition to PortInfo and PortCountersExtended: use of the link, error correction,
// and the counters of details. Does not depend on the format of a line.
#pragma once
#include <comad/counters/formats.hpp>

#include <span>
#include <string>
#include <string_view>

namespace comad::counters {

/// A family of series with one value for each port, or one for each element of a field that is an array.
struct port_series {
    static constexpr unsigned no_detail = ~0u;

    std::string_view name, type, help;
    unsigned detail = no_detail; ///< index in detail_types of the attribute that has the values
    bool is_error = false;       ///< counts errors or discards
    std::string_view label = {}; ///< label of the elements: `vl`, `sl` or `lane`; empty: there is one value
    /// Returns the number of elements. Null: 1.
    unsigned (*count)(const exposed_sweep&, const reading&) = nullptr;
    /// Returns a value of a port, by its index in the sweep; an empty text if it is not known.
    std::string (*value)(const exposed_sweep&, std::size_t port, unsigned element) = nullptr;
};

/// Returns all families, in the order of the page.
std::span<const port_series> all_port_series() noexcept;

/// Returns the attributes that at least one port of the sweep has.
port_detail_set details_in(const sweep&) noexcept;

} // namespace comad::counters
