// SPDX-License-Identifier: MIT
// mad_files.hpp - reads MADs from hex text, binary files and captures. Does not depend on particular structures.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/packet.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ibtool {

/// The bytes of one message, and their position in the file: `line 3`, `packet 7`, `byte 512`.
struct message {
    std::string where;
    std::vector<comad::u8> bytes;
    std::optional<comad::mad::packet_start> starts_with{}; ///< first header, if it is a packet from a capture
};

/// Reads the messages in a file (`-`: stdin). The content decides the format:
///   a gzip file             one of the following, compressed
///   a pcap or pcapng file   its InfiniBand packets, also those of RoCE
///   text                    hex digits with any spaces; offsets at the start and characters at the end, as printed by xxd and
///                           hexdump -C, and comments after # are ignored; or quoted texts with the escapes of C and Python.
///                           An empty line ends a message; a line with a whole MAD is a message of its own
///   anything else           MADs of 256 bytes, or of 320 bytes with the header of a umad device, one after the other;
///                           otherwise one message
/// Errors: throws std::runtime_error with one line that contains the problem and its position. If only the end of the file cannot be read,
/// `problem` gets one line, and the messages before it are returned.
std::vector<message> read_messages(const std::string& file, std::string& problem);
/// Reads messages from memory; `name` is the file in errors.
std::vector<message> messages_in(std::string contents, const std::string& name, std::string& problem);

/// Parses hex digits with any spaces and an optional 0x, or a quoted text with escapes: `"\x01\x1a"`, `b'...'`.
/// Errors: throws std::runtime_error with one line.
std::vector<comad::u8> parse_bytes(std::string_view text);

/// Returns the whole contents of a file (`-`: stdin). Throws std::runtime_error with one line.
std::string read_file(const std::string& file);

} // namespace ibtool
