// SPDX-License-Identifier: MIT
// subnet_command.hpp - what commands share that discover a subnet and print it. Knows no particular report.
#pragma once
#include "session/node_name_map.hpp"
#include "session/report.hpp"
#include <comad/discovery/database/subnet.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/discovery/formats/topology_file.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ibtool {

/// How a subnet becomes text. `MADs`: how many were sent for it, 0 where it is of a cache.
using subnet_text = std::function<std::string(const comad::discovery::subnet&, comad::u64 mads)>;
/// The same of what is more than text; what the discovery lacks need not be in it.
using subnet_report = std::function<report(const comad::discovery::subnet&, comad::u64 mads)>;

/// Asks for more than a subnet is, while the session is open; gives what is missing of it.
using subnet_reading =
    std::function<comad::coro::task<std::vector<comad::discovery::failure>>(session&, const comad::discovery::subnet&)>;

/// Discovers the subnet, or takes it from the cache file that the options name, writes `text` of it to `file` (empty: stdout) and its problems to stderr.
/// `more`: what is read then; nothing of a subnet for which no device was opened.
/// Returns complete or partial; throws one line if the local port does not answer.
int discover_and_report(const global_options& options, const subnet_text& text, const std::string& file = {},
                        const subnet_reading& more = {});
int discover_and_report(const global_options& options, const subnet_report& made);

/// The subnet that a topology file describes; `-` is stdin. No MAD is sent. What is skipped of it goes to stderr, in one line.
/// Throws std::runtime_error with one line where the file is missing, has no node, or with --strict if anything is skipped.
comad::discovery::subnet
read_subnet(const std::string& file, const global_options&,
            comad::discovery::described_order order = comad::discovery::described_order::of_file);

} // namespace ibtool
