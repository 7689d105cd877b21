// SPDX-License-Identifier: MIT
// text_file.cpp - opens files without blocking, waits for pipes so that a signal can end the wait, and limits what it
// reads.
#include <comad/iba/detail/blocked_signals.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace comad::iba {
namespace {

std::string reason() { return std::generic_category().message(errno); }

std::runtime_error read_failure(const std::string& name, std::string_view why) {
    return std::runtime_error(fmt::format("cannot read '{}': {}", escaped(name), why));
}

std::runtime_error too_large(std::size_t most) {
    return std::runtime_error(fmt::format("it is larger than the maximum of {} MiB", most >> 20));
}

std::atomic<bool> waits_end = false;
static_assert(std::atomic<bool>::is_always_lock_free); // signal handlers use such a variable

/// An open file, which the destructor closes.
struct open_file {
    explicit open_file(const std::string& name) : number(open_to_read(name)) {
        if (number < 0) throw comad::iba::cannot_read(name);
    }
    ~open_file() { ::close(number); }
    open_file(const open_file&) = delete;
    open_file& operator=(const open_file&) = delete;

    int number;
};

/// Blocks signals except in await_input(). Otherwise a signal between two waits would not end the second one.
class held_signals {
public:
    void await_input(int descriptor) const {
        pollfd source{descriptor, POLLIN, 0};
        if (!waits_end && signals_.poll(&source, 1, nullptr) >= 0) return;
        throw std::runtime_error(waits_end || errno == EINTR ? "a signal arrived before the end of the input"
                                                             : reason());
    }

private:
    comad::iba::blocked_signals signals_;
};

/// Reads an open file in parts.
class part_reader {
public:
    explicit part_reader(int descriptor) : descriptor_(descriptor) {
        struct stat about {};
        if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) held_.emplace();
        else size_ = static_cast<std::size_t>(std::max<off_t>(about.st_size, 0));
    }
    /// Returns the size of a regular file, in bytes; else 0.
    std::size_t size() const noexcept { return size_; }
    /// Returns the number of bytes read; 0 at the end.
    std::size_t read(char* to, std::size_t room) const {
        for (;;) {
            if (held_) held_->await_input(descriptor_);
            const ssize_t got = ::read(descriptor_, to, room);
            if (got >= 0) return static_cast<std::size_t>(got);
            if (errno != EINTR && !(errno == EAGAIN && held_)) throw std::runtime_error(reason());
        }
    }

private:
    int descriptor_;
    std::size_t size_ = 0;
    std::optional<held_signals> held_; // nullopt for a regular file, whose reads do not wait
};

constexpr std::size_t part_size = 65536;

/// Rejects data that are not a text, part by part.
class text_check {
public:
    void take(std::string_view part) {
        if (part.find('\0') != part.npos) throw std::runtime_error("it is a binary file, but must be a text file");
        for (std::size_t end = part.find('\n'); end != part.npos; end = part.find('\n')) {
            lengthen(end);
            length_ = 0;
            ++number_;
            part.remove_prefix(end + 1);
        }
        lengthen(part.size());
    }

private:
    void lengthen(std::size_t by) {
        length_ += by;
        if (length_ > longest_line_of_text)
            throw std::runtime_error(
                fmt::format("line {} is longer than the maximum of {} KiB", number_, longest_line_of_text >> 10));
    }
    std::size_t length_ = 0; // length of the line that has not ended yet
    unsigned number_ = 1;
};

template <class Take> std::string read_all(int descriptor, std::size_t most, Take&& take) {
    const part_reader in(descriptor);
    if (in.size() > most) throw too_large(most);
    std::string text;
    text.reserve(in.size());
    char part[part_size];
    for (std::size_t size; (size = in.read(part, sizeof part)) > 0;) {
        take(std::string_view(part, size));
        if (size > most - text.size()) throw too_large(most);
        text.append(part, size);
    }
    return text;
}

} // namespace

void end_waits_for_pipes(bool end) noexcept { waits_end = end; }

