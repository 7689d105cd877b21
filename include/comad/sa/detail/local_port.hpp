// SPDX-License-Identifier: MIT
// local_port.hpp - the local port as requests to the SA need it, and how a program reads it again. Knows no device.
#pragma once
#include <comad/coro/task.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/path.hpp>

#include <functional>

namespace comad::sa {

/// The port from which paths begin.
struct local_port {
    iba::lid LID{};
    iba::gid GID;          ///< its first one; zero: unknown, paths are asked for by its LID
    mad::IBPath sa_path{}; ///< to the SA: master SM's LID and SL (IBA 15.4.2)
    u8 LMC = 0;            ///< the port has 2^LMC LIDs

    friend bool operator==(const local_port&, const local_port&) = default;
};

/// Reads the local port as it is now: from sysfs, from libibverbs, from wherever the program has it. It may suspend.
/// Errors: the port cannot be read now, also by an exception of its own; the client then keeps what it has.
using port_reader = std::function<coro::task<mad::result<local_port>>()>;

} // namespace comad::sa
