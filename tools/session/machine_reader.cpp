// SPDX-License-Identifier: MIT
// machine_reader.cpp - reads devices, drivers, parameters and files from the kernel.
#include "session/machine_reader.hpp"

#include "comad.hpp"
#include "session/fabric.hpp"
#include <comad/iba/detail/text_file.hpp>
#include <comad/iba/parse.hpp>
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/transports/sysfs.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <system_error>
#include <unistd.h>

namespace ibtool {
namespace {

namespace fs = std::filesystem;

/// Parses a number from sysfs, decimal or 0x...
std::optional<unsigned> number_in(const fs::path& file) {
    const auto number = iba::parse_number(iba::first_word_of(file));
    if (!number || number->value > 0xffffffff) return std::nullopt;
    return static_cast<unsigned>(number->value);
}

/// Returns the names in a directory, with umad2 before umad10.
std::vector<std::string> names_in(const fs::path& directory) {
    std::vector<std::string> names;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(directory, none)) names.push_back(entry.path().filename());
    std::ranges::sort(names, [](const auto& a, const auto& b) { return ::strverscmp(a.c_str(), b.c_str()) < 0; });
    return names;
}

/// Returns the last component of a symbolic link's target; empty: not a symbolic link.
std::string link_name(const fs::path& link) {
    std::error_code none;
    return fs::read_symlink(link, none).filename();
}

std::string user_name(uid_t id) {
    const passwd* const entry = ::getpwuid(id);
    return entry ? entry->pw_name : fmt::format("{}", id);
}
std::string group_name(gid_t id) {
    const group* const entry = ::getgrgid(id);
    return entry ? entry->gr_name : fmt::format("{}", id);
}

/// Returns the errno of opening a file. Only opening a umad file shows whether it is permitted, because device rules and namespaces of a
/// container matter as well as the mode.
int error_of(const fs::path& file, bool is_umad) {
    if (is_umad) {
        const comad::mad::unique_fd fd{::open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC)};
        return fd ? 0 : errno;
    }
    return ::faccessat(AT_FDCWD, file.c_str(), R_OK, AT_EACCESS) == 0 ? 0 : errno;
}

device_file read_file_rights(const std::string& name, const fs::path& classes, const fs::path& files) {
    const fs::path described = classes / "infiniband_mad" / name, file = files / name;
    device_file f{
        .name = name,
        .path = file,
        .port = fmt::format("{}/{}", iba::first_word_of(described / "ibdev"), iba::first_word_of(described / "port")),
        .error = error_of(file, name.starts_with("umad")),
        .user_owner = {},
        .group_owner = {}};
    struct stat is {};
    if (::stat(file.c_str(), &is) == 0) {
        f.mode = is.st_mode & 07777;
        f.user_owner = user_name(is.st_uid);
        f.group_owner = group_name(is.st_gid);
    }
    return f;
}

std::vector<device_file> read_files(const fs::path& classes, const fs::path& files) {
    std::vector<device_file> all;
    const std::vector<std::string> names = names_in(classes / "infiniband_mad");
    for (const char* kind : {"umad", "issm"})
        for (const std::string& name : names)
            if (name.starts_with(kind)) all.push_back(read_file_rights(name, classes, files));
    return all;
}

std::vector<pci_adapter> read_adapters(const fs::path& bus) {
    constexpr unsigned mellanox_makes_both = 0x15b3;
    constexpr unsigned network = 0x02, ethernet = 0x0200, infiniband = 0x0207; // upper 8 and 16 of the 24 bits
    std::vector<pci_adapter> all;
    for (const std::string& address : names_in(bus)) {
        const unsigned pci_class = number_in(bus / address / "class").value_or(0) >> 8;
        if (pci_class >> 8 != network) continue;
        const pci_adapter a{.address = address,
                            .vendor = number_in(bus / address / "vendor").value_or(0),
                            .product = number_in(bus / address / "device").value_or(0),
                            .is_infiniband = pci_class == infiniband,
                            .driver = link_name(bus / address / "driver")};
        if (a.is_infiniband || (pci_class == ethernet && a.vendor == mellanox_makes_both)) all.push_back(a);
    }
    return all;
}

device_origin read_origin(const fs::path& device, const std::string& name) {
    return {.device = name, .driver = link_name(device / "device" / "driver"), .address = link_name(device / "device")};
}

} // namespace

machine read_machine(const global_options& o, const fs::path& classes, const fs::path& files) {
    const fs::path sys = classes / ".."; // the mount point of sysfs
    const fs::path parameters = sys / "module" / "ib_core" / "parameters";
    machine m;
    m.user = user_name(::geteuid());
    utsname kernel{};
    if (::uname(&kernel) == 0) m.kernel = kernel.release;
    m.devices = comad::transports::get_devices(classes);
    for (const auto& d : m.devices) m.origins.push_back(read_origin(classes / "infiniband" / d.name, d.name));
    m.adapters = read_adapters(sys / "bus" / "pci" / "devices");
    m.umad_abi = number_in(classes / "infiniband_mad" / "abi_version");
    m.files = read_files(classes, files);
    m.needs_umad = !o.fabric.starts_with("verbs");
    m.send_queue = number_in(parameters / "send_queue_size");
    m.receive_queue = number_in(parameters / "recv_queue_size");
    try {
        m.used = local_port_for_mads(o, classes);
    } catch (const std::runtime_error& e) {
        m.no_port = e.what();
    }
    return m;
}

} // namespace ibtool
