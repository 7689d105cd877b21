// SPDX-License-Identifier: MIT
// discovery_bound_test.cpp - the lower bound of the duration of a discovery, compared with hand-counted small subnets
// and with real discoveries.
#include "library/discovery_rig.hpp"
#include <comad/transports/detail/discovery_bound.hpp>

#include <string>

using namespace comad;
using namespace comad::test;
using namespace std::chrono_literals;
using transports::sim::bound_discovery;
using transports::sim::default_port;
using transports::sim::discovery_bound;
using transports::sim::discovery_limits;
using transports::sim::make_topology;

namespace {

discovery_bound bound_at(const topology& t, const discovery_limits& limits) {
    const u32 start = t.default_node();
    return bound_discovery(t, start, default_port(t.nodes[start]), limits);
}

discovery_bound bound_of(const char* specification, unsigned per_destination, unsigned window = 0) {
    return bound_at(make_topology(specification), {100us, window, per_destination});
}

} // namespace

TEST_CASE("the bound for two hosts and a cable is six SMPs and three round trips") {
    // NodeInfo, PortInfo and NodeDescription of each node. The local NodeInfo and PortInfo, both queried at once, show
    // that there is a cable. Then three more queries follow, two at a time.
    const auto b = bound_of("single", 2);
    CHECK(b.nodes == 2);
    CHECK(b.smps == 6);
    CHECK(b.hops == 1);
    CHECK(b.any_order == 1 + 2);
    CHECK(b.in_order == 1 + 2);
    CHECK(b.without_speculation == 2 + 2);
    CHECK(b.by_depth == 300us);
    CHECK(b.by_window == 150us); // four in flight at a time
    CHECK(b.time() == 300us);

    const auto one_by_one = bound_of("single", 1);
    CHECK(one_by_one.any_order == 2 + 3);
    CHECK(one_by_one.in_order == 2 + 3);
    CHECK(one_by_one.without_speculation == 2 + 3);
    CHECK(one_by_one.by_window == 300us);

    const auto narrow = bound_of("single", 2, 1);
    CHECK(narrow.by_window == 600us);
    CHECK(narrow.time() == 600us);
}

TEST_CASE("the bound for a line counts the ports of each switch up to the next hop") {
    // The route: host, switch left by port 1, switch left by port 3, host. A switch has NodeInfo, SwitchInfo,
    // NodeDescription and four PortInfos.
    const auto b = bound_of("line,switches=2,hosts=1", 2);
    CHECK(b.nodes == 4);
    CHECK(b.smps == 2 * 3 + 2 * 7);
    CHECK(b.hops == 3);
    CHECK(b.any_order == 1 + 1 + 4); // all of the second switch
    CHECK(b.in_order == 1 + 1 + 2 + 2);
    CHECK(b.without_speculation == 2 + 2 + 3 + 2);
    CHECK(b.by_window == 20 * 100us / 8);

    const auto one_by_one = bound_of("line,switches=2,hosts=1", 1);
    CHECK(one_by_one.any_order == 2 + 2 + 7);
    CHECK(one_by_one.in_order == 2 + 2 + 4 + 3);
    CHECK(one_by_one.without_speculation == 2 + 2 + 4 + 3);

    const auto without = bound_of("line,switches=2,hosts=1", 0);
    CHECK(without.in_order == 4);
    CHECK(without.without_speculation == 8);
}

TEST_CASE("the bound uses the fastest of several routes to a node") {
    // Four switches in a ring: port 1 leads to the next, port 2 to the previous switch. The opposite switch is known
    // after 2 + 2 queries through ports 1, or after 3 + 3 through ports 2. Its six queries follow.
    const auto b = bound_of("ring,switches=4,hosts=0", 1);
    CHECK(b.nodes == 4);
    CHECK(b.smps == 5 + 4 * 3 + 4 + 4); // one local NodeInfo and one through each cable
    CHECK(b.hops == 2);
    CHECK(b.in_order == 4 + 6);
    CHECK(b.any_order == 4 + 6);
}

TEST_CASE("the bound excludes disconnected nodes and routes through hosts") {
    topology t = make_topology("line,switches=3,hosts=1");
    t.unlink(*t.find("sw-0002"), 1);
    CHECK(bound_at(t, {100us, 0, 2}).nodes == 4);
    CHECK(bound_at(t, {100us, 0, 2}).smps == 20);
    // A host with two ports that are cabled to two switches. It has two PortInfos, and the second switch is not
    // reached.
    topology two;
    for (unsigned i = 0; i < 2; ++i) two.add_node(iba::NodeType::CA, 2, iba::guid{16 * (i + 1u)}, "", {2, 1});
    for (unsigned i = 0; i < 2; ++i) two.add_node(iba::NodeType::Switch, 2, iba::guid{16 * (i + 3u)}, "", {2, 1});
    two.link(0, 1, 2, 1);
    two.link(2, 2, 1, 1);
    two.link(1, 2, 3, 1);
    const auto b = bound_at(two, {100us, 0, 2});
    CHECK(b.nodes == 3);
    CHECK(b.smps == 3 + 6 + 3);
    // If the second port is cabled to the first switch instead, it is found, too: one more NodeInfo and one more
    // PortInfo.
    topology both;
    both.add_node(iba::NodeType::CA, 1, iba::guid{16}, "", {2, 1});
    both.add_node(iba::NodeType::CA, 2, iba::guid{32}, "", {2, 1});
    both.add_node(iba::NodeType::Switch, 3, iba::guid{48}, "", {2, 1});
    both.link(0, 1, 2, 1);
    both.link(1, 1, 2, 2);
    both.link(1, 2, 2, 3);
    CHECK(bound_at(both, {100us, 0, 2}).smps == 3 + 7 + 3 + 2);
}

TEST_CASE("the bound for a fat tree of 1344 nodes is 11,201 SMPs as calculated by formula") {
    // NodeInfo of the local node and through each of 3,072 cables; PortInfo of 1,024 hosts and of 17 ports of 320
    // switches; SwitchInfo; NodeDescription.
    CHECK(3073 + 1024 + 17 * 320 + 320 + 1344 == 11201);
    CHECK(bound_of("fattree3,radix=16", 2).smps == 11201);
}

TEST_CASE("no discovery takes fewer SMPs or round trips than the bound") {
    const auto* specification = GENERATE("single", "line,switches=9", "ring,switches=12,hosts=2", "torus,x=3,y=4,z=3",
                                         "fattree2,radix=12", "fattree3,radix=8");
    const unsigned outstanding = GENERATE(1u, 8u, 256u);
    const unsigned per_destination = GENERATE(1u, 2u, 5u);
    CAPTURE(specification, outstanding, per_destination);
    coro::schedule_options options = window(outstanding);
    options.per_destination = per_destination;
    timing times;
    times.delay = 50us;
    times.hop_delay = times.service_time = 0us;
    world w(make_topology(specification), options, times);
    CHECK(w.discover().failures.empty());
    const auto b = bound_at(w.net.graph(), {100us, outstanding, per_destination});
    CHECK(w.elapsed() >= b.time());
    CHECK(w.elapsed() >= b.without_speculation * 100us);
    CHECK(w.sent() >= b.smps);
}
