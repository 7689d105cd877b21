// SPDX-License-Identifier: MIT
// key_file.cpp - checks the permissions of key files and reads them.
#include <comad/iba/detail/text.hpp>
#include <comad/iba/detail/text_file.hpp>
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/transports/detail/key_file.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <stdexcept>
#include <string_view>
#include <sys/stat.h>
#include <system_error>

namespace comad::transports {

namespace {

std::string read_whole(const std::string& file, const mad::unique_fd& opened, bool is_secret) {
    const auto refuse = [&](std::string_view why) {
        throw std::runtime_error(fmt::format("key file {}: {}", iba::as_given(file), why));
    };
    const auto refuse_by_errno = [&] { refuse(std::generic_category().message(errno)); };
    struct stat about {};
    if (!opened || ::fstat(opened.get(), &about) != 0) refuse_by_errno();
    if (!S_ISREG(about.st_mode)) refuse("it is not a regular file");
    if (about.st_uid != ::geteuid() && about.st_uid != 0) refuse("the file must belong to you or to root");
    const unsigned forbidden = is_secret ? 077 : 022;
    if (about.st_mode & forbidden)
        refuse(fmt::format("other users {} (mode {:04o}); run chmod {} on it",
                           is_secret ? "have access to it" : "can write it", about.st_mode & 07777,
                           is_secret ? "600" : "644"));
    std::string text;
    try {
        text = iba::text_in(opened.get());
    } catch (const std::runtime_error& e) {
        refuse(e.what());
    }
    return text;
}

mad::unique_fd open_to_read(const std::string& file) {
    return mad::unique_fd(iba::open_to_read(file)); // does not block: FIFOs are rejected
}

bool is_folder(const std::string& name) {
    struct stat about {};
    return ::stat(name.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

void add_folder(mad::port_keys& keys, const std::string& folder) {
    unsigned found = 0;
    for (const char* name : {"guid2mkey", "guid2cckey", "neighbors"}) {
        const std::string file = folder + '/' + name;
        struct stat ignored {};
        if (::lstat(file.c_str(), &ignored) != 0 && errno == ENOENT) continue;
        add_key_file(keys, file);
        ++found;
    }
    if (found == 0)
        throw std::runtime_error(fmt::format("key file {}: the directory contains none of OpenSM's files guid2mkey, "
                                             "guid2cckey and neighbors",
                                             iba::as_given(folder)));
}

} // namespace

void add_key_file(mad::port_keys& keys, const std::string& file) {
    if (is_folder(file)) {
        add_folder(keys, file);
        return;
    }
    const std::string_view name = std::string_view(file).substr(file.rfind('/') + 1);
    const bool is_neighbors = name == "neighbors";
    const std::string text = read_whole(file, open_to_read(file), !is_neighbors);
    const auto added = is_neighbors ? keys.add_neighbors(text)
                                    : keys.add(text, name == "guid2cckey" ? mad::key_kind::CCKey : mad::key_kind::MKey);
    if (!added) throw std::runtime_error(fmt::format("key file {}: {}", iba::as_given(file), added.error().text));
}

} // namespace comad::transports
