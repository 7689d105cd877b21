// SPDX-License-Identifier: MIT
// file_replacement.cpp - replaces a file: writes a temporary file in the same directory, calls fsync() and rename(), and then fsync() for
// the directory.
#include "text/file_replacement.hpp"

#include "comad.hpp"
#include "text/output.hpp"
#include "text/waiting_write.hpp"
#include <comad/iba/detail/blocked_signals.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/mad/detail/unique_fd.hpp>

#include <fmt/format.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <linux/magic.h>
#include <optional>
#include <poll.h>
#include <random>
#include <stdexcept>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

namespace ibtool {

using comad::mad::unique_fd;

namespace {

[[noreturn]] void refuse(const std::string& file, std::string_view why, std::string_view consequence = {}) {
    throw std::runtime_error(fmt::format("cannot write '{}': {}{}", iba::escaped(file), why, consequence));
}

std::string directory_of(const std::string& file) {
    const std::size_t slash = file.rfind('/');
    return slash == std::string::npos ? "." : slash == 0 ? "/" : file.substr(0, slash);
}

/// A file with a unique name in a directory. The destructor removes the file unless rename() was called.
class temporary_file {
public:
    /// Creates the file. If this fails, errno contains the reason.
    temporary_file(const std::string& directory, mode_t mode) {
        std::random_device random;
        constexpr unsigned attempts = 100;
        for (unsigned i = 0; i < attempts && !opened_; ++i) {
            name_ = fmt::format("{}/.ibtool-{:08x}{:08x}", directory, random(), random());
            opened_ = unique_fd(::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
            if (!opened_ && errno != EEXIST) return;
        }
    }
    ~temporary_file() {
        if (opened_ && !is_renamed_) ::unlink(name_.c_str());
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;

    explicit operator bool() const noexcept { return static_cast<bool>(opened_); }
    int descriptor() const noexcept { return opened_.get(); }
    bool rename(const std::string& to) noexcept {
        is_renamed_ = ::rename(name_.c_str(), to.c_str()) == 0;
        return is_renamed_;
    }

private:
    std::string name_;
    unique_fd opened_;
    bool is_renamed_ = false;
};

/// Calls fsync(). File systems that do not support it are not an error.
bool synchronize(int descriptor) noexcept {
    return ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP || errno == ENOSYS;
}

void synchronize_directory(const std::string& name) noexcept {
    const unique_fd directory(::open(name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory) ::fsync(directory.get());
}

/// Copies the owner and the mode of the old file. If the group cannot be copied, the new group gets only the permissions of others.
void take_owner_and_mode(int descriptor, const struct stat& old) noexcept {
    mode_t mode = old.st_mode & 0777;
    const bool has_group = ::fchown(descriptor, old.st_uid, old.st_gid) == 0 ||
                           ::fchown(descriptor, static_cast<uid_t>(-1), old.st_gid) == 0;
    if (!has_group) mode = (mode & ~mode_t{070}) | (mode & 07) << 3;
    ::fchmod(descriptor, mode);
}

enum class replacement { done, not_possible };

/// Replaces a file. `old`: the existing file; null: the file does not exist. `mode`: nullopt keeps the mode of the old file, or uses the
/// umask.
/// Returns `not_possible` and sets errno if the file exists, but the directory is not writable or the name is a mount point.
replacement replace(std::string_view text, const std::string& shown, const std::string& name, const struct stat* old,
                    std::optional<mode_t> mode) {
    const iba::blocked_signals until_done; // a signal that ended the program would leave the temporary file
    const std::string directory = directory_of(name);
    const std::string_view consequence = old ? "; the old file is unchanged" : "";
    const auto is_refusal = [&] { return old && (errno == EACCES || errno == EPERM || errno == EBUSY); };
    constexpr mode_t for_its_owner = 0600, by_umask = 0666;
    temporary_file next(directory, old || mode ? for_its_owner : by_umask);
    if (!next && is_refusal()) return replacement::not_possible;
    if (!next) refuse(shown, std::strerror(errno), consequence);
    if (const int error = write_waiting(next.descriptor(), text)) refuse(shown, std::strerror(error), consequence);
    if (mode) ::fchmod(next.descriptor(), *mode);
    else if (old) take_owner_and_mode(next.descriptor(), *old);
    if (!synchronize(next.descriptor())) refuse(shown, std::strerror(errno), consequence);
    if (!next.rename(name)) {
        if (is_refusal()) return replacement::not_possible;
        refuse(shown, std::strerror(errno), consequence);
    }
    synchronize_directory(directory);
    return replacement::done;
}

/// The file to which a name leads through symbolic links.
struct written_place {
    std::string name;
    bool is_replaceable = false;    // a regular file, or no file yet
    std::optional<struct stat> old; // the existing file
};

/// Returns whether the directory belongs to procfs or sysfs. Its files are not stored on a disk, and no other files can be created there.
bool is_of_kernel(const std::string& directory) noexcept {
    struct statfs found {};
    return ::statfs(directory.c_str(), &found) == 0 &&
           (found.f_type == PROC_SUPER_MAGIC || found.f_type == SYSFS_MAGIC);
}

written_place place_of(std::string name) {
    constexpr unsigned most_links = 40;
    for (unsigned links = 0; links < most_links; ++links) {
        struct stat found {};
        const std::string directory = directory_of(name);
        if (is_of_kernel(directory)) return {name, false, {}}; // also for the magic link /proc/self/fd/1
        if (::lstat(name.c_str(), &found) != 0) return {name, errno == ENOENT, {}};
        if (!S_ISLNK(found.st_mode)) return {name, S_ISREG(found.st_mode), found};
        char leads_to[PATH_MAX];
        const ssize_t length = ::readlink(name.c_str(), leads_to, sizeof leads_to);
        if (length <= 0) break;
        const std::string next(leads_to, static_cast<std::size_t>(length));
        name = next.front() == '/' ? next : (directory + '/').append(next);
    }
    return {name, false, {}};
}

/// Opens a file that cannot be replaced. For a FIFO, waits for a reader until a signal arrives.
unique_fd open_to_write(const std::string& file) {
    constexpr mode_t by_umask = 0666;
    const iba::blocked_signals signals;
    unique_fd opened;
    int error = 0;
    for (bool waits = true; waits;) {
        opened = unique_fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, by_umask));
        error = opened ? 0 : errno;
        struct stat found {};
        waits = error == ENXIO && ::stat(file.c_str(), &found) == 0 && S_ISFIFO(found.st_mode);
        constexpr timespec pause{0, 20'000'000};
        if (waits && signals.poll(nullptr, 0, &pause) < 0) {
            error = errno;
            waits = false;
        }
    }
    if (error == EINTR) refuse(file, "interrupted by a signal before a reader opened it");
    if (error != 0) refuse(file, std::strerror(error));
    return opened;
}

/// Writes to a regular file that cannot be replaced. Allocates space for the whole text before it overwrites the old text.
void write_in_place(std::string_view text, const std::string& file) {
    const unique_fd out = open_to_write(file);
    struct stat found {};
    const bool is_regular = ::fstat(out.get(), &found) == 0 && S_ISREG(found.st_mode);
    if (is_regular && !text.empty() &&
        ::fallocate(out.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(text.size())) != 0 &&
        (errno == ENOSPC || errno == EDQUOT || errno == EFBIG))
        refuse(file, std::strerror(errno), "; the old file is unchanged");
    int error = write_waiting(out.get(), text);
    if (error == 0 && is_regular &&
        (::ftruncate(out.get(), static_cast<off_t>(text.size())) != 0 || !synchronize(out.get())))
        error = errno;
    if (error == EINTR)
        throw std::runtime_error(
            fmt::format("could not write all of '{}': interrupted by a signal", iba::escaped(file)));
    if (error != 0)
        throw std::runtime_error(
            fmt::format("could not write all of '{}': {}", iba::escaped(file), std::strerror(error)));
}

/// Returns the existing file, or nullopt if there is none. Refuses anything else that has the name.
std::optional<struct stat> regular_file(const std::string& file) {
    struct stat found {};
    if (::lstat(file.c_str(), &found) != 0) return std::nullopt;
    if (!S_ISREG(found.st_mode)) refuse(file, "it is not a regular file");
    return found;
}

} // namespace

void write_file(std::string_view text, const std::string& file) {
    const written_place to = place_of(file);
    if (to.is_replaceable && replace(text, file, to.name, to.old ? &*to.old : nullptr, {}) == replacement::done) return;
    write_in_place(text, file);
}

void replace_file(std::string_view text, const std::string& file, unsigned mode) {
    const std::optional<struct stat> old = regular_file(file);
    if (replace(text, file, file, old ? &*old : nullptr, mode) != replacement::done) refuse(file, std::strerror(errno));
}

void require_replaceable(const std::string& file) {
    (void)regular_file(file);
    const iba::blocked_signals until_done;
    constexpr mode_t for_its_owner = 0600;
    const temporary_file probe(directory_of(file), for_its_owner);
    if (!probe) refuse(file, std::strerror(errno));
}

} // namespace ibtool
