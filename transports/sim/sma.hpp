// SPDX-License-Identifier: MIT
// sma.hpp - what the subnet management agent of a node answers (IBA 14.3). Knows no way and no time.
#pragma once
#include "attributes.hpp"
#include <comad/mad/transport.hpp>

#include <span>

namespace comad::transports::sim {

using mad_view = std::span<u8, mad::mad_size>;

/// Turns a request, which came in by `in_port`, into its reply. False: there is none to it.
bool answer(attributes& of, u32 node, u8 in_port, mad_view smp);

} // namespace comad::transports::sim
