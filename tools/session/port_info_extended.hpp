// SPDX-License-Identifier: MIT
// port_info_extended.hpp - queries PortInfoExtended of a port, if the port supports it.
#pragma once
#include "session/session.hpp"
#include <comad/iba/smp.hpp>

#include <optional>

namespace ibtool {

/// Returns nullopt if the capability masks of the port do not announce the attribute, or if the port rejects the query anyway. Without the
/// announcement no query is sent, because some devices would not even reply. Port 0 of a switch announces it for all ports.
comad::coro::task<comad::mad::result<std::optional<comad::iba::smp::PortInfoExtended>>>
query_port_info_extended(session&, comad::mad::any_path, unsigned port);

} // namespace ibtool
