// SPDX-License-Identifier: MIT
// subnet_queries.hpp - helpers for commands that discover a subnet and then query its nodes. Does not depend on a particular query.
#pragma once
#include "session/counter_queries.hpp"
#include "session/run_on_subnet.hpp"
#include "text/subnet_missing.hpp"
#include <comad/discovery/database/subnet.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ibtool {

/// A short time limit for Gets to nodes, most of which have just replied.
inline constexpr comad::coro::rpc_options short_patience{.patience = std::chrono::milliseconds(10)};

/// Returns whether a port is one of discovery::end_ports(), for counters::sweep_options::wants.
bool is_counted(const comad::discovery::subnet&, comad::discovery::port_ref);

/// Returns `# Checking Switch: nodeguid 0x0002c90300000001`.
std::string node_line(std::string_view doing, const comad::discovery::node&);
/// Returns `nodeType`, `nodeGUID`, `description`, `LID` and `port`, which is 255 for all ports.
nlohmann::ordered_json place_json(const comad::discovery::subnet&, const comad::discovery::end_port_ref&,
                                  comad::u8 port);

} // namespace ibtool
