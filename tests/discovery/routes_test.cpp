// SPDX-License-Identifier: MIT
// routes_test.cpp - routes and credit loops in small subnets with hand-made tables.
#include "support/catch.hpp"
#include <comad/discovery/routing/detail/credit_loops.hpp>
#include <comad/discovery/routing/routes.hpp>

using namespace comad;
using namespace comad::discovery;

namespace {

/// A ring of switches: port 1 leads to a host, port 2 clockwise, port 3 counterclockwise. Switch n has LID 100 + n, its
/// host LID 1 + n.
struct ring {
    explicit ring(u32 switches) : count(switches) {
        for (u32 n = 0; n < 2 * count; ++n) {
            const bool is_switch = n < count;
            node& made = net.nodes.emplace_back();
            made.info.nodeType = is_switch ? iba::NodeType::Switch : iba::NodeType::CA;
            made.info.numPorts = is_switch ? 3 : 1;
            made.info.nodeGUID = iba::guid{0x1000 + n};
            made.ports.resize(made.info.numPorts + 1u);
            made.ports[is_switch ? 0 : 1].info.emplace().LID = iba::lid(is_switch ? 100 + n : 1 + n - count);
            net.by_guid.emplace(made.info.nodeGUID, n);
        }
        tables.of_node.resize(2 * count);
        for (u32 n = 0; n < count; ++n) {
            link({n, 1}, {count + n, 1});
            link({n, 2}, {(n + 1) % count, 3});
            tables.of_node[n].is_known = true;
            tables.of_node[n].unicast.assign(64, not_forwarded);
            for (u32 host = 0; host < count; ++host) entry(n, 1 + host, host == n ? 1 : 2);
        }
    }
    void link(port_ref a, port_ref b) {
        net.nodes[a.node].ports[a.port].peer = b;
        net.nodes[b.node].ports[b.port].peer = a;
    }
    void entry(u32 sw, unsigned LID, u8 port) { tables.of_node[sw].unicast[LID] = port; }
    /// Adds a port with a host to a switch. Returns the host.
    u32 second_host(u32 sw, unsigned LID) {
        const auto port = static_cast<u8>(net.nodes[sw].ports.size()), made = static_cast<u8>(net.nodes.size());
        net.nodes[sw].info.numPorts = port;
        net.nodes[sw].ports.emplace_back();
        node& host = net.nodes.emplace_back(net.nodes[count]);
        host.info.nodeGUID = iba::guid{0x1000u + made};
        host.ports[1].info->LID = iba::lid(LID);
        tables.of_node.emplace_back();
        link({sw, port}, {made, 1});
        entry(sw, LID, port);
        return made;
    }
    /// Makes switches forward the first multicast LID through these ports.
    void group(u32 sw, const std::vector<unsigned>& ports) {
        switch_forwarding& t = tables.of_node[sw];
        t.positions = 1;
        t.last_group = first_mlid;
        t.multicast.assign(switch_forwarding::mlids_per_block, 0);
        for (const unsigned p : ports) t.multicast[0] |= static_cast<u16>(1u << p);
    }
    group_check groups() const { return check_groups(net, tables); }
    route_check routes() const { return check_routes(net, lid_index(net), tables); }
    credit_check credits(const virtual_lanes& lanes = {}) const {
        return find_credit_loops(net, lid_index(net), tables, lanes);
    }

    u32 count;
    subnet net;
    forwarding_tables tables;
};

} // namespace

TEST_CASE("routes of a ring reach all hosts and share the links of the ring") {
    const route_check r = ring(4).routes();
    CHECK(r.is_good());
    CHECK(r.pairs == 12);
    CHECK(r.by_hops == std::vector<u64>{0, 0, 4, 4, 4});
    for (u32 n = 0; n < 4; ++n) { // to three hosts, from 3, 2 and 1 sources
        CHECK(r.loads[n][2].lids == 3);
        CHECK(r.loads[n][2].routes == 6);
        CHECK(r.loads[n][3].lids == 0);
        CHECK(r.loads[n][1].routes == 3);
    }
}

