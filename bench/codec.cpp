// SPDX-License-Identifier: MIT
// codec.cpp - measures nanoseconds per decoded structure for three decoders in the same run: the field tables, hand-written code, and
// libibmad's mad_get_field. All except libibmad fill the same struct, including its reserved bits.
#include <comad/iba/smp.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <infiniband/mad.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace comad::bench {
namespace {

using iba::smp::NodeInfo;
using iba::smp::PortInfo;

// ---- hand-written decoders: memcpy, byte swaps, shifts -------------------------------------------------------------

u16 be16(const u8* p) noexcept {
    u16 v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_bswap16(v);
}
u32 be32(const u8* p) noexcept {
    u32 v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_bswap32(v);
}
u64 be64(const u8* p) noexcept {
    u64 v;
    std::memcpy(&v, p, sizeof v);
    return __builtin_bswap64(v);
}

[[gnu::noinline]] void by_hand(NodeInfo& n, const u8* p) noexcept {
    n.baseVersion = p[0];
    n.classVersion = p[1];
    n.nodeType = iba::NodeType{p[2]};
    n.numPorts = p[3];
    n.systemImageGUID = iba::guid{be64(p + 4)};
    n.nodeGUID = iba::guid{be64(p + 12)};
    n.portGUID = iba::guid{be64(p + 20)};
    n.partitionCap = be16(p + 28);
    n.deviceID = be16(p + 30);
    n.revision = be32(p + 32);
    const u32 last = be32(p + 36);
    n.localPortNum = static_cast<u8>(last >> 24);
    n.vendorID = last & 0xffffff;
}

[[gnu::noinline]] void by_hand(PortInfo& i, const u8* p) noexcept {
    i.MKey = be64(p);
    i.GIDPrefix = be64(p + 8);
    i.LID = iba::lid{be16(p + 16)};
    i.masterSMLID = iba::lid{be16(p + 18)};
    i.capabilityMask = be32(p + 20);
    i.diagCode = be16(p + 24);
    i.MKeyLeasePeriod = be16(p + 26);
    i.localPortNum = p[28];
    i.linkWidthEnabled = p[29];
    i.linkWidthSupported = p[30];
    i.linkWidthActive = iba::LinkWidth{p[31]};
    i.linkSpeedSupported = p[32] >> 4;
    i.portState = static_cast<iba::PortState>(p[32] & 15);
    i.portPhysicalState = static_cast<iba::PortPhysicalState>(p[33] >> 4);
    i.linkDownDefaultState = static_cast<iba::PortPhysicalState>(p[33] & 15);
    i.MKeyProtectBits = p[34] >> 6;
    i.reserved_274 = p[34] >> 3 & 7;
    i.LMC = p[34] & 7;
    i.linkSpeedActive = static_cast<iba::LinkSpeed>(p[35] >> 4);
    i.linkSpeedEnabled = p[35] & 15;
    i.neighborMTU = static_cast<decltype(i.neighborMTU)>(p[36] >> 4);
    i.masterSMSL = p[36] & 15;
    i.VLCap = static_cast<decltype(i.VLCap)>(p[37] >> 4);
    i.initType = p[37] & 15;
    i.VLHighLimit = p[38];
    i.VLArbitrationHighCap = p[39];
    i.VLArbitrationLowCap = p[40];
    i.initTypeReply = p[41] >> 4;
    i.MTUCap = static_cast<decltype(i.MTUCap)>(p[41] & 15);
    i.VLStallCount = p[42] >> 5;
    i.HOQLife = p[42] & 31;
    i.operationalVLs = static_cast<decltype(i.operationalVLs)>(p[43] >> 4);
    i.partitionEnforcementInbound = (p[43] & 8) != 0;
    i.partitionEnforcementOutbound = (p[43] & 4) != 0;
    i.filterRawInbound = (p[43] & 2) != 0;
    i.filterRawOutbound = (p[43] & 1) != 0;
    i.MKeyViolations = be16(p + 44);
    i.PKeyViolations = be16(p + 46);
    i.QKeyViolations = be16(p + 48);
    i.GUIDCap = p[50];
    i.clientReregister = p[51] >> 7 != 0;
    i.multicastPKeyTrapSuppressionEnabled = p[51] >> 5 & 3;
    i.subnetTimeOut = p[51] & 31;
    i.reserved_416 = p[52] >> 5;
    i.respTimeValue = p[52] & 31;
    i.localPhyErrors = p[53] >> 4;
    i.overrunErrors = p[53] & 15;
    i.maxCreditHint = be16(p + 54);
    i.reserved_448 = p[56] >> 7 != 0;
    i.linkSpeedExtActive2 = static_cast<decltype(i.linkSpeedExtActive2)>(p[56] >> 5 & 3);
    i.linkSpeedExtSupported2 = p[56] >> 3 & 3;
    i.linkSpeedExtEnabled2 = p[56] & 7;
    i.linkRoundTripLatency = be32(p + 56) & 0xffffff;
    i.capabilityMask2 = be16(p + 60);
    i.linkSpeedExtActive = static_cast<iba::LinkSpeedExt>(p[62] >> 4);
    i.linkSpeedExtSupported = p[62] & 15;
    i.reserved_504 = p[63] >> 5;
    i.linkSpeedExtEnabled = p[63] & 31;
}

// ---- the field tables -----------------------------------------------------------------------------------------------

template <class T> [[gnu::noinline]] void by_table(T& out, const u8* p) noexcept { iba::decode(out, p); }

// ---- libibmad -------------------------------------------------------------------------------------------------------

constexpr MAD_FIELDS node_info_fields[] = {
    IB_NODE_BASE_VERS_F,   IB_NODE_CLASS_VERS_F, IB_NODE_TYPE_F,       IB_NODE_NPORTS_F,
    IB_NODE_SYSTEM_GUID_F, IB_NODE_GUID_F,       IB_NODE_PORT_GUID_F,  IB_NODE_PARTITION_CAP_F,
    IB_NODE_DEVID_F,       IB_NODE_REVISION_F,   IB_NODE_LOCAL_PORT_F, IB_NODE_VENDORID_F,
};
constexpr MAD_FIELDS port_info_fields[] = {
    IB_PORT_MKEY_F,
    IB_PORT_GID_PREFIX_F,
    IB_PORT_LID_F,
    IB_PORT_SMLID_F,
    IB_PORT_CAPMASK_F,
    IB_PORT_DIAG_F,
    IB_PORT_MKEY_LEASE_F,
    IB_PORT_LOCAL_PORT_F,
    IB_PORT_LINK_WIDTH_ENABLED_F,
    IB_PORT_LINK_WIDTH_SUPPORTED_F,
    IB_PORT_LINK_WIDTH_ACTIVE_F,
    IB_PORT_LINK_SPEED_SUPPORTED_F,
    IB_PORT_STATE_F,
    IB_PORT_PHYS_STATE_F,
    IB_PORT_LINK_DOWN_DEF_F,
    IB_PORT_MKEY_PROT_BITS_F,
    IB_PORT_LMC_F,
    IB_PORT_LINK_SPEED_ACTIVE_F,
    IB_PORT_LINK_SPEED_ENABLED_F,
    IB_PORT_NEIGHBOR_MTU_F,
    IB_PORT_SMSL_F,
    IB_PORT_VL_CAP_F,
    IB_PORT_INIT_TYPE_F,
    IB_PORT_VL_HIGH_LIMIT_F,
    IB_PORT_VL_ARBITRATION_HIGH_CAP_F,
    IB_PORT_VL_ARBITRATION_LOW_CAP_F,
    IB_PORT_INIT_TYPE_REPLY_F,
    IB_PORT_MTU_CAP_F,
    IB_PORT_VL_STALL_COUNT_F,
    IB_PORT_HOQ_LIFE_F,
    IB_PORT_OPER_VLS_F,
    IB_PORT_PART_EN_INB_F,
    IB_PORT_PART_EN_OUTB_F,
    IB_PORT_FILTER_RAW_INB_F,
    IB_PORT_FILTER_RAW_OUTB_F,
    IB_PORT_MKEY_VIOL_F,
    IB_PORT_PKEY_VIOL_F,
    IB_PORT_QKEY_VIOL_F,
    IB_PORT_GUID_CAP_F,
    IB_PORT_CLIENT_REREG_F,
    IB_PORT_MCAST_PKEY_SUPR_ENAB_F,
    IB_PORT_SUBN_TIMEOUT_F,
    IB_PORT_RESP_TIME_VAL_F,
    IB_PORT_LOCAL_PHYS_ERR_F,
    IB_PORT_OVERRUN_ERR_F,
    IB_PORT_MAX_CREDIT_HINT_F,
    IB_PORT_LINK_ROUND_TRIP_F,
    IB_PORT_CAPMASK2_F,
    IB_PORT_LINK_SPEED_EXT_ACTIVE_F,
    IB_PORT_LINK_SPEED_EXT_SUPPORTED_F,
    IB_PORT_LINK_SPEED_EXT_ENABLED_F,
};
bool is_wide(MAD_FIELDS f) noexcept {
    return f == IB_NODE_SYSTEM_GUID_F || f == IB_NODE_GUID_F || f == IB_NODE_PORT_GUID_F || f == IB_PORT_MKEY_F ||
           f == IB_PORT_GID_PREFIX_F;
}

[[gnu::noinline]] u64 by_libibmad(std::span<const MAD_FIELDS> fields, u8* p) noexcept {
    u64 all = 0;
    for (const MAD_FIELDS f : fields) all += is_wide(f) ? mad_get_field64(p, 0, f) : mad_get_field(p, 0, f);
    return all;
}

// ---- rounds ---------------------------------------------------------------------------------------------------------

/// Larger than the first-level cache for each structure, so that the branch predictor cannot learn the input of a decoder.
using buffers = std::vector<std::array<u8, 64>>;

/// A decoder that is measured.
struct variant {
    std::string name;
    std::function<void(buffers&)> run; ///< decodes every buffer once
};

/// Makes the optimizer assume that the whole struct is read.
template <class T> void use(const T& value) noexcept { asm volatile("" : : "r"(&value) : "memory"); }

template <class T> std::vector<variant> variants_of(const std::string& name, std::span<const MAD_FIELDS> fields) {
    return {{name + " by hand",
             [](buffers& all) {
                 T value;
                 for (const auto& b : all) {
                     by_hand(value, b.data());
                     use(value);
                 }
             }},
            {name + " by table",
             [](buffers& all) {
                 T value;
                 for (const auto& b : all) {
                     by_table(value, b.data());
                     use(value);
                 }
             }},
            {name + " by mad_get_field", [fields](buffers& all) {
                 u64 sum = 0;
                 for (auto& b : all) sum += by_libibmad(fields, b.data());
                 use(sum);
             }}};
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Measures the variants and prints their times. Each ratio to the first variant compares times of the same round.
void measure(const std::vector<variant>& variants, buffers& all, unsigned rounds, unsigned repetitions) {
    std::vector<std::vector<double>> ns(variants.size()), ratio(variants.size());
    for (unsigned round = 0; round < rounds; ++round) {
        for (std::size_t turn = 0; turn < variants.size(); ++turn) {
            const std::size_t i = (round + turn) % variants.size();
            const auto begin = std::chrono::steady_clock::now();
            for (unsigned r = 0; r < repetitions; ++r) variants[i].run(all);
            const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - begin;
            ns[i].push_back(took.count() / repetitions / static_cast<double>(all.size()));
        }
        for (std::size_t i = 0; i < variants.size(); ++i) ratio[i].push_back(ns[i].back() / ns[0].back());
    }
    for (std::size_t i = 0; i < variants.size(); ++i) {
        const auto [least, most] = std::minmax_element(ratio[i].begin(), ratio[i].end());
        fmt::print("{:<30} {:>8.2f} {:>8.2f} {:>8.2f}..{:.2f}\n", variants[i].name, median(ns[i]), median(ratio[i]),
                   *least, *most);
    }
}

} // namespace
} // namespace comad::bench

int main(int argc, char** argv) {
    using namespace comad::bench;
    unsigned rounds = 21, repetitions = 200;
    CLI::App app{"Decoding by table, by hand and by libibmad."};
    app.add_option("--rounds", rounds, "how often each variant runs")
        ->check(CLI::Range(1u, 10000u))
        ->capture_default_str();
    app.add_option("--repetitions", repetitions, "iterations over the buffers per run")
        ->check(CLI::Range(1u, 100000u))
        ->capture_default_str();
    CLI11_PARSE(app, argc, argv);

    std::mt19937_64 random(1);
    buffers all(1024);
    for (auto& b : all)
        for (comad::u8& byte : b) byte = static_cast<comad::u8>(random());
    fmt::print("{:<30} {:>8} {:>8} {:>14}\n", "median of rounds", "ns", "ratio", "min..max");
    measure(variants_of<NodeInfo>("NodeInfo", node_info_fields), all, rounds, repetitions);
    measure(variants_of<PortInfo>("PortInfo", port_info_fields), all, rounds, repetitions);
}
