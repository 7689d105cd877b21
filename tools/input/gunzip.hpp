// SPDX-License-Identifier: MIT
// gunzip.hpp - decompresses gzip files. Does not depend on their contents.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ibtool {

/// The default limit of gunzip(), because a small file can decompress to any size.
inline constexpr std::size_t most_decompressed = std::size_t{512} << 20; // bytes

/// Returns whether the bytes start like a gzip file (RFC 1952).
bool is_gzipped(std::string_view bytes) noexcept;

/// Decompresses all members of a gzip file. If the data is damaged, ends early, or decompresses to more than `most` bytes, `problem` gets
/// the reason without the file's name. The function then returns what it has decompressed before. Ignores bytes after the last member
/// that are not a member, as gzip does.
std::string gunzip(std::string_view bytes, std::string& problem, std::size_t most = most_decompressed);

} // namespace ibtool
