// SPDX-License-Identifier: MIT
// mounts.cpp - creates the mount namespace and its mounts with unshare(2) and mount(2).
#include "vumad/mounts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <sched.h>
#include <string>
#include <string_view>
#include <sys/mount.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace ibtool {
namespace {

namespace fs = std::filesystem;
using comad::mad::unique_fd;

const fs::path sys_class = "/sys/class", dev_infiniband = "/dev/infiniband";
constexpr const char* stage = ".vumad"; // temporary directory in /sys/class
constexpr std::array shown{"infiniband", "infiniband_mad"};

[[noreturn]] void refuse(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

void mount_or_refuse(const fs::path& from, const fs::path& to, const char* type, unsigned long flags,
                     const char* options = nullptr) {
    if (::mount(from.c_str(), to.c_str(), type, flags, options) != 0)
        refuse(fmt::format("cannot mount {} in a private mount namespace (a container needs the capability SYS_ADMIN)",
                           to.string()));
}
void bind(const fs::path& from, const fs::path& to) { mount_or_refuse(from, to, nullptr, MS_BIND | MS_REC); }

void write_file(const char* name, const std::string& text) {
    const unique_fd file{::open(name, O_WRONLY | O_CLOEXEC)};
    if (!file || ::write(file.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size()))
        refuse(fmt::format("cannot write {}", name));
}

void make_directory(const fs::path& path) {
    if (::mkdir(path.c_str(), 0755) != 0) refuse(fmt::format("cannot create the directory {}", path.string()));
}

/// Creates a mount point of the same type as `original`: a directory or a file.
void make_place(const fs::path& path, const fs::file_status& original) {
    if (fs::is_directory(original)) return make_directory(path);
    const unique_fd file{::open(path.c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600)};
    if (!file) refuse(fmt::format("cannot create the file {}", path.string()));
}

/// Mounts a tmpfs over `directory` that shows its previous contents, and adds the empty directories `more`, which replace entries of the
/// same name.
void relay(const fs::path& directory, const std::vector<std::string_view>& more) {
    const unique_fd before{::open(directory.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!before) refuse(fmt::format("cannot open {}", directory.string()));
    const fs::path original = fmt::format("/proc/self/fd/{}", before.get());
    mount_or_refuse("tmpfs", directory, "tmpfs", MS_NOSUID, "mode=0755");
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(original / ".", error)) {
        const std::string name = entry.path().filename();
        if (std::ranges::find(more, name) != more.end()) continue;
        const fs::path to = directory / name;
        if (entry.is_symlink()) {
            fs::create_symlink(fs::read_symlink(entry.path()), to);
        } else {
            make_place(to, entry.status());
            bind(entry.path(), to);
        }
    }
    if (error) throw std::system_error(error, fmt::format("cannot read {}", directory.string()));
    for (const std::string_view name : more) make_directory(directory / name);
}

} // namespace

void leave_mount_namespace() {
    const uid_t user = ::geteuid();
    const gid_t group = ::getegid();
    if (::unshare(CLONE_NEWNS) != 0) {
        if (errno != EPERM) refuse("cannot create a mount namespace for the command");
        if (::unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0)
            refuse("cannot create a mount namespace as this user (run ibtool as root, allow user namespaces by sysctl "
                   "user.max_user_namespaces and AppArmor, or give the container the capability SYS_ADMIN)");
        write_file("/proc/self/setgroups", "deny");
        write_file("/proc/self/uid_map", fmt::format("{} {} 1", user, user));
        write_file("/proc/self/gid_map", fmt::format("{} {} 1", group, group));
    }
    mount_or_refuse("none", "/", nullptr, MS_REC | MS_PRIVATE);
}

unique_fd mount_devices() {
    unique_fd fuse{::open("/dev/fuse", O_RDWR | O_CLOEXEC)};
    if (!fuse)
        refuse(
            "cannot open /dev/fuse; load the module fuse, or in a container pass the device with --device /dev/fuse");
    std::vector<std::string_view> more(shown.begin(), shown.end());
    more.push_back(stage);
    relay(sys_class, more);
    std::error_code none;
    if (!fs::is_directory(dev_infiniband, none))
        relay(dev_infiniband.parent_path(), {dev_infiniband.filename().native()});
    const std::string options =
        fmt::format("fd={},rootmode=40000,user_id={},group_id={},allow_other", fuse.get(), ::geteuid(), ::getegid());
    mount_or_refuse("vumad", sys_class / stage, "fuse.vumad", MS_NOSUID | MS_NODEV, options.c_str());
    return fuse;
}

void show_devices() {
    const fs::path from = sys_class / stage;
    bind(from / "dev", dev_infiniband);
    for (const char* name : shown) bind(from / name, sys_class / name);
    if (::umount2(from.c_str(), MNT_DETACH) != 0) refuse(fmt::format("cannot unmount {}", from.string()));
}

} // namespace ibtool
