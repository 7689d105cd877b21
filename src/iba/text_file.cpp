// SPDX-License-Identifier: MIT
// text_file.cpp - what a stream does not say: why a file could not be opened, or not be read to its end.
#include <comad/iba/text.hpp>
#include <comad/iba/text_file.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace comad::iba {
namespace {

std::string reason() { return std::generic_category().message(errno); }

std::runtime_error cannot_read(const std::string& name, std::string_view why) {
    return std::runtime_error(fmt::format("cannot read '{}': {}", escaped(name), why));
}

struct descriptor {
    int number;
    ~descriptor() {
        if (number >= 0) ::close(number);
    }
};

} // namespace

std::string text_in(int descriptor) {
    std::string text;
    char part[65536];
    for (;;) {
        const ssize_t size = ::read(descriptor, part, sizeof part);
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) throw std::runtime_error(reason());
        if (size == 0) return text;
        const std::string_view read(part, static_cast<std::size_t>(size));
        if (read.find('\0') != read.npos) throw std::runtime_error("it is a binary file");
        if (read.size() > most_text - text.size())
            throw std::runtime_error(fmt::format("it is larger than {} MiB", most_text >> 20));
        text += read;
    }
}

std::istringstream open_text_file(const std::string& name) {
    const descriptor file{::open(name.c_str(), O_RDONLY | O_CLOEXEC)};
    if (file.number < 0) throw cannot_read(name);
    try {
        return std::istringstream(text_in(file.number));
    } catch (const std::runtime_error& e) {
        throw cannot_read(name, e.what());
    }
}

std::runtime_error cannot_read(const std::string& name) { return cannot_read(name, reason()); }

} // namespace comad::iba
