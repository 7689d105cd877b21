// SPDX-License-Identifier: MIT
// sma.hpp - what the subnet management agent of a node answers (IBA 14.3). Knows no way and no time.
#pragma once
#include "attributes.hpp"
#include <comad/mad/transport.hpp>

#include <span>

namespace comad::transports::sim {

using mad_view = std::span<u8, mad::mad_size>;

enum class sma_outcome : u8 {
    replied,
    silent,     ///< there is no reply to it
    wrong_mkey, ///< dropped and counted
};

/// Turns a request, which came in by `in_port`, into its reply.
sma_outcome answer(attributes& of, u32 node, u8 in_port, mad_view smp, mad::time_point now);

} // namespace comad::transports::sim
