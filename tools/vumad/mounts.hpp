// SPDX-License-Identifier: MIT
// mounts.hpp - a mount namespace with virtual contents of /dev/infiniband, /sys/class/infiniband and /sys/class/infiniband_mad. Other
// processes do not see it, and it ends with its last process. Does not depend on devices or FUSE calls.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>

namespace ibtool {

/// Moves this process to its own mount namespace. Without the necessary permissions, also creates a user namespace with the same user and
/// group. Precondition: the process has one thread. Throws std::system_error with one line that contains a possible fix.
void leave_mount_namespace();

/// Opens /dev/fuse and mounts it for show_devices(). Creates mount points for /dev/infiniband and in /sys/class if necessary.
/// Precondition: leave_mount_namespace() was called. Throws std::system_error with one line that contains a possible fix.
comad::mad::unique_fd mount_devices();

/// Mounts the directories `dev`, `infiniband` and `infiniband_mad` of the mounted device where programs expect them. Call it in the
/// process that will use the devices, while another process serves them. Throws std::system_error with one line.
void show_devices();

} // namespace ibtool
