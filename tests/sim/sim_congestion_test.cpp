// SPDX-License-Identifier: MIT
// sim_congestion_test.cpp - the simulator's congestion control agents: attributes by their offsets (IBA A10.4.3, as in
// OpenSM's ib_types.h), the members that a Set changes, keys with protect bit, lease and violations, and event logs.
#include "support/catch.hpp"
#include "wire/sim_client.hpp"
#include <comad/iba.hpp>

#include <chrono>
#include <string>

namespace sim_congestion_test {

using namespace comad;
using namespace comad::transports::sim;
using namespace std::chrono_literals;
using iba::Method;
using bytes = std::vector<u8>;

namespace {

constexpr std::size_t data = 64, log_data = 32, key_at = 24; // offsets in a MAD
enum attribute_number : u16 {
    class_port_info = 1,
    info = 0x11,
    key_info,
    log,
    switch_setting,
    port_setting,
    ca_setting,
    table,
    time_stamp
};
constexpr u16 refused_method = 0x08, refused_attribute = 0x0c, refused_value = 0x1c;

/// A simulated subnet in which time advances only when the test advances it.
struct rig {
    explicit rig(const std::string& options = {}, const std::string& kind = "fattree2,radix=4")
        : sim(make_sim(kind + ",sm=1,latency=0us,service=0us,at=leaf-0001" + (options.empty() ? "" : "," + options),
                       time_mode::virtual_)) {}

    u32 node(const std::string& name) const { return sim.fabric->graph().find(name).value(); }
    mad::IBPath to(const std::string& name) const {
        const auto& n = sim.fabric->graph().nodes[node(name)];
        return to_lid(value(n.ports[n.first_port()].LID));
    }
    void set_time(mad::duration since_beginning) { sim.transport->set_now(mad::time_point(since_beginning)); }

    /// Returns the complete reply, or nothing if there is none.
    std::optional<smp_bytes> send(Method method, u16 attributeID, const std::string& whom, const bytes& attribute = {},
                                  u32 modifier = 0) {
        mad::IBPath path = to(whom);
        path.CCKey = key;
        smp_bytes request;
        mad::write_request(request.data(), {iba::MgmtClass::CongestionControl, 2, method, attributeID, true}, path,
                           modifier);
        std::copy(attribute.begin(), attribute.end(), request.begin() + data);
        return send_query(*sim.transport, path, request);
    }
    u16 status(Method method, u16 attributeID, const std::string& whom, u32 modifier = 0) {
        const auto reply = send(method, attributeID, whom, bytes(192), modifier);
        REQUIRE(reply);
        return mad::status_of(reply->data());
    }
    /// Returns `size` bytes of the attribute in the reply to a Get.
    bytes get(u16 attributeID, const std::string& whom, std::size_t size, u32 modifier = 0) {
        return attribute_in(send(Method::Get, attributeID, whom, {}, modifier), attributeID, size);
    }
    bytes set(u16 attributeID, const std::string& whom, const bytes& attribute, u32 modifier = 0) {
        return attribute_in(send(Method::Set, attributeID, whom, attribute, modifier), attributeID, attribute.size());
    }
    static bytes attribute_in(const std::optional<smp_bytes>& reply, u16 attributeID, std::size_t size) {
        REQUIRE(reply);
        CHECK(mad::status_of(reply->data()) == 0);
        const auto begin = reply->begin() + (attributeID == log ? log_data : data);
        return {begin, begin + static_cast<std::ptrdiff_t>(size)};
    }

