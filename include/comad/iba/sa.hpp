// SPDX-License-Identifier: MIT
// sa.hpp - subnet administration: the SA format and all its records (IBA chapter 15). Knows no query.
#pragma once
#include <comad/iba/sa/format.hpp>
#include <comad/iba/sa/groups.hpp>
#include <comad/iba/sa/paths.hpp>
#include <comad/iba/sa/records.hpp>
