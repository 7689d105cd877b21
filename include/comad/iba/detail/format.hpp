// SPDX-License-Identifier: MIT
// format.hpp - includes fmt and types.hpp, which has the formatters of guid, gid and lid.
#pragma once
#include <comad/iba/types.hpp>

#include <fmt/format.h>
