// SPDX-License-Identifier: MIT
// pkey_choice.hpp - finds the P_Key that -Y or --pkey chooses for all GMPs in the table of a local port.
#pragma once
#include "input/options.hpp"
#include <comad/transports/sysfs.hpp>

#include <string>

namespace ibtool {

/// Returns the option that chooses the P_Key, for messages: `-Y 3`, `--pkey 0x8001`. Precondition: one of them is given.
std::string pkey_option(const global_options&);

/// Returns the P_Key index that -Y or --pkey chooses at a port, for a queue pair; look_up if neither is given. Throws
/// std::runtime_error with one line if the port does not have the P_Key.
comad::u16 chosen_pkey_index(const comad::transports::end_port&, const global_options&);

} // namespace ibtool
