// SPDX-License-Identifier: MIT
// smp.hpp - subnet management: the SMP formats and all their attributes (IBA chapter 14).
#pragma once
#include <comad/iba/detail/smp/format.hpp>
#include <comad/iba/detail/smp/node.hpp>
#include <comad/iba/detail/smp/port.hpp>
#include <comad/iba/detail/smp/tables.hpp>
