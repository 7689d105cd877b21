// SPDX-License-Identifier: MIT
// experiments.hpp - the experiments of the laboratory, one function each. Knows no option.
#pragma once
#include "lab.hpp"

namespace comad::bench {

/// Discovery where 0, 1 and 10 % of all MADs are lost each way, beside that without loss.
table try_loss(const settings&);
/// Gets and Sets of PortInfo where 0.5, 2 and 5 % of all MADs are lost each way, beside the same requests without loss: to one
/// switch, one after the other, and to all ports of a subnet. Once as the settings have it, and once with a subnet manager's
/// fixed timeout.
table try_sets(const settings&);
/// Discovery of nodes with 8 buffers and 50 us of service, where switches pass on at once, and where that takes time: for
/// fixed windows and bounds per destination, and for the window in the settings if it is none of them.
table try_buffers(const settings&);
/// Discovery beside the least time that its subnet allows.
table try_bound(const settings&);
/// A subnet manager's discoveries in a loop beside the tool's, each over a modelled kernel: what each costs the other, for
/// the options in the settings, with `polite`, and for fixed windows.
table try_neighbour(const settings&);
/// Discovery of 1,000 to 48,000 LIDs: processor time of the client alone, memory.
table try_scale(const settings&);
/// Millions of MADs through one schedule with all faults on. Throws std::runtime_error if the counts do not balance or
/// memory grows.
table try_endurance(const settings&);

} // namespace comad::bench
