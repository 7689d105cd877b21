// SPDX-License-Identifier: MIT
// transports.hpp - transports for MAD devices of the kernel, ibsim and simulated subnets. fabric/open_fabric.hpp opens any of them
// by a text.
#pragma once
#include <comad/transports/ibsim.hpp>
#include <comad/transports/sim/transport.hpp>
#include <comad/transports/striped.hpp>
#include <comad/transports/umad.hpp>
