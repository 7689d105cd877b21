// SPDX-License-Identifier: MIT
// key_file.cpp - who may read a key file.
#include <comad/iba/text.hpp>
#include <comad/iba/text_file.hpp>
#include <comad/mad/unique_fd.hpp>
#include <comad/transports/key_file.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <fcntl.h>
#include <stdexcept>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

namespace comad::transports {

void add_key_file(mad::port_keys& keys, const std::string& file) {
    const auto refuse = [&](std::string_view why) {
        throw std::runtime_error(fmt::format("key file {}: {}", iba::as_given(file), why));
    };
    const auto refuse_by_errno = [&] { refuse(std::generic_category().message(errno)); };
    const mad::unique_fd opened(
        ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)); // a FIFO is to be refused, too
    struct stat about {};
    if (!opened || ::fstat(opened.get(), &about) != 0) refuse_by_errno();
    if (!S_ISREG(about.st_mode)) refuse("it is no regular file");
    if (about.st_uid != ::geteuid() && about.st_uid != 0) refuse("it belongs to another user");
    if (about.st_mode & 077)
        refuse(fmt::format("others than its owner have access to it (mode {:04o}): chmod 600", about.st_mode & 07777));

    std::string text;
    try {
        text = iba::text_in(opened.get());
    } catch (const std::runtime_error& e) {
        refuse(e.what());
    }
    if (const auto added = keys.add(text); !added) refuse(added.error().text);
}

} // namespace comad::transports
