// SPDX-License-Identifier: MIT
// system_calls.hpp - counts the system calls that send, receive and wait for MADs.
#pragma once
#include <comad/iba/types.hpp>

namespace comad::mad::detail {

/// The number of system calls that transports and the driver without Asio made in this thread to send MADs, to receive
/// them, and to wait for them. Calls that open and close devices do not count, and neither do calls inside libibverbs and
/// Asio. With this TLS model, an increment takes two instructions.
extern constinit thread_local u64 system_calls __attribute__((tls_model("initial-exec")));

} // namespace comad::mad::detail