TEST_CASE("each fault of a forwarding table is found with its location and the broken routes") {
    using enum route_fault::kind;
    ring r(4);
    SECTION("no entry") {
        r.entry(1, 4, not_forwarded); // host 3 from hosts 0 and 1
        const route_check found = r.routes();
        REQUIRE(found.faults.size() == 1);
        CHECK(found.faults[0].what == no_entry);
        CHECK(found.faults[0].where == port_ref{1, 0});
        CHECK(found.faults[0].lids == std::vector<u16>{4});
        CHECK(found.faults[0].pairs == 2);
        CHECK(found.unreachable == 2);
    }
    SECTION("a port number above the last port of the switch") {
        r.entry(1, 4, 4);
        const route_check found = r.routes();
        REQUIRE(found.faults.size() == 1);
        CHECK(found.faults[0].what == no_entry);
        CHECK(found.faults[0].where == port_ref{1, 0});
        CHECK(found.unreachable == 2);
    }
    SECTION("the switch itself") {
        r.entry(1, 4, 0);
        const route_check found = r.routes();
        REQUIRE(found.faults.size() == 1);
        CHECK(found.faults[0].what == wrong_end);
        CHECK(found.faults[0].where == port_ref{1, 0});
        CHECK(found.unreachable == 2);
    }
    SECTION("another port of the right node") {
        r.net.nodes[1].ports.resize(5);
        r.net.nodes[5].ports.resize(3);
        r.net.nodes[5].ports[2].info.emplace().LID = iba::lid(20);
        r.link({1, 4}, {5, 2});
        for (u32 n = 0; n < 4; ++n) r.entry(n, 20, n == 1 ? 4 : 2);
        CHECK(r.routes().is_good());
        r.entry(1, 20, 1);
        const route_check found = r.routes();
        REQUIRE(found.faults.size() == 1);
        CHECK(found.faults[0].what == wrong_end);
        CHECK(found.faults[0].where == port_ref{1, 1});
        CHECK(found.unreachable == 4); // the first port of the node sends to its second port, too
    }
    SECTION("no link") {
        r.net.nodes[1].ports[2].peer = r.net.nodes[2].ports[3].peer = {};
        const route_check found = r.routes();
        REQUIRE(found.faults.size() == 1); // one cause for all of the routes
        CHECK(found.faults[0].what == no_link);
        CHECK(found.faults[0].where == port_ref{1, 2});
        CHECK(found.unreachable == 6);
    }
    SECTION("a port of another host") {
        r.entry(1, 4, 1);
        const route_check found = r.routes();
        REQUIRE(found.faults.size() == 1);
        CHECK(found.faults[0].what == wrong_end);
        CHECK(found.faults[0].where == port_ref{1, 1});
        CHECK(found.faults[0].pairs == 2);
    }
    SECTION("loop") {
        r.entry(2, 4, 3);
        const route_check found = r.routes();
        REQUIRE(found.faults.size() == 1);
        CHECK(found.faults[0].what == loop);
        CHECK(found.faults[0].circle == std::vector<port_ref>{{1, 2}, {2, 3}});
        CHECK(found.faults[0].pairs == 3);
    }
    SECTION("a table that was not read") {
        r.tables.of_node[1].missing_unicast = {0};
        r.tables.of_node[1].unicast.assign(64, not_forwarded);
        const route_check found = r.routes();
        CHECK(found.is_good());
        CHECK(found.unknown == 9); // three each from hosts 0 and 1, two from host 3, one from host 2
    }
}

TEST_CASE("a ring whose packets all go in one direction has a credit loop") {
    const credit_check found = ring(4).credits();
    REQUIRE(found.loops.size() == 1);
    CHECK(found.loops[0].lanes == 4);
    REQUIRE(found.loops[0].cycle.size() == 4);
    for (u32 n = 0; n < 4; ++n) CHECK(found.loops[0].cycle[n].out == port_ref{n, 2});
}

