// SPDX-License-Identifier: MIT
// mounts.hpp - a mount namespace with other contents of /dev/infiniband, /sys/class/infiniband and /sys/class/infiniband_mad. It is not
// visible from outside, and ends with its processes. Does not depend on devices or FUSE calls.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>

namespace ibtool {

/// Moves this process to its own mount namespace. Without the necessary rights it also gets a user namespace, in which user and group stay
/// the same. Precondition: the process has one thread. Throws std::system_error with one line that contains a possible fix.
void leave_mount_namespace();

/// Opens /dev/fuse and mounts it for show_devices(). Creates mount points below /dev/infiniband and /sys/class if necessary.
/// Precondition: leave_mount_namespace() was called. Throws std::system_error with one line that contains a possible fix.
comad::mad::unique_fd mount_devices();

/// Mounts `dev`, `infiniband` and `infiniband_mad` of the mounted device at their places. Call it in the process that is to see them, while
/// the device is served. Throws std::system_error with one line.
void show_devices();

} // namespace ibtool
