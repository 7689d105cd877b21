// SPDX-License-Identifier: MIT
// local_port.hpp - local_port: the properties of the local port that requests to the SA need, and the function type that reads them. It
// depends on no device.
#pragma once
#include <comad/coro/task.hpp>
#include <comad/iba/types.hpp>
#include <comad/mad/error.hpp>
#include <comad/mad/path.hpp>

#include <functional>

namespace comad::sa {

/// The local port, the source of all paths.
struct local_port {
    iba::lid LID{};
    iba::gid GID;          ///< the first GID; zero: unknown, queries for paths contain the LID instead
    mad::IBPath sa_path{}; ///< path to the SA: LID and SL of the master SM (IBA 15.4.2)
    u8 LMC = 0;            ///< LID mask control: the port has 2^LMC LIDs

    friend bool operator==(const local_port&, const local_port&) = default;
};

/// Reads the present state of the local port, for example from sysfs or libibverbs. It may suspend.
/// Errors: the port cannot be read at the moment, reported as a result or an exception. The client then keeps its
///         values.
using port_reader = std::function<coro::task<mad::result<local_port>>()>;

} // namespace comad::sa
