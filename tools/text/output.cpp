// SPDX-License-Identifier: MIT
// output.cpp - writing that notices a full disk and a closed pipe, and writing that does not mind.
#include "text/output.hpp"

#include <comad/iba/text.hpp>
#include <comad/mad/unique_fd.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <stdexcept>
#include <sys/stat.h>
#include <unistd.h>

namespace ibtool {

namespace iba = comad::iba;

void write_output(std::string_view text, const std::string& file) {
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> opened(nullptr, &std::fclose);
    if (!file.empty()) opened.reset(std::fopen(file.c_str(), "w"));
    std::FILE* out = file.empty() ? stdout : opened.get();
    const std::string name = file.empty() ? "the standard output" : "'" + file + "'";
    if (!out) throw std::runtime_error(fmt::format("cannot write {}: {}", name, std::strerror(errno)));
    if (std::fwrite(text.data(), 1, text.size(), out) != text.size() || std::fflush(out) != 0) {
        if (errno == EPIPE && file.empty()) throw closed_pipe();
        throw std::runtime_error(fmt::format("could not write all of {}: {}", name, std::strerror(errno)));
    }
}

void replace_file(std::string_view text, const std::string& file, unsigned mode) {
    const auto fail = [&](const char* why) {
        throw std::runtime_error(fmt::format("cannot write '{}': {}", iba::escaped(file), why));
    };
    struct stat old {};
    if (::lstat(file.c_str(), &old) == 0 && !S_ISREG(old.st_mode)) fail("it is no regular file");
    std::string next = file + ".XXXXXX"; // a name that nobody can foresee, in the same folder
    const comad::mad::unique_fd out(::mkostemp(next.data(), O_CLOEXEC));
    if (out.get() < 0) fail(std::strerror(errno));
    struct until_renamed {
        const std::string& name;
        bool is_done = false;
        ~until_renamed() {
            if (!is_done) ::unlink(name.c_str());
        }
    } temporary{next};
    while (!text.empty()) {
        const ssize_t written = ::write(out.get(), text.data(), text.size());
        if (written < 0 && errno != EINTR) fail(std::strerror(errno));
        if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
    }
    ::fchmod(out.get(), mode); // it was made for its owner alone
    if (::rename(next.c_str(), file.c_str()) != 0) fail(std::strerror(errno));
    temporary.is_done = true;
}

namespace {

/// `is_stuck`: its reader was waited for before, in vain. False: it did not take all.
bool write_what_is_taken(int to, std::string_view text, std::atomic<bool>& is_stuck) noexcept {
    while (!text.empty()) {
        pollfd taker{to, POLLOUT, 0};
        if (::poll(&taker, 1, is_stuck ? 0 : 1000) == 0) { // a signal (-1) is no reason to give up
            is_stuck = true;
            return false;
        }
        const ssize_t written = ::write(to, text.data(), std::min<std::size_t>(text.size(), PIPE_BUF));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        is_stuck = false;
        text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

} // namespace

bool offer_output(std::string_view text) noexcept {
    static std::atomic<bool> is_stuck = false;
    return write_what_is_taken(STDOUT_FILENO, text, is_stuck);
}

void print_error(std::string_view text) noexcept {
    static std::atomic<bool> is_stuck = false;
    write_what_is_taken(STDERR_FILENO, text, is_stuck);
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

void print_line(std::string_view text) { print_error("{}: {}\n", program_name(), iba::escaped(text)); }

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
