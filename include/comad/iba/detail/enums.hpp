// SPDX-License-Identifier: MIT
// enums.hpp - all enumerations of the IBA and the names of their values. Includes enums/*.hpp.
#pragma once
#include <comad/iba/detail/enums/gsi.hpp>
#include <comad/iba/detail/enums/mad.hpp>
#include <comad/iba/detail/enums/names.hpp>
#include <comad/iba/detail/enums/subnet.hpp>
