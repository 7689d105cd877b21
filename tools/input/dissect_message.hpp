// SPDX-License-Identifier: MIT
// dissect_message.hpp - finds and prints the structures in a message: packet headers, a umad header, the MAD and its attribute. Opens no
// files.
#pragma once
#include "input/mad_files.hpp"
#include <comad/iba/detail/table.hpp>

#include <span>
#include <string>
#include <vector>

namespace ibtool {

/// The structure at the start of a message.
enum class message_kind {
    automatic, ///< detected from the bytes
    mad,
    umad,   ///< the 64-byte header of a umad device (struct ib_user_mad_hdr)
    packet, ///< LRH
    grh,    ///< GRH: a receive buffer of a datagram queue pair, without BTH and DETH, or the rest of a whole packet
    bth,
};

/// The position of a structure in a message.
struct part {
    const comad::iba::record_info* table;
    std::size_t begin; ///< offset from the start of the message, in bytes
};

/// The parts of a message.
struct dissection {
    std::vector<part> headers; ///< before the MAD
    std::string umad;          ///< the umad header as text, if there is one
    /// The kind of payload if it is not a MAD: `IPv4 over InfiniBand, to queue pair 0x48`.
    std::string datagram;
    std::span<const comad::u8> mad;                     ///< empty: the message has no MAD
    const comad::iba::record_info* format = nullptr;    ///< format of the MAD; null: unknown class, or not a MAD
    const comad::iba::record_info* attribute = nullptr; ///< attribute in the data area; null: unknown
};

/// Splits a message into its parts. Throws std::runtime_error with one line if the bytes are not of that kind.
dissection dissect(const message&, message_kind kind);

/// Returns the annotated words of every part (dump() of print.hpp).
std::string format_dump(const message&, const dissection&);
/// Returns one field per line (dotted() of print.hpp).
std::string format_dotted(const message&, const dissection&);
/// Returns one JSON object with the names of the parts as keys. `attribute` is the structure in the MAD's data area, if it is known.
std::string message_json(const message&, const dissection&);

} // namespace ibtool
