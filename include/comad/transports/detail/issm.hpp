// SPDX-License-Identifier: MIT
// issm.hpp - the kernel's device by which a subnet manager makes itself known. Knows no MAD.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/transports/sysfs.hpp>

#include <filesystem>

namespace comad::transports {

/// While the descriptor is open, the port says in its CapabilityMask that a subnet manager is there (IsSM), and the master hears
/// of it. A subnet manager opens it beside serving SMInfo; no other server needs it. One process at a time has it.
///
/// Errors: std::runtime_error with one line that says what to do: the port has no such device, somebody else has it, or
/// as of umad_transport.
mad::unique_fd open_issm(const end_port& port, const std::filesystem::path& sys_class = "/sys/class",
                         const std::filesystem::path& devices = "/dev/infiniband");

} // namespace comad::transports
