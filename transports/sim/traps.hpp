// SPDX-License-Identifier: MIT
// traps.hpp - the notices of ports that discard a packet because of its keys (IBA 14.2.5.1, table of traps). The fabric adds the issuer
// and sends them.
#pragma once
#include <comad/iba/notice.hpp>
#include <comad/mad/path.hpp>
#include <comad/mad/transport.hpp>

#include <span>

namespace comad::transports::sim {

/// Returns trap 256, bad M_Key. `SLID`: source LID of the packet.
iba::Notice bad_mkey(std::span<const u8, mad::mad_size> smp, iba::lid SLID) noexcept;
/// Returns trap 257, bad P_Key.
iba::Notice bad_pkey(const mad::IBPath& headers) noexcept;
/// Returns trap 258, bad Q_Key.
iba::Notice bad_qkey(const mad::IBPath& headers) noexcept;

} // namespace comad::transports::sim
