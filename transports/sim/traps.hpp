// SPDX-License-Identifier: MIT
// traps.hpp - the notices of ports that discard a packet because of its keys (IBA 14.2.5.1, table of traps). The
// fabric adds the issuer and sends them.
#pragma once
#include <comad/iba/notice.hpp>
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>

#include <span>

namespace comad::transports::sim {

/// Trap 256. `SLID`: of the packet.
iba::Notice bad_mkey(std::span<const u8, mad::mad_size> smp, iba::lid SLID) noexcept;
/// Trap 257.
iba::Notice bad_pkey(const mad::IBPath& headers) noexcept;
/// Trap 258.
iba::Notice bad_qkey(const mad::IBPath& headers) noexcept;

} // namespace comad::transports::sim
