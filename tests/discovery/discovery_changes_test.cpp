// SPDX-License-Identifier: MIT
// discovery_changes_test.cpp - find_changes() for a subnet that was discovered before: the reported changes, and the
// number of MADs.
#include "library/discovery_rig.hpp"
#include <comad/discovery/walk/changes.hpp>
#include <comad/sa/client.hpp>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::test;
using transports::sim::topology_event;

namespace {

const std::vector<std::string> nothing;

/// A subnet that was discovered, and that can change afterwards.
struct changing_world : world {
    explicit changing_world(std::string_view specification) : world(managed(specification)), known(discover()) {}

    std::vector<std::string> find_changes() {
        std::vector<std::string> lines;
        for (const discovery::change& c : coro::sync_wait(schedule, discovery::find_changes(schedule, known)))
            lines.push_back(describe(known, c));
        std::sort(lines.begin(), lines.end());
        return lines;
    }
    u32 node(std::string_view description) const {
        for (u32 n = 0; n < net.graph().nodes.size(); ++n)
            if (net.graph().nodes[n].description == description) return n;
        FAIL("there is no " << description);
        return 0;
    }
    /// Returns the start of the output of describe(): `S-0002c90000000001 "spine 1"`.
    std::string name(u32 n) const { return discovery::name_of(*known.find(net.graph().nodes[n].nodeGUID)); }
    std::string place(u32 n, unsigned number) const { return name(n) + "[" + std::to_string(number) + "]"; }
    /// Makes the program believe that the switches do not support SwitchPortStateTable.
    void forget_state_tables() {
        for (discovery::node& n : known.nodes)
            if (n.is_switch()) n.ports[0].info->capabilityMask2 = 0;
    }

    subnet known;
};

// 4 leaves and 2 spines of 4 ports each, 8 hosts.
constexpr std::string_view tree = "fattree2,radix=4";

} // namespace

TEST_CASE("find_changes reports an unchanged subnet with one SMP per switch and one for the local port") {
    changing_world w(tree);
    const u64 before = w.sent();
    CHECK(w.find_changes() == nothing);
    CHECK(w.sent() - before == 6 + 1);
}

TEST_CASE("find_changes queries each port of a switch without a PortStateChange table") {
    changing_world w(tree);
    w.forget_state_tables();
    const u64 before = w.sent();
    CHECK(w.find_changes() == nothing);
    CHECK(w.sent() - before == 6 * (1 + 4) + 1);
}

TEST_CASE("find_changes reports a removed cable at both ends, with or without PortStateChange tables") {
    const bool with_tables = GENERATE(true, false);
    CAPTURE(with_tables);
    changing_world w(tree);
    if (!with_tables) w.forget_state_tables();
    const u32 spine = w.node("spine-0002"); // the shortest routes with the lowest ports lead through the other spine
    const auto& end = w.net.graph().nodes[spine].ports[2];
    const u32 leaf = end.peer_node;
    const unsigned leaf_port = end.peer_port;
    w.net.apply({topology_event::kind::cut, spine, 2});
    std::vector<std::string> both{w.place(spine, 2) + ": state is Down, was Active",
                                  w.place(leaf, leaf_port) + ": state is Down, was Active"};
    std::sort(both.begin(), both.end());
    CHECK(w.find_changes() == both);

    // Only a subnet manager makes the port Active again.
    w.net.apply({topology_event::kind::restore, spine, 2});
    both = {w.place(spine, 2) + ": state is Initialize, was Active",
            w.place(leaf, leaf_port) + ": state is Initialize, was Active"};
    std::sort(both.begin(), both.end());
    CHECK(w.find_changes() == both);
    w.known = w.discover();
    CHECK(w.find_changes() == nothing);
}

TEST_CASE("find_changes reports a new dead switch once, and no switch that was unresponsive before") {
    changing_world w(tree);
    const u32 leaf = w.node("leaf-0004"); // no route to another switch leads through it
    const std::string name = w.name(leaf);
    w.net.apply({topology_event::kind::kill, leaf});
    const auto changes = w.find_changes();
    REQUIRE(changes.size() == 1);
    CHECK_THAT(changes[0], Catch::StartsWith(name + ": ") && Catch::Contains("timed out"));
    w.known = w.discover();
    CHECK(w.find_changes() == nothing);
}

TEST_CASE("find_changes reports a switch with a changed LID when it queries the ports") {
    changing_world w(tree);
    w.forget_state_tables();
    const u32 leaf = w.node("leaf-0001");
    discovery::node& known = w.known.nodes[w.known.by_guid.at(w.net.graph().nodes[leaf].nodeGUID)];
    const u16 LID = value(known.ports[0].info->LID);
    known.ports[0].info->LID = iba::lid{1000};
    CHECK(w.find_changes() == std::vector{w.name(leaf) + ": LID is " + std::to_string(LID) + ", was 1000"});
}

