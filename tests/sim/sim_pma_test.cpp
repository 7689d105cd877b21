// SPDX-License-Identifier: MIT
// sim_pma_test.cpp - the simulator's PMAs: every counter attribute and its selection bits (IBA 16.1.3.5, 16.1.4, A10,
// A13.6.5; PortExtendedSpeedsCounters as in ibis), and counters that change with simulated time, counted by hand.
#include "support/catch.hpp"
#include "support/exception_message.hpp"
#include "wire/sim_client.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <string>

using namespace comad;
using namespace comad::transports::sim;
using namespace comad::iba::pm;
using namespace std::chrono_literals;
using iba::Method;
namespace smp = iba::smp;

namespace {

constexpr std::size_t data = 64; // offset of the attribute in a MAD

/// A simulated subnet with two levels of 4-port switches. The program is at the first leaf, whose ports do not count
/// its requests. Time advances only when the test advances it.
struct rig {
    explicit rig(const std::string& options = {}, const std::string& at = "leaf-0001",
                 const std::string& kind = "fattree2,radix=4")
        : sim(make_sim(kind + ",sm=1,latency=0us,service=0us,at=" + at + (options.empty() ? "" : ",") + options,
                       time_mode::virtual_)) {}

    const topology& graph() const { return sim.fabric->graph(); }
    mad::IBPath to(const std::string& name) const {
        const node& n = graph().nodes[graph().find(name).value()];
        return to_lid(value(n.ports[n.first_port()].LID));
    }
    void set_time(mad::duration since_beginning) { sim.transport->set_now(mad::time_point(since_beginning)); }

    /// Returns the complete reply to a request with these attribute bytes.
    smp_bytes query_bytes(Method method, u16 attributeID, std::span<const u8> attribute, const std::string& whom) {
        const mad::any_path path = to(whom);
        smp_bytes request;
        mad::write_request(request.data(), {iba::MgmtClass::Performance, 1, method, attributeID, true}, path, 0);
        std::copy(attribute.begin(), attribute.end(), request.begin() + data);
        const auto reply = send_query(*sim.transport, path, request);
        REQUIRE(reply);
        return *reply;
    }
    template <class T> smp_bytes query_for(Method method, const T& wanted, const std::string& whom) {
        return query_bytes(method, iba::attribute_id<T>, iba::encode(wanted), whom);
    }
    template <class T> T get(unsigned port, const std::string& whom = "leaf-0001", u8 opCode = 0) {
        T wanted;
        wanted.portSelect = static_cast<u8>(port);
        if constexpr (requires { wanted.opCode; }) wanted.opCode = opCode;
        return read(query_for(Method::Get, wanted, whom), wanted);
    }
    template <class T> T set(const T& wanted, const std::string& whom = "leaf-0001") {
        return read(query_for(Method::Set, wanted, whom), wanted);
    }
    template <class T> u16 status(const T& wanted, const std::string& whom = "leaf-0001") {
        return mad::status_of(query_for(Method::Get, wanted, whom).data());
    }
    template <class T> static T read(const smp_bytes& reply, const T& requested) {
        CHECK(mad::status_of(reply.data()) == 0);
        T reported;
        iba::decode(reported, reply.data() + data);
        CHECK(reported.portSelect == requested.portSelect);
        return reported;
    }
    iba::ClassPortInfo class_port_info(const std::string& whom) {
        const auto reply = query_for(Method::Get, iba::ClassPortInfo{}, whom);
        iba::ClassPortInfo info;
        iba::decode(info, reply.data() + data);
        return info;
    }

    simulation sim;
};

template <class T> T all_of_port(u8 port) {
    T t;
    t.portSelect = port;
    return t;
}

/// A run of counters: their first selection bit, the place of the selection word, and the place of the counters.
struct run {
    u16 attributeID;
    unsigned select_off, select_width; // bits of the attribute
    unsigned bit, count;
    unsigned off, width;
};
constexpr run runs[] = {
    {0x12, 16, 16, 0, 1, 32, 16},    // SymbolErrorCounter
    {0x12, 16, 16, 1, 2, 48, 8},     // LinkErrorRecoveryCounter, LinkDownedCounter
    {0x12, 16, 16, 3, 4, 64, 16},    // PortRcvErrors to PortXmitDiscards
    {0x12, 16, 16, 7, 2, 128, 8},    // PortXmitConstraintErrors, PortRcvConstraintErrors
    {0x12, 16, 16, 9, 2, 152, 4},    // LocalLinkIntegrityErrors, ExcessiveBufferOverrunErrors
    {0x12, 16, 16, 11, 1, 176, 16},  // VL15Dropped
    {0x12, 16, 16, 12, 4, 192, 32},  // PortXmitData to PortRcvPkts
    {0x12, 144, 8, 0, 1, 320, 32},   // PortXmitWait
    {0x12, 144, 8, 1, 1, 160, 16},   // QP1Dropped
    {0x1d, 16, 16, 0, 8, 64, 64},    // PortXmitData to PortMulticastRcvPkts
    {0x1d, 32, 32, 0, 14, 576, 64},  // SymbolErrorCounter to QP1Dropped
    {0x15, 16, 16, 0, 6, 32, 16},    // PortRcvErrorDetails
    {0x16, 16, 16, 0, 4, 32, 16},    // PortXmitDiscardDetails
    {0x17, 16, 16, 0, 2, 32, 32},    // PortOpRcvCounters
    {0x18, 16, 16, 0, 2, 32, 32},    // PortFlowCtlCounters
    {0x19, 16, 16, 0, 16, 32, 16},   // PortVLOpPackets
    {0x1a, 16, 16, 0, 16, 32, 32},   // PortVLOpData
    {0x1b, 16, 16, 0, 16, 32, 2},    // PortVLXmitFlowCtlUpdateErrors
    {0x1c, 16, 16, 0, 16, 32, 16},   // PortVLXmitWaitCounters
    {0x1f, 64, 64, 0, 14, 128, 16},  // SyncHeaderErrorCounter, UnknownBlockCounter, ErrorDetectionCounterLane0-11
    {0x1f, 64, 64, 14, 24, 352, 32}, // FECCorrectableBlockCounterLane0-11, FECUncorrectableBlockCounterLane0-11
    {0x1f, 64, 64, 38, 3, 1120, 32}, // of RS-FEC
    {0x30, 16, 16, 0, 16, 32, 16},   // SwPortVLCongestion
    {0x31, 16, 16, 0, 2, 32, 32},    // PortRcvConCtrl
    {0x32, 16, 16, 0, 16, 32, 32},   // PortSLRcvFECN
    {0x33, 16, 16, 0, 16, 32, 32},   // PortSLRcvBECN
    {0x34, 16, 16, 0, 1, 32, 32},    // PortXmitConCtrl
    {0x35, 16, 16, 0, 15, 32, 32},   // PortVLXmitTimeCong
    {0x36, 16, 16, 0, 16, 32, 32},   // PortXmitDataSL
    {0x37, 16, 16, 0, 16, 32, 32},   // PortRcvDataSL
};

using attribute_bytes = std::array<u8, 192>;

u64 low_bits(unsigned width) { return ~u64{0} >> (64 - width); }
u64 total(const auto& counters) {
    u64 sum = 0;
    for (const u64 counter : counters) sum += counter;
    return sum;
}

/// All optional attributes that a simulated switch supports.
constexpr u16 optional_ids[] = {0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1f,
                                0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37};

} // namespace

