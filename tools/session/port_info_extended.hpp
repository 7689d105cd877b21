// SPDX-License-Identifier: MIT
// port_info_extended.hpp - a port's PortInfoExtended, if it knows that. Knows no mode of forward error correction.
#pragma once
#include "session/session.hpp"
#include <comad/iba/smp.hpp>

#include <optional>

namespace ibtool {

/// Nothing where the port's capability masks do not promise it: it is not asked then, because some devices would not even
/// refuse; and where it refuses all the same. Of a switch port 0 promises for all.
comad::coro::task<comad::mad::result<std::optional<comad::iba::smp::PortInfoExtended>>>
ask_port_info_extended(session&, comad::mad::any_path, unsigned port);

} // namespace ibtool
