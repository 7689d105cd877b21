// SPDX-License-Identifier: MIT
// system_calls.cpp - the counter of system calls of each thread.
#include <comad/mad/detail/system_calls.hpp>

namespace comad::mad::detail {

constinit thread_local u64 system_calls = 0;

} // namespace comad::mad::detail
