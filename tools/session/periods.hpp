// SPDX-License-Identifier: MIT
// periods.hpp - the library's periods under the tool's name for them.
#pragma once
#include <comad/coro/periods.hpp>

namespace ibtool {
using comad::coro::periods;
} // namespace ibtool
