// SPDX-License-Identifier: MIT
// text_file.hpp - reads files that a user names: opens them without blocking, reads up to a limit, and reports errors
// in one line.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

namespace comad::iba {

/// The largest text file that is read, in bytes. Larger files are rejected.
inline constexpr std::size_t most_text = std::size_t{256} << 20;
/// The longest line of a text file, in bytes. Files with longer lines are rejected.
inline constexpr std::size_t longest_line_of_text = std::size_t{1} << 20;
/// The largest binary file that is read, such as a capture, in bytes. Larger files are rejected.
inline constexpr std::size_t most_bytes = std::size_t{512} << 20;

/// Opens a file for reading. It does not wait for a writer of a FIFO, and does not make a terminal the controlling
/// terminal. Returns the descriptor, which the caller closes, or -1 with errno set.
int open_to_read(const std::string& name) noexcept;

/// Returns the contents of an open file from its current position. For a pipe, the function waits for the writer,
/// until a signal with a handler arrives. It blocks these signals except while it waits, so that none of them is
/// missed.
/// Errors: std::runtime_error with the reason, without a name: the file has more than `most` bytes, cannot be read, or a signal arrived.
std::string bytes_in(int descriptor, std::size_t most = most_bytes);

/// Ends waits for pipes: bytes_in() and the functions that use it fail instead of waiting, now and later. `false` lets
/// them wait again. Async-signal-safe: call it in the handler of a signal that ends the program, because the signal
/// may arrive shortly before a wait.
void end_waits_for_pipes(bool end = true) noexcept;

/// Returns the contents of an open text file: at most most_text bytes, no line longer than longest_line_of_text, no
/// NUL.
/// Errors: those of bytes_in(), and std::runtime_error with the reason if the file is not a text file.
std::string text_in(int descriptor);

/// Opens a file and returns its bytes, as bytes_in().
/// Errors: std::runtime_error with one line, `cannot read 'name': No such file or directory`; the name is escaped.
std::string read_bytes(const std::string& name, std::size_t most = most_bytes);

/// Opens a text file and returns a stream of its contents, as text_in().
/// Errors: as read_bytes().
std::istringstream open_text_file(const std::string& name);

/// Returns without an error if `name` is a regular file or a link to one. Use it for files that are read
/// again while a program runs: reading a FIFO would never end.
/// Errors: std::runtime_error with one line, `cannot read 'name': it is not a regular file`.
void require_regular_file(const std::string& name);

/// Returns the first line of a regular file, such as an attribute in sysfs: at most 4096 bytes. Empty if the file
/// cannot be read.
std::string first_line_of(const std::string& name);

/// Returns this line up to its first blank or tab.
std::string first_word_of(const std::string& name);

/// Reads the lines of a text file one at a time, for files that are too large for memory.
class text_lines {
public:
    /// Opens the file. `longest`: longest line, in bytes.
    /// Errors: std::runtime_error with one line.
    text_lines(const std::string& name, std::size_t longest);
    ~text_lines();
    text_lines(const text_lines&) = delete;
    text_lines& operator=(const text_lines&) = delete;

    /// Returns the next line without its line end, or nullopt after the last line. The line is valid until the next
    /// call.
    /// Errors: std::runtime_error with one line: the line is too long, the file has more than 16 GiB or cannot be read.
    std::optional<std::string_view> next();
    /// Returns the number of the last line that next() returned, starting with 1.
    unsigned number() const noexcept;

private:
    struct source;
    std::unique_ptr<source> source_;
};

/// Returns the error `cannot read 'name': No such file or directory`, by errno; the name is escaped.
std::runtime_error cannot_read(const std::string& name);

} // namespace comad::iba
