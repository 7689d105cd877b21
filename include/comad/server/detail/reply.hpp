// SPDX-License-Identifier: MIT
// reply.hpp - makes replies from requests: reverses the headers and adds a payload, a table or a status (IBA 13.4.5, 14.2.2, 15.2.1). It
// sends nothing, and does not interpret payloads.
#pragma once
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace comad::server {

/// The bytes of one MAD.
using mad_bytes = std::array<u8, mad::mad_size>;

/// Turns the headers of the request in `mad` into those of its reply.
/// Unchanged: the data, transaction ID, attribute ID and modifier, the SA's component mask, and the initial and
/// return path.
/// Changed: the method becomes GetResp for Get and Set, TrapRepress for Trap, ReportResp for Report, and so on.
/// M_Key, SM_Key and the RMPP fields are cleared. A directed route gets its D bit and the hop pointer hopCount + 1,
/// where the way back starts.
/// `status`: 16 bits; 15 bits for directed routes.
/// Returns false and changes nothing if the MAD has no reply: a response, Send, TrapRepress, or a Trap with a status
/// other than 0.
bool turn_into_reply(std::span<u8, mad::mad_size> mad, u16 status = 0) noexcept;

/// Returns the reply to a request of at least 24 bytes. The data of the reply are `payload`, followed by zeros.
/// Returns nullopt if the request has no reply. Precondition: the payload fits into one MAD of the class.
std::optional<mad_bytes> make_reply(std::span<const u8> request, std::span<const u8> payload, u32 attributeModifier,
                                    u16 status = 0, u8 class_status = 0) noexcept;

/// Returns a reply that reports only a status and otherwise repeats the request; for a longer request, its first MAD.
/// `status`: the low 5 bits of MADHeader.status; `class_status`: the upper byte (SAStatus).
std::optional<mad_bytes> make_error(std::span<const u8> request, u16 status, u8 class_status = 0) noexcept;

/// Returns a reply of any length that is sent by RMPP, as one message: the headers, followed by `data`. The RMPP
/// header equals the header of the first segment, which is the format of Linux. Returns an empty message if the request has no
/// reply. Precondition: the request has a whole header of a class with RMPP.
std::vector<u8> make_long_reply(std::span<const u8> request, std::span<const u8> data);

/// Returns a table of the SA that is sent by RMPP. `records` contains consecutive records of `record_size` bytes. In
/// the message, each record starts at a multiple of 8 bytes, and attributeOffset is the distance between them. An
/// empty table has attributeOffset 0.
std::vector<u8> make_table_reply(std::span<const u8> request, std::span<const u8> records, std::size_t record_size);

/// Returns the path of the reply, which leads back to the source. As the source LID, the path contains only the path
/// bits.
mad::any_path reply_path(std::span<const u8> request, const mad::source_address& source) noexcept;

} // namespace comad::server
