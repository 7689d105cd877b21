// SPDX-License-Identifier: MIT
// shared_clock.hpp - detects that two transports in virtual time share one clock, because they are ports of one
// simulated fabric.
#pragma once
#include <string>

namespace comad::mad::detail {

/// A transport implements this interface, too, if it shares its clock with other transports.
class shared_clock {
public:
    /// Returns a pointer that is equal for transports that share one clock; null: no other transport can share it.
    virtual const void* clock_id() const noexcept = 0;
    /// Returns the port of the transport, for messages: `NODE/PORT`.
    virtual std::string location() const = 0;

protected:
    ~shared_clock() = default;
};

} // namespace comad::mad::detail
