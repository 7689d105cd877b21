// SPDX-License-Identifier: MIT
// sma.hpp - what the subnet management agent of a node answers (IBA 14.2.5, 14.3). Knows no way and no time.
#pragma once
#include <comad/transports/sim/topology.hpp>

namespace comad::transports::sim {

/// Common status bits (IBA 13.4.7).
namespace mad_status {
inline constexpr u16 busy = 0x01;
inline constexpr u16 bad_version = 0x04;
inline constexpr u16 unsupported_method = 0x08;
inline constexpr u16 unsupported_attribute = 0x0c;
inline constexpr u16 invalid_value = 0x1c;
} // namespace mad_status

/// Turns the request in the 256 bytes at `smp`, which came in by `in_port`, into its reply. False: there is none to it.
/// `port_state_change` is what a switch tells in SwitchInfo.
bool answer(const topology& t, u32 node, u8 in_port, bool port_state_change, u8* smp) noexcept;

/// Turns a request into a reply that says no more than this status. False: there is no reply to it.
bool answer_status(u16 status, u8* smp) noexcept;

} // namespace comad::transports::sim
