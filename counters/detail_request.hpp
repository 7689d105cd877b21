// SPDX-License-Identifier: MIT
// detail_request.hpp - makes requests for the optional performance attributes of a port. Sends nothing.
#pragma once
#include <comad/counters/detail/port_details.hpp>

namespace comad::counters {

/// The number of detail_types.
inline constexpr std::size_t detail_count = std::tuple_size_v<detail_types>;

/// Returns a request for this port that selects no counter.
template <class T> T request_for(u8 port) {
    T request;
    request.portSelect = port;
    return request;
}

} // namespace comad::counters
