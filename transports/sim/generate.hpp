// SPDX-License-Identifier: MIT
// generate.hpp - a topology from a specification whose other keys somebody else may want.
#pragma once
#include "spec.hpp"
#include <comad/transports/sim/detail/topology.hpp>

namespace comad::transports::sim {

/// make_topology() on a specification taken apart: takes the keys of the kind that its head names, and calls
/// spec::finish() before it builds. Other keys must have been taken before.
topology generate(spec& s);

} // namespace comad::transports::sim
