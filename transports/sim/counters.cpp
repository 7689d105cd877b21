// SPDX-License-Identifier: MIT
// counters.cpp - calculates counters from counted MADs, earlier traffic, load and written values.
#include "counters.hpp"

#include "counter_groups.hpp"
#include "split_mix.hpp"
#include <comad/mad/transport.hpp>

#include <utility>

namespace comad::transports::sim {
namespace {

using values = counters::values;

/// The size in 4-byte words from the local route header to the invariant CRC: 8 + 12 + 8 bytes of headers, the MAD,
/// and 4 bytes of CRC.
constexpr u64 words_of_mad = (8 + 12 + 8 + mad::mad_size + 4) / 4;
constexpr u64 words_of_flow_packet = 1024; // carry_from()

/// Returns a pseudorandom number for a port and a purpose.
u64 draw(u64 seed, u32 index, unsigned purpose) noexcept {
    u64 state = seed ^ (u64{index} << 8 | purpose) << 20;
    split_mix(state);
    return split_mix(state);
}

u64 words_of_packet(u64 seed, u32 sender) noexcept { return draw(seed, sender, 1) % 512 + 8; }
u64 earlier_packets(u64 seed, u32 sender) noexcept { return draw(seed, sender, 0) % 100'000'000; }

void add_sent(values& v, u64 packets, u64 words) noexcept {
    v.portXmitPkts += packets;
    v.portXmitData += words;
}
void add_received(values& v, u64 packets, u64 words) noexcept {
    v.portRcvPkts += packets;
    v.portRcvData += words;
}

/// Returns how many events occur in `time` at this rate.
u64 times_in(double per_second, mad::duration time) noexcept {
    const auto whole = std::chrono::duration_cast<std::chrono::seconds>(time);
    const mad::duration rest = time - whole;
    return static_cast<u64>(per_second * static_cast<double>(whole.count()) +
                            per_second * static_cast<double>(rest.count()) / 1e9);
}

} // namespace

counters::counters(const topology& t, u64 seed) : topology_(t), seed_(seed) {
    u32 next = 0;
    for (const node& n : t.nodes) {
        first_.push_back(next);
        next += static_cast<u32>(n.ports.size());
    }
    ports_.reserve(next);
    for (const node& n : t.nodes)
        for (const port& p : n.ports)
            ports_.push_back({p.linked() ? first_[p.peer_node] + p.peer_port : none, p.active});
}

void counters::carry(const load& l, mad::time_point now) noexcept {
    load_ = l;
    loaded_since_ = now;
    for (auto& [cable, gone] : outages_) {
        gone.length = {};
        if (gone.since) gone.since = now;
    }
}

void counters::link_changed(u32 node, unsigned port, bool is_up, mad::time_point now) {
    if (at(node, port).peer == none) return;
    outages& o = outages_[cable(index(node, port))];
    if (is_up && o.since) {
        o.length += now - *std::exchange(o.since, std::nullopt);
    } else if (!is_up && !o.since) {
        o.since = now;
        ++o.times;
    }
}

// ---- The counts of a port ----------------------------------------------------------------------------------------------

void counters::add_earlier(u32 index, values& v) const noexcept {
    const u32 peer = ports_[index].peer;
    const u64 sent = earlier_packets(seed_, index), received = earlier_packets(seed_, peer);
    add_sent(v, sent, sent * words_of_packet(seed_, index));
    add_received(v, received, received * words_of_packet(seed_, peer));
    v.portXmitWait = draw(seed_, index, 2) % 1'000'000;
    constexpr unsigned one_in = 8; // one in eight ports has errors
    if (draw(seed_, index, 3) % one_in == 0) {
        v.symbolErrorCounter = draw(seed_, index, 4) % 100'000; // can exceed 16 bits
        v.portRcvErrors = draw(seed_, index, 5) % 1000;
        v.linkDownedCounter = draw(seed_, index, 6) % 4;
        v.portXmitDiscards = draw(seed_, index, 7) % 1000;
    }
}

void counters::add_load(u32 index, mad::duration up, values& v) const noexcept {
    const u32 peer = ports_[index].peer;
    const u64 packets = times_in(load_.packets, up);
    add_sent(v, packets, packets * words_of_packet(load_.seed, index));
    add_received(v, packets, packets * words_of_packet(load_.seed, peer));
    v.portXmitWait += packets * (draw(load_.seed, index, 2) % 4);
    const bool is_bad = static_cast<double>(draw(load_.seed, cable(index), 8) >> 11) * 0x1p-53 < load_.bad_cables;
    if (!is_bad) return;
    const u64 errors = times_in(load_.symbol_errors, up);
    v.symbolErrorCounter += errors;
    v.portRcvErrors += errors / 4;
    v.portXmitDiscards += errors / 8;
    v.portRcvRemotePhysicalErrors += errors / 16;
    v.linkErrorRecoveryCounter += errors / 64;
    v.localLinkIntegrityErrors += errors / 256;
    v.excessiveBufferOverrunErrors += errors / 512;
    v.portRcvSwitchRelayErrors += errors / 32;
}

void counters::add_flows(u32 index, mad::duration down, mad::time_point end, values& v) const noexcept {
    if (const auto own = flows_.find(index); own != flows_.end()) {
        const u64 words = words_of_flow(index, down, end);
        add_sent(v, words / words_of_flow_packet, words);
        v.portXmitWait +=
            times_in(own->second.waiting, std::max(end - own->second.since - down, mad::duration::zero()));
    }
    const u64 words = words_of_flow(ports_[index].peer, down, end);
    add_received(v, words / words_of_flow_packet, words);
}

/// Returns what a port has sent because of its flow; 0 if it has none. The length of the outages and the end are those of its cable.
u64 counters::words_of_flow(u32 from, mad::duration down, mad::time_point end) const noexcept {
    const auto found = flows_.find(from);
    if (found == flows_.end()) return 0;
    return times_in(found->second.bytes / 4, std::max(end - found->second.since - down, mad::duration::zero()));
}

void counters::set_bit_error_rate(u32 node, unsigned port, double rate) {
    const u32 i = index(node, port);
    bit_errors_[i] = bit_errors_of(rate, ports_[i].link);
}

/// Returns how long the link of a port with a cable was up since the load started. The time may be before the last outages.
mad::duration counters::time_up(u32 index, mad::time_point now) const {
    const auto found = outages_.find(cable(index));
    const outages gone = found == outages_.end() ? outages{} : found->second;
    const mad::duration up = std::min(gone.since.value_or(now), now) - loaded_since_ - gone.length;
    return std::max(up, mad::duration::zero());
}

bit_error_counts counters::bit_errors_at(u32 index, mad::time_point now) const {
    const auto found = bit_errors_.find(index);
    if (found == bit_errors_.end()) return {};
    const bit_errors& e = found->second;
    const port_counts& c = ports_[index];
    const mad::duration up = time_up(index, now);
    const auto outage = outages_.find(cable(index));
    const outages gone = outage == outages_.end() ? outages{} : outage->second;
    const u64 of_flow =
        words_of_flow(c.peer, gone.length, std::min(gone.since.value_or(now), now)) / words_of_flow_packet;
    const double damaged = static_cast<double>(times_in(load_.packets, up)) *
                               e.damaged_share(static_cast<double>(words_of_packet(load_.seed, c.peer))) +
                           static_cast<double>(of_flow) * e.damaged_share(words_of_flow_packet) +
                           c.received * e.damaged_share(words_of_mad);
    return {times_in(e.symbol_errors, up), static_cast<u64>(damaged), times_in(e.corrected_symbols, up),
            times_in(e.correctable_blocks, up), times_in(e.uncorrectable_blocks, up)};
}

values counters::port_values(u32 index, mad::time_point now) const {
    const port_counts& c = ports_[index];
    values v;
    if (c.peer != none) {
        const auto found = outages_.find(cable(index));
        if (seed_ != 0) add_earlier(index, v);
        const outages gone = found == outages_.end() ? outages{} : found->second;
        add_load(index, time_up(index, now), v);
        if (!flows_.empty()) add_flows(index, gone.length, std::min(gone.since.value_or(now), now), v);
        v.linkDownedCounter += gone.times;
    }
    v.portMulticastXmitPkts = multicast_of(v.portXmitPkts);
    v.portMulticastRcvPkts = multicast_of(v.portRcvPkts);
    add_sent(v, c.sent, c.sent * words_of_mad);
    add_received(v, c.received, c.received * words_of_mad);
    v.portUnicastXmitPkts = v.portXmitPkts - v.portMulticastXmitPkts;
    v.portUnicastRcvPkts = v.portRcvPkts - v.portMulticastRcvPkts;
    v.VL15Dropped += c.dropped;
    return v;
}

counter_row counters::counted(const group& g, mad::time_point now) const {
    const u32 i = index(g.node, g.port);
    const node& n = topology_.nodes[g.node];
    values v = port_values(i, now);
    if (!n.is_switch()) v.portRcvSwitchRelayErrors = 0;
    return parts_of(v, g.attributeID, g.opCode, {n.is_switch(), ports_[i].link, bit_errors_at(i, now)});
}

counter_row counters::read(const group& g, mad::time_point now) const {
    counter_row row = counted(g, now);
    if (const auto added = added_.find(key(g)); added != added_.end())
        for (std::size_t i = 0; i < row.size(); ++i) row[i] += added->second[i];
    return row;
}

void counters::write(const group& g, const counter_row& wanted, mad::time_point now) {
    const counter_row counted_now = counted(g, now);
    counter_row& added = added_[key(g)];
    for (std::size_t i = 0; i < added.size(); ++i) added[i] = wanted[i] - counted_now[i];
}

} // namespace comad::transports::sim
