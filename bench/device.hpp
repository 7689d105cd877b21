// SPDX-License-Identifier: MIT
// device.hpp - GMPs of a local device, over umad and over verbs, each asked of a port where ibsysstat's ping is served. Knows no
// table.
#pragma once
#include "rounds.hpp"
#include <comad/mad/path.hpp>
#include <comad/transports/sysfs.hpp>

#include <string>
#include <vector>

namespace comad::bench {

/// Answers pings at a port until it is killed. Throws std::runtime_error.
void serve_pings(const std::string& port);

/// The same schedule and the same RPC over each carrier of `which` (umad, verbs): from a port to whoever serves. Throws
/// std::runtime_error where one of them cannot be opened.
std::vector<variant> ping_variants(const std::string& from, const mad::IBPath& to,
                                   const std::vector<std::string>& which);

} // namespace comad::bench
