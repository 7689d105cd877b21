// SPDX-License-Identifier: MIT
// dissect.hpp - which structures a message consists of: packet headers, a umad header, the MAD and its attribute.
// Prints them. Knows no file.
#pragma once
#include "input/messages.hpp"
#include <comad/iba/detail/table.hpp>

#include <span>
#include <string>
#include <vector>

namespace ibtool {

/// What a message begins with.
enum class message_kind {
    automatic, ///< as its bytes suggest
    mad,
    umad,   ///< the 64-byte header of a umad device (struct ib_user_mad_hdr)
    packet, ///< LRH
    grh,    ///< GRH: a receive buffer of a datagram queue pair, whose BTH and DETH are gone, or a whole packet's rest
    bth,
};

/// A structure inside a message.
struct part {
    const comad::iba::record_info* table;
    std::size_t begin; ///< bytes from the message's first
};

/// A message taken apart.
struct dissection {
    std::vector<part> headers;      ///< in front of the MAD
    std::string umad;               ///< the umad header as text, if there is one
    std::string datagram;           ///< what the rest is if it is not a MAD: `IPv4 over InfiniBand, to queue pair 0x48`
    std::span<const comad::u8> mad; ///< the rest; empty: none
    const comad::iba::record_info* format = nullptr;    ///< of the MAD; null: unknown class, or not a MAD
    const comad::iba::record_info* attribute = nullptr; ///< in its data area; null: unknown
};

/// Throws std::runtime_error with one line if the bytes are nothing that `kind` says.
dissection dissect(const message&, message_kind kind);

/// Annotated words of every part (dump() of print.hpp).
std::string dump_text(const message&, const dissection&);
/// One field per line (dotted() of print.hpp).
std::string dotted_text(const message&, const dissection&);
/// One object: the names of the parts are keys; `attribute` names the structure in the MAD's data area, if it is known.
std::string message_json(const message&, const dissection&);

} // namespace ibtool
