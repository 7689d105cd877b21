// SPDX-License-Identifier: MIT
// generate.hpp - generates a topology from a specification that may also have keys of other users.
#pragma once
#include "spec.hpp"
#include <comad/transports/sim/detail/topology.hpp>

namespace comad::transports::sim {

/// Generates the topology for a parsed specification, like make_topology(). It takes the keys of the topology type
/// that the head names, and calls spec::finish() before building. Other users must take their keys first.
topology generate(spec& s);

} // namespace comad::transports::sim
