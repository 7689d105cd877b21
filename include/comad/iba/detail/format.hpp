// SPDX-License-Identifier: MIT
// format.hpp - fmt, and the types of types.hpp. The formatters of guid, gid and lid are in types.hpp.
#pragma once
#include <comad/iba/types.hpp>

#include <fmt/format.h>
