// SPDX-License-Identifier: MIT
// counters.hpp - sweeps that read or clear the counters of all ports, the health rules, and sweeps as JSON, CSV and Prometheus text.
#pragma once
#include <comad/counters/formats.hpp>
#include <comad/counters/health.hpp>
#include <comad/counters/port_counters.hpp>
#include <comad/counters/sweep.hpp>
#include <comad/discovery.hpp>
