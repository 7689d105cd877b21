// SPDX-License-Identifier: MIT
// selected_discovery_test.cpp - discoveries that read only some attributes, probes of LIDs, and the ports that GUIDs and routes lead to.
// The expected numbers of SMPs are counted from the graph of the simulator.
#include "library/discovery_rig.hpp"
#include <comad/discovery/database/detail/port_lookup.hpp>
#include <comad/discovery/walk/detail/probe_lids.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace selected_discovery_test {

using namespace comad;
using namespace comad::test;
using discovery::node_types;
using discovery::port_ref;
using discovery::wanted_attributes;

namespace {

const std::vector<std::string> none;
constexpr node_types only_switches{.CA = false, .Switch = true, .Router = false};
constexpr node_types only_cas{.CA = true, .Switch = false, .Router = false};

/// A tree of 4 leaf switches with 2 hosts each, and 2 spine switches: 14 nodes, 16 links, 4 ports in each switch.
topology tree() {
    const topology t = managed("fattree2,radix=4");
    REQUIRE(t.nodes.size() == 14);
    REQUIRE(t.link_count() == 16);
    REQUIRE(t.count(iba::NodeType::Switch) == 6);
    return t;
}

/// Returns the number of SMPs of a discovery with a window of 1, in which no link is probed from both ends at once.
u64 smps(const wanted_attributes& wanted, iba::lid from_lid = {}) {
    world w(tree(), window(1));
    discovery::discover_options options;
    options.wanted = wanted;
    options.from_lid = from_lid;
    const subnet found = w.discover(options);
    CHECK(found.complete());
    CHECK(found.nodes.size() == 14);
    CHECK(found.link_count() == 16);
    CHECK(inconsistencies(found) == none);
    for (const discovery::node& n : found.nodes) {
        CHECK(n.description.empty() != wanted.NodeDescription.has(n.info.nodeType));
        CHECK(n.switch_info.has_value() == (n.is_switch() && wanted.SwitchInfo));
    }
    return w.sent();
}

} // namespace

TEST_CASE("a discovery sends no SMP for attributes that are not wanted") {
    // NodeInfo of the local node and over each link, PortInfo of the external ports of switches and of the local port.
    constexpr u64 required = 1 + 16 + 6 * 4 + 1;
    constexpr u64 descriptions = 14, switch_infos = 6, ports_0 = 6, ca_ports = 7; // without the local port
    CHECK(smps({}) == required + descriptions + switch_infos + ports_0 + ca_ports);
    CHECK(smps({.NodeDescription = discovery::no_node_types}) == required + switch_infos + ports_0 + ca_ports);
    CHECK(smps({.NodeDescription = only_cas}) == required + 8 + switch_infos + ports_0 + ca_ports);
    CHECK(smps({.NodeDescription = only_switches}) == required + 6 + switch_infos + ports_0 + ca_ports);
    CHECK(smps({.SwitchInfo = false}) == required + descriptions + ports_0 + ca_ports);
    CHECK(smps({.end_ports = only_switches}) == required + descriptions + switch_infos + ports_0);
    CHECK(smps({.end_ports = only_cas}) == required + descriptions + switch_infos + ca_ports);
    const wanted_attributes least{
        .NodeDescription = discovery::no_node_types, .end_ports = discovery::no_node_types, .SwitchInfo = false};
    CHECK(smps(least) == required);
    // By LIDs, the discovery needs the LIDs of all nodes.
    CHECK(smps(least, iba::lid{1}) == required + ports_0 + ca_ports);
}

TEST_CASE("a discovery without SwitchInfo and descriptions finds the same links, routes and ports") {
    const topology t = managed("torus,x=4,y=3,z=2,hosts=1");
    world all(t), few(t);
    discovery::discover_options options;
    options.wanted = {.NodeDescription = discovery::no_node_types, .SwitchInfo = false};
    const subnet whole = all.discover(), part = few.discover(options);
    REQUIRE(whole.nodes.size() == part.nodes.size());
    for (std::size_t n = 0; n < whole.nodes.size(); ++n) {
        CHECK(whole.nodes[n].info == part.nodes[n].info);
        CHECK(whole.nodes[n].route == part.nodes[n].route);
        REQUIRE(whole.nodes[n].ports.size() == part.nodes[n].ports.size());
        for (std::size_t p = 0; p < whole.nodes[n].ports.size(); ++p) {
            CHECK(whole.nodes[n].ports[p].info == part.nodes[n].ports[p].info);
            CHECK(whole.nodes[n].ports[p].peer == part.nodes[n].ports[p].peer);
        }
    }
}

