// SPDX-License-Identifier: MIT
// routes_test.cpp - routes and credit loops of small subnets whose tables are made by hand.
#include "catch.hpp"
#include <comad/discovery/credit_loops.hpp>
#include <comad/discovery/routes.hpp>

using namespace comad;
using namespace comad::discovery;

namespace {

/// A ring of switches: port 1 a host, port 2 clockwise, port 3 back. Switch n has LID 100 + n, its host LID 1 + n.
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
    route_check routes() const { return check_routes(net, lid_index(net), tables); }
    credit_check credits(const virtual_lanes& lanes = {}) const {
        return find_credit_loops(net, lid_index(net), tables, lanes);
    }

    u32 count;
    subnet net;
    forwarding_tables tables;
};

} // namespace

TEST_CASE("routes of a ring all reach their hosts and share its links") {
    const route_check r = ring(4).routes();
    CHECK(r.is_good());
    CHECK(r.pairs == 12);
    CHECK(r.by_hops == std::vector<u64>{0, 0, 4, 4, 4});
    for (u32 n = 0; n < 4; ++n) { // to three hosts, from 3, 2 and 1 sources
        CHECK(r.loads[n][2].LIDs == 3);
        CHECK(r.loads[n][2].routes == 6);
        CHECK(r.loads[n][3].LIDs == 0);
        CHECK(r.loads[n][1].routes == 3);
    }
}

TEST_CASE("each fault of a table is found with its place and the routes that it cuts") {
    using enum route_fault::kind;
    ring r(4);
    SECTION("no entry") {
        r.entry(1, 4, not_forwarded); // host 3 from hosts 0 and 1
        const route_check found = r.routes();
        REQUIRE(found.faults.size() == 1);
        CHECK(found.faults[0].what == no_entry);
        CHECK(found.faults[0].where == port_ref{1, 0});
        CHECK(found.faults[0].LIDs == std::vector<u16>{4});
        CHECK(found.faults[0].pairs == 2);
        CHECK(found.unreachable == 2);
    }
    SECTION("no link") {
        r.net.nodes[1].ports[2].peer = r.net.nodes[2].ports[3].peer = {};
        const route_check found = r.routes();
        REQUIRE(found.faults.size() == 1); // one cause, however many routes
        CHECK(found.faults[0].what == no_link);
        CHECK(found.faults[0].where == port_ref{1, 2});
        CHECK(found.unreachable == 6);
    }
    SECTION("another's port") {
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
        CHECK(found.unknown == 9); // from hosts 0 and 1 three each, from 3 two, from 2 one
    }
}

TEST_CASE("a ring that all packets go round one way has a credit loop") {
    const credit_check found = ring(4).credits();
    REQUIRE(found.loops.size() == 1);
    CHECK(found.loops[0].lanes == 4);
    REQUIRE(found.loops[0].cycle.size() == 4);
    for (u32 n = 0; n < 4; ++n) CHECK(found.loops[0].cycle[n].out == port_ref{n, 2});
}

TEST_CASE("a line has no credit loop") {
    ring line(4);
    for (u32 n = 0; n < 4; ++n)
        for (u32 host = 0; host < n; ++host) line.entry(n, 1 + host, 3);
    CHECK(line.routes().is_good());
    CHECK(line.credits().is_good());
}

TEST_CASE("virtual lanes part what would be a credit loop, as long as SLs have lanes of their own") {
    // SL 1 of what passes the link from switch 2 to switch 0.
    const ring r(3);
    virtual_lanes lanes;
    for (u32 n = 0; n < 3; ++n)
        for (u32 host = 0; host < 3; ++host) lanes.set_SL({3 + n, 1}, 1 + host, host < n ? 1 : 0);
    CHECK(r.credits().loops.size() == 1);
    CHECK(r.credits(lanes).is_good());
    CHECK(r.credits(lanes).VLs == 2);
    for (u32 n = 0; n < 3; ++n)
        for (const u8 in : {u8{1}, u8{3}}) lanes.set_map(n, in, 2, {});
    CHECK(r.credits(lanes).loops.size() == 1);
}

TEST_CASE("LIDs with an LMC lead to their port, and a LID of two ports is told") {
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
