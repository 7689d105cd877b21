// SPDX-License-Identifier: MIT
// text_file.cpp - what a stream does not say: why it could not be opened.
#include <comad/iba/text.hpp>
#include <comad/iba/text_file.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <sys/stat.h>
#include <system_error>

namespace comad::iba {

std::runtime_error cannot_read(const std::string& name) {
    return std::runtime_error(
        fmt::format("cannot read '{}': {}", escaped(name), std::generic_category().message(errno)));
}

std::ifstream open_text_file(const std::string& name) {
    struct stat file {};
    std::ifstream in(name);
    if (!in) throw cannot_read(name);
    if (::stat(name.c_str(), &file) == 0 && S_ISDIR(file.st_mode)) {
        errno = EISDIR;
        throw cannot_read(name);
    }
    return in;
}

} // namespace comad::iba
