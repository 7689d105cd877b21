// SPDX-License-Identifier: MIT
// two_switches.hpp - a small ibsim subnet with numbered host names, and a way to run infiniband-diags scripts on it.
#pragma once
#include "program/ibtool_subnet.hpp"

#include <string>
#include <string_view>

namespace ibtool_rig {

// A topology file. The numbers in the host names form ranges. Two cables connect the switches, so that routes can avoid
// one cable.
inline constexpr std::string_view two_switches = R"(
switchguid=0x5000
Switch	8 "S1"	# "first switch" enhanced port 0 lid 0 lmc 0
[1]	"A"[1]
[2]	"B"[1]
[5]	"S2"[3]
[6]	"S2"[6]

switchguid=0x6000
Switch	6 "S2"	# "second switch" base port 0 lid 0 lmc 0
[1]	"C"[1]
[2]	"D"[1]
[3]	"S1"[5]
[4]	"E"[1]
[6]	"S1"[6]

caguid=0xa000
Hca	2 "A"	# "node-09"
[1]	"S1"[1]

caguid=0xb000
Hca	1 "B"	# "node-10"
[1]	"S1"[2]

caguid=0xc000
Hca	1 "C"	# "node-01"
[1]	"S2"[1]

caguid=0xd000
Hca	1 "D"	# "node-03"
[1]	"S2"[2]

caguid=0xe000
Hca	1 "E"	# "host E"
[1]	"S2"[4]
)";

/// Returns the command line of an infiniband-diags script that saves its topology in `cache` instead of the directory
/// of the machine.
inline words script(const std::string& name, const std::string& cache, const words& arguments) {
    const std::string run_it = "$IBswcountlimits::cache_dir = shift; $0 = '" + name +
                               "'; my ($f) = grep { -x } map { \"$_/" + name +
                               "\" } split ':', $ENV{PATH}; do $f; die $@ if $@";
    return words{"perl", "-MIBswcountlimits", "-e", run_it, "--", cache} + arguments;
}

} // namespace ibtool_rig
