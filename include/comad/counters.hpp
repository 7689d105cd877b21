// SPDX-License-Identifier: MIT
// counters.hpp - sweeps that read or clear the counters of all ports, and the health rules.
#pragma once
#include <comad/counters/health.hpp>
#include <comad/counters/port_counters.hpp>
#include <comad/counters/sweep.hpp>
#include <comad/discovery.hpp>
