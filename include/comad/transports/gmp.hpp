// SPDX-License-Identifier: MIT
// gmp.hpp - opens a transport for the GMPs of an end port: a queue pair of libibverbs, or the umad device. The header includes neither,
// and is also available if comad was built without libibverbs.
#pragma once
#include <comad/mad/transport.hpp>
#include <comad/transports/sysfs.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace comad::transports {

/// Returns whether comad was built with libibverbs.
bool has_verbs() noexcept;

/// Options of open_gmp_port() and get_gmp_mad().
struct gmp_options {
    /// Over verbs: called after an event of the port or device, when the port has been read again. `event` is
    /// libibverbs' name of the event (`LID changed`), `now` the present state of the port.
    std::function<void(std::string_view event, const end_port& now)> on_event{};
    std::filesystem::path sys_class = "/sys/class";
    /// Over verbs: as verbs_options::pkey_index, for the port of the GSI. Over umad, each path has its own P_Key.
    u16 pkey_index = mad::path_headers::look_up;
};

/// Opens an end port for GMPs over verbs, by a transport with its own RMPP (open_verbs_port() in verbs.hpp). For a
/// planarized port, it opens the device of the GSI. The transport carries no SMPs.
/// Errors: throws std::runtime_error with one line, even if comad was built without libibverbs.
std::unique_ptr<mad::transport> open_gmp_port(const end_port& port, const gmp_options& options = {});

/// The result of get_gmp_mad().
struct gmp_mad {
    std::unique_ptr<mad::transport> transport; ///< its name() shows the kind: `mlx5_0/1 (verbs)`, `mlx5_0/1 (umad0)`
    std::string refusal;                       ///< why verbs could not be used; empty: verbs is used
};
/// Opens a transport for the GMPs of an end port: over verbs, or through the umad device if verbs cannot be used.
/// Errors: throws std::runtime_error with one line that contains both causes if neither can be used.
gmp_mad get_gmp_mad(const end_port& port, const gmp_options& options = {});

} // namespace comad::transports
