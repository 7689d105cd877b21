// SPDX-License-Identifier: MIT
// device.hpp - benchmarks GMPs of a local device over umad and over verbs, with ibsysstat's ping as the request. Does not depend on how
// results are printed.
#pragma once
#include "rounds.hpp"
#include <comad/mad/path.hpp>
#include <comad/transports/sysfs.hpp>

#include <string>
#include <vector>

namespace comad::bench {

/// Answers pings at a port until the process is killed. Throws std::runtime_error if the port cannot be opened.
void serve_pings(const std::string& port);

/// Returns one variant for each carrier in `which` (umad, verbs). All variants use the same schedule and the same RPC, and send from a
/// port to a server of pings. Throws std::runtime_error if a carrier cannot be opened.
std::vector<variant> ping_variants(const std::string& from, const mad::IBPath& to,
                                   const std::vector<std::string>& which);

} // namespace comad::bench
