// SPDX-License-Identifier: MIT
// output.hpp - a command's result, written whole or with an error, and what goes to stderr beside it. Knows no format.
#pragma once
#include <fmt/format.h>

#include <exception>
#include <string>
#include <string_view>
#include <utility>

namespace ibtool {

/// Nobody reads stdout any more: no error that anybody wants to hear of.
struct closed_pipe : std::exception {};

/// Writes to the file, or to stdout if the name is empty. Throws std::runtime_error with one line if not all of it could
/// be written, closed_pipe where stdout is a pipe without a reader.
void write_output(std::string_view text, const std::string& file = {});

/// Replaces the file at once: who reads it gets all of the old or all of the new. What is there already must be a regular file;
/// a symbolic link is none. `mode`: who may read it. Throws std::runtime_error with one line where that fails, and leaves the old
/// one.
void replace_file(std::string_view text, const std::string& file, unsigned mode = 0644);

/// Writes to stdout what it takes, as print_error() does to stderr: for what has more important things to do. False: not all.
bool offer_output(std::string_view text) noexcept;

/// Writes to stderr what it takes: a full disk, a closed pipe or one that nobody reads must not end what runs, nor hold it.
void print_error(std::string_view text) noexcept;
template <class... Values>
void print_error(fmt::format_string<Values...> text, Values&&... values)
    requires(sizeof...(Values) > 0)
{
    print_error(std::string_view(fmt::format(text, std::forward<Values>(values)...)));
}

/// What messages begin with: `ibtool`, or the name of the command that it was called by, through a link.
const std::string& program_name() noexcept;
/// Whether that is a command's: who calls infiniband-diags' programs by their names expects what they do.
bool is_called_by_link() noexcept;
/// At the beginning of the program, before it has other threads.
void set_program_name(std::string_view);

/// A line to stderr, as print_error(): the name of the program, and the text, escaped for a terminal: it may quote what somebody
/// typed or what came from the network. What is escaped already stays as it is.
void print_line(std::string_view text);
template <class... Values> void print_message(fmt::format_string<Values...> text, Values&&... values) {
    print_line(fmt::format(text, std::forward<Values>(values)...));
}

/// The lines of a dump inside of a dump: two tabs in front of each, but of those that go on with a field and begin with tabs
/// already. Precondition: the last one ends.
std::string indented(std::string_view lines);

} // namespace ibtool
