// SPDX-License-Identifier: MIT
// subnet_command.hpp - what commands share that discover a subnet and print it. Knows no particular report.
#pragma once
#include "session/node_name_map.hpp"
#include "session/report.hpp"
#include <comad/discovery/reports.hpp>
#include <comad/discovery/subnet.hpp>

#include <functional>
#include <string>

namespace ibtool {

/// How a subnet becomes text.
using subnet_text = std::function<std::string(const comad::discovery::subnet&, session&)>;

/// Discovers the subnet, writes `text` of it to `file` (empty: stdout) and its problems to stderr.
/// Returns complete or partial; throws one line if the local port does not answer.
int discover_and_report(const global_options& options, const subnet_text& text, const std::string& file = {});

/// The subnet that a topology file describes, in the order of the file; no MAD is sent.
/// Throws std::runtime_error with one line where the file is missing or wrong.
comad::discovery::subnet read_subnet(const std::string& file);

} // namespace ibtool
