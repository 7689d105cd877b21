// SPDX-License-Identifier: MIT
// reply.hpp - the MADs that answer a request: its own headers turned round, with a payload, a table or a status
// (IBA 13.4.5, 14.2.2, 15.2.1). Knows no class' meaning and sends nothing.
#pragma once
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace comad::server {

using mad_bytes = std::array<u8, mad::mad_size>;

/// Turns the headers of the request in `mad` into those of its answer; its data stay. Method: GetResp of Get and Set,
/// TrapRepress of Trap, ReportResp of Report, ...; transaction ID, attribute and modifier stay. M_Key and SM_Key are not
/// told; the SA's component mask stays; what the request said of RMPP is taken away. A directed route gets its D bit, and
/// hop pointer hopCount + 1, from where the way back begins; initial and return path stay.
/// False, and nothing happens: it has no answer, as responses, Send, TrapRepress, and a Trap that was not understood.
/// `status`: 16 bits, of directed routes 15.
bool turn_round(std::span<u8, mad::mad_size> mad, u16 status = 0) noexcept;

/// The answer to a request of at least 24 bytes: its data are `payload`, then zeros. Nothing where there is no answer.
/// Precondition: the payload fits into one MAD of the class.
std::optional<mad_bytes> make_reply(std::span<const u8> request, std::span<const u8> payload, u32 attributeModifier,
                                    u16 status = 0, u8 class_status = 0) noexcept;

/// The answer that says no more than a status: otherwise the request itself comes back, of a longer one its first MAD.
/// `status`: the low 5 bits of MADHeader.status; `class_status`: the upper byte (SAStatus).
std::optional<mad_bytes> make_error(std::span<const u8> request, u16 status, u8 class_status = 0) noexcept;

/// An answer of any length by RMPP, as one message: the headers, then `data`. What RMPP's header says is that of the first
/// segment, as Linux takes and gives it. Nothing where there is no answer. Precondition: a whole header of a class with
/// RMPP.
std::vector<u8> make_long_reply(std::span<const u8> request, std::span<const u8> data);

/// A table of the SA by RMPP: `records`, each of `record_size` bytes, one after the other. In the message each begins at a
/// multiple of 8 bytes, and attributeOffset says how far apart they are; an empty one has attributeOffset 0.
std::vector<u8> make_table_reply(std::span<const u8> request, std::span<const u8> records, std::size_t record_size);

/// Where the answer goes: back to the source. Of our own LID it has the path bits alone.
mad::any_path reply_path(std::span<const u8> request, const mad::source_address& source) noexcept;

} // namespace comad::server
