// SPDX-License-Identifier: MIT
// output.hpp - writes the result of a command completely or reports an error, and prints messages on stderr. Does not depend on a format.
#pragma once
#include <comad/iba/types.hpp>

#include <fmt/format.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace ibtool {

/// The reader of stdout has closed the pipe. This needs no error message.
struct closed_pipe : std::exception {};

/// Writes to the file, or to stdout if the name is empty.
///
/// A regular file, or a new one, is replaced by replace_file() and keeps its mode and, if possible, its owner. A symbolic link stays, and
/// its target is replaced. Anything else, such as /dev/stdout, a FIFO or a file in /proc, is written to directly.
/// While a lasting_output exists, writing to stdout does not wait for the reader, and a record that does not fit is dropped.
/// Errors: std::runtime_error with one line if not everything could be written; closed_pipe if stdout is a pipe without a reader.
void write_output(std::string_view text, const std::string& file = {});

/// Replaces the file by a temporary file in the same directory, which is synchronized with the disk first. A reader gets the complete old
/// text or the complete new one, even after a full disk or a crash. An existing file must be regular and not a symbolic link. `mode`: the
/// new permissions. Signals are blocked meanwhile, so that no temporary file is left.
/// Errors: std::runtime_error with one line; the old file is then unchanged.
void replace_file(std::string_view text, const std::string& file, unsigned mode = 0644);

/// Checks that replace_file() can create its temporary file, by creating and removing one. For commands that must not fail after they have
/// changed something.
/// Errors: std::runtime_error with the line of replace_file().
void require_replaceable(const std::string& file);

/// Writes to stdout as write_output() does, for programs that continue if this fails. Prints one message the first time.
/// Returns false if not all of the text was accepted.
bool offer_output(std::string_view text) noexcept;

/// Writes to stderr. Ignores a full disk or a closed pipe. Waits for a reader until a signal arrives; while a lasting_output exists, does
/// not wait, and drops what does not fit.
void print_error(std::string_view text) noexcept;
/// Writes to stderr without waiting: what stderr does not accept at once is lost. For text that is soon outdated, such as progress.
void offer_error(std::string_view text) noexcept;
template <class... Values>
void print_error(fmt::format_string<Values...> text, Values&&... values)
    requires(sizeof...(Values) > 0)
{
    print_error(std::string_view(fmt::format(text, std::forward<Values>(values)...)));
}

/// Prints `ibtool: out of memory` on stderr, without allocating memory.
void print_out_of_memory() noexcept;

/// For commands that run until a signal arrives: while it exists, neither write_output() to stdout nor print_error() waits for a reader, so
/// that the event loop continues. Only one object may exist at a time.
class lasting_output {
public:
    /// `on_failure`: called in another thread if stdout fails after write_output() has returned. May be empty.
    explicit lasting_output(std::function<void()> on_failure = {});
    ~lasting_output();
    lasting_output(const lasting_output&) = delete;
    lasting_output& operator=(const lasting_output&) = delete;

    /// Ends the output, and prints a line with the number of dropped records. Waits for readers until gives_up() returns true.
    /// Returns false if records of stdout were dropped.
    /// Errors: those of write_output() for records that were written after it had returned; none if offer_output() was called.
    bool finish(const std::function<bool()>& gives_up);

    struct streams;

private:
    std::shared_ptr<streams> streams_;
};

/// How a fabric_label names its fabric.
enum class fabric_format : comad::u8 {
    text,       ///< a line `# fabric NAME` precedes the text
    json_lines, ///< objects get a member `fabric`
    csv,        ///< lines get the first column `fabric`
};
/// While it exists, text for stdout and messages belong to one of several fabrics. Only one object may exist at a time.
/// Threads: only the thread that writes to stdout.
class fabric_label {
public:
    /// `is_first`: no text of another fabric was written before, so CSV needs its first line.
    fabric_label(std::string name, fabric_format, bool is_first);
    ~fabric_label();
    fabric_label(const fabric_label&) = delete;
    fabric_label& operator=(const fabric_label&) = delete;
    /// Returns whether text for stdout was written with this label.
    bool has_text() const noexcept;
};

/// Records that a stop signal has arrived: print_error() then waits for at most one second more.
void note_stop_signal() noexcept;

/// Returns the name at the start of messages: `ibtool`, or the name of the link through which it was called.
const std::string& program_name() noexcept;
/// Returns whether the program was called by the name of a command. Users of infiniband-diags' names expect the behavior of those programs.
bool is_called_by_link() noexcept;
/// Sets the name. Call it at the start of the program, before there are other threads.
void set_program_name(std::string_view);

/// Prints a line on stderr with print_error(): the name of the program, and the text, escaped for a terminal, because it may contain user
/// input or data from the network. Text that is escaped already does not change.
void print_line(std::string_view text);
template <class... Values> void print_message(fmt::format_string<Values...> text, Values&&... values) {
    print_line(fmt::format(text, std::forward<Values>(values)...));
}

/// Indents the lines of a nested dump by two tabs, except lines that continue a field and start with tabs already. Precondition: the last
/// line ends with a line break.
std::string indented(std::string_view lines);

} // namespace ibtool
