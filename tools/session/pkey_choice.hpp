// SPDX-License-Identifier: MIT
// pkey_choice.hpp - -Y and --pkey: the P_Key of all GMPs, in the table of a local port. Knows no fabric.
#pragma once
#include "input/options.hpp"
#include <comad/transports/sysfs.hpp>

#include <string>

namespace ibtool {

/// The option that chooses the P_Key, for messages: `-Y 3`, `--pkey 0x8001`. Precondition: one of them is given.
std::string pkey_option(const global_options&);

/// The index that -Y or --pkey means at a port, for a queue pair; look_up if neither is given. Throws
/// std::runtime_error with one line if the port does not have that P_Key.
comad::u16 chosen_pkey_index(const comad::transports::end_port&, const global_options&);

} // namespace ibtool
