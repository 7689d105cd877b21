// SPDX-License-Identifier: MIT
// neighbours_test.cpp - one node and its neighbours, beside the graph that is simulated and what a whole discovery says of them.
#include "discovery_rig.hpp"
#include "key_witness.hpp"
#include "liar.hpp"
#include <comad/discovery/neighbours.hpp>

#include <set>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::test;
using discovery::find_neighbour;
using discovery::find_neighbours;
using transports::sim::topology_event;

namespace {

struct neighbour_world : world {
    explicit neighbour_world(topology t) : world(std::move(t)), known(discover()) {}
    explicit neighbour_world(std::string_view specification) : neighbour_world(managed(specification)) {}

    subnet around(const mad::any_path& path) { return value_of(find_neighbours(schedule, path)); }
    subnet behind(const mad::any_path& path, u8 number) { return value_of(find_neighbour(schedule, path, number)); }
    subnet value_of(coro::task<mad::result<subnet>> t) {
        const u64 before = sent();
        auto found = coro::sync_wait(schedule, std::move(t));
        REQUIRE(found);
        asked = sent() - before;
        return std::move(found).value();
    }
    u32 find(std::string_view description) const {
        for (u32 n = 0; n < known.nodes.size(); ++n)
            if (known.nodes[n].description == description) return n;
        FAIL("there is no " << description);
        return 0;
    }

    u64 asked = 0;
    subnet known;
};

/// PortInfo says by which port it was asked for, which is another one on another way.
std::optional<iba::smp::PortInfo> as_entered_anywhere(const discovery::port& p) {
    auto info = p.info;
    if (info) info->localPortNum = 0;
    return info;
}

} // namespace

TEST_CASE("the neighbours of any node are those of a whole discovery, and nobody else is asked") {
    neighbour_world w("fattree2,radix=4");
    for (u32 n = 0; n < w.known.nodes.size(); ++n) {
        const discovery::node& one = w.known.nodes[n];
        CAPTURE(one.description);
        const subnet found = w.around(one.route);
        CHECK(found.complete());
        CHECK(inconsistencies(found) == std::vector<std::string>{});
        REQUIRE(found.nodes.size() >= 2);
        CHECK(name_of(found.nodes[0]) == name_of(one));
        CHECK(found.nodes[0].switch_info.has_value() == one.is_switch());

        u64 wanted = one.is_switch() ? 3 + one.ports.size() : 3; // NodeInfo, NodeDescription, SwitchInfo, PortInfo
        std::set<u32> met;
        for (unsigned p = 0; p < one.ports.size(); ++p) {
            CHECK(as_entered_anywhere(found.nodes[0].ports[p]) == as_entered_anywhere(one.ports[p]));
            const discovery::port_ref peer = one.ports[p].peer;
            if (!peer) continue;
            const discovery::node& there = w.known.nodes[peer.node];
            const discovery::port& told = found.nodes[0].ports[p];
            REQUIRE(told.peer);
            CHECK(name_of(found.nodes[told.peer.node]) == name_of(there));
            CHECK(told.peer.port == peer.port);
            CHECK(as_entered_anywhere(found.at(told.peer)) == as_entered_anywhere(w.known.at(peer)));
            CHECK(as_entered_anywhere(found.end_port(told.peer)) == as_entered_anywhere(w.known.end_port(peer)));
            CHECK(walk(w.net.graph(), w.port.node(), w.port.port(), found.nodes[told.peer.node].route) ==
                  walk(w.net.graph(), w.port.node(), w.port.port(), there.route));
            wanted += 2;                                                           // NodeInfo, PortInfo
            if (met.insert(peer.node).second) wanted += there.is_switch() ? 2 : 1; // NodeDescription, port 0
        }
        CHECK(w.asked == wanted);
    }
}

TEST_CASE("one port's neighbour costs no more than it and its node say") {
    neighbour_world w("fattree2,radix=8");
    const u32 leaf = w.find("leaf-0002");
    const subnet found = w.behind(w.known.nodes[leaf].route, 8); // to a spine
    REQUIRE(found.nodes.size() == 2);
    CHECK(found.nodes[0].ports[8].peer == discovery::port_ref{1, w.known.nodes[leaf].ports[8].peer.port});
    CHECK(name_of(found.nodes[1]) == name_of(w.known.nodes[w.known.nodes[leaf].ports[8].peer.node]));
    CHECK_FALSE(found.nodes[0].ports[7].info);
    CHECK(w.asked == 5 + 4);
}