TEST_CASE("a line of switches has no credit loop") {
    ring line(4);
    for (u32 n = 0; n < 4; ++n)
        for (u32 host = 0; host < n; ++host) line.entry(n, 1 + host, 3);
    CHECK(line.routes().is_good());
    CHECK(line.credits().is_good());
}

TEST_CASE("virtual lanes break a credit loop if the SLs use separate lanes") {
    // SL 1 for paths over the link from switch 2 to switch 0.
    const ring r(3);
    virtual_lanes lanes;
    for (u32 n = 0; n < 3; ++n)
        for (u32 host = 0; host < 3; ++host) lanes.set_sl({3 + n, 1}, 1 + host, host < n ? 1 : 0);
    CHECK(r.credits().loops.size() == 1);
    CHECK(r.credits(lanes).is_good());
    CHECK(r.credits(lanes).VLs == 2);
    for (u32 n = 0; n < 3; ++n)
        for (const u8 in : {u8{1}, u8{3}}) lanes.set_map(n, in, 2, {});
    CHECK(r.credits(lanes).loops.size() == 1);
}

TEST_CASE("LIDs of an LMC belong to their port, and a LID of two ports is reported") {
    ring r(3);
    r.net.nodes[3].ports[1].info->LID = iba::lid(8);
    r.net.nodes[3].ports[1].info->LMC = 2;
    r.net.nodes[4].ports[1].info->LID = iba::lid(11);
    const lid_index index(r.net);
    CHECK(index.at(8u) == port_ref{3, 1});
    CHECK(index.at(11u) == port_ref{3, 1});
    CHECK_FALSE(index.at(12u));
    REQUIRE(index.duplicates().size() == 1);
    CHECK(index.duplicates()[0].LID == iba::lid(11));
    CHECK(index.duplicates()[0].second == port_ref{4, 1});
}

TEST_CASE("with switches as sources and destinations their own LIDs end at port 0") {
    ring r(3);
    for (u32 n = 0; n < 3; ++n) {
        r.tables.of_node[n].unicast.resize(128, not_forwarded);
        for (u32 to = 0; to < 3; ++to) r.entry(n, 100 + to, to == n ? 0 : 2);
    }
    const route_check found = check_routes(r.net, lid_index(r.net), r.tables, {.switches_too = true});
    CHECK(found.is_good());
    CHECK(found.pairs == 6 * 5);
    // To a switch: 0 links from its host, 1 or 2 from other hosts and switches. To a host: 1 link from its switch, 2 or
    // 3 from other hosts and switches.
    CHECK(found.by_hops == std::vector<u64>{3, 6 + 3, 6 + 6, 6});
    CHECK_FALSE(find_credit_loops(r.net, lid_index(r.net), r.tables, {}, {.switches_too = true}).is_good());
}

TEST_CASE("two hosts connected by a cable reach each other without a switch") {
    ring r(0);
    for (const u32 n : {0u, 1u}) {
        node& host = r.net.nodes.emplace_back();
        host.info.nodeType = iba::NodeType::CA;
        host.ports.resize(2);
        host.ports[1].info.emplace().LID = iba::lid(1 + n);
    }
    r.link({0, 1}, {1, 1});
    r.tables.of_node.resize(2);
    const route_check found = r.routes();
    CHECK(found.is_good());
    CHECK(found.pairs == 2);
    CHECK(found.by_hops == std::vector<u64>{2});
}

TEST_CASE("faults beyond max_faults are summarized in one fault that counts their routes") {
    ring r(4);
    for (u32 host = 0; host < 4; ++host) r.entry(host, 1 + host, not_forwarded);
    const route_check found = check_routes(r.net, lid_index(r.net), r.tables, {.max_faults = 2});
    REQUIRE(found.faults.size() == 3);
    CHECK(found.faults[1].what == route_fault::kind::no_entry);
    CHECK(found.faults[2].what == route_fault::kind::others);
    CHECK(found.faults[2].lids == std::vector<u16>{3, 4});
    CHECK(found.faults[2].pairs == 6);
    CHECK(found.unreachable == 12);
}