TEST_CASE("a simulated PMA counts MADs of an enhanced port 0 and has no counters of a base port 0") {
    simulation sim = make_sim("fattree2,radix=4,sm=1", time_mode::virtual_);
    topology graph = sim.fabric->graph();
    graph.nodes[graph.find("leaf-0001").value()].enhanced_port0 = true;
    fabric managed(std::move(graph));
    sim_transport host(managed, 0, 1, time_mode::virtual_);
    const auto query_for = [&](const char* whom, u8 port) {
        const node& n = managed.graph().nodes[managed.graph().find(whom).value()];
        PortCountersExt wanted;
        wanted.portSelect = port;
        const mad::any_path path = to_lid(value(n.ports[0].LID));
        smp_bytes request;
        mad::write_request(request.data(),
                           {iba::MgmtClass::Performance, 1, Method::Get, iba::attribute_id<PortCountersExt>, true},
                           path, 0);
        iba::encode(wanted, request.data() + data);
        const auto reply = send_query(host, path, request);
        REQUIRE(reply);
        return *reply;
    };
    CHECK(mad::status_of(query_for("leaf-0002", 0).data()) == 0x1c);
    CHECK(mad::status_of(query_for("leaf-0001", 0).data()) == 0);
    query_for("leaf-0001", 1);
    const smp_bytes third = query_for("leaf-0001", 0);
    REQUIRE(mad::status_of(third.data()) == 0);
    const auto counters =
        iba::decode<PortCountersExt>(std::span(third).subspan<data, iba::wire_size<PortCountersExt>>());
    CHECK(counters.portSelect == 0);
    CHECK(counters.portRcvPkts == 3);  // includes this request
    CHECK(counters.portXmitPkts == 2); // the responses before this one
    CHECK(counters.portRcvData == 3 * (8 + 12 + 8 + 256 + 4) / 4);
}

TEST_CASE("each bit of a counter Set writes only its counter, to its highest value and back to 0") {
    rig r;
    for (const run& t : runs) {
        for (unsigned i = 0; i < t.count; ++i) {
            attribute_bytes wanted;
            wanted.fill(0xff);
            iba::put_bits_at(wanted.data(), 0, 32, 0); // portSelect and counterSelect
            iba::put_bits_at(wanted.data(), 8, 8, 2);
            if (t.attributeID == 0x1d || t.attributeID == 0x1f) iba::put_bits_at(wanted.data(), 32, 32, 0);
            if (t.attributeID == 0x1f) iba::put_bits_at(wanted.data(), 64, 64, 0);
            if (t.attributeID == 0x12) iba::put_bits_at(wanted.data(), 144, 8, 0);
            iba::put_bits_at(wanted.data(), t.select_off, t.select_width, u64{1} << (t.bit + i));
            INFO("attribute " << t.attributeID << " bit " << t.bit + i);
            for (const u64 written : {low_bits(t.width), u64{0}}) {
                iba::put_bits_at(wanted.data(), t.off + i * t.width, t.width, written);
                const auto reply = r.query_bytes(Method::Set, t.attributeID, wanted, "leaf-0001");
                REQUIRE(mad::status_of(reply.data()) == 0);
                CHECK(iba::bits_at(reply.data() + data, t.off + i * t.width, t.width) == written);
                attribute_bytes query_again{};
                query_again[1] = 2;
                attribute_bytes expected{};
                expected[1] = 2;
                iba::put_bits_at(expected.data(), t.off + i * t.width, t.width, written);
                const auto reported = r.query_bytes(Method::Get, t.attributeID, query_again, "leaf-0001");
                CHECK(std::equal(expected.begin(), expected.end(), reported.begin() + data));
            }
        }
    }
}

TEST_CASE("a simulated PMA supports all counter attributes and replies 0x1c for a missing port") {
    rig r;
    std::set<u16> known{0x10}; // PortSamplesControl; sim_samples_test.cpp tests the results 0x11 and 0x1e
    for (const run& t : runs) known.insert(t.attributeID);
    for (unsigned id = 0x10; id < 0x40; ++id) {
        if (id == 0x11 || id == 0x1e) continue;
        const auto attributeID = static_cast<u16>(id);
        const auto status = [&](u8 port) {
            attribute_bytes request_bytes{};
            request_bytes[1] = port;
            return mad::status_of(r.query_bytes(Method::Get, attributeID, request_bytes, "leaf-0001").data());
        };
        INFO("attribute " << attributeID);
        CHECK(status(4) == (known.contains(attributeID) ? 0 : 0x0c));
        if (!known.contains(attributeID)) continue;
        CHECK(status(0) == 0x1c);
        CHECK(status(5) == 0x1c);
        CHECK(status(254) == 0x1c);
        CHECK(status(255) == 0);
    }
    CHECK(r.status(all_of_port<SwPortVLCongestion>(1), "h-0003 HCA-1") == 0x0c); // not a switch
    CHECK(r.status(all_of_port<PortXmitDiscardDetails>(1), "h-0003 HCA-1") == 0);
}