TEST_CASE("each neighbour is asked with the M_Key of the port by which it is asked") {
    topology t;
    constexpr transports::sim::link_codes edr{2, 16};
    const u32 host = t.add_node(iba::NodeType::CA, 1, iba::guid{0xa0}, "host", edr);
    const u32 both = t.add_node(iba::NodeType::CA, 2, iba::guid{0xb0}, "cabled by both ports", edr);
    const u32 near = t.add_node(iba::NodeType::Switch, 4, iba::guid{0x10}, "near", edr);
    const u32 far = t.add_node(iba::NodeType::Switch, 2, iba::guid{0x20}, "far", edr);
    t.link(host, 1, near, 1);
    t.link(both, 1, near, 2);
    t.link(both, 2, near, 3);
    t.link(near, 4, far, 1);
    bring_up(t);
    mad::port_keys keys = different_keys(t);
    keys.set_default(mad::key_kind::MKey, 1);
    world w(t);
    key_witness witness(w, keys);
    w.schedule.set_trace(&witness);
    IBDRPath path = IBDRPath{}.extended(1);
    path.MKey = 0x10 * 3;
    auto found = coro::sync_wait(w.schedule, find_neighbours(w.schedule, path, &keys));
    REQUIRE(found);
    CHECK(found.value().complete());
    CHECK(found.value().nodes.size() == 4);
    CHECK(witness.wrong == 0);
    CHECK(witness.asked == 4); // who is there; the switch's own NodeInfo is asked with its key
    CHECK(witness.right == 16);
}

TEST_CASE("a neighbour that is silent is a problem at its port, and a port without a cable is none") {
    neighbour_world w("fattree2,radix=4");
    const u32 leaf = w.find("leaf-0002");
    const auto simulated = [&](std::string_view description) {
        for (u32 n = 0; n < w.net.graph().nodes.size(); ++n)
            if (w.net.graph().nodes[n].description == description) return n;
        return ~u32{0};
    };
    w.net.apply({topology_event::kind::kill, simulated("h-0003 HCA-1")});
    w.net.apply({topology_event::kind::cut, simulated("leaf-0002"), 2});
    const subnet found = w.around(w.known.nodes[leaf].route);
    REQUIRE(found.problems.size() == 1);
    CHECK(found.problems[0].what == discovery::problem::kind::no_answer);
    CHECK(found.problems[0].nodeGUID == w.known.nodes[leaf].info.nodeGUID);
    CHECK(found.problems[0].port == 1);
    CHECK_FALSE(found.nodes[0].ports[1].peer);
    CHECK_FALSE(found.nodes[0].ports[2].peer);
    CHECK(found.nodes.size() == 1 + 2); // the spines
    CHECK(w.behind(w.known.nodes[leaf].route, 2).nodes.size() == 1);
}

TEST_CASE("a cable between two ports of one switch makes it its own neighbour, and is no contradiction") {
    topology t;
    const u32 host = t.add_node(iba::NodeType::CA, 1, iba::guid{0x10}, "host", {2, 16});
    const u32 sw = t.add_node(iba::NodeType::Switch, 4, iba::guid{0x20}, "switch", {2, 16});
    REQUIRE((t.link(host, 1, sw, 1) && t.link(sw, 3, sw, 4)));
    transports::sim::bring_up(t);
    neighbour_world w(std::move(t));
    const subnet found = w.around(w.known.nodes[w.find("switch")].route);
    CHECK(found.complete());
    CHECK(found.nodes.size() == 2);
    CHECK(found.nodes[0].ports[3].peer == discovery::port_ref{0, 4});
    CHECK(found.nodes[0].ports[4].peer == discovery::port_ref{0, 3});
}