TEST_CASE("a multicast link forwarded by one end only cuts off the other direction and forms a circle in a ring") {
    ring r(3);
    r.group(0, {1});
    r.group(1, {1, 3}); // to switch 0, which sends nothing back
    CHECK(r.groups().groups == 1);
    REQUIRE(r.groups().faults.size() == 2); // the switch and its host
    for (const group_fault& f : r.groups().faults) {
        CHECK(f.what == group_fault::kind::apart);
        CHECK(f.from == port_ref{0, 0});
        CHECK_FALSE(f.is_reached);
        CHECK(f.reaches);
    }
    CHECK(r.groups().faults[0].where == port_ref{1, 0});
    CHECK(r.groups().faults[1].where == port_ref{4, 1});
    for (u32 n = 0; n < 3; ++n) r.group(n, {1, 2});
    REQUIRE(r.groups().faults.size() == 1);
    CHECK(r.groups().faults[0].what == group_fault::kind::loop);
    CHECK(r.groups().faults[0].MLID == first_mlid);
}

TEST_CASE("a group member without a forwarding switch is cut off unless it is the only member") {
    ring r(3);
    r.group(0, {1, 2});
    r.group(1, {1, 3}); // a tree of two switches
    const std::vector<multicast_member> all{{first_mlid, {3, 1}}, {first_mlid, {4, 1}}, {first_mlid, {5, 1}}};
    const group_check check = check_groups(r.net, r.tables, all);
    REQUIRE(check.faults.size() == 1);
    CHECK(check.faults[0].what == group_fault::kind::apart);
    CHECK(check.faults[0].where == port_ref{5, 1});
    CHECK(check.faults[0].from == port_ref{2, 0});
    CHECK(check_groups(r.net, r.tables, std::vector<multicast_member>{{first_mlid + 1, {5, 1}}}).faults.empty());
    // No switch forwards anything for the other group.
    CHECK(
        check_groups(r.net, r.tables, std::vector<multicast_member>{{first_mlid + 1, {3, 1}}, {first_mlid + 1, {5, 1}}})
            .faults.size() == 2);
}

// ---- separated and shared lanes in credit loops -----------------------------------------------------------------------

TEST_CASE("the VL of a hop depends on the ingress port of the packet") {
    // Packets of hosts use VL 0, packets of the previous switch use VL 1. No packet crosses more than two links.
    const ring r(3);
    virtual_lanes lanes;
    for (u32 n = 0; n < 3; ++n) {
        virtual_lanes::sl_to_vl one{};
        one.fill(1);
        lanes.set_map(n, 1, 2, {});
        lanes.set_map(n, 3, 2, one);
    }
    const credit_check found = r.credits(lanes);
    CHECK(found.VLs == 2);
    CHECK(found.dependencies == 3);
    CHECK(found.is_good());
}

TEST_CASE("packets on VL 15 are dropped and create no dependency") {
    ring r(3);
    virtual_lanes lanes;
    virtual_lanes::sl_to_vl dropped;
    dropped.fill(virtual_lanes::dropped);
    for (u32 n = 0; n < 3; ++n) lanes.set_map(n, 3, 2, dropped);
    CHECK(lanes.VLs() == 1);
    CHECK(r.credits(lanes).dependencies == 0);
    CHECK(r.credits(lanes).is_good());

    for (u32 n = 0; n < 3; ++n) r.group(n, {1, 2});
    const auto with_groups = [&](const virtual_lanes& how) {
        return find_credit_loops(r.net, lid_index(r.net), r.tables, how, {.multicast = true});
    };
    CHECK(with_groups({}).loops.size() == 1);
    CHECK(with_groups(lanes).is_good());
    CHECK(with_groups(lanes).dependencies == 0);
}

