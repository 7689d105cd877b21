// SPDX-License-Identifier: MIT
// waiting_write.hpp - writes all of a text, and waits for the reader in a way that a signal ends.
#pragma once
#include <string_view>

namespace ibtool {

/// Writes the text to the descriptor. Waits as long as its reader needs, until a signal arrives that has a handler; such signals are
/// held back while nothing waits, so that none is missed. Returns 0, or errno of what went wrong: EINTR for a signal.
int write_waiting(int to, std::string_view text) noexcept;

} // namespace ibtool
