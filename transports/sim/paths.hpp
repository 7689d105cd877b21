// SPDX-License-Identifier: MIT
// paths.hpp - records of paths and of the members of the broadcast group (IBA 15.2.5.16, 15.2.5.17). Knows no MAD.
#pragma once
#include "records.hpp"

namespace comad::transports::sim {

/// The query names a port from which or to which the paths lead.
bool has_an_end(const collector& query) noexcept;
/// One path for each pair of ports that are named: the one that MADs take. Precondition: has_an_end().
void path_records(attributes& of, collector& found);

/// Every cabled CA port is a member of the group that IPoIB makes first, ff12:401b:ffff::ffff:ffff.
void member_records(attributes& of, collector& found);

} // namespace comad::transports::sim