TEST_CASE("find_changes through SA tables reports changes relative to the previous tables") {
    changing_world w(tree);
    sa::client client(
        w.schedule,
        {w.known.at({0, w.known.start_port}).info->LID, {}, sa::sa_path_of(*w.known.at({0, w.known.start_port}).info)});
    discovery::sa_tables tables(w.schedule);
    const auto look = [&] {
        auto changes = coro::sync_wait(w.schedule, tables.find_changes());
        REQUIRE(changes);
        std::set<std::string> lines;
        for (const discovery::change& c : changes.value()) lines.insert(describe(w.known, c));
        return lines;
    };
    const u64 before = w.sent();
    CHECK(look().empty());
    CHECK(look().empty());
    CHECK(w.sent() - before == 2 * 2); // regardless of the size of the subnet

    const u32 spine = w.node("spine-0001");
    const auto& end = w.net.graph().nodes[spine].ports[2];
    const auto lid_of = [&](u32 n) {
        return std::to_string(value(w.known.find(w.net.graph().nodes[n].nodeGUID)->ports[0].info->LID));
    };
    const std::string here = "LID " + lid_of(spine) + " port 2: ";
    const std::string there = "LID " + lid_of(end.peer_node) + " port " + std::to_string(end.peer_port) + ": ";
    w.net.apply({topology_event::kind::cut, spine, 2});
    CHECK(look() == std::set<std::string>{here + "link removed", here + "state is Down, was Active",
                                          there + "link removed", there + "state is Down, was Active"});
    CHECK(look().empty());
}

TEST_CASE("find_changes through SA tables reports a link that became slower") {
    changing_world w(tree);
    sa::client client(
        w.schedule,
        {w.known.at({0, w.known.start_port}).info->LID, {}, sa::sa_path_of(*w.known.at({0, w.known.start_port}).info)});
    discovery::sa_tables tables(w.schedule);
    const auto look = [&] {
        auto changes = coro::sync_wait(w.schedule, tables.find_changes());
        REQUIRE(changes);
        std::set<std::string> texts; // the texts of both ends
        for (const discovery::change& c : changes.value()) texts.insert(c.text.substr(c.text.find(": ") + 2));
        return texts;
    };
    CHECK(look().empty());
    const discovery::port_ref there = w.known.at({0, w.known.start_port}).peer;
    const auto train_again = [&](u8 extended_speeds) -> coro::task<bool> {
        iba::smp::PortInfo info = *w.known.at(there).info;
        info.portState = iba::PortState::Down;
        info.linkSpeedExtEnabled = extended_speeds;
        const mad::any_path path = w.known.nodes[there.node].route;
        const auto reply = co_await w.schedule.SubnSet<iba::smp::PortInfo>(info, path, there.port);
        co_return reply.has_value();
    };
    // No subnet manager makes the port Active again. Its state therefore stays the same from the second time on.
    REQUIRE(coro::sync_wait(w.schedule, train_again(31))); // all speeds
    CHECK(look() == std::set<std::string>{"state is Initialize, was Active"});
    REQUIRE(coro::sync_wait(w.schedule, train_again(1))); // FDR, which PortInfo shows only in linkSpeedExtActive
    CHECK(look() == std::set<std::string>{"width or speed changed"});
}

TEST_CASE("a canceled find_changes reports no change") {
    changing_world w(tree);
    w.forget_state_tables();
    coro::scope around(w.schedule.root());
    auto look = around.queue(discovery::find_changes(w.schedule, w.known));
    const auto cancelled = [&]() -> coro::task<std::vector<discovery::change>> {
        (void)co_await w.schedule.SubnGet<iba::smp::NodeInfo>(w.known.nodes[0].route);
        around.cancel();
        co_return co_await look;
    };
    CHECK(coro::sync_wait(w.schedule, cancelled()).empty());
}

TEST_CASE("find_changes returns an error without an SA reply and keeps the known subnet") {
    changing_world w(tree);
    discovery::sa_tables tables(w.schedule);
    mad::IBPath no_node;
    no_node.DLID = iba::lid{999};
    w.schedule.set_sa_path(no_node);
    CHECK_FALSE(coro::sync_wait(w.schedule, tables.find_changes()));
    w.schedule.set_sa_path(sa::sa_path_of(*w.known.at({0, w.known.start_port}).info));
    auto first = coro::sync_wait(w.schedule, tables.find_changes());
    REQUIRE(first);
    CHECK(first.value().empty());
}