TEST_CASE("a probe of LIDs reads NodeInfo at each LID and NodeDescription once for each node") {
    topology t = tree();
    const auto host = static_cast<u32>(
        std::ranges::find(t.nodes, std::string("h-0003 HCA-1"), &transports::sim::node::description) - t.nodes.begin());
    REQUIRE(host < t.nodes.size());
    world w(t);
    const iba::lid first = t.nodes[host].ports[1].LID;
    const auto probe = [&](std::vector<iba::lid> lids, discovery::probe_options how = {}) {
        return coro::sync_wait(w.schedule, discovery::probe_lids(w.schedule, std::move(lids), how));
    };
    const auto one = probe({first, first});
    REQUIRE(one.size() == 1);
    REQUIRE(one[0].info);
    CHECK(one[0].info->nodeGUID == t.nodes[host].nodeGUID);
    CHECK(one[0].description == "h-0003 HCA-1");
    CHECK(w.sent() == 2); // NodeInfo and NodeDescription

    const auto without = probe({first}, {.description = false});
    CHECK(without.at(0).description.empty());
    CHECK(w.sent() == 3);
}

TEST_CASE("a probe reports LIDs without a node and finds the others") {
    world w(tree(), window(64, 0));
    std::vector<iba::lid> lids;
    for (u16 LID = 20; LID > 0; --LID) lids.push_back(iba::lid{LID}); // 14 of them are assigned
    const auto found = coro::sync_wait(w.schedule, discovery::probe_lids(w.schedule, lids));
    REQUIRE(found.size() == 20);
    for (u16 LID = 1; LID <= 20; ++LID) {
        CAPTURE(LID);
        CHECK(found[LID - 1u].LID == iba::lid{LID});
        CHECK(found[LID - 1u].info.has_value() == (LID <= 14));
        CHECK(found[LID - 1u].error.has_value() == (LID > 14));
        CHECK(found[LID - 1u].description.empty() == (LID > 14));
    }
    CHECK(found[19].error->code == mad::errc::timed_out);
}

TEST_CASE("a port GUID leads to its end port") {
    world w(managed("torus,x=4,y=3,z=2,hosts=1"));
    const subnet found = w.discover();
    const discovery::port_guid_index index(found);
    unsigned ports = 0;
    for (u32 n = 0; n < found.nodes.size(); ++n) {
        const discovery::node& one = found.nodes[n];
        const u8 end = one.is_switch() ? u8{0} : one.info.localPortNum;
        CHECK(index.at(one.info.portGUID) == port_ref{n, end});
        ++ports;
    }
    CHECK(ports == 4 * 3 * 2 * 2);
    CHECK_FALSE(index.at(iba::guid{0x1234}));
    CHECK_FALSE(index.at(iba::guid{}));
}

// A CA forwards no SMPs: only the sender can use its port (IBA 14.2.2.2).
TEST_CASE("a directed route leads to the same node as in the graph of the fabric") {
    const topology t = managed("fattree3,radix=4");
    world w(t);
    const subnet found = w.discover();
    std::mt19937 random(7);
    unsigned arrived = 0;
    for (int i = 0; i < 2000; ++i) {
        IBDRPath route;
        for (auto hops = random() % 6; hops > 0; --hops) route = route.extended(static_cast<u8>(random() % 6));
        auto expected = walk(t, w.port.node(), w.port.port(), route);
        IBDRPath part;
        for (std::size_t hop = 0; hop + 1 < route.hops().size(); ++hop) {
            part = part.extended(route.hops()[hop]);
            if (walk(t, w.port.node(), w.port.port(), part) == w.port.node()) expected.reset();
        }
        const port_ref there = follow(found, route);
        CAPTURE(to_string(mad::any_path{route}));
        REQUIRE(expected.has_value() == static_cast<bool>(there));
        if (!there) continue;
        CHECK(found.nodes[there.node].info.nodeGUID == t.nodes[*expected].nodeGUID);
        ++arrived;
    }
    CHECK(arrived > 300);
    for (u32 n = 0; n < found.nodes.size(); ++n) CHECK(follow(found, found.nodes[n].route).node == n);
}

TEST_CASE("a route with LID-routed parts leads to the ports with these LIDs") {
    world w(tree());
    const subnet found = w.discover();
    const auto leaf = static_cast<u32>(
        std::ranges::find(found.nodes, std::string("leaf-0002"), &discovery::node::description) - found.nodes.begin());
    REQUIRE(leaf < found.nodes.size());
    const iba::lid LID = found.nodes[leaf].ports[0].info->LID;
    CHECK(follow(found, IBDRPath::from_lid(LID, 1, iba::lid{1})) == found.nodes[leaf].ports[1].peer);
    IBDRPath to_leaf;
    to_leaf.drDLID = LID;
    CHECK(follow(found, to_leaf) == port_ref{leaf, 0});
    CHECK_FALSE(follow(subnet{}, IBDRPath{}));
}

} // namespace selected_discovery_test
