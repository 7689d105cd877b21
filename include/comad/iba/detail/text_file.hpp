// SPDX-License-Identifier: MIT
// text_file.hpp - files that a user names: opened without waiting, read up to a limit, or refused with one line.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace comad::iba {

/// The largest text file that is read, in bytes. Larger files are refused.
inline constexpr std::size_t most_text = std::size_t{256} << 20;
/// The longest line of a text file, in bytes. Files with longer lines are refused.
inline constexpr std::size_t longest_line_of_text = std::size_t{1} << 20;
/// The largest file of bytes that is read, such as a capture. Larger files are refused.
inline constexpr std::size_t most_bytes = std::size_t{512} << 20;

/// Opens a file to read it. Never waits for a writer of a FIFO, and never makes a terminal the controlling one.
/// Returns the descriptor, which the caller closes, or -1 with errno set.
int open_to_read(const std::string& name) noexcept;

/// Returns what an open file has from here on. It may be a pipe: then this waits for the writer, until a signal that has a handler
/// arrives. Such signals are held back while nothing waits, so that none of them is missed.
/// Errors: std::runtime_error with the reason, without a name: the file has more than `most` bytes, cannot be read, or a signal arrived.
std::string bytes_in(int descriptor, std::size_t most = most_bytes);

/// Ends waits for pipes: bytes_in() and all that uses it fail where they would wait, now and from now on. `false` lets them wait again.
/// Async-signal-safe, for the handler of a signal that is to end the program: it may arrive shortly before such a wait.
void end_waits_for_pipes(bool end = true) noexcept;

/// The same of a text file: most_text bytes at most, no line longer than longest_line_of_text, no NUL.
/// Errors: those of bytes_in(), and std::runtime_error with the reason for what is not a text.
std::string text_in(int descriptor);

/// Opens a file and returns its bytes, as bytes_in().
/// Errors: std::runtime_error with one line, `cannot read 'name': No such file or directory`; the name is escaped.
std::string read_bytes(const std::string& name, std::size_t most = most_bytes);

/// Opens a text file, as text_in(), and returns a stream of what it has.
/// Errors: as read_bytes().
std::istringstream open_text_file(const std::string& name);

/// Returns without an error if the name is that of a regular file, or of a link to one. For files that are read again while a
/// program runs: a FIFO in such a place would never end.
/// Errors: std::runtime_error with one line, `cannot read 'name': it is not a regular file`.
void require_regular_file(const std::string& name);

/// The first line of a regular file, such as an attribute in sysfs: at most 4096 bytes of it. Empty if the file cannot be read.
std::string first_line_of(const std::string& name);

/// The lines of a text file, one at a time: for files that are too large to be in memory at once.
class text_lines {
public:
    /// Opens the file. `longest`: of a line, in bytes.
    /// Errors: std::runtime_error with one line.
    text_lines(const std::string& name, std::size_t longest);
    ~text_lines();
    text_lines(const text_lines&) = delete;
    text_lines& operator=(const text_lines&) = delete;

    /// The next line, without its end; nothing after the last one. It is valid until the next call.
    /// Errors: std::runtime_error with one line: the line is too long, the file has more than 16 GiB or cannot be read.
    std::optional<std::string_view> next();
    /// The number of the last line that next() returned, from 1.
    unsigned number() const noexcept;

private:
    struct source;
    std::unique_ptr<source> source_;
};

/// `cannot read 'name': No such file or directory`, by errno; the name is escaped.
std::runtime_error cannot_read(const std::string& name);

} // namespace comad::iba
