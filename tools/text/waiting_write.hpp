// SPDX-License-Identifier: MIT
// waiting_write.hpp - writes a complete text, and waits for the reader in a way that a signal can interrupt.
#pragma once
#include <string_view>

namespace ibtool {

/// Writes the text to the descriptor. Waits as long as its reader needs, until a signal with a handler arrives; these signals are blocked
/// while nothing waits, so that none is missed. Returns 0, or the errno: EINTR for a signal.
int write_waiting(int to, std::string_view text) noexcept;

} // namespace ibtool
