// SPDX-License-Identifier: MIT
// counter_groups.cpp - splits the counters of a simulated port into parts (IBA 16.1.4, A10, A13.6.5).
#include "counter_groups.hpp"

#include "rates.hpp"

#include <algorithm>

namespace comad::transports::sim {
namespace {

using iba::attribute_id;
using namespace iba::pm;

constexpr std::array copied_counters{
    &PortCountersExt::portXmitData,
    &PortCountersExt::portRcvData,
    &PortCountersExt::portXmitPkts,
    &PortCountersExt::portRcvPkts,
    &PortCountersExt::portUnicastXmitPkts,
    &PortCountersExt::portUnicastRcvPkts,
    &PortCountersExt::portMulticastXmitPkts,
    &PortCountersExt::portMulticastRcvPkts,
    &PortCountersExt::symbolErrorCounter,
    &PortCountersExt::linkErrorRecoveryCounter,
    &PortCountersExt::linkDownedCounter,
    &PortCountersExt::portRcvErrors,
    &PortCountersExt::portRcvRemotePhysicalErrors,
    &PortCountersExt::portRcvSwitchRelayErrors,
    &PortCountersExt::portXmitDiscards,
    &PortCountersExt::portXmitConstraintErrors,
    &PortCountersExt::portRcvConstraintErrors,
    &PortCountersExt::localLinkIntegrityErrors,
    &PortCountersExt::excessiveBufferOverrunErrors,
    &PortCountersExt::VL15Dropped,
    &PortCountersExt::portXmitWait,
    &PortCountersExt::QP1Dropped,
};

/// Of every 16 units, `count` units from `first` on.
struct sixteenths {
    u64 first, count;
};

constexpr u64 part(u64 total, sixteenths p) noexcept {
    const u64 rest = total % 16;
    return total / 16 * p.count + std::min(rest - std::min(rest, p.first), p.count);
}

/// Splits a total by causes, which together cover all sixteenths.
template <std::size_t N> counter_row by(const std::array<sixteenths, N>& causes, u64 total) noexcept {
    counter_row row{};
    for (std::size_t i = 0; i < N; ++i) row[i] = part(total, causes[i]);
    return row;
}

/// Splits a total by virtual lane or service level. Levels 4 to 15 carry nothing.
counter_row by_level(u64 total) noexcept {
    return by(std::array<sixteenths, 4>{{{0, 8}, {8, 4}, {12, 2}, {14, 2}}}, total);
}

/// Splits a total evenly over the lanes of the cable.
void by_lane(u64 total, unsigned lanes, u64* out) noexcept {
    for (unsigned lane = 0; lane < lanes; ++lane) out[lane] = (total + lanes - 1 - lane) / lanes;
}

/// Returns the part of received packets with an opcode: RC sends, RC RDMA writes and UD sends of one packet each.
u64 of_opcode(u64 total, u8 opCode) noexcept {
    switch (opCode) {
    case 0x04: return part(total, {0, 8});
    case 0x0a: return part(total, {8, 6});
    case 0x64: return part(total, {14, 2});
    default: return 0;
    }
}

/// The shares of the causes of errors. Malformed packets and overruns are the smaller part.
constexpr sixteenths physical_errors{0, 12}, malformed{12, 3}, overruns{15, 1};
constexpr sixteenths unmapped_dlids{0, 8}, unmapped_vls{8, 4}, loops{12, 4};
constexpr sixteenths inactive{0, 2}, too_long{2, 2}, too_old{4, 4}, waited_too_long{8, 8};
constexpr sixteenths too_long_at_ca{2, 14}, congested{4, 12}; // shares of the same discards
constexpr sixteenths one_of{15, 1};

/// Returns errors that forward error correction corrects, and blocks that it cannot correct. With RS, the counters of
/// corrected errors are per lane and per port, and those of uncorrectable blocks per port. Otherwise, both are per
/// lane.
counter_row extended_speeds_row(const PortCountersExt& all, const port_traits& of) noexcept {
    counter_row row{};
    const iba::FECMode FEC = fec_of(of.link);
    const unsigned lanes = lanes_of(of.link);
    if (FEC == iba::FECMode::None) return row;
    constexpr unsigned mended_of_each_error = 16;
    constexpr unsigned detected_lanes = 2, mended_lanes = 14, lost_lanes = 26, rs_blocks = 38;
    const bit_error_counts& more = of.bit_errors;
    u64 mended = all.symbolErrorCounter * mended_of_each_error, lost = part(all.portRcvErrors, physical_errors);
    const u64 mended_blocks = mended / 2 + more.correctable_blocks;
    mended += FEC == iba::FECMode::FireCode ? more.correctable_blocks : more.corrected_symbols;
    lost += more.uncorrectable_blocks;
    row[0] = part(all.symbolErrorCounter, {0, 1});
    row[1] = part(all.symbolErrorCounter, {1, 1});
    by_lane(mended, lanes, &row[mended_lanes]);
    if (FEC == iba::FECMode::FireCode) {
        by_lane(all.symbolErrorCounter, lanes, &row[detected_lanes]);
        by_lane(lost, lanes, &row[lost_lanes]);
    } else {
        row[rs_blocks] = mended_blocks;
        row[rs_blocks + 1] = lost;
        row[rs_blocks + 2] = mended;
    }
    return row;
}

} // namespace

u64 multicast_of(u64 packets) noexcept { return part(packets, one_of); }

counter_row parts_of(const PortCountersExt& all, u16 attributeID, u8 opCode, const port_traits& of) noexcept {
    switch (attributeID) {
    case attribute_id<PortCountersExt>: {
        counter_row row{};
        PortCountersExt sum = all;
        sum.symbolErrorCounter += of.bit_errors.symbol_errors;
        sum.portRcvErrors += of.bit_errors.damaged_packets;
        for (std::size_t i = 0; i < copied_counters.size(); ++i) row[i] = sum.*copied_counters[i];
        return row;
    }
    case attribute_id<PortRcvErrorDetails>:
        return {part(all.portRcvErrors, physical_errors) + of.bit_errors.damaged_packets,
                part(all.portRcvErrors, malformed),
                part(all.portRcvErrors, overruns),
                part(all.portRcvSwitchRelayErrors, unmapped_dlids),
                part(all.portRcvSwitchRelayErrors, unmapped_vls),
                part(all.portRcvSwitchRelayErrors, loops)};
    case attribute_id<PortXmitDiscardDetails>:
        if (!of.is_switch) return by(std::array{inactive, too_long_at_ca}, all.portXmitDiscards);
        return by(std::array{inactive, too_long, too_old, waited_too_long}, all.portXmitDiscards);
    case attribute_id<PortOpRcvCounters>:
        return {of_opcode(all.portRcvPkts, opCode), of_opcode(all.portRcvData, opCode)};
    case attribute_id<PortFlowCtlCounters>: return {all.portRcvPkts / 16, all.portXmitPkts / 16};
    case attribute_id<PortVLOpPackets>: return by_level(of_opcode(all.portRcvPkts, opCode));
    case attribute_id<PortVLOpData>: {
        constexpr unsigned words_of_kilobyte = 256;
        counter_row row = by_level(of_opcode(all.portRcvData, opCode));
        for (u64& data : row) data /= words_of_kilobyte;
        return row;
    }
    case attribute_id<PortVLXmitFlowCtlUpdateErrors>: return by_level(all.symbolErrorCounter / 64);
    case attribute_id<PortVLXmitWaitCounters>:
    case attribute_id<PortVLXmitTimeCong>: return by_level(all.portXmitWait);
    case attribute_id<SwPortVLCongestion>: return by_level(part(all.portXmitDiscards, congested));
    case attribute_id<PortRcvConCtrl>: return {part(all.portRcvPkts, one_of), part(all.portXmitPkts, one_of)};
    case attribute_id<PortSLRcvFECN>: return by_level(part(all.portRcvPkts, one_of));
    case attribute_id<PortSLRcvBECN>: return by_level(part(all.portXmitPkts, one_of));
    case attribute_id<PortXmitConCtrl>: return {all.portXmitWait};
    case attribute_id<PortXmitDataSL>: return by_level(all.portXmitData);
    case attribute_id<PortRcvDataSL>: return by_level(all.portRcvData);
    case attribute_id<PortExtendedSpeedsCounters>: return extended_speeds_row(all, of);
    default: return {};
    }
}

} // namespace comad::transports::sim