int open_to_read(const std::string& name) noexcept {
    return ::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

std::string bytes_in(int descriptor, std::size_t most) {
    return read_all(descriptor, most, [](std::string_view) {});
}

std::string text_in(int descriptor) {
    text_check check;
    return read_all(descriptor, most_text, [&](std::string_view part) { check.take(part); });
}

std::string read_bytes(const std::string& name, std::size_t most) {
    const open_file file(name);
    try {
        return bytes_in(file.number, most);
    } catch (const std::runtime_error& e) {
        throw read_failure(name, e.what());
    }
}

std::istringstream open_text_file(const std::string& name) {
    const open_file file(name);
    try {
        return std::istringstream(text_in(file.number));
    } catch (const std::runtime_error& e) {
        throw read_failure(name, e.what());
    }
}

void require_regular_file(const std::string& name) {
    struct stat about {};
    if (::stat(name.c_str(), &about) != 0) throw cannot_read(name);
    if (!S_ISREG(about.st_mode)) throw read_failure(name, "it is not a regular file");
}

std::string first_line_of(const std::string& name) {
    constexpr std::size_t longest = 4096;
    try {
        const open_file file(name);
        const part_reader in(file.number);
        struct stat about {};
        if (::fstat(file.number, &about) != 0 || !S_ISREG(about.st_mode)) return {};
        std::string line(longest, '\0');
        line.resize(in.read(line.data(), line.size()));
        line.resize(std::min(line.find('\n'), line.size()));
        return line;
    } catch (const std::runtime_error&) {
        return {};
    }
}

std::string first_word_of(const std::string& name) {
    const std::string line = first_line_of(name);
    return line.substr(0, line.find_first_of(" \t"));
}

/// The file of text_lines, with a buffer.
struct text_lines::source {
    source(const std::string& named, std::size_t most) : name(named), longest(most), file(named), in(file.number) {}

    /// Reads more; returns false at the end of the file.
    bool read_more() {
        constexpr std::uint64_t most_read = std::uint64_t{16} << 30;
        buffer.erase(0, std::exchange(at, 0));
        const std::size_t had = buffer.size();
        buffer.resize(had + part_size);
        std::size_t got = 0;
        try {
            got = in.read(buffer.data() + had, part_size);
        } catch (const std::runtime_error& e) {
            throw read_failure(name, e.what());
        }
        buffer.resize(had + got);
        total += got;
        if (total > most_read)
            throw read_failure(name, fmt::format("it is larger than the maximum of {} GiB", most_read >> 30));
        return got > 0;
    }

    std::string name;
    std::size_t longest;
    open_file file;
    part_reader in;
    std::string buffer;
    std::size_t at = 0; // end of the text that next() has returned
    std::uint64_t total = 0;
    unsigned number = 0;
};

text_lines::text_lines(const std::string& name, std::size_t longest)
    : source_(std::make_unique<source>(name, longest)) {}
text_lines::~text_lines() = default;

unsigned text_lines::number() const noexcept { return source_->number; }

std::optional<std::string_view> text_lines::next() {
    source& s = *source_;
    std::size_t end = s.buffer.find('\n', s.at);
    while (end == std::string::npos && s.buffer.size() - s.at <= s.longest) {
        const std::size_t searched = s.buffer.size() - s.at;
        if (!s.read_more()) break;
        end = s.buffer.find('\n', searched);
    }
    const std::size_t length = std::min(end, s.buffer.size()) - s.at;
    if (length > s.longest)
        throw std::runtime_error(
            fmt::format("{}:{}: the line is longer than {} bytes", escaped(s.name), s.number + 1, s.longest));
    if (end == std::string::npos && length == 0) return std::nullopt;
    const std::string_view line = std::string_view(s.buffer).substr(s.at, length);
    s.at = std::min(s.at + length + 1, s.buffer.size());
    ++s.number;
    return line;
}

std::runtime_error cannot_read(const std::string& name) { return read_failure(name, reason()); }

} // namespace comad::iba
