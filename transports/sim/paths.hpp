// SPDX-License-Identifier: MIT
// paths.hpp - records of paths (IBA 15.2.5.16, 15.2.5.19, 15.2.5.20). Knows no MAD.
#pragma once
#include "records.hpp"

namespace comad::transports::sim {

/// The query names a port from which or to which the paths lead.
bool has_an_end(const collector& query) noexcept;
/// One path for each pair of ports that are named: the one that MADs take. Precondition: has_an_end().
void path_records(attributes& of, collector& found);

/// The paths between all ports that a GetMulti names by GID, of which there are as many behind the record as it says.
/// Otherwise: why not.
iba::SAStatus multi_path_records(attributes& of, std::span<const u8> request, u64 mask, std::vector<u8>& found);

/// The nodes on the way of the first path that a PathRecord means, its ends included. Otherwise: why not.
iba::SAStatus trace_records(attributes& of, std::span<const u8> request, u64 mask, std::vector<u8>& found);

} // namespace comad::transports::sim
