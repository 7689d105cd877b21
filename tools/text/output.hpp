// SPDX-License-Identifier: MIT
// output.hpp - a command's result, written whole or with an error, and what goes to stderr beside it. Knows no format.
#pragma once
#include <fmt/format.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ibtool {

/// The reader of stdout has gone. Not an error that anybody needs a message about.
struct closed_pipe : std::exception {};

/// Writes to the file, or to stdout if the name is empty.
///
/// A regular file, or one that does not exist, is replaced by replace_file() and keeps its mode and, if possible, its owner; a
/// symbolic link stays, and the file that it leads to is replaced. Anything else, such as /dev/stdout, a FIFO or a file in /proc, is
/// written to directly.
/// While a lasting_output lives, writing to stdout does not wait for the reader, and a record that finds no room is dropped.
/// Errors: std::runtime_error with one line if not all of it could be written; closed_pipe if stdout is a pipe without a reader.
void write_output(std::string_view text, const std::string& file = {});

/// Replaces the file by a temporary file in the same directory, which is synchronized with the disk first: a reader gets all of the old
/// text or all of the new one, also after a full disk or a crash. What is there already must be a regular file, and not a symbolic
/// link. `mode`: the new permissions. Signals arrive when it is done, so that no temporary file stays.
/// Errors: std::runtime_error with one line; the old file is then as it was.
void replace_file(std::string_view text, const std::string& file, unsigned mode = 0644);

/// Writes to stdout as write_output() does, for programs that go on if that fails. Prints one message the first time.
/// Returns false if not all of the text was taken.
bool offer_output(std::string_view text) noexcept;

/// Writes to stderr. A full disk or a closed pipe ends nothing. Waits for a reader until a signal arrives; while a lasting_output
/// lives it does not wait, and what finds no room is dropped.
void print_error(std::string_view text) noexcept;
/// The same, but never waits: what stderr does not take at once is lost. For what is soon out of date, such as progress.
void offer_error(std::string_view text) noexcept;
template <class... Values>
void print_error(fmt::format_string<Values...> text, Values&&... values)
    requires(sizeof...(Values) > 0)
{
    print_error(std::string_view(fmt::format(text, std::forward<Values>(values)...)));
}

/// `ibtool: out of memory` to stderr, without allocating.
void print_out_of_memory() noexcept;

/// For commands that run until a signal arrives: while it lives, neither write_output() to stdout nor print_error() waits for a reader,
/// so that the event loop goes on. One at a time.
class lasting_output {
public:
    /// `on_failure`: called from another thread if stdout fails after write_output() has returned. May be empty.
    explicit lasting_output(std::function<void()> on_failure = {});
    ~lasting_output();
    lasting_output(const lasting_output&) = delete;
    lasting_output& operator=(const lasting_output&) = delete;

    /// Ends it, and prints a line with the number of records that were dropped. Waits for readers until gives_up() returns true.
    /// Returns false if records of stdout were dropped.
    /// Errors: those of write_output(), of what was written after it had returned; not if offer_output() was called.
    bool finish(const std::function<bool()>& gives_up);

    struct streams;

private:
    std::shared_ptr<streams> streams_;
};

/// A stop signal has arrived: print_error() waits for one second more at most.
void note_stop_signal() noexcept;

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
