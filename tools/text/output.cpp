// SPDX-License-Identifier: MIT
// output.cpp - writes to stdout and stderr, with or without waiting for readers.
#include "text/output.hpp"

#include "comad.hpp"
#include "input/queued_writer.hpp"
#include "text/fabric_label.hpp"
#include "text/file_replacement.hpp"
#include "text/waiting_write.hpp"
#include <comad/iba/detail/text.hpp>
#include <comad/mad/detail/unique_fd.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <mutex>
#include <poll.h>
#include <stdexcept>
#include <unistd.h>
#include <utility>

namespace ibtool {

/// The queues for stdout and stderr of a lasting_output.
struct lasting_output::streams {
    explicit streams(std::function<void()> on_failure)
        : out(copy_of(STDOUT_FILENO), {.most = most_of_stdout, .on_error = std::move(on_failure)}),
          errors(copy_of(STDERR_FILENO), {.most = most_of_stderr}) {}

    static constexpr std::size_t most_of_stdout = std::size_t{4} << 20, most_of_stderr = std::size_t{1} << 20;
    static comad::mad::unique_fd copy_of(int stream) {
        return comad::mad::unique_fd(::fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    }

    queued_writer out, errors;
    std::atomic<bool> goes_on = false;               // offer_output() was called: the program continues if stdout fails
    std::atomic<bool> reported_losses = false;       // losses of stdout were reported
    std::atomic<std::uint64_t> reported_dropped = 0; // number of dropped messages that were reported
};

namespace {

std::mutex lasting_mutex;
std::shared_ptr<lasting_output::streams> lasting_now; // null: there is no lasting_output

std::shared_ptr<lasting_output::streams> lasting_streams() noexcept {
    const std::lock_guard lock(lasting_mutex);
    return lasting_now;
}

[[noreturn]] void fail_at_stdout(int error) {
    if (error == EPIPE) throw closed_pipe();
    throw std::runtime_error(fmt::format("cannot write all of the output to stdout: {}", std::strerror(error)));
}

void print_losses(lasting_output::streams& s) {
    if (s.out.dropped() > 0 && !s.reported_losses.exchange(true))
        print_message("cannot write all of the output to stdout; some of it is dropped");
}

void write_stdout(std::string_view text) {
    const auto lasting = lasting_streams();
    if (!lasting) {
        if (const int error = write_waiting(STDOUT_FILENO, text)) fail_at_stdout(error);
        return;
    }
    const auto outcome = lasting->out.write(text);
    if (!lasting->goes_on && (outcome == queued_writer::outcome::failed || lasting->out.error() != 0))
        fail_at_stdout(lasting->out.error());
    print_losses(*lasting);
}

} // namespace

void write_output(std::string_view text, const std::string& file) {
    if (file.empty()) write_stdout(is_labelled() ? with_fabric_label(text) : std::string(text));
    else write_file(text, file);
}

bool offer_output(std::string_view text) noexcept {
    try {
        const auto lasting = lasting_streams();
        if (lasting) lasting->goes_on = true;
        const std::uint64_t before = lasting ? lasting->out.dropped() : 0;
        write_stdout(text);
        return !lasting || lasting->out.dropped() == before;
    } catch (const std::exception&) {
        print_message("cannot write all of the output to stdout; some of it is dropped");
        return false;
    }
}

lasting_output::lasting_output(std::function<void()> on_failure)
    : streams_(std::make_shared<streams>(std::move(on_failure))) {
    const std::lock_guard lock(lasting_mutex);
    lasting_now = streams_;
}

lasting_output::~lasting_output() {
    streams_->errors.finish(after(std::chrono::milliseconds(100)));
    const std::lock_guard lock(lasting_mutex);
    lasting_now = nullptr;
}

bool lasting_output::finish(const std::function<bool()>& gives_up) {
    streams_->out.finish(gives_up);
    const std::uint64_t dropped = streams_->out.dropped();
    const int error = streams_->out.error();
    if (error != 0 && !streams_->goes_on) fail_at_stdout(error);
    if (dropped > 0)
        print_message("{} part{} of the output could not be written to stdout", dropped, dropped == 1 ? "" : "s");
    return dropped == 0;
}

namespace {

std::atomic<bool> stop_signal_came = false;

/// Writes text until the reader accepts no more within the time limit. Returns false if some text is left.
bool write_what_is_taken(int to, std::string_view text, int milliseconds) noexcept {
    while (!text.empty()) {
        pollfd taker{to, POLLOUT, 0};
        if (::poll(&taker, 1, milliseconds) == 0) return false; // a signal (-1) does not end the attempt
        const ssize_t written = ::write(to, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
        if (written < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (written <= 0) return false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// Prints the number of messages that were dropped before, and then the text.
void print_lasting(lasting_output::streams& s, std::string_view text) {
    const std::uint64_t dropped = s.errors.dropped(), reported = s.reported_dropped;
    if (dropped != reported && s.errors.error() == 0) {
        const std::string note =
            fmt::format("{}: {} messages could not be written to stderr\n", program_name(), dropped - reported);
        if (s.errors.write(note, 0) == queued_writer::outcome::taken) s.reported_dropped = dropped;
    }
    s.errors.write(text);
}

} // namespace

void note_stop_signal() noexcept { stop_signal_came = true; }

void print_error(std::string_view text) noexcept {
    static std::atomic<bool> is_stuck = false;
    try {
        if (const auto lasting = lasting_streams()) return print_lasting(*lasting, text);
    } catch (const std::exception&) {
        return;
    }
    if (stop_signal_came || is_stuck) is_stuck = !write_what_is_taken(STDERR_FILENO, text, is_stuck ? 0 : 1000);
    else is_stuck = write_waiting(STDERR_FILENO, text) == EINTR;
}

void offer_error(std::string_view text) noexcept {
    if (lasting_streams()) print_error(text);
    else write_what_is_taken(STDERR_FILENO, text, 0);
}

void print_out_of_memory() noexcept {
    const std::string& name = program_name();
    write_what_is_taken(STDERR_FILENO, name, 1000);
    write_what_is_taken(STDERR_FILENO, ": out of memory\n", 1000);
}

namespace {

constexpr std::string_view own_name = "ibtool";

std::string& name_of_this_program() noexcept {
    static std::string name(own_name);
    return name;
}

} // namespace

const std::string& program_name() noexcept { return name_of_this_program(); }
bool is_called_by_link() noexcept { return program_name() != own_name; }
void set_program_name(std::string_view name) { name_of_this_program() = name; }

void print_line(std::string_view text) {
    const std::string& fabric = labelled_fabric();
    print_error("{}: {}{}{}\n", program_name(), fabric, fabric.empty() ? "" : ": ", iba::escaped(text));
}

std::string indented(std::string_view lines) {
    std::string out;
    for (std::size_t begin = 0; begin < lines.size();) {
        const std::size_t end = lines.find('\n', begin) + 1;
        if (lines[begin] != '\t') out += "\t\t";
        out += lines.substr(begin, end - begin);
        begin = end;
    }
    return out;
}

} // namespace ibtool