TEST_CASE("neighbours that claim to be others are a problem, and what the others say stands") {
    neighbour_world w("fattree2,radix=4");
    const discovery::node& leaf = w.known.nodes[w.find("leaf-0002")];
    const iba::guid A = w.known.nodes[leaf.ports[1].peer.node].info.nodeGUID;
    const iba::guid B = w.known.nodes[leaf.ports[2].peer.node].info.nodeGUID;
    const auto with_lie = [&](const std::function<void(iba::smp::NodeInfo&)>& lie) {
        liar wire(w.seen, [&](std::span<u8> reply) {
            if (iba::load_be<u16>(reply.data() + 16) != iba::attribute_id<iba::smp::NodeInfo>) return;
            iba::smp::NodeInfo info;
            iba::decode(info, reply.data() + 64);
            lie(info);
            const auto bytes = iba::encode(info);
            std::copy(bytes.begin(), bytes.end(), reply.begin() + 64);
        });
        coro::MADSchedule asking(wire, window(1)); // one after the other, from port 1 on
        auto found = coro::sync_wait(asking, find_neighbours(asking, leaf.route));
        REQUIRE(found);
        CHECK(inconsistencies(found.value()) == std::vector<std::string>{});
        std::vector<unsigned> contradictions;
        for (const discovery::problem& p : found.value().problems)
            if (p.what == discovery::problem::kind::contradiction) contradictions.push_back(p.port);
        CHECK(contradictions == std::vector<unsigned>{2});
        CHECK(found.value().nodes.size() == 4); // it, one of the two, and the spines
        return std::move(found).value();
    };
    const subnet twice = with_lie([&](iba::smp::NodeInfo& info) {
        if (info.nodeGUID == B) info.nodeGUID = A;
    });
    CHECK(twice.find(A));
    CHECK_FALSE(twice.nodes[0].ports[2].peer);
    // As if a cable led from port 1 to port 2: who is really there has no link.
    const subnet itself = with_lie([&](iba::smp::NodeInfo& info) {
        if (info.nodeGUID != A) return;
        info = leaf.info;
        info.localPortNum = 2;
    });
    REQUIRE(itself.find(B));
    CHECK(itself.find(B)->info.nodeGUID == B);
    CHECK(itself.nodes[0].ports[1].peer == discovery::port_ref{0, 2});
}

TEST_CASE("a switch is asked by its LID as well, and routes to its neighbours begin there") {
    neighbour_world w("fattree2,radix=4");
    const u32 leaf = w.find("leaf-0003");
    mad::IBPath to;
    to.DLID = w.known.nodes[leaf].ports[0].info->LID;
    const subnet by_LID = w.around(to), by_route = w.around(w.known.nodes[leaf].route);
    CHECK(by_LID.complete());
    REQUIRE(by_LID.nodes.size() == by_route.nodes.size());
    for (std::size_t n = 0; n < by_LID.nodes.size(); ++n) {
        CHECK(name_of(by_LID.nodes[n]) == name_of(by_route.nodes[n]));
        for (unsigned p = 0; p < by_LID.nodes[n].ports.size(); ++p)
            CHECK(by_LID.nodes[n].ports[p].peer == by_route.nodes[n].ports[p].peer);
    }
    const mad::IBDRPath& route = by_LID.nodes[1].route;
    CHECK(route.DLID == to.DLID);
    CHECK(route.drSLID == w.known.nodes[0].ports[w.known.start_port].info->LID);
    CHECK(route.hopCount == 1);
}

TEST_CASE("what cannot be asked for is refused in one line") {
    neighbour_world w("fattree2,radix=4");
    const auto error_of = [&](coro::task<mad::result<subnet>> t) {
        auto found = coro::sync_wait(w.schedule, std::move(t));
        REQUIRE_FALSE(found);
        return std::move(found.error());
    };
    mad::IBPath to_CA;
    to_CA.DLID = w.known.nodes[0].ports[w.known.start_port].info->LID;
    CHECK(error_of(find_neighbours(w.schedule, to_CA)).code == mad::errc::path_not_found);
    const mad::IBDRPath leaf = w.known.nodes[w.find("leaf-0001")].route;
    CHECK(error_of(find_neighbour(w.schedule, leaf, 0)).code == mad::errc::path_not_found);
    CHECK(error_of(find_neighbour(w.schedule, leaf, 5)).code == mad::errc::path_not_found);
    mad::IBDRPath nowhere = leaf.extended(200);
    CHECK(error_of(find_neighbours(w.schedule, nowhere)).code == mad::errc::timed_out);

    // From hosts to switches and back, until no hop is left.
    mad::IBDRPath longest = w.known.nodes[w.find("leaf-0001")].route;
    const u8 up = 3;
    const u8 down = w.known.nodes[w.find("leaf-0001")].ports[up].peer.port;
    while (longest.hopCount + 2u <= mad::IBDRPath::max_hops) longest = longest.extended(up).extended(down);
    REQUIRE(longest.hopCount == mad::IBDRPath::max_hops);
    const subnet end = w.around(longest);
    CHECK(end.nodes.size() == 1);
    CHECK(end.problems.size() == 4);
    for (const discovery::problem& p : end.problems) CHECK(p.what == discovery::problem::kind::too_far);
}
