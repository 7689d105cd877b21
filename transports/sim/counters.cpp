// SPDX-License-Identifier: MIT
// counters.cpp - counters made of what happened, what is said to have happened before, and what was written.
#include "counters.hpp"

#include "split_mix.hpp"
#include <comad/iba/pm.hpp>
#include <comad/mad/transport.hpp>

#include <array>

namespace comad::transports::sim {
namespace {

using values = counters::values;

/// Words of 4 bytes from the local route header to the invariant CRC: 8 + 12 + 8 bytes of headers, the MAD, 4 of CRC.
constexpr u64 words_of_MAD = (8 + 12 + 8 + mad::mad_size + 4) / 4;

constexpr std::array members{
    &values::portXmitData,
    &values::portRcvData,
    &values::portXmitPkts,
    &values::portRcvPkts,
    &values::portUnicastXmitPkts,
    &values::portUnicastRcvPkts,
    &values::portMulticastXmitPkts,
    &values::portMulticastRcvPkts,
    &values::symbolErrorCounter,
    &values::linkErrorRecoveryCounter,
    &values::linkDownedCounter,
    &values::portRcvErrors,
    &values::portRcvRemotePhysicalErrors,
    &values::portRcvSwitchRelayErrors,
    &values::portXmitDiscards,
    &values::portXmitConstraintErrors,
    &values::portRcvConstraintErrors,
    &values::localLinkIntegrityErrors,
    &values::excessiveBufferOverrunErrors,
    &values::VL15Dropped,
    &values::portXmitWait,
    &values::QP1Dropped,
};

/// A number that belongs to a port and a purpose.
u64 draw(u64 seed, u32 index, unsigned purpose) noexcept {
    u64 state = seed ^ (u64{index} << 8 | purpose) << 20;
    split_mix(state);
    return split_mix(state);
}

u64 earlier_packets(u64 seed, u32 sender) noexcept { return draw(seed, sender, 0) % 100'000'000; }
u64 earlier_words(u64 seed, u32 sender) noexcept {
    return earlier_packets(seed, sender) * (draw(seed, sender, 1) % 512 + 8);
}

} // namespace

counters::counters(const topology& t, u64 seed) : seed_(seed) {
    u32 next = 0;
    for (const node& n : t.nodes) {
        first_.push_back(next);
        next += static_cast<u32>(n.ports.size());
    }
    ports_.reserve(next);
    for (const node& n : t.nodes)
        for (const port& p : n.ports) ports_.push_back({p.linked() ? first_[p.peer_node] + p.peer_port : none});
}

counters::values counters::counted(u32 index) const {
    const port_counts& c = ports_[index];
    values v;
    if (seed_ != 0 && c.peer != none) {
        v.portXmitPkts = v.portUnicastXmitPkts = earlier_packets(seed_, index);
        v.portXmitData = earlier_words(seed_, index);
        v.portRcvPkts = v.portUnicastRcvPkts = earlier_packets(seed_, c.peer);
        v.portRcvData = earlier_words(seed_, c.peer);
        v.portXmitWait = draw(seed_, index, 2) % 1'000'000;
        constexpr unsigned one_in = 8; // ports with errors
        if (draw(seed_, index, 3) % one_in == 0) {
            v.symbolErrorCounter = draw(seed_, index, 4) % 100'000; // beyond 16 bits, too
            v.portRcvErrors = draw(seed_, index, 5) % 1000;
            v.linkDownedCounter = draw(seed_, index, 6) % 4;
            v.portXmitDiscards = draw(seed_, index, 7) % 1000;
        }
    }
    v.portXmitPkts += c.sent;
    v.portUnicastXmitPkts += c.sent;
    v.portXmitData += c.sent * words_of_MAD;
    v.portRcvPkts += c.received;
    v.portUnicastRcvPkts += c.received;
    v.portRcvData += c.received * words_of_MAD;
    v.VL15Dropped += c.dropped;
    return v;
}

counters::values counters::read(u32 node, unsigned port) const {
    values v = counted(index(node, port));
    if (const auto added = added_.find(index(node, port)); added != added_.end())
        for (const auto member : members) v.*member += added->second.*member;
    return v;
}

void counters::write(u32 node, unsigned port, const values& wanted) {
    const values now = counted(index(node, port));
    values& added = added_[index(node, port)];
    for (const auto member : members) added.*member = wanted.*member - now.*member;
}

} // namespace comad::transports::sim
