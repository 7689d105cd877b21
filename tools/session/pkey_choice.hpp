// SPDX-License-Identifier: MIT
// pkey_choice.hpp - -Y and --pkey: the P_Key of all GMPs, in the table of a local port. Knows no fabric.
#pragma once
#include "input/options.hpp"
#include <comad/mad/port_tables.hpp>
#include <comad/transports/sysfs.hpp>

namespace ibtool {

/// Makes -Y or --pkey the rule of the tables, if one of them is given. Throws std::runtime_error with one line if the tables
/// do not have that P_Key.
void choose_pkey(comad::mad::port_tables&, const global_options&);

/// The index that -Y or --pkey means at a port, for a queue pair; look_up if neither is given. Throws likewise.
comad::u16 chosen_pkey_index(const comad::transports::end_port&, const global_options&);

} // namespace ibtool
