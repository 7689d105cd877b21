// SPDX-License-Identifier: MIT
// multi_port.hpp - discovers a subnet through several local ports at the same time, as --local-ports requests.
#pragma once
#include "session/session.hpp"
#include <comad/discovery/walk/discover.hpp>

namespace ibtool {

/// Runs discovery::discover_multi_port() through the ports of the options, in a thread of its own unless time is virtual. The first port is
/// that of the session. A port that cannot be opened is a failure of the result, if another one can.
/// Errors: as discover_multi_port(); throws std::runtime_error with one line if no port can be opened.
/// Cancel: ends soon with what was found, and a failure.
comad::coro::task<comad::mad::result<comad::discovery::subnet>>
discover_through_ports(session&, comad::discovery::discover_options);

} // namespace ibtool
