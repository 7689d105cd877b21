// SPDX-License-Identifier: MIT
// bit_errors.cpp - calculates errors from the binomial distribution of wrong symbols in a block.
#include "bit_errors.hpp"

#include "rates.hpp"

#include <algorithm>
#include <cmath>

namespace comad::transports::sim {
namespace {

/// The blocks of a code: symbols per block, how many of them can be corrected, and bits per symbol.
struct block_code {
    unsigned symbols, correctable, bits_per_symbol;
};

constexpr block_code fire_code{2112, 1, 1}, rs_528{528, 7, 10}, rs_544{544, 15, 10};

/// The probability of blocks that were corrected and of blocks that were not, and the mean number of corrected symbols.
struct block_share {
    double corrected = 0, lost = 0, symbols = 0;
};

/// Sums the binomial distribution, from the smallest number of wrong symbols on. The sums have no cancellation, so that rare
/// blocks have an exact probability.
block_share shares_of(const block_code& code, double p) noexcept {
    block_share share;
    double probability = std::exp(code.symbols * std::log1p(-p)); // of no wrong symbol
    for (unsigned wrong = 1; wrong <= code.symbols; ++wrong) {
        probability *= (code.symbols - wrong + 1.0) / wrong * (p / (1 - p));
        if (wrong <= code.correctable) {
            share.corrected += probability;
            share.symbols += wrong * probability;
        } else {
            share.lost += probability;
        }
    }
    share.lost = std::min(share.lost, 1.0); // rounding errors of the sum
    return share;
}

/// Returns the probability that at least one of these bits is wrong.
double any_wrong(double rate, double bits) noexcept { return -std::expm1(bits * std::log1p(-rate)); }

} // namespace

double bit_errors::damaged_share(double words) const noexcept {
    return -std::expm1(-(damage_per_bit * bits_per_word * words + damage_per_packet));
}

bit_errors bit_errors_of(double rate, link_codes link) noexcept {
    constexpr double bits_of_8b10b = 40, bits_of_64b66b = 33; // of 4 bytes
    const bool is_8b10b = !link.has_fdr10() && !link.has_extended_speed();
    const double bits = signaling_rate(link);
    bit_errors e;
    if (rate <= 0 || bits <= 0) return e;
    e.bits_per_word = is_8b10b ? bits_of_8b10b : bits_of_64b66b;
    const iba::FECMode FEC = fec_of(link);
    if (FEC == iba::FECMode::None) {
        const double unit = is_8b10b ? 10 : 66;
        e.symbol_errors = bits / unit * any_wrong(rate, unit);
        e.damage_per_bit = -std::log1p(-rate);
        return e;
    }
    const block_code code = FEC == iba::FECMode::FireCode ? fire_code : FEC == iba::FECMode::RS ? rs_528 : rs_544;
    const double bits_of_block = code.symbols * code.bits_per_symbol, blocks = bits / bits_of_block;
    const block_share share = shares_of(code, any_wrong(rate, code.bits_per_symbol));
    e.correctable_blocks = blocks * share.corrected;
    e.corrected_symbols = blocks * share.symbols;
    e.symbol_errors = e.uncorrectable_blocks = blocks * share.lost;
    e.damage_per_packet = -std::log1p(-share.lost);
    e.damage_per_bit = e.damage_per_packet / bits_of_block;
    return e;
}

} // namespace comad::transports::sim
