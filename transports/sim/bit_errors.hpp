// SPDX-License-Identifier: MIT
// bit_errors.hpp - calculates which errors a receiver counts at a bit error rate, with and without forward error correction. It does not
// depend on time or on a particular port.
#pragma once
#include <comad/transports/sim/detail/topology.hpp>

namespace comad::transports::sim {

/// The errors at the receiving end of a link whose bits are wrong with a constant probability, each independent of the others. A link
/// always sends, with or without packets, so errors occur at a constant rate.
struct bit_errors {
    double symbol_errors = 0;        ///< per second: symbols or blocks that stay wrong after FEC
    double corrected_symbols = 0;    ///< per second, by FEC
    double correctable_blocks = 0;   ///< per second, by FEC
    double uncorrectable_blocks = 0; ///< per second, of FEC
    double damage_per_bit = 0;       ///< -ln of the probability that a bit does not damage the packet that contains it
    double damage_per_packet = 0;    ///< likewise, for the block that a packet shares with others
    double bits_per_word = 0;        ///< bits on the wire for 4 bytes

    /// Returns the share of packets of this size, in 4-byte words, that arrive with an error.
    double damaged_share(double words) const noexcept;
};

/// Returns the errors at a bit error rate of 0 to 0.1, before FEC, of a link that runs at this width and speed with its usual FEC
/// (rates.hpp). A block of RS-FEC has 528 or 544 symbols of 10 bits, and up to 7 or 15 of them can be corrected (IEEE 802.3,
/// clauses 91 and 119). A block of FireCode has 2112 bits, and one wrong bit can be corrected (clause 74).
bit_errors bit_errors_of(double rate, link_codes link) noexcept;

} // namespace comad::transports::sim
