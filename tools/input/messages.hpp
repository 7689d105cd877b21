// SPDX-License-Identifier: MIT
// messages.hpp - MADs as people keep them: hex text, binary files, captures. Knows no structure.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/packet.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// The bytes of one message, and where they stood: `line 3`, `packet 7`, `byte 512`.
struct message {
    std::string where;
    std::vector<comad::u8> bytes;
    std::optional<comad::mad::packet_start> starts_with{}; ///< of a packet from a capture: its first header
};

/// The messages of a file (`-`: the standard input), which tells by its contents what it is:
///   a gzip file             one of the following, compressed
///   a pcap or pcapng file   its InfiniBand packets, also those of RoCE
///   text                    hex digits, spaces as one likes; offsets in front and characters behind, as xxd and
///                           hexdump -C write them, are left out, and so is what follows a #; or texts in quotes with the
///                           escapes of C and Python. A message ends with an empty line, or with the line if that alone
///                           holds a whole MAD
///   anything else           MADs of 256 bytes, or of 320 with the header of a umad device, one after the other; else one
///                           message
/// Throws std::runtime_error with one line that says what and where. `problem` gets one line, and the messages before
/// it are returned, if the end of the file cannot be read.
std::vector<message> read_messages(const std::string& file, std::string& problem);
/// The same of contents that are in memory; `name` is for errors.
std::vector<message> messages_in(std::string contents, const std::string& name, std::string& problem);

/// Hex digits, spaces as one likes, also 0x in front; or a text in quotes with escapes: `"\x01\x1a"`, `b'...'`.
/// Throws std::runtime_error with one line.
std::vector<comad::u8> parse_bytes(std::string_view text);

/// The whole file (`-`: the standard input). Throws std::runtime_error with one line.
std::string read_file(const std::string& file);

} // namespace ibtool