TEST_CASE("each host of a switch has its own SLs") {
    // The second hosts as such do not change the lane where the ring closes.
    ring r(3);
    virtual_lanes lanes;
    for (u32 n = 0; n < 3; ++n)
        for (u32 host = 0; host < 3; ++host) lanes.set_sl({3 + n, 1}, 1 + host, host < n ? 1 : 0);
    CHECK(lanes.SL({5, 1}, 2) == 1);
    CHECK(lanes.SL({5, 1}, 4) == 0); // a LID whose SL is unknown
    CHECK(r.credits(lanes).is_good());
    for (u32 n = 0; n < 3; ++n) r.second_host(n, 11 + n);
    CHECK(r.credits(lanes).loops.size() == 1);
    CHECK(r.routes().faults.size() == 3); // the other switches do not know the second hosts
}

TEST_CASE("SLs that share a lane continue on separate lanes") {
    ring line(4);
    for (u32 n = 0; n < 4; ++n)
        for (u32 host = 0; host < 3; ++host) line.entry(n, 1 + host, not_forwarded); // only the last host is reachable
    const u32 second = line.second_host(0, 11);
    virtual_lanes lanes;
    lanes.set_sl({second, 1}, 4, 1);
    lanes.set_map(0, 4, 2, {}); // SL 1 uses VL 0 there
    const credit_check found = line.credits(lanes);
    CHECK(found.VLs == 2);
    CHECK(found.dependencies == 4); // VL 0, 0, 0 and 0, 1, 1
    CHECK(found.is_good());
}

TEST_CASE("a cable that leads back into its own port is a credit loop of one lane") {
    ring r(3);
    r.net.nodes[0].ports[2].peer = {0, 2};
    const credit_check found = r.credits();
    REQUIRE(found.loops.size() == 1);
    CHECK(found.loops[0].lanes == 1);
    REQUIRE(found.loops[0].cycle.size() == 1);
    CHECK(found.loops[0].cycle[0].out == port_ref{0, 2});
    CHECK(r.routes().faults.at(0).what == route_fault::kind::loop);
}

TEST_CASE("a multicast group whose links form a ring through port 1 of switches is a credit loop in both directions") {
    ring r(3);
    for (node& n : r.net.nodes)
        for (port& p : n.ports) p.peer = {};
    for (u32 n = 0; n < 3; ++n) {
        r.link({n, 1}, {(n + 1) % 3, 2});
        r.group(n, {1, 2});
    }
    const credit_check found = find_credit_loops(r.net, lid_index(r.net), r.tables, {}, {.multicast = true});
    CHECK(found.dependencies == 2 * 3);
    CHECK(found.loops.size() == 2);
}

TEST_CASE("the second next hop of a channel is checked for credit loops like the first") {
    // There is another switch between the last switch and its host. Packets to the host leave by port 1, packets along
    // the ring by port 2.
    ring r(3);
    const auto between = static_cast<u32>(r.net.nodes.size());
    node& made = r.net.nodes.emplace_back(r.net.nodes[2]);
    made.info.nodeGUID = iba::guid{0x2000};
    made.ports[0].info->LID = iba::lid{110};
    for (port& p : made.ports) p.peer = {};
    r.tables.of_node.resize(between);
    r.tables.of_node.push_back(r.tables.of_node[2]);
    r.link({between, 1}, {5, 1});
    r.link({between, 2}, {2, 1});
    REQUIRE(r.credits().loops.size() == 1);
    CHECK(r.credits().loops[0].lanes == 3);
}

TEST_CASE("routes of one LID do not carry over to the next at a switch without hosts") {
    ring r(3);
    r.net.nodes[1].ports[1].peer = r.net.nodes[4].ports[1].peer = {};
    r.net.nodes[5].ports[1].info->LMC = 1; // LIDs 3 and 4
    for (u32 n = 0; n < 3; ++n) r.entry(n, 4, n == 2 ? 1 : 2);
    const route_check found = r.routes();
    CHECK(found.faults.empty());
    CHECK(found.loads[1][2].lids == 2);
    CHECK(found.loads[1][2].routes == 2); // from host 0 to each of the two LIDs
}
