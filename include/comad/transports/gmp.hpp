// SPDX-License-Identifier: MIT
// gmp.hpp - what carries the GMPs of an end port: a queue pair of libibverbs, or its umad device. Includes neither; a comad
// that was built without libibverbs has it all the same.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/transports/sysfs.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace comad::transports {

/// Whether comad was built with libibverbs.
bool has_verbs() noexcept;

struct gmp_options {
    /// Over verbs: hears that something about the port or the device has changed, in libibverbs' words (`LID changed`), after
    /// it was read anew.
    std::function<void(std::string_view event, const end_port& now)> on_event{};
    std::filesystem::path sys_class = "/sys/class";
    /// Over verbs: as verbs_options::pkey_index, of the GSI's port. Over umad each path has its own P_Key.
    u16 pkey_index = mad::path_headers::look_up;
};

/// The GMPs of an end port over verbs, by a transport that makes transfers of RMPP itself (open_verbs_port() in verbs.hpp); of
/// a planarized port by the device of its GSI. It carries no SMPs. Errors: std::runtime_error with one line, where comad was
/// built without libibverbs, too.
std::unique_ptr<mad::transport> open_gmp_port(const end_port& port, const gmp_options& options = {});

struct gmp_mad {
    std::unique_ptr<mad::transport> transport; ///< name() tells which it is: `mlx5_0/1 (verbs)`, `mlx5_0/1 (umad0)`
    std::string refusal;                       ///< why it is not over verbs; empty: it is
};
/// A transport for the GMPs of an end port: over verbs, or where that cannot be, its umad device. Errors: std::runtime_error
/// with one line that says both causes, where neither can be had.
gmp_mad get_gmp_mad(const end_port& port, const gmp_options& options = {});

} // namespace comad::transports
