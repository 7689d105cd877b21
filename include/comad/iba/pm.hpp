// SPDX-License-Identifier: MIT
// pm.hpp - performance management: the MAD format and all attributes (IBA 16.1, A10, A13).
#pragma once
#include <comad/iba/detail/pm/congestion.hpp>
#include <comad/iba/detail/pm/counters.hpp>
#include <comad/iba/detail/pm/details.hpp>
#include <comad/iba/detail/pm/format.hpp>
#include <comad/iba/detail/pm/lanes.hpp>
#include <comad/iba/detail/pm/samples.hpp>
