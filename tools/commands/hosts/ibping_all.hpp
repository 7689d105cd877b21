// SPDX-License-Identifier: MIT
// ibping_all.hpp - pings every host of the subnet, and prints the slowest ones first.
#pragma once
#include "input/options.hpp"

namespace ibtool {

/// The options of `ibping --all`.
struct ping_all_options {
    comad::u64 count = 3; ///< pings to each host
    comad::u64 top = 0;   ///< print only the slowest hosts; 0: all
    comad::u32 OUI = 0;
    bool json = false;
};

/// Pings the hosts that the SA knows; without an SA, the hosts that a discovery finds. Returns an exit code.
int run_ping_all(const ping_all_options&, const global_options&);

} // namespace ibtool
