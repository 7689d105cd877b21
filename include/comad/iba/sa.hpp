// SPDX-License-Identifier: MIT
// sa.hpp - subnet administration: the SA MAD format and all its records (IBA chapter 15).
#pragma once
#include <comad/iba/detail/sa/format.hpp>
#include <comad/iba/detail/sa/groups.hpp>
#include <comad/iba/detail/sa/paths.hpp>
#include <comad/iba/detail/sa/records.hpp>