TEST_CASE("AllPortSelect counters are the sum of all ports and saturate at the highest value") {
    rig r;
    for (const u16 attributeID : optional_ids) {
        INFO("attribute " << attributeID);
        std::vector<run> of_attribute;
        std::copy_if(std::begin(runs), std::end(runs), std::back_inserter(of_attribute),
                     [&](const run& t) { return t.attributeID == attributeID; });
        attribute_bytes written{};
        for (const run& t : of_attribute) {
            iba::put_bits_at(written.data(), t.select_off, t.select_width, low_bits(t.select_width));
            for (unsigned i = 0; i < t.count; ++i) iba::put_bits_at(written.data(), t.off + i * t.width, t.width, 1);
        }
        for (const u8 port : {1, 2, 3}) {
            written[1] = port;
            r.query_bytes(Method::Set, attributeID, written, "leaf-0001");
        }
        attribute_bytes all{};
        all[1] = 255;
        const auto reported = r.query_bytes(Method::Get, attributeID, all, "leaf-0001");
        for (const run& t : of_attribute)
            for (unsigned i = 0; i < t.count; ++i)
                CHECK(iba::bits_at(reported.data() + data, t.off + i * t.width, t.width) == 3);
        // A Set of all ports, too.
        written[1] = 255;
        for (const run& t : of_attribute)
            for (unsigned i = 0; i < t.count; ++i)
                iba::put_bits_at(written.data(), t.off + i * t.width, t.width, low_bits(t.width));
        const auto set = r.query_bytes(Method::Set, attributeID, written, "leaf-0001");
        for (const run& t : of_attribute)
            CHECK(iba::bits_at(set.data() + data, t.off, t.width) == low_bits(t.width)); // the sum of 4 ports saturates
    }
}

