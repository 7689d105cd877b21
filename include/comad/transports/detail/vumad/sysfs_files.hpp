// SPDX-License-Identifier: MIT
// sysfs_files.hpp - generates the sysfs files that describe InfiniBand devices below /sys/class (Linux,
// Documentation/ABI/stable/sysfs-class-infiniband), from the attributes of the port's SMA. It opens no file.
#pragma once
#include <comad/transports/detail/vumad/local_port.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace comad::transports::vumad {

/// An end port that gets the MAD devices umadN and issmN, where N is its index in the list.
struct described_port {
    std::string device; ///< device name, for example `vib0`
    unsigned port = 1;  ///< port number; 0: a switch
};

/// One generated sysfs file.
struct sysfs_file {
    std::string path; ///< path below /sys/class, for example `infiniband/vib0/ports/1/lid`
    std::size_t port; ///< index of the port whose SMA provides the values
    unsigned what;    ///< set of local_attribute; 0: the text is constant
    std::function<std::string(const local_attributes&)> text; ///< returns the text, with a trailing line feed
};

/// Returns the files that libibumad, OpenSM and transports::end_ports() read: infiniband/DEVICE, infiniband_mad/umadN
/// and issmN. If the list has several ports of a device, the first one provides the values of the device.
std::vector<sysfs_file> sysfs_files(std::span<const described_port> ports);

} // namespace comad::transports::vumad
