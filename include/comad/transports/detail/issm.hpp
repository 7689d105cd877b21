// SPDX-License-Identifier: MIT
// issm.hpp - opens the kernel's issm device, through which a subnet manager sets the IsSM bit. It depends on no MAD.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>
#include <comad/transports/sysfs.hpp>

#include <filesystem>

namespace comad::transports {

/// Opens the issm device of a port. While the descriptor is open, the port's CapabilityMask contains IsSM, and the
/// master subnet manager is notified. A subnet manager opens it in addition to serving SMInfo; no other server needs
/// it. Only one process at a time can open it.
///
/// Errors: throws std::runtime_error with one line that states how to fix the error: the port has no issm device,
///         another process has opened it, or an error of umad_transport.
mad::unique_fd open_issm(const end_port& port, const std::filesystem::path& sys_class = "/sys/class",
                         const std::filesystem::path& devices = "/dev/infiniband");

} // namespace comad::transports
