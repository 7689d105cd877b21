// SPDX-License-Identifier: MIT
// umad_errors.cpp - the one table of the MAD device's errors. docs/explanation/devices.md has it as it stands here.
#include <comad/transports/umad_errors.hpp>

#include <algorithm>
#include <cerrno>
#include <iterator>

namespace comad::transports {
namespace {

constexpr std::string_view removed = "the device was removed or reset; it can be opened again when it is back";
constexpr std::string_view no_memory = "the kernel is short of memory; fewer MADs in flight need less";
constexpr std::string_view no_files = "this process has too many open files: raise ulimit -n";
constexpr std::string_view no_files_at_all = "the machine has too many open files: raise fs.file-max";
constexpr std::string_view our_fault = "a bug of comad's: please report it";

constexpr umad_error all[] = {
    {umad_call::open, ENOENT,
     "udev makes it once the module ib_umad is loaded (modprobe ib_umad); a container needs it passed in"},
    {umad_call::open, EACCES,
     "run as root, or let a group use it by a udev rule such as KERNEL==\"umad*\", GROUP=\"rdma\", MODE=\"0660\""},
    {umad_call::open, EPERM,
     "this container may not use the device (its device rules), or the device belongs to another network namespace "
     "(rdma system show); run as root on the host"},
    {umad_call::open, ENXIO, "the device has been removed"},
    {umad_call::open, ENODEV, "the device has been removed"},
    {umad_call::open, EBUSY, "somebody else has it open, who does not share it"},
    {umad_call::open, EMFILE, no_files},
    {umad_call::open, ENFILE, no_files_at_all},
    {umad_call::open, ENOMEM, no_memory},

    {umad_call::ioctl, ENOTTY, "this is no MAD device"},
    {umad_call::ioctl, EINVAL,
     "somebody else at this port serves this management class already, or the kernel knows no such class or version"},
    {umad_call::ioctl, EPROTONOSUPPORT, "this port has no QP0: SMPs need a port whose link layer is InfiniBand"},
    {umad_call::ioctl, ENOMEM,
     "an open device has 32 agents, one for each class and version, and all are taken; or the kernel is short of "
     "memory"},
    {umad_call::ioctl, EPIPE, removed},
    {umad_call::ioctl, ENODEV, removed},
    {umad_call::ioctl, EIO, removed},
    {umad_call::ioctl, EACCES, "a security module (SELinux) does not let this program manage the subnet of this port"},
    {umad_call::ioctl, EPERM, "a security module (SELinux) does not let this program manage the subnet of this port"},
    {umad_call::ioctl, EFAULT, our_fault},

    {umad_call::write, EINVAL,
     "the kernel or the driver refuses it: a directed route that it cannot begin, a path without GRH on an Ethernet "
     "port, "
     "or a transaction ID that is outstanding"},
    {umad_call::write, EIO, removed},
    {umad_call::write, ENODEV, removed},
    {umad_call::write, ENODATA, "the port's GID table has no entry of the path's SGID index"},
    {umad_call::write, ENETUNREACH,
     "no route to the path's DGID; on an Ethernet port its network must be configured and up"},
    {umad_call::write, EHOSTUNREACH,
     "no route to the path's DGID; on an Ethernet port its network must be configured and up"},
    {umad_call::write, ETIMEDOUT, "nobody on this Ethernet port's network has the path's DGID"},
    {umad_call::write, EACCES, "a security module (SELinux) does not let this program use the path's P_Key"},
    {umad_call::write, EAGAIN, no_memory},
    {umad_call::write, ENOMEM, no_memory},
    {umad_call::write, ENOBUFS, no_memory},
    {umad_call::write, EBADF, our_fault},
    {umad_call::write, EFAULT, our_fault},

    {umad_call::read, EIO, removed},
    {umad_call::read, ENODEV, removed},
    {umad_call::read, ENOSPC, "a message is longer than 64 MiB, or than there is memory for"},
    {umad_call::read, ENOMEM, no_memory},
    {umad_call::read, EINVAL, our_fault},
    {umad_call::read, EBADF, our_fault},
    {umad_call::read, EFAULT, our_fault},

    {umad_call::poll, EMFILE, no_files},
    {umad_call::poll, ENFILE, no_files_at_all},
    {umad_call::poll, ENOMEM, no_memory},
    {umad_call::poll, ENOSPC, "this user watches too many files: raise fs.epoll.max_user_watches"},
    {umad_call::poll, EPERM, "this is no MAD device"},
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
