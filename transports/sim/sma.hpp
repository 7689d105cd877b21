// SPDX-License-Identifier: MIT
// sma.hpp - the replies of a node's subnet management agent (IBA 14.3). It does not depend on routing or time.
#pragma once
#include "attributes.hpp"
#include <comad/mad/transport.hpp>

#include <span>

namespace comad::transports::sim {

using mad_view = std::span<u8, mad::mad_size>;

/// What an SMA did with an SMP.
enum class sma_outcome : u8 {
    replied,
    silent,     ///< the SMP has no reply
    wrong_mkey, ///< dropped and counted
};

/// Turns a request that arrived through `in_port` into its reply.
sma_outcome answer(attributes& of, u32 node, u8 in_port, mad_view smp, mad::time_point now);

} // namespace comad::transports::sim