TEST_CASE("a port receives what its neighbor sends, as a function of time") {
    rig r("traffic=1000");
    CHECK(r.get<PortCountersExt>(2).portXmitPkts == 0);
    r.set_time(1s);
    const auto leaf = r.get<PortCountersExt>(2), leaf_after = r.get<PortCountersExt>(2);
    CHECK(leaf == leaf_after); // no time has passed
    CHECK(leaf.portXmitPkts == 1000);
    CHECK(leaf.portRcvPkts == 1000);
    CHECK(leaf.portMulticastXmitPkts == 62); // each 16th packet
    CHECK(leaf.portUnicastXmitPkts == 938);
    const auto host = r.get<PortCountersExt>(1, "h-0002 HCA-1"); // received our request of 72 words
    CHECK(host.portRcvPkts == leaf.portXmitPkts + 1);
    CHECK(host.portRcvData == leaf.portXmitData + 72);
    CHECK(host.portXmitData == leaf.portRcvData);
    CHECK(host.portUnicastRcvPkts == 939);
    CHECK(leaf.portXmitData % 1000 == 0);
    const u64 words = leaf.portXmitData / 1000;
    CHECK(words >= 8);
    CHECK(words < 520);
    CHECK(leaf.symbolErrorCounter == 0);

    r.set_time(2500ms);
    CHECK(r.get<PortCountersExt>(2).portXmitPkts == 2500);
    CHECK(r.get<PortCountersExt>(2).portXmitData == 2500 * words);
    CHECK(r.get<PortCounters>(2).portXmitData == 2500 * words);
    CHECK(r.get<PortCountersExt>(255).portRcvPkts == 10'000);
    r.set_time(2500ms + 999us);
    CHECK(r.get<PortCountersExt>(2).portXmitPkts == 2500);
    r.set_time(2501ms);
    CHECK(r.get<PortCountersExt>(2).portXmitPkts == 2501);

    // The same seed gives the same sizes, another seed other sizes.
    const auto sizes = [](const std::string& options) {
        rig other(options);
        other.set_time(1s);
        std::vector<u64> all;
        for (unsigned port = 1; port <= 4; ++port) all.push_back(other.get<PortCountersExt>(port).portXmitData / 1000);
        return all;
    };
    const auto first = sizes("traffic=1000");
    CHECK(first[1] == words);
    CHECK(sizes("traffic=1000") == first);
    CHECK(sizes("traffic=1000,seed=2") != first);
}

TEST_CASE("packets per service level, virtual lane and OpCode are parts of all packets") {
    rig r("traffic=1000");
    r.set_time(1s);
    const auto port = r.get<PortCountersExt>(2);
    CHECK(r.get<PortOpRcvCounters>(2, "leaf-0001", 0x04).portOpRcvPkts == 504); // 8 of 16
    CHECK(r.get<PortOpRcvCounters>(2, "leaf-0001", 0x0a).portOpRcvPkts == 372); // 6 of 16
    CHECK(r.get<PortOpRcvCounters>(2, "leaf-0001", 0x64).portOpRcvPkts == 124); // 2 of 16
    CHECK(r.get<PortOpRcvCounters>(2, "leaf-0001", 0x05).portOpRcvPkts == 0);
    CHECK(r.get<PortOpRcvCounters>(2, "leaf-0001", 0x04).opCode == 4);
    u64 received = 0;
    for (const u8 opCode : {0x04, 0x0a, 0x64})
        received += r.get<PortOpRcvCounters>(2, "leaf-0001", opCode).portOpRcvData;
    CHECK(received == port.portRcvData);
    const auto by_vl = r.get<PortVLOpPackets>(2, "leaf-0001", 0x04).portVLOpPackets;
    CHECK(by_vl == std::array<u16, 16>{256, 124, 62, 62});
    const auto kilobytes = total(r.get<PortVLOpData>(2, "leaf-0001", 0x04).portVLOpData);
    const auto words = r.get<PortOpRcvCounters>(2, "leaf-0001", 0x04).portOpRcvData;
    CHECK(kilobytes <= words / 256);
    CHECK(kilobytes + 4 > words / 256); // the value of each of the 4 lanes is truncated
    CHECK(total(r.get<PortXmitDataSL>(2).portXmitDataSL) == port.portXmitData);
    CHECK(total(r.get<PortRcvDataSL>(2).portRcvDataSL) == port.portRcvData);
    CHECK(r.get<PortFlowCtlCounters>(2).portXmitFlowPkts == 62);
    CHECK(r.get<PortFlowCtlCounters>(2).portRcvFlowPkts == 62);
    CHECK(r.get<PortRcvConCtrl>(2).portPktRcvFECN == 62);
    CHECK(r.get<PortRcvConCtrl>(2).portPktRcvBECN == 62);
    CHECK(r.get<PortSLRcvFECN>(2).portSLRcvFECN == std::array<u32, 16>{32, 16, 8, 6});
    CHECK(r.get<PortSLRcvBECN>(2).portSLRcvBECN == std::array<u32, 16>{32, 16, 8, 6});

    // Some ports have wait times, others have none.
    std::set<u64> waits;
    for (u8 p = 1; p <= 4; ++p) {
        const u64 wait = r.get<PortCounters>(p).portXmitWait;
        waits.insert(wait);
        CHECK(wait % 1000 == 0);
        CHECK(total(r.get<PortVLXmitWaitCounters>(p).portVLXmitWait) == wait);
        CHECK(total(r.get<PortVLXmitTimeCong>(p).portVLXmitTimeCong) == wait);
        CHECK(r.get<PortXmitConCtrl>(p).portXmitTimeCong == wait);
    }
    CHECK(waits.size() > 1);

    // Each OpCode, and each group, is cleared separately.
    auto reset = all_of_port<PortOpRcvCounters>(2);
    reset.opCode = 0x04;
    reset.counterSelect = 3;
    CHECK(r.set(reset).portOpRcvPkts == 0);
    CHECK(r.get<PortOpRcvCounters>(2, "leaf-0001", 0x04).portOpRcvData == 0);
    CHECK(r.get<PortOpRcvCounters>(2, "leaf-0001", 0x0a).portOpRcvPkts == 372);
    CHECK(r.get<PortCountersExt>(2) == port);
    auto reset_sl = all_of_port<PortXmitDataSL>(2);
    reset_sl.counterSelect = 1 << 1;
    r.set(reset_sl);
    CHECK(r.get<PortXmitDataSL>(2).portXmitDataSL[1] == 0);
    CHECK(r.get<PortXmitDataSL>(2).portXmitDataSL[0] != 0);
    CHECK(r.get<PortCountersExt>(2) == port);
}

TEST_CASE("narrow counters saturate until they are cleared, and wide counters wrap") {
    rig r("traffic=1000000000");
    r.set_time(4s);
    CHECK(r.get<PortCounters>(2).portXmitPkts == 4'000'000'000);
    r.set_time(5s);
    CHECK(r.get<PortCounters>(2).portXmitPkts == 0xffff'ffff);
    CHECK(r.get<PortCountersExt>(2).portXmitPkts == 5'000'000'000);
    r.set_time(1000s);
    CHECK(r.get<PortCounters>(2).portXmitPkts == 0xffff'ffff);

    // Counters are cleared by one attribute, are cleared in both, and continue.
    auto reset = all_of_port<PortCounters>(2);
    reset.counterSelect = 1 << 14;
    CHECK(r.set(reset).portXmitPkts == 0);
    CHECK(r.get<PortCountersExt>(2).portXmitPkts == 0);
    CHECK(r.get<PortCountersExt>(2).portRcvPkts == 1'000'000'000'000);
    r.set_time(1002s);
    CHECK(r.get<PortCounters>(2).portXmitPkts == 2'000'000'000);
    CHECK(r.get<PortCountersExt>(2).portXmitPkts == 2'000'000'000);
    auto reset_wide = all_of_port<PortCountersExt>(2);
    reset_wide.counterSelect = 1 << 2;
    reset_wide.portXmitPkts = ~u64{0} - 499'999'999; // half a second before it wraps
    r.set(reset_wide);
    r.set_time(1002s + 499'999'999ns);
    CHECK(r.get<PortCountersExt>(2).portXmitPkts == ~u64{0});
    r.set_time(1003s);
    CHECK(r.get<PortCountersExt>(2).portXmitPkts == 500'000'000);
}

TEST_CASE("the error details of a bad cable add up to the error counters") {
    rig r("errors=1:1000");
    r.set_time(1s);
    const auto port = r.get<PortCountersExt>(3); // a port of a switch
    CHECK(port.symbolErrorCounter == 1000);
    CHECK(port.portRcvErrors == 250);
    CHECK(port.portXmitDiscards == 125);
    CHECK(port.portRcvRemotePhysicalErrors == 62);
    CHECK(port.portRcvSwitchRelayErrors == 31);
    CHECK(port.portXmitPkts == 0);
    const auto details = r.get<PortRcvErrorDetails>(3);
    CHECK(details.portLocalPhysicalErrors == 190); // 12 of 16
    CHECK(details.portMalformedPacketErrors == 45);
    CHECK(details.portBufferOverrunErrors == 15);
    CHECK(details.portDLIDMappingErrors == 16); // of the switch relay errors
    CHECK(details.portVLMappingErrors == 8);
    CHECK(details.portLoopingErrors == 7);
    const auto discards = r.get<PortXmitDiscardDetails>(3);
    CHECK(discards.portInactiveDiscards == 16);
    CHECK(discards.portNeighborMTUDiscards == 16);
    CHECK(discards.portSwLifetimeLimitDiscards == 32);
    CHECK(discards.portSwHOQLimitDiscards == 61);
    CHECK(r.get<SwPortVLCongestion>(3).swPortVLCongestion == std::array<u16, 16>{48, 24, 11, 10}); // for the last two
    CHECK(total(r.get<PortVLXmitFlowCtlUpdateErrors>(3).portVLXmitFlowCtlUpdateErrors) ==
          3 + 3 + 2 + 1); // of 8, 4, 2 and 1

    const std::string host = "h-0002 HCA-1";
    const auto at_host = r.get<PortCounters>(1, host);
    CHECK(at_host.symbolErrorCounter == 1000);
    CHECK(at_host.portRcvSwitchRelayErrors == 0);
    const auto host_discards = r.get<PortXmitDiscardDetails>(1, host);
    CHECK(host_discards.portInactiveDiscards + host_discards.portNeighborMTUDiscards == 125);
    CHECK(host_discards.portSwHOQLimitDiscards == 0);

    r.set_time(3s);
    CHECK(r.get<PortCounters>(3).localLinkIntegrityErrors == 11);
    CHECK(r.get<PortCounters>(3).excessiveBufferOverrunErrors == 5);
    CHECK(r.get<PortCounters>(3).linkErrorRecoveryCounter == 46);

    // Counters of 4, 8 and 16 bits saturate one after the other, and none wraps.
    r.set_time(100s);
    const auto full = r.get<PortCounters>(3);
    CHECK(full.symbolErrorCounter == 0xffff);
    CHECK(full.linkErrorRecoveryCounter == 0xff);
    CHECK(full.localLinkIntegrityErrors == 15);
    CHECK(full.excessiveBufferOverrunErrors == 15);
    CHECK(full.portRcvErrors == 25'000);
    CHECK(r.get<PortCountersExt>(3).symbolErrorCounter == 100'000);
    auto reset = all_of_port<PortCountersExt>(3);
    reset.counterSelect2 = 1;
    r.set(reset);
    CHECK(r.get<PortCounters>(3).symbolErrorCounter == 0);
    CHECK(r.get<PortCounters>(3).localLinkIntegrityErrors == 15);
    CHECK(total(r.get<PortVLXmitFlowCtlUpdateErrors>(3).portVLXmitFlowCtlUpdateErrors) == 4 * 3);
}

TEST_CASE("errors occur at both ends of a fraction of the cables selected by the seed") {
    const auto bad_ends = [](const std::string& options) {
        rig r(options, "leaf-0001", "fattree3,radix=8");
        r.set_time(1s);
        std::set<std::pair<u32, unsigned>> ends;
        for (u32 n = 0; n < r.graph().nodes.size(); ++n) {
            const node& x = r.graph().nodes[n];
            for (unsigned p = 1; p <= x.num_ports(); ++p)
                if (r.get<PortCounters>(p, x.id).symbolErrorCounter == 100) ends.insert({n, p});
        }
        for (const auto& [n, p] : ends) {
            const port& end = r.graph().nodes[n].ports[p];
            CHECK(ends.contains({end.peer_node, end.peer_port}));
        }
        return ends;
    };
    // 384 cables have 768 ends. The range is three standard deviations (of 6.5 and 8.5 cables) around the expected
    // share.
    const auto eighth = bad_ends("errors=100"), quarter = bad_ends("errors=0.25:100");
    CHECK(eighth.size() > 2 * 28);
    CHECK(eighth.size() < 2 * 68);
    CHECK(quarter.size() > 2 * 70);
    CHECK(quarter.size() < 2 * 122);
    CHECK(std::includes(quarter.begin(), quarter.end(), eighth.begin(), eighth.end()));
    CHECK(bad_ends("errors=100") == eighth);
    CHECK(bad_ends("errors=100,seed=2") != eighth);
    CHECK(bad_ends("errors=0:100").empty());
}

TEST_CASE("links of extended speeds count corrected errors according to the FEC mode in PortInfoExtended") {
    const auto link_of = [](const std::string& speed) {
        auto r = std::make_unique<rig>("errors=1:1000,speed=" + speed);
        r->set_time(1s);
        return r;
    };
    const auto FEC = [](rig& r) {
        const auto info = get<smp::PortInfoExtended>(*r.sim.transport, route({}), 3);
        REQUIRE(info);
        CHECK(info->capabilityMask == 1);
        return info->FECModeActive;
    };
    SECTION("QDR: no FEC") {
        const auto r = link_of("QDR");
        CHECK(FEC(*r) == iba::FECMode::None);
        CHECK(r->get<PortExtendedSpeedsCounters>(3) == all_of_port<PortExtendedSpeedsCounters>(3));
    }
    SECTION("FDR: per lane") {
        const auto r = link_of("FDR");
        CHECK(FEC(*r) == iba::FECMode::FireCode);
        const auto reported = r->get<PortExtendedSpeedsCounters>(3);
        CHECK(reported.syncHeaderErrorCounter == 63);
        CHECK(reported.unknownBlockCounter == 63);
        CHECK(reported.errorDetectionCounterLane == std::array<u16, 12>{250, 250, 250, 250});
        CHECK(reported.FECCorrectableBlockCounterLane == std::array<u32, 12>{4000, 4000, 4000, 4000});
        CHECK(reported.FECUncorrectableBlockCounterLane == std::array<u32, 12>{48, 48, 47, 47});
        CHECK(total(reported.FECUncorrectableBlockCounterLane) ==
              r->get<PortRcvErrorDetails>(3).portLocalPhysicalErrors);
        CHECK(r->get<PortExtendedSpeedsCountersRSFEC>(3).portFECCorrectedSymbolCounter == 0);
    }
    SECTION("EDR and faster: RS-FEC") {
        for (const auto& [speed, mode] :
             {std::pair("EDR", iba::FECMode::RS), {"HDR", iba::FECMode::RS2}, {"NDR", iba::FECMode::RS2}}) {
            const auto r = link_of(speed);
            CHECK(FEC(*r) == mode);
            CHECK((r->class_port_info("leaf-0001").capabilityMask & 0x4000) != 0);
            const auto reported = r->get<PortExtendedSpeedsCountersRSFEC>(3);
            CHECK(reported.FECCorrectableSymbolCounterLane == std::array<u32, 12>{4000, 4000, 4000, 4000});
            CHECK(reported.portFECCorrectedSymbolCounter == 16'000);
            CHECK(reported.portFECCorrectableBlockCounter == 8000);
            CHECK(reported.portFECUncorrectableBlockCounter == 190);
            CHECK(total(r->get<PortExtendedSpeedsCounters>(3).FECUncorrectableBlockCounterLane) == 0);
        }
    }
    SECTION("width 2x: two lanes") {
        rig r("errors=1:1000,width=2x,speed=HDR");
        r.set_time(1s);
        CHECK(r.get<PortExtendedSpeedsCountersRSFEC>(3).FECCorrectableSymbolCounterLane ==
              std::array<u32, 12>{8000, 8000});
    }
}

// The expected numbers come from the binomial distribution, calculated with exact fractions: a block of RS(528, 514) with
// 10-bit symbols corrects 7 symbols, one of RS(544, 514) 15, and one of FireCode (2112 bits) 1 bit.
TEST_CASE("a bit error rate without FEC damages one symbol for each wrong bit, at the receiving port") {
    rig r("speed=QDR,ber=leaf-0001/3:1e-9");
    r.set_time(100s);
    // 4 lanes of 10 Gb/s: 40 wrong bits per second
    const auto port = r.get<PortCountersExt>(3);
    CHECK(port.symbolErrorCounter >= 3999);
    CHECK(port.symbolErrorCounter <= 4000);
    CHECK(port.portRcvErrors == 0); // no packets
    CHECK(r.get<PortExtendedSpeedsCounters>(3) == all_of_port<PortExtendedSpeedsCounters>(3));
    const auto sender = r.get<PortCountersExt>(1, "spine-0001");
    CHECK(sender.symbolErrorCounter == 0);
    CHECK(r.get<PortCountersExt>(4).symbolErrorCounter == 0);
}

TEST_CASE(
    "a bit error rate damages packets according to their size, and PortRcvErrors counts them as physical errors") {
    rig r("speed=QDR,traffic=100000,ber=leaf-0001/3:1e-6");
    r.set_time(10s);
    const auto port = r.get<PortCountersExt>(3);
    CHECK(port.portRcvPkts == 1'000'000);
    const double words = static_cast<double>(port.portRcvData) / 1e6; // of 4 bytes, 40 bits each with 8b/10b
    const double damaged = 1e6 * (1 - std::pow(1 - 1e-6, 40 * words));
    CHECK(damaged > 100);
    CHECK(std::abs(static_cast<double>(port.portRcvErrors) - damaged) <= 1);
    const auto details = r.get<PortRcvErrorDetails>(3);
    CHECK(details.portLocalPhysicalErrors == port.portRcvErrors);
    CHECK(details.portMalformedPacketErrors == 0);
    CHECK(r.get<PortCountersExt>(1, "spine-0001").portRcvErrors == 0);
}

TEST_CASE("FEC corrects bit errors until blocks have too many, and counts symbols and blocks") {
    const auto near = [](double counted, double expected) {
        return std::abs(counted - expected) <= 1e-6 * expected + 1;
    };
    const auto link_of = [](const std::string& speed, const std::string& rate) {
        auto r = std::make_unique<rig>("speed=" + speed + ",ber=leaf-0001/3:" + rate);
        r->set_time(10s);
        return r;
    };
    SECTION("EDR at 1e-5: everything is corrected") {
        const auto r = link_of("EDR", "1e-5");
        const auto fec = r->get<PortExtendedSpeedsCountersRSFEC>(3);
        CHECK(near(fec.portFECCorrectedSymbolCounter, 10'312'035.9));
        CHECK(near(fec.portFECCorrectableBlockCounter, 10'045'027.9));
        CHECK(fec.portFECUncorrectableBlockCounter == 0);
        CHECK(near(static_cast<double>(total(fec.FECCorrectableSymbolCounterLane)), 10'312'035.9));
        CHECK(r->get<PortCountersExt>(3).symbolErrorCounter == 0);
        CHECK(r->get<PortExtendedSpeedsCountersRSFEC>(4).portFECCorrectedSymbolCounter == 0);
    }
    SECTION("EDR at 1e-4: a few blocks are lost") {
        const auto r = link_of("EDR", "1e-4");
        const auto fec = r->get<PortExtendedSpeedsCountersRSFEC>(3);
        CHECK(near(fec.portFECCorrectedSymbolCounter, 103'078'465.6));
        CHECK(fec.portFECUncorrectableBlockCounter == 17); // 1.7435 per second
        CHECK(r->get<PortCountersExt>(3).symbolErrorCounter == 17);
    }
    SECTION("HDR corrects more than EDR") {
        const auto r = link_of("HDR", "1e-3");
        const auto fec = r->get<PortExtendedSpeedsCountersRSFEC>(3);
        CHECK(near(fec.portFECCorrectableBlockCounter, 388'874'721.1));
        CHECK(fec.portFECUncorrectableBlockCounter == 59'775); // 5977.57 per second
    }
    SECTION("FDR corrects one bit of a block, and counts per lane") {
        const auto r = link_of("FDR", "1e-6");
        const auto fec = r->get<PortExtendedSpeedsCounters>(3);
        CHECK(near(static_cast<double>(total(fec.FECCorrectableBlockCounterLane)), 561'313.8));
        CHECK(total(fec.FECUncorrectableBlockCounterLane) == 592); // 59.288 per second
    }
}

TEST_CASE("a bit error rate counts only while the link is up, and an invalid one is refused in one line") {
    rig r("speed=QDR,ber=leaf-0001/3:1e-9,cut=leaf-0001/3@50s");
    r.set_time(100s);
    const u64 counted = r.get<PortCountersExt>(3).symbolErrorCounter;
    CHECK(counted >= 1999);
    CHECK(counted <= 2000);
    const auto refused = [](const std::string& value) {
        return message_of([&] { make_sim("fattree2,radix=4,ber=" + value, time_mode::virtual_); });
    };
    CHECK(refused("leaf-0001/3") == "fattree2: ber=leaf-0001/3 is incomplete; expected NODE/PORT and a bit error rate, "
                                    "such as NODE/PORT:1e-12");
    CHECK(refused("leaf-0001/3:0.2") == "fattree2: ber=leaf-0001/3:0.2 is too high; must be 0..0.1");
    CHECK(refused("leaf-0001/3:x").ends_with("ber=x is not a probability; must be 0..1"));
    CHECK(refused("leaf-0001/9:1e-9").ends_with("no cable at port 9 of 'leaf-0001', whose ports are 1..4"));
}

TEST_CASE("a simulated SMA supports PortInfoExtended, announces the support and rejects a Set") {
    rig r;
    const auto info = get<smp::PortInfo>(*r.sim.transport, route({}), 0);
    CHECK((info->capabilityMask & 1u << 15) != 0);
    CHECK((info->capabilityMask2 & 1u << 1) != 0);
    const auto extended = get<smp::PortInfoExtended>(*r.sim.transport, route({}), 1);
    REQUIRE(extended); // EDR
    CHECK(extended->FDRFECModeSupported == 0b011);
    CHECK(extended->EDRFECModeEnabled == 0b101);
    CHECK(extended->HDRFECModeSupported == 0);
    CHECK_FALSE(get<smp::PortInfoExtended>(*r.sim.transport, route({}), 5));
    coro::blocking_transactor umad(*r.sim.transport);
    CHECK(umad.SubnSet(*extended, route({}), 1).error().status == 0x0c);
}

TEST_CASE("a link that goes down counts LinkDowned at both ends and carries no traffic while down") {
    // The link is down for the first 50 ms of every 200 ms, from 100 ms on.
    rig r("traffic=1000,flap=leaf-0001/2@100ms:50ms:200ms");
    const auto both = [&] {
        const auto leaf = r.get<PortCountersExt>(2);
        const node& far = r.graph().nodes[*r.graph().find("h-0002 HCA-1")];
        CHECK(far.ports[1].is_up() == r.graph().nodes[*r.graph().find("leaf-0001")].ports[2].is_up());
        return std::pair(leaf.linkDownedCounter, leaf.portXmitPkts);
    };
    r.set_time(99ms);
    CHECK(both() == std::pair<u64, u64>(0, 99));
    r.set_time(120ms);
    CHECK(both() == std::pair<u64, u64>(1, 100));
    r.set_time(1000ms); // the link went down five times without a query in between
    CHECK(both() == std::pair<u64, u64>(5, 750));
    r.set_time(1101ms);
    CHECK(both() == std::pair<u64, u64>(6, 850));
    r.set_time(1160ms);
    CHECK(both() == std::pair<u64, u64>(6, 860));
    CHECK(r.get<PortCounters>(2).linkDownedCounter == 6);
    CHECK(r.get<PortCounters>(1).linkDownedCounter == 0);
    CHECK(r.get<PortCounters>(1).portXmitPkts == 1160);
    r.set_time(60s); // counters of 8 bits are saturated
    CHECK(r.get<PortCounters>(2).linkDownedCounter == 255);
    CHECK(r.get<PortCountersExt>(2).linkDownedCounter == 300);
}

TEST_CASE("a link that a manager disables counts LinkDowned and carries no traffic until it is enabled") {
    rig r("traffic=1000");
    const auto set_physical = [&](iba::PortPhysicalState state) {
        coro::blocking_transactor umad(*r.sim.transport);
        umad.schedule().set_now(r.sim.fabric->now());
        auto info = umad.SubnGet<smp::PortInfo>(route({}), 2).value();
        info.portState = iba::PortState::NoChange;
        info.portPhysicalState = state;
        REQUIRE(umad.SubnSet(info, route({}), 2));
    };
    r.set_time(1s);
    set_physical(iba::PortPhysicalState::Disabled);
    // The counters do not depend on what happens to the cable meanwhile.
    const u32 leaf = *r.graph().find("leaf-0001");
    r.set_time(1200ms);
    r.sim.fabric->apply({topology_event::kind::cut, leaf, 2});
    r.set_time(1400ms);
    r.sim.fabric->apply({topology_event::kind::restore, leaf, 2});
    r.set_time(2s);
    CHECK(r.get<PortCounters>(2).portXmitPkts == 1000);
    CHECK(r.get<PortCounters>(2).linkDownedCounter == 1);
    set_physical(iba::PortPhysicalState::Polling);
    r.set_time(3s);
    CHECK(r.get<PortCounters>(2).portXmitPkts == 2000);
    CHECK(r.get<PortCounters>(2).linkDownedCounter == 1);
    // After the cable was removed and connected again, the counters keep their values.
    r.sim.fabric->apply({topology_event::kind::cut, leaf, 2});
    r.set_time(4s);
    r.sim.fabric->apply({topology_event::kind::restore, leaf, 2});
    r.set_time(5s);
    CHECK(r.get<PortCounters>(2).portRcvPkts == 3000);
    CHECK(r.get<PortCounters>(2).linkDownedCounter == 2);
}

TEST_CASE("simulated PMAs differ in their capabilities and report them") {
    rig r("traffic=1000,errors=1:1000,pma=leaf-0002:basic,pma=spine-0001:wide+wait,pma=spine-0002:all+wide+unicast,"
          "pma=h-0002 HCA-1:groups,pma=h-0003 HCA-1:rsfec+errors+unicast");
    r.set_time(1s);
    const auto masks = [&](const std::string& whom) {
        const auto info = r.class_port_info(whom);
        return std::pair<u32, u32>(info.capabilityMask, info.capabilityMask2);
    };
    // AllPortSelect 8, ExtendedWidth 9, NoIETF 10, XmitWait 12, RSFEC 14, QP1Dropped 15; additional counters 1.
    CHECK(masks("leaf-0001") == std::pair(0xd300u, 2u));
    CHECK(masks("leaf-0002") == std::pair(0u, 0u));
    CHECK(masks("spine-0001") == std::pair(0x1400u, 0u));
    CHECK(masks("spine-0002") == std::pair(0x0300u, 0u));
    CHECK(masks("h-0002 HCA-1") == std::pair(0u, 0u));
    CHECK(masks("h-0003 HCA-1") == std::pair(0u, 0u)); // these bits are views of attributes that the host does not have

    for (const u16 attributeID : optional_ids) {
        attribute_bytes request_bytes{};
        request_bytes[1] = 1;
        CHECK(mad::status_of(r.query_bytes(Method::Get, attributeID, request_bytes, "leaf-0002").data()) == 0x0c);
    }
    CHECK(r.status(all_of_port<PortCountersExt>(1), "leaf-0002") == 0x0c);
    CHECK(r.status(all_of_port<PortCountersExt>(1), "h-0002 HCA-1") == 0x0c);
    CHECK(r.status(all_of_port<PortRcvErrorDetails>(1), "h-0002 HCA-1") == 0);
    CHECK(r.status(all_of_port<PortExtendedSpeedsCounters>(1), "h-0002 HCA-1") == 0);
    CHECK(r.get<PortExtendedSpeedsCountersRSFEC>(1, "h-0002 HCA-1").portFECCorrectedSymbolCounter == 0);
    CHECK(r.status(all_of_port<PortCounters>(255), "leaf-0002") == 0x1c);
    CHECK(r.status(all_of_port<PortCounters>(255), "spine-0001") == 0x1c);
    CHECK(r.status(all_of_port<PortCounters>(255), "spine-0002") == 0);

    // Counters that the port does not support read as 0 and cannot be set.
    auto write = all_of_port<PortCounters>(3);
    write.counterSelect2 = 3;
    write.portXmitWait = 7;
    write.QP1Dropped = 8;
    const auto reported = r.set(write, "leaf-0002");
    CHECK(reported.portXmitWait == 0);
    CHECK(reported.QP1Dropped == 0);
    CHECK(reported.symbolErrorCounter == 1000);
    r.sim.fabric->set_pma(*r.graph().find("leaf-0002"), pma_ability::all);
    CHECK(r.get<PortCounters>(3, "leaf-0002").QP1Dropped == 0);
    CHECK(r.set(write, "leaf-0002").QP1Dropped == 8);
    CHECK(r.get<PortCounters>(3, "leaf-0002").portXmitWait == 7);

    const auto no_ietf = r.get<PortCountersExt>(2, "spine-0001");
    CHECK(no_ietf.portXmitPkts >= 1000);
    CHECK(no_ietf.portUnicastXmitPkts == 0);
    CHECK(no_ietf.portMulticastRcvPkts == 0);
    CHECK(no_ietf.symbolErrorCounter == 0);
    const auto IETF = r.get<PortCountersExt>(2, "spine-0002");
    CHECK(IETF.portUnicastXmitPkts >= 938);
    CHECK(IETF.symbolErrorCounter == 0);
    CHECK(IETF.portXmitWait == 0);
    CHECK(r.get<PortCounters>(2, "spine-0002").portXmitWait == 0);
}

TEST_CASE("a simulated PMA reports its tick in PortSamplesControl") {
    rig r("tick=h-0002 HCA-1:255,tick=spine-0001:0");
    CHECK(r.get<PortSamplesCtl>(3, "leaf-0002").tick == 7);     // Quantum-2: 8 bytes of the link
    CHECK(r.get<PortSamplesCtl>(1, "h-0001 HCA-1").tick == 31); // 32 bytes of a lane
    CHECK(r.get<PortSamplesCtl>(1, "h-0002 HCA-1").tick == 255);
    CHECK(r.get<PortSamplesCtl>(1, "spine-0001").tick == 0);
    CHECK(r.status(all_of_port<PortSamplesCtl>(9), "leaf-0002") == 0x1c);
    CHECK(r.status(all_of_port<PortSamplesCtl>(0), "leaf-0002") == 0x1c);
    CHECK_THROWS_WITH(make_sim("single,tick=256"), "single: tick=256 is invalid; must be an integer, 0..255");
}

TEST_CASE("a flow sends and waits for shares of the data rate and of the time while its link is up") {
    rig r("flow=leaf-0002/3:0.6:0.25,flow=h-0002 HCA-1/1:0.1:0.5,cut=leaf-0002/3@2s");
    r.set_time(1s);
    const auto about = [](double events) { return Approx(events).epsilon(1e-6); };
    // 4X EDR carries 12.5e9 bytes a second. The tick of a Quantum-2 is 8 bytes of the link: 0.64 ns.
    const auto from = r.get<PortCountersExt>(3, "leaf-0002");
    CHECK(from.portXmitData == about(0.6 * 12.5e9 / 4));
    CHECK(from.portXmitPkts == about(0.6 * 12.5e9 / 4096));
    CHECK(from.portXmitWait == about(0.25 / 0.64e-9));
    const port& end = r.graph().nodes[*r.graph().find("leaf-0002")].ports[3];
    const auto to = r.get<PortCountersExt>(end.peer_port, r.graph().nodes[end.peer_node].id);
    CHECK(to.portRcvData == about(0.6 * 12.5e9 / 4));
    CHECK(to.portXmitWait == 0);
    // The tick of the host is 32 bytes of a lane with 25 Gb/s: 10.24 ns.
    CHECK(r.get<PortCountersExt>(1, "h-0002 HCA-1").portXmitWait == about(0.5 / 10.24e-9));
    CHECK(r.get<PortCountersExt>(1, "h-0002 HCA-1").portXmitData == about(0.1 * 12.5e9 / 4));
    r.set_time(10s);
    CHECK(r.get<PortCountersExt>(3, "leaf-0002").portXmitData == about(2 * 0.6 * 12.5e9 / 4));
    CHECK_THROWS_WITH(make_sim("single,flow=x"), Catch::StartsWith("single: flow=x is incomplete; expected "));
    CHECK_THROWS_WITH(make_sim("fattree2,radix=4,flow=leaf-0001/3:2:0"),
                      "fattree2: flow=2 is not a probability; must be 0..1");
}

TEST_CASE("basic PMAs are selected as a fraction, as all nodes or by name") {
    const auto basic = [](const std::string& options) {
        rig r(options);
        std::set<std::string> names;
        for (const node& n : r.graph().nodes)
            if (r.class_port_info(n.id).capabilityMask == 0) names.insert(n.id);
        return names;
    };
    CHECK(basic("").empty());
    CHECK(basic("pma=basic").size() == 14); // 8 hosts, 4 leaves, 2 spines
    CHECK(basic("pma=basic,pma=leaf-0002:full").size() == 13);
    const auto half = basic("pma=0.5:basic");
    CHECK(half.size() == 7);
    CHECK(basic("pma=0.5:basic") == half);
    CHECK(basic("pma=0.5:basic,seed=2") != half);
}

TEST_CASE("an invalid traffic load or PMA capability is rejected in one line") {
    CHECK_THROWS_WITH(make_sim("single,traffic=-1"), "single: traffic=-1 is not a rate; must be 0..1e9 per second");
    CHECK_THROWS_WITH(make_sim("single,errors=2:5"), "single: errors=2 is not a probability; must be 0..1");
    CHECK_THROWS_WITH(make_sim("single,errors=0.5:x"), Catch::Contains("errors=x is not a rate"));
    CHECK_THROWS_WITH(make_sim("single,pma=wide+wit"), "single: pma: unknown ability 'wit'; expected one or more of "
                                                       "full, basic, all, wait, qp1, wide, unicast, errors, groups, "
                                                       "rsfec, separated by +");
    CHECK_THROWS_WITH(make_sim("single,pma=nobody:full"), Catch::Contains("pma=nobody: unknown node"));
}

TEST_CASE("a dead or killed host replies to neither subnet management nor performance management") {
    rig r("dead=h-0003 HCA-1,kill=h-0004 HCA-1@1s,revive=h-0004 HCA-1@2s");
    const auto answers = [&](const std::string& name) {
        const mad::any_path path = r.to(name);
        smp_bytes request;
        mad::write_request(request.data(),
                           {iba::MgmtClass::Performance, 1, Method::Get, iba::attribute_id<iba::ClassPortInfo>, true},
                           path, 0);
        const bool by_pma = send_query(*r.sim.transport, path, request).has_value();
        const bool by_sma = get<smp::NodeInfo>(*r.sim.transport, path).has_value();
        return std::pair(by_sma, by_pma);
    };
    const std::pair both(true, true), neither(false, false);
    CHECK(answers("h-0003 HCA-1") == neither);
    CHECK(answers("h-0004 HCA-1") == both);
    r.set_time(1s);
    CHECK(answers("h-0004 HCA-1") == neither);
    CHECK(answers("h-0002 HCA-1") == both);
    r.set_time(2s);
    CHECK(answers("h-0004 HCA-1") == both);
}
