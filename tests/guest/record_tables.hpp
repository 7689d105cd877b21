// SPDX-License-Identifier: MIT
// record_tables.hpp - tables of NodeRecords of any length, for who tries RMPP: who answers with them, and who asks for them.
#pragma once
#include "support/catch.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba/sa.hpp>
#include <comad/server/responder.hpp>

#include <cstddef>

namespace comad::test {

/// Bytes of a record in a table: of 108, for the SA counts in words of 8.
inline constexpr std::size_t record_stride = 112;
/// So many times 16 records are a mebibyte.
inline constexpr u16 mebibyte = (1 << 20) / record_stride / 16;

/// Answers SubnAdmGetTable(NodeRecord) with as many records as the LID asked for says, times 16; with no fewer than `least`.
server::responder record_tables(u32 least = 0);

/// Asks for so many times 16 of them, and looks at each.
void check_table(coro::blocking_transactor&, const mad::IBPath& to, u16 sixteens);

} // namespace comad::test
