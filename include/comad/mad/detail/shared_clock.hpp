// SPDX-License-Identifier: MIT
// shared_clock.hpp - what tells that two transports in virtual time have one clock: they are ports of one simulated fabric.
#pragma once
#include <string>

namespace comad::mad::detail {

/// A transport that shares its clock with others implements this interface, too.
class shared_clock {
public:
    /// Equal for transports that share one clock; null: no other transport can share it.
    virtual const void* clock_id() const noexcept = 0;
    /// The port of the transport, for messages: `NODE/PORT`.
    virtual std::string location() const = 0;

protected:
    ~shared_clock() = default;
};

} // namespace comad::mad::detail
