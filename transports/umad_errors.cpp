// SPDX-License-Identifier: MIT
// umad_errors.cpp - the table of the MAD device's errors. docs/explanation/devices.md contains the same table.
#include <comad/transports/detail/umad_errors.hpp>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace comad::transports {
namespace {

constexpr std::string_view removed = "the device was removed or reset; it can be reopened after it returns";
constexpr std::string_view no_memory = "the kernel is low on memory; allow fewer MADs in flight";
constexpr std::string_view no_files = "this process has too many open files; raise ulimit -n";
constexpr std::string_view no_files_at_all = "the machine has too many open files; raise fs.file-max";
constexpr std::string_view our_fault = "this is a bug in comad; please report it";

constexpr umad_error all[] = {
    {umad_call::open, ENOENT,
     "load the module ib_umad (modprobe ib_umad), and udev creates the device; in a container, pass the device in"},
    {umad_call::open, EACCES,
     "run as root, or grant a group access with a udev rule such as KERNEL==\"umad*\", GROUP=\"rdma\", MODE=\"0660\""},
    {umad_call::open, EPERM,
     "the device rules of this container forbid it, or the device belongs to another network namespace "
     "(rdma system show); run as root on the host"},
    {umad_call::open, ENXIO, "the device was removed"},
    {umad_call::open, ENODEV, "the device was removed"},
    {umad_call::open, EBUSY, "another program has opened the device exclusively; stop it first"},
    {umad_call::open, EMFILE, no_files},
    {umad_call::open, ENFILE, no_files_at_all},
    {umad_call::open, ENOMEM, no_memory},

    {umad_call::ioctl, ENOTTY, "this is not a MAD device"},
    {umad_call::ioctl, EINVAL,
     "another program at this port already serves this management class, or the kernel does not support the class "
     "or version"},
    {umad_call::ioctl, EPROTONOSUPPORT, "this port has no QP0; SMPs need a port whose link layer is InfiniBand"},
    {umad_call::ioctl, ENOMEM,
     "all 32 agents of the open device are in use, one for each class and version, or the kernel is low on memory"},
    {umad_call::ioctl, EPIPE, removed},
    {umad_call::ioctl, ENODEV, removed},
    {umad_call::ioctl, EIO, removed},
    {umad_call::ioctl, EACCES,
     "a security module (SELinux) does not allow this program to manage the subnet of this port"},
    {umad_call::ioctl, EPERM,
     "a security module (SELinux) does not allow this program to manage the subnet of this port"},
    {umad_call::ioctl, EFAULT, our_fault},

    {umad_call::write, EINVAL,
     "the kernel or the driver rejected the MAD: an invalid directed route, a path without a GRH on an Ethernet port, "
     "or a transaction ID that is in use"},
    {umad_call::write, EIO, removed},
    {umad_call::write, ENODEV, removed},
    {umad_call::write, ENODATA, "the GID table of the port has no entry at the SGID index of the path"},
    {umad_call::write, ENETUNREACH,
     "no route to the DGID of the path; the network of an Ethernet port must be configured and up"},
    {umad_call::write, EHOSTUNREACH,
     "no route to the DGID of the path; the network of an Ethernet port must be configured and up"},
    {umad_call::write, ETIMEDOUT, "no host on the network of this Ethernet port has the DGID of the path"},
    {umad_call::write, EACCES, "a security module (SELinux) does not allow this program to use the P_Key of the path"},
    {umad_call::write, EAGAIN, no_memory},
    {umad_call::write, ENOMEM, no_memory},
    {umad_call::write, ENOBUFS, no_memory},
    {umad_call::write, EBADF, our_fault},
    {umad_call::write, EFAULT, our_fault},

    {umad_call::read, EIO, removed},
    {umad_call::read, ENODEV, removed},
    {umad_call::read, ENOSPC, "a message is larger than 64 MiB or than the available memory"},
    {umad_call::read, ENOMEM, no_memory},
    {umad_call::read, EINVAL, our_fault},
    {umad_call::read, EBADF, our_fault},
    {umad_call::read, EFAULT, our_fault},

    {umad_call::poll, EMFILE, no_files},
    {umad_call::poll, ENFILE, no_files_at_all},
    {umad_call::poll, ENOMEM, no_memory},
    {umad_call::poll, ENOSPC, "this user watches too many files; raise fs.epoll.max_user_watches"},
    {umad_call::poll, EPERM, "this is not a MAD device"},
};

} // namespace

std::string_view name(umad_call call) noexcept {
    constexpr std::string_view names[] = {"open", "ioctl", "read", "write", "poll"};
    return names[static_cast<std::size_t>(call)];
}

std::span<const umad_error> umad_errors() noexcept { return all; }

std::string_view umad_advice(umad_call call, int error) noexcept {
    const auto known = std::find_if(std::begin(all), std::end(all),
                                    [&](const umad_error& e) { return e.call == call && e.error == error; });
    return known == std::end(all) ? std::string_view{} : known->advice;
}

} // namespace comad::transports
