// SPDX-License-Identifier: MIT
// record_tables.hpp - tables of NodeRecords of any length for tests of RMPP: a responder, and a requester that checks
// them.
#pragma once
#include "support/catch.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba/sa.hpp>
#include <comad/server/responder.hpp>

#include <cstddef>

namespace comad::test {

/// Bytes per record in a table: a record has 108, and the SA counts in units of 8.
inline constexpr std::size_t record_stride = 112;
/// This number, times 16, is the number of records in a mebibyte.
inline constexpr u16 mebibyte = (1 << 20) / record_stride / 16;

/// Replies to SubnAdmGetTable(NodeRecord) with 16 times the requested LID as the number of records, but at least
/// `least`.
server::responder record_tables(u32 least = 0);

/// Requests this number of records, times 16, and checks each.
void check_table(coro::blocking_transactor&, const mad::IBPath& to, u16 sixteens);

} // namespace comad::test
