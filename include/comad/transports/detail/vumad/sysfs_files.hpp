// SPDX-License-Identifier: MIT
// sysfs_files.hpp - the files by which the kernel describes InfiniBand devices below /sys/class (Linux,
// Documentation/ABI/stable/sysfs-class-infiniband), made from what a port's SMA says. Opens no file.
#pragma once
#include <comad/transports/detail/vumad/local_port.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace comad::transports::vumad {

/// An end port that is to have a MAD device: umadN and issmN, N its place in the list.
struct described_port {
    std::string device; ///< `vib0`
    unsigned port = 1;  ///< 0: a switch's
};

struct sysfs_file {
    std::string path; ///< below /sys/class, as `infiniband/vib0/ports/1/lid`
    std::size_t port; ///< in the list: whose SMA tells it
    unsigned what;    ///< set of local_attribute; 0: the text is always the same
    std::function<std::string(const local_attributes&)> text; ///< with the line feed at its end
};

/// What libibumad, OpenSM and transports::end_ports() read: infiniband/DEVICE, infiniband_mad/umadN and issmN. Of a device with
/// several ports in the list the first one speaks for the device.
std::vector<sysfs_file> sysfs_files(std::span<const described_port> ports);

} // namespace comad::transports::vumad
