// SPDX-License-Identifier: MIT
// hidden_speeds_test.cpp - ports that report extended speeds only to managers that announce support for them.
#include "library/discovery_rig.hpp"
#include "wire/altering_transport.hpp"
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/walk/changes.hpp>

#include <algorithm>
#include <optional>

namespace hidden_speeds_test {

using namespace comad::test;
using namespace comad;
using discovery::hides_extended_speeds;
using discovery::understands_extended_speeds;
using iba::smp::PortInfo;

TEST_CASE("hides_extended_speeds is true if the end port has extended speeds and the port reports none") {
    PortInfo end_port, port;
    CHECK_FALSE(hides_extended_speeds(end_port, port));
    end_port.capabilityMask = 0x4000; // IsExtendedSpeedsSupported, bit 14 (IBA 14.2.5.6)
    CHECK(hides_extended_speeds(end_port, port));
    port.linkSpeedSupported = 7; // the old speeds have any values
    port.linkSpeedActive = iba::LinkSpeed::QDR;
    CHECK(hides_extended_speeds(end_port, port));
    const auto reports = [&](auto set) {
        PortInfo reported = port;
        set(reported);
        return !hides_extended_speeds(end_port, reported);
    };
    CHECK(reports([](PortInfo& p) { p.linkSpeedExtSupported = 1; })); // also for a port that is down
    CHECK(reports([](PortInfo& p) { p.linkSpeedExtEnabled = 30; }));
    CHECK(reports([](PortInfo& p) { p.linkSpeedExtActive = iba::LinkSpeedExt::FDR; }));
    CHECK(reports([](PortInfo& p) { p.linkSpeedExtSupported2 = 1; }));
    CHECK(reports([](PortInfo& p) { p.linkSpeedExtEnabled2 = 1; }));
    CHECK(reports([](PortInfo& p) { p.linkSpeedExtActive2 = iba::LinkSpeedExt2::XDR; }));
    end_port.capabilityMask = ~0x4000u;
    CHECK_FALSE(hides_extended_speeds(end_port, port));
}

TEST_CASE("a simulated device with hidden speeds reports them in replies to queries with bit 31") {
    topology t = managed("fattree2,radix=4");
    for (auto& n : t.nodes) n.hides_extended_speeds = n.is_switch();
    world w(std::move(t));
    const subnet s = w.discover();
    REQUIRE(s.complete());
    const auto send_query = [&](u32 node, u32 modifier) {
        return coro::sync_wait(w.schedule, w.schedule.SubnGet<PortInfo>(s.nodes[node].route, modifier)).value();
    };
    REQUIRE_FALSE(s.nodes[0].is_switch());
    REQUIRE(s.nodes[1].is_switch());
    const PortInfo end_port = send_query(1, 0), hidden = send_query(1, 1),
                   reported = send_query(1, 1 | understands_extended_speeds);
    CHECK(hides_extended_speeds(end_port, hidden));
    CHECK(hidden.linkSpeedActive == iba::LinkSpeed::QDR);
    CHECK_FALSE(hides_extended_speeds(end_port, reported));
    CHECK(reported.linkSpeedExtActive == iba::LinkSpeedExt::EDR); // the value that the generator sets
    CHECK(reported.LID == hidden.LID);
    // A CA in the same fabric hides no speed.
    CHECK(send_query(0, 1).linkSpeedExtActive == iba::LinkSpeedExt::EDR);
    CHECK(send_query(0, 1 | understands_extended_speeds).linkSpeedExtActive == iba::LinkSpeedExt::EDR);
}

/// Compares all ports except port 0. Port 0 of a switch has no cable, so the values that it hides have no meaning.
void check_ports_equal(const subnet& s, const subnet& expected) {
    REQUIRE(s.nodes.size() == expected.nodes.size());
    for (std::size_t n = 0; n < s.nodes.size(); ++n)
        for (std::size_t p = 1; p < s.nodes[n].ports.size(); ++p)
            CHECK(s.nodes[n].ports[p].info == expected.nodes[n].ports[p].info);
}

TEST_CASE("discovery finds hidden speeds with one more query per port that hides them") {
    const topology open = managed("fattree2,radix=4");
    topology hiding = open;
    u64 ports_that_hide = 0;
    for (auto& n : hiding.nodes) {
        n.hides_extended_speeds = n.is_switch();
        for (const auto& p : n.ports) ports_that_hide += n.is_switch() && p.linked();
    }
    world w(hiding), plain(open), by_lid(hiding);
    const subnet s = w.discover(), expected = plain.discover();
    CHECK(s.complete());
    CHECK(differences(s, w) == std::vector<std::string>{});
    check_ports_equal(s, expected); // as if no speed were hidden
    CHECK(w.sent() == plain.sent() + ports_that_hide);
    const auto& local = hiding.nodes[by_lid.port.node()].ports[by_lid.port.port()];
    check_ports_equal(by_lid.discover({.from_lid = local.LID}), expected);
}

TEST_CASE("discovery tries bit 31 at one port only of each kind of device that reports nothing more") {
    topology t = managed("fattree2,radix=4,speed=QDR");
    world plain(t);
    for (auto& n : t.nodes)
        if (n.is_switch()) n.ports[0].supported.speed = 0x1f; // the node supports extended speeds; its links do not
    const auto check_probes = [&](u64 kinds) {
        CAPTURE(kinds);
        world w(t);
        const u64 before = plain.sent();
        const subnet s = w.discover(), expected = plain.discover();
        CHECK(s.complete());
        CHECK(w.sent() == plain.sent() - before + kinds);
        check_ports_equal(s, expected);
    };
    check_probes(1);
    const auto is_switch = [](const auto& n) { return n.is_switch(); };
    const auto first = std::ranges::find_if(t.nodes, is_switch);
    first->deviceID ^= 1;
    check_probes(2);
    std::ranges::find_if(first + 1, t.nodes.end(), is_switch)->vendorID ^= 1;
    check_probes(3);
}

TEST_CASE("discovery of devices that never report extended speeds sends one SMP more for each kind, at any window") {
    const unsigned outstanding = GENERATE(1u, 64u, 256u);
    CAPTURE(outstanding);
    const topology open = managed("fattree3,radix=8");
    topology silent = open;
    for (auto& n : silent.nodes) n.never_reports_extended_speeds = true; // two kinds: switches and CAs
    world w(silent, window(outstanding)), plain(open, window(outstanding));
    const subnet s = w.discover(), expected = plain.discover();
    CHECK(s.complete());
    CHECK(inconsistencies(s) == std::vector<std::string>{});
    CHECK(s.link_count() == expected.link_count());
    REQUIRE(s.nodes.size() == 208);
    // With one SMP at a time, no link is queried from both of its ends.
    if (outstanding == 1) CHECK(w.sent() == plain.sent() + 2);
    // With more, both ends of a link may be queried at once.
    CHECK(w.sent() <= plain.sent() + 2 + s.link_count() / 50);
}

TEST_CASE("another port decides whether a kind of device hides its speeds if the first one does not reply") {
    const bool measures = GENERATE(false, true);
    CAPTURE(measures);
    const topology open = managed("fattree2,radix=8");
    topology hiding = open;
    for (auto& n : hiding.nodes) n.hides_extended_speeds = n.is_switch();
    world w(hiding), plain(open);
    std::optional<std::vector<u8>> first; // the route of the first reply to a query with the bit
    altering_transport lossy(w.seen, [&](std::span<u8> reply) {
        if (attribute_in<PortInfo>(reply).empty()) return;
        const u32 modifier = iba::get<&iba::MADHeader::attributeModifier>(reply.data());
        if ((modifier & understands_extended_speeds) == 0) return;
        const auto initial_path = reply.subspan(128, 64); // IBA 14.2.1.2
        if (!first) first.emplace(initial_path.begin(), initial_path.end());
        if (std::ranges::equal(*first, initial_path)) reply[3] = 0; // not a reply to any request
    });
    coro::MADSchedule schedule(lossy, measures ? coro::schedule_options{} : window());
    const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    REQUIRE(found);
    const subnet &s = found.value(), expected = plain.discover();
    CHECK(inconsistencies(s) == std::vector<std::string>{});
    u64 ports_without_speed = 0, nodes_without_speed = 0;
    for (std::size_t n = 0; n < s.nodes.size(); ++n) {
        u64 ports = 0;
        for (std::size_t p = 1; p < s.nodes[n].ports.size(); ++p)
            ports += s.nodes[n].ports[p].info != expected.nodes[n].ports[p].info;
        ports_without_speed += ports;
        nodes_without_speed += ports > 0;
    }
    CHECK(ports_without_speed > 0);
    CHECK(nodes_without_speed == 1);
    CHECK(s.failures.size() >= ports_without_speed);
    for (const discovery::failure& p : s.failures) CHECK(p.kind == discovery::failure_kind::timeout);
}

TEST_CASE("rediscovery and polls keep the speeds of ports that hide them") {
    topology hiding = managed("fattree2,radix=4");
    for (auto& n : hiding.nodes) n.hides_extended_speeds = n.is_switch();
    world w(hiding);
    const subnet s = w.discover();
    REQUIRE(s.complete());
    REQUIRE(s.nodes[1].is_switch());
    const std::vector<discovery::port_ref> stale{{1, 0}, {2, 1}};
    const auto again = coro::sync_wait(w.schedule, discovery::rediscover(w.schedule, s, stale));
    REQUIRE(again);
    check_ports_equal(again.value(), s);
    // Without a subnet manager, a poll compares the PortInfo of each port.
    const auto changes = coro::sync_wait(w.schedule, discovery::find_changes(w.schedule, s, nullptr, true));
    for (const discovery::change& c : changes) FAIL_CHECK(c.text);
}

TEST_CASE("a node that rejects bit 31 is read without it, and a node that ignores bit 31 is a failure") {
    const bool rejects = GENERATE(true, false);
    CAPTURE(rejects);
    topology t = managed("fattree2,radix=4");
    for (auto& n : t.nodes) n.hides_extended_speeds = n.is_switch();
    world w(t);
    altering_transport odd(w.seen, [&](std::span<u8> reply) {
        if (attribute_in<PortInfo>(reply).empty()) return;
        const u32 modifier = iba::get<&iba::MADHeader::attributeModifier>(reply.data());
        if ((modifier & understands_extended_speeds) == 0) return;
        if (rejects) reply[5] |= 0x1c; // invalid value in a field (IBA 13.4.7)
        else reply[3] = 0;             // not a reply to any request
    });
    coro::MADSchedule schedule(odd, window());
    const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    REQUIRE(found);
    CHECK(found.value().complete() == rejects);
    CHECK(found.value().failures.size() <= 3); // of all switches, which are one kind
    for (const discovery::failure& p : found.value().failures) CHECK(p.kind == discovery::failure_kind::timeout);
    CHECK(inconsistencies(found.value()) == std::vector<std::string>{});
}

} // namespace hidden_speeds_test