    simulation sim;
    u64 key = 0;
};

const std::string a_switch = "leaf-0001", a_ca = "h-0001 HCA-1";

/// Returns the key of 64 bits, the protect bit, the lease period and the number of violations.
bytes key_bytes(u64 key, bool is_protected, u16 lease, u16 violations) {
    bytes b(14);
    iba::store_be<u64>(b.data(), key);
    b[8] = is_protected ? 0x80 : 0;
    iba::store_be<u16>(b.data() + 10, lease);
    iba::store_be<u16>(b.data() + 12, violations);
    return b;
}

} // namespace

TEST_CASE("simulated congestion control agents support the attributes of their node type") {
    rig r;
    CHECK(r.get(class_port_info, a_switch, 2) == bytes{1, 2});
    CHECK(r.get(info, a_switch, 3) == bytes{0, 1, 0}); // credit starvation
    CHECK(r.get(info, a_ca, 3) == bytes{0, 0, 4});     // number of blocks of the table
    for (const u16 attribute : {switch_setting, port_setting}) {
        CHECK(r.status(Method::Get, attribute, a_switch) == 0);
        CHECK(r.status(Method::Get, attribute, a_ca) == refused_attribute);
    }
    for (const u16 attribute : {ca_setting, table}) {
        CHECK(r.status(Method::Get, attribute, a_ca) == 0);
        CHECK(r.status(Method::Get, attribute, a_switch) == refused_attribute);
    }
    for (const u16 attribute : {class_port_info, info, log, time_stamp})
        CHECK(r.status(Method::Set, attribute, a_switch) == refused_attribute);
    CHECK(r.status(Method::Get, 0x19, a_ca) == refused_attribute);
}

TEST_CASE("a simulated node without congestion control rejects the class") {
    rig r("cc=leaf-0001:none");
    CHECK(r.status(Method::Get, info, a_switch) == refused_method);
    CHECK(r.status(Method::Get, info, a_ca) == 0);
}

TEST_CASE("a Set of SwitchCongestionSetting writes only the members selected by its control map") {
    rig r;
    bytes all(76);
    for (std::size_t i = 4; i < all.size(); ++i) all[i] = static_cast<u8>(i);
    all[68] = 0xf0, all[70] = 0x70, all[71] = 0; // without reserved bits
    // Bit 0: victim mask; 1: credit mask; 2: threshold and packet size; 3: threshold and packet size of credit
    // starvation; 4: marking rate.
    struct part {
        u8 bit;
        std::size_t begin, end;
    };
    bytes expected(76);
    for (const part p : {part{1, 4, 36}, {2, 36, 68}, {4, 68, 70}, {8, 70, 74}, {16, 74, 76}}) {
        CAPTURE(p.bit);
        all[3] = expected[3] = p.bit;
        std::copy(all.begin() + static_cast<long>(p.begin), all.begin() + static_cast<long>(p.end),
                  expected.begin() + static_cast<long>(p.begin));
        CHECK(r.set(switch_setting, a_switch, all) == expected);
        CHECK(r.get(switch_setting, a_switch, 76) == expected);
    }
    CHECK(r.get(switch_setting, "leaf-0002", 76) == bytes(76));
}

TEST_CASE("SwitchPortCongestionSetting has blocks of 32 ports, and entries of missing ports stay 0") {
    rig r("", "fattree2,radix=40");
    const bytes wanted(128, 0x85);
    CHECK(r.set(port_setting, a_switch, wanted, 0) == wanted);
    bytes second(128);
    std::fill_n(second.begin(), 4 * 9, u8{0x85}); // ports 32 to 40
    CHECK(r.set(port_setting, a_switch, wanted, 1) == second);
    CHECK(r.get(port_setting, a_switch, 128, 1) == second);
    CHECK(r.get(port_setting, a_switch, 128, 0) == wanted);
    CHECK(r.status(Method::Get, port_setting, a_switch, 2) == refused_value);
    CHECK(r.status(Method::Get, port_setting, a_switch, 0xffffffff) == refused_value);
}

TEST_CASE("a Set of CACongestionSetting writes only the service levels of its control map") {
    rig r;
    bytes wanted(132, 0x11);
    for (std::size_t SL = 0; SL < 16; ++SL)
        wanted[4 + 8 * SL + 5] = wanted[4 + 8 * SL + 6] = wanted[4 + 8 * SL + 7] = 0;
    wanted[0] = 0, wanted[1] = 1, wanted[2] = 0x80, wanted[3] = 0x02;
    bytes expected(132);
    std::copy_n(wanted.begin(), 4, expected.begin());
    for (const long SL : {1, 15}) std::copy_n(wanted.begin() + 4 + 8 * SL, 8, expected.begin() + 4 + 8 * SL);
    CHECK(r.set(ca_setting, a_ca, wanted) == expected);
    CHECK(r.get(ca_setting, a_ca, 132) == expected);
}

TEST_CASE("a CongestionControlTable has blocks of 64 entries and one limit") {
    rig r;
    bytes block(132);
    block[1] = 127; // the limit
    for (std::size_t i = 4; i < block.size(); ++i) block[i] = static_cast<u8>(i);
    CHECK(r.set(table, a_ca, block, 1) == block);
    bytes first(132);
    first[1] = 127;
    CHECK(r.get(table, a_ca, 132, 0) == first);
    CHECK(r.get(table, a_ca, 132, 1) == block);
    CHECK(r.status(Method::Get, table, a_ca, 4) == refused_value);
    CHECK(r.status(Method::Set, table, a_ca, 4) == refused_value);
    block[0] = 1, block[1] = 0; // 256 is the first index that does not exist
    const auto reply = r.send(Method::Set, table, a_ca, block);
    REQUIRE(reply);
    CHECK(mad::status_of(reply->data()) == refused_value);
    CHECK(r.get(table, a_ca, 132, 1)[1] == 127);
}

TEST_CASE("a MAD without the CC_Key is dropped and counted unless it queries the key") {
    rig r;
    CHECK(r.set(key_info, a_switch, key_bytes(0x1234, false, 0, 9)) == key_bytes(0x1234, false, 0, 0));
    CHECK_FALSE(r.send(Method::Get, info, a_switch));
    CHECK_FALSE(r.send(Method::Set, key_info, a_switch, key_bytes(0, false, 0, 0)));
    CHECK(r.get(key_info, a_switch, 14) == key_bytes(0x1234, false, 0, 2)); // not protected: visible to all
    r.key = 0x1234;
    CHECK(r.get(info, a_switch, 3) == bytes{0, 1, 0});
    CHECK(r.set(key_info, a_switch, key_bytes(0x1234, true, 0, 1)) == key_bytes(0x1234, true, 0, 2)); // not changed
    r.key = 0x1235;
    CHECK(r.get(key_info, a_switch, 14) == key_bytes(0, true, 0, 2));
    r.set_time(1000s);
    CHECK(r.get(key_info, a_switch, 14) == key_bytes(0, true, 0, 2)); // without a lease period it stays protected
    r.key = 0x1234;
    CHECK(r.set(key_info, a_switch, key_bytes(0x1234, true, 0, 0)) == key_bytes(0x1234, true, 0, 0));
}

TEST_CASE("the lease of a CC_Key starts with a violation and ends the protection unless the owner appears") {
    rig r;
    r.set(key_info, a_ca, key_bytes(7, true, 10, 0));
    r.set_time(100s);
    CHECK_FALSE(r.send(Method::Get, info, a_ca));
    r.set_time(109s);
    r.key = 7; // the owner sends its key
    CHECK(r.get(log, a_ca, 2) == bytes{2, 0});
    r.key = 0;
    r.set_time(111s);
    CHECK(r.get(key_info, a_ca, 14) == key_bytes(0, true, 10, 1));
    CHECK_FALSE(r.send(Method::Get, info, a_ca));
    r.set_time(120s);
    CHECK_FALSE(r.send(Method::Get, info, a_ca)); // the lease period continues
    CHECK(r.get(key_info, a_ca, 14) == key_bytes(0, true, 10, 3));
    r.set_time(121s);
    CHECK(r.get(key_info, a_ca, 14) == key_bytes(7, false, 10, 3));
}

TEST_CASE("a simulated switch logs the last 15 marked packets and counts the packets since the last read") {
    rig r;
    r.set_time(1024ms); // 10^6 units of the agent's clock
    for (u16 i = 1; i <= 17; ++i) {
        iba::cc::CongestionLogEventSwitch e;
        e.SLID = iba::lid{i};
        e.DLID = iba::lid{0x102};
        e.SL = 5;
        r.sim.fabric->log_congestion(r.node(a_switch), i % 2 ? 1 : 3, e);
    }
    r.set_time(2048ms);
    bytes reported = r.get(log, a_switch, 220);
    bytes expected(220);
    expected[0] = 1;
    expected[3] = 17;
    iba::store_be<u32>(expected.data() + 4, 2'000'000);
    expected[8 + 31] = 1 << 1 | 1 << 3;
    for (std::size_t i = 0; i < 15; ++i) { // the newest comes first
        u8* const e = expected.data() + 40 + 12 * i;
        e[1] = static_cast<u8>(17 - i);
        e[2] = 1, e[3] = 2, e[4] = 0x50;
        iba::store_be<u32>(e + 8, 1'000'000);
    }
    CHECK(reported == expected);
    reported = r.get(log, a_switch, 220);
    expected[3] = 0;
    expected[8 + 31] = 0;
    CHECK(reported == expected);
}

TEST_CASE("a simulated CA logs connections above their threshold by service level") {
    rig r("cc=0.5:0,cc=h-0002 HCA-1:3");
    r.set_time(1024us * 3);
    iba::cc::CongestionLogEventCA e;
    e.localQP = 0x010203;
    e.remoteQP = 0x040506;
    e.SL = 9;
    e.serviceType = 2;
    e.remoteLID = iba::lid{0x0708};
    r.sim.fabric->log_congestion(r.node(a_ca), 1, e);
    bytes expected(220);
    expected[0] = 2, expected[3] = 1;
    expected[4] = 2; // service level 9
    iba::store_be<u32>(expected.data() + 8, 3000);
    const bytes event{1, 2, 3, 0, 4, 5, 6, 0x92, 7, 8, 0, 0, 0, 0, 0x0b, 0xb8};
    std::copy(event.begin(), event.end(), expected.begin() + 12);
    CHECK(r.get(log, a_ca, 220) == expected);
    CHECK(r.get(time_stamp, a_ca, 4) == bytes{0, 0, 0x0b, 0xb8});
    CHECK(r.get(log, "h-0002 HCA-1", 4) == bytes{2, 0, 0, 3}); // the values of the simulator's configuration
}

TEST_CASE("an invalid number of congestion events is an error in the specification") {
    CHECK_THROWS_WITH(rig("cc=some"), Catch::Contains("cc=some is invalid"));
    CHECK_THROWS_WITH(rig("cc=nobody:none"), Catch::Contains("cc=nobody: unknown node"));
}

} // namespace sim_congestion_test
