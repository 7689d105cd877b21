// SPDX-License-Identifier: MIT
// experiments.hpp - the experiments of the laboratory, one function each. Does not depend on the options of the command line.
#pragma once
#include "lab.hpp"

namespace comad::bench {

/// Measures discoveries with a loss of 0, 1 and 10 % of all MADs in each direction, compared with a discovery without loss.
table try_loss(const settings&);
/// Gets and Sets of PortInfo with a loss of 0.5, 2 and 5 % of all MADs in each direction, compared with the same requests without loss.
/// The requests go to one switch, one after the other, and to all ports of a subnet. Runs once with the timeout of the settings, and once
/// with the fixed timeout of a subnet manager.
table try_sets(const settings&);
/// Measures discoveries of nodes with 8 buffers and a service time of 50 us: with switches that forward without delay, and with switches
/// that need time. Tries fixed windows, limits per destination, and the window of the settings if it is not one of them.
table try_buffers(const settings&);
/// Compares a discovery with the least time that its subnet permits.
table try_bound(const settings&);
/// Runs repeated discoveries of a subnet manager in parallel with those of the tool, each over a modeled kernel. Measures how much each
/// slows down the other: for the options of the settings, with `polite`, and for fixed windows.
table try_neighbour(const settings&);
/// Measures discoveries of 1,000 to 48,000 LIDs: processor time of the client without the subnet, and memory.
table try_scale(const settings&);
/// Sends millions of MADs through one schedule with all faults. Throws std::runtime_error if the counts do not balance or memory grows.
table try_endurance(const settings&);

} // namespace comad::bench
