// SPDX-License-Identifier: MIT
// paths.hpp - path records of a simulated subnet (IBA 15.2.5.16, 15.2.5.19, 15.2.5.20). It does not depend on MADs.
#pragma once
#include "records.hpp"

namespace comad::transports::sim {

/// Returns whether the query names a source or a destination.
bool has_an_end(const collector& query) noexcept;
/// Offers one path for each pair of selected ports, as MADs are routed. Precondition: has_an_end().
void path_records(attributes& of, collector& found);

/// Appends the paths between all ports that a GetMulti names by GID; the GIDs follow the record. Returns an error
/// status if the request is invalid.
iba::SAStatus multi_path_records(attributes& of, std::span<const u8> request, u64 mask, std::vector<u8>& found);

/// Appends the nodes along the first path that a PathRecord selects, including both ends. Returns an error status if
/// the request is invalid.
iba::SAStatus trace_records(attributes& of, std::span<const u8> request, u64 mask, std::vector<u8>& found);

} // namespace comad::transports::sim
