// SPDX-License-Identifier: MIT
// smp.hpp - subnet management: the SMP formats and all their attributes (IBA chapter 14). Knows how to send none.
#pragma once
#include <comad/iba/smp/format.hpp>
#include <comad/iba/smp/node.hpp>
#include <comad/iba/smp/port.hpp>
#include <comad/iba/smp/tables.hpp>
