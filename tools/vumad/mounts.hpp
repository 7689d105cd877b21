// SPDX-License-Identifier: MIT
// mounts.hpp - a mount namespace in which /dev/infiniband and the classes infiniband and infiniband_mad of /sys/class are other
// ones. Nothing of it is seen from outside, and it ends with its processes. Knows no device and no FUSE call.
#pragma once
#include <comad/mad/detail/unique_fd.hpp>

namespace ibtool {

/// This process leaves the machine's mount namespace, for a user that may not do so with a user namespace, in which its
/// identity stays. Precondition: it has one thread. Throws std::system_error with one line that says what to do.
void leave_mount_namespace();

/// After leave_mount_namespace(): opens /dev/fuse and mounts it where show_devices() looks for it. Makes room for what that puts
/// over /dev/infiniband and /sys/class. Throws std::system_error with one line that says what to do.
comad::mad::unique_fd mount_devices();

/// In the process that is to see them, while the mounted device is served: `dev`, `infiniband` and `infiniband_mad` of it come to
/// their places. Throws std::system_error with one line.
void show_devices();

} // namespace ibtool
