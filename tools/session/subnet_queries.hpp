// SPDX-License-Identifier: MIT
// subnet_queries.hpp - what commands share that discover a subnet and then ask its nodes something: who is asked, what is
// found, what is missing. Knows no particular query.
#pragma once
#include "session/counter_queries.hpp"
#include "session/report.hpp"
#include "text/subnet_missing.hpp"
#include <comad/discovery/database/subnet.hpp>

#include <functional>
#include <string>
#include <vector>

namespace ibtool {

/// Of Gets to nodes of which most have just answered: how long one may be silent.
inline constexpr comad::coro::rpc_options short_patience{.patience = std::chrono::milliseconds(10)};

/// Asks the nodes of a subnet that is known.
using subnet_query = std::function<comad::coro::task<report>(session&, const comad::discovery::subnet&)>;

/// The same of a query about the whole subnet, which is discovered before. What the discovery lacks is missing.
/// Throws one line if the local port does not answer.
int discover_and_ask(const global_options&, const subnet_query& query);

/// The same of a check that asks nobody: no device is opened where the options name a file that has the subnet.
int discover_and_judge(const global_options&, const std::function<report(const comad::discovery::subnet&)>& judge);

/// `# Checking Switch: nodeguid 0x0002c90300000001`.
std::string node_line(std::string_view doing, const comad::discovery::node&);
/// `nodeType`, `nodeGUID`, `description`, `LID`, `port`, which is 255 for all.
nlohmann::ordered_json place_json(const comad::discovery::subnet&, const comad::discovery::end_port_ref&,
                                  comad::u8 port);

} // namespace ibtool
