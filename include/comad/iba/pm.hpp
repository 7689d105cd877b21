// SPDX-License-Identifier: MIT
// pm.hpp - performance management: the format and all attributes (IBA 16.1, A10, A13). Knows no threshold.
#pragma once
#include <comad/iba/pm/congestion.hpp>
#include <comad/iba/pm/counters.hpp>
#include <comad/iba/pm/details.hpp>
#include <comad/iba/pm/format.hpp>
#include <comad/iba/pm/lanes.hpp>
#include <comad/iba/pm/samples.hpp>
