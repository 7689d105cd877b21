// SPDX-License-Identifier: MIT
// enums.hpp - all enumerations of the IBA and the names of their values. Knows no structure.
#pragma once
#include <comad/iba/enums/gsi.hpp>
#include <comad/iba/enums/mad.hpp>
#include <comad/iba/enums/names.hpp>
#include <comad/iba/enums/subnet.hpp>
