// SPDX-License-Identifier: MIT
// known_fabric_test.cpp - the nodes and links that known_fabric remembers, which of them are missing, and when it
// forgets them. The fabrics are constructed.
#include "support/catch.hpp"
#include <comad/discovery/compare/known_fabric.hpp>

#include <fmt/format.h>

#include <malloc.h>

namespace known_fabric_test {

using namespace comad;
using namespace comad::discovery;
using namespace std::chrono_literals;
using cause = missing_parts::cause;

namespace {

/// Returns the time after this duration since the start.
mad::time_point at(mad::duration t) { return mad::time_point{t}; }

/// Switches and hosts by GUID; `link` connects their ports.
struct fabric_of {
    discovery::subnet s;

    u32 add(u64 nodeGUID, iba::NodeType type, u8 ports, std::string description = {}) {
        discovery::node& n = s.nodes.emplace_back();
        n.info.nodeGUID = iba::guid{nodeGUID};
        n.info.nodeType = type;
        n.description = description.empty() ? fmt::format("node {:x}", nodeGUID) : std::move(description);
        n.ports.resize(ports + 1u);
        for (discovery::port& p : n.ports) set(p.info.emplace(), iba::PortPhysicalState::Polling);
        return s.by_guid.emplace(iba::guid{nodeGUID}, static_cast<u32>(s.nodes.size() - 1)).first->second;
    }
    static void set(iba::smp::PortInfo& info, iba::PortPhysicalState state) {
        info.portPhysicalState = state;
        info.portState = state == iba::PortPhysicalState::LinkUp ? iba::PortState::Active : iba::PortState::Down;
    }
    discovery::port& port(u64 nodeGUID, u8 number) { return s.nodes[s.by_guid.at(iba::guid{nodeGUID})].ports[number]; }
    void link(u64 a, u8 port_a, u64 b, u8 port_b) {
        port(a, port_a).peer = {s.by_guid.at(iba::guid{b}), port_b};
        port(b, port_b).peer = {s.by_guid.at(iba::guid{a}), port_a};
        set(*port(a, port_a).info, iba::PortPhysicalState::LinkUp);
        set(*port(b, port_b).info, iba::PortPhysicalState::LinkUp);
    }
};

/// Returns two switches (10 and 20) with two cables between them, hosts 1 and 2 at the first switch, and host 3 at the
/// second.
fabric_of whole(bool has_3 = true, bool has_cable_7 = true) {
    fabric_of f;
    f.add(0x10, iba::NodeType::Switch, 8);
    f.add(0x20, iba::NodeType::Switch, 8);
    f.add(1, iba::NodeType::CA, 1);
    f.add(2, iba::NodeType::CA, 1);
    if (has_3) f.add(3, iba::NodeType::CA, 1);
    f.link(0x10, 1, 1, 1);
    f.link(0x10, 2, 2, 1);
    if (has_3) f.link(0x20, 1, 3, 1);
    if (has_cable_7) f.link(0x10, 7, 0x20, 7);
    f.link(0x10, 8, 0x20, 8);
    return f;
}

/// Returns a link end as `GUID/PORT`.
std::string text_of(known_end e) { return fmt::format("{:x}/{}", value(e.nodeGUID), e.port); }

/// Returns the missing nodes and links, such as `3; 10/7-20/7 down`.
std::string missing_of(const known_fabric& k) {
    std::string text;
    for (const known_node& n : k.missing()->nodes) text += fmt::format("{:x} ", value(n.nodeGUID));
    text += ';';
    for (const missing_parts::link& l : k.missing()->links)
        text += fmt::format(" {}-{} {}", text_of(l.ends.a), text_of(l.ends.b),
                            l.why == cause::node ? "node" : name_of(l.why));
    return text;
}

} // namespace

TEST_CASE("a node that was found once is missing until it is found again") {
    known_fabric k;
    k.take(whole().s, at(0s));
    CHECK(missing_of(k) == ";");
    CHECK(k.missing()->known_nodes == 5);
    CHECK(k.missing()->known_links == 5);
    fabric_of without = whole(false);
    fabric_of::set(*without.port(0x20, 1).info, iba::PortPhysicalState::LinkUp); // its SMA failed, but the link is up
    for (int day = 1; day <= 30; ++day) k.take(without.s, at(day * 24h));
    CHECK(missing_of(k) == "3 ; 3/1-20/1 node");
    CHECK(k.missing()->nodes.at(0).description == "node 3");
    CHECK(k.missing()->links_down() == 0);
    CHECK(k.missing()->far_end({iba::guid{0x20}, 1}) == known_end{iba::guid{3}, 1});
    CHECK(k.missing()->only_far_end(iba::guid{3}) == known_end{iba::guid{0x20}, 1});
    CHECK(k.missing()->known_nodes == 5);
    k.take(whole().s, at(31 * 24h));
    CHECK(missing_of(k) == ";");
}

TEST_CASE("a link that is not up is down, unresponsive, or belongs to a missing node") {
    known_fabric k;
    k.take(whole().s, at(0s));
    k.take(whole(true, false).s, at(1s));
    CHECK(missing_of(k) == "; 10/7-20/7 down");
    k.take(whole(false).s, at(2s)); // its port is down
    CHECK(missing_of(k) == "3 ; 3/1-20/1 down");
    fabric_of silent = whole(true, false);
    for (const u64 leaf : {0x10, 0x20}) fabric_of::set(*silent.port(leaf, 7).info, iba::PortPhysicalState::LinkUp);
    k.take(silent.s, at(3s));
    CHECK(missing_of(k) == "; 10/7-20/7 timeout");
    // A port that retrains after errors comes up soon.
    fabric_of recovers = whole(false);
    fabric_of::set(*recovers.port(0x20, 1).info, iba::PortPhysicalState::LinkErrorRecovery);
    k.take(recovers.s, at(4s));
    CHECK(missing_of(k) == "3 ; 3/1-20/1 node");
    // Both nodes were removed.
    fabric_of one;
    one.add(1, iba::NodeType::CA, 1);
    k.take(one.s, at(5s));
    CHECK(missing_of(k) == "2 3 10 20 ; 1/1-10/1 down 2/1-10/2 node 3/1-20/1 node 10/7-20/7 node 10/8-20/8 node");
}

TEST_CASE("a cable in another port replaces the remembered link, and an expected cable is reported as moved") {
    fabric_of moved = whole(true, false);
    moved.link(0x10, 7, 0x20, 6);
    known_fabric k;
    k.take(whole().s, at(0s));
    k.take(moved.s, at(1s));
    CHECK(missing_of(k) == ";");
    k.expect(whole().s);
    k.take(moved.s, at(2s));
    CHECK(missing_of(k) == "; 10/7-20/7 moved");
    CHECK(k.missing()->links_down() == 1);
    // Then the cable is pulled. Only the expected cable is missing, and it is reported once.
    k.take(whole(true, false).s, at(3s));
    CHECK(missing_of(k) == "; 10/7-20/7 down");
}

TEST_CASE("expected nodes and links are missing from the start and are never forgotten") {
    known_fabric k({}, 1h);
    k.expect(whole().s);
    k.take(whole(false).s, at(0s));
    CHECK(missing_of(k) == "3 ; 3/1-20/1 down");
    CHECK(k.missing()->known_nodes == 5);
    CHECK(k.forget_missing() == 0);
    k.take(whole(false).s, at(1000h));
    CHECK(missing_of(k) == "3 ; 3/1-20/1 down");
    k.expect(whole(false).s); // the operator removed the host
    k.take(whole(false).s, at(1001h));
    CHECK(missing_of(k) == ";");
}

TEST_CASE("removed nodes and links are forgotten on request or after a time") {
    known_fabric k({}, 2h);
    k.take(whole().s, at(0s));
    k.take(whole(false).s, at(1h));
    CHECK_FALSE(k.has_to_forget(at(3h - 1s)));
    k.take(whole(false).s, at(3h - 1s));
    CHECK(missing_of(k) == "3 ; 3/1-20/1 down");
    CHECK(k.has_to_forget(at(3h)));
    k.take(whole(false).s, at(3h));
    CHECK(missing_of(k) == ";");
    CHECK(k.missing()->known_nodes == 4);
    CHECK_FALSE(k.has_to_forget(at(1000h)));

    known_fabric for_ever;
    for_ever.take(whole().s, at(0s));
    for_ever.take(whole(false, false).s, at(1h));
    CHECK_FALSE(for_ever.has_to_forget(at(100000h)));
    CHECK(for_ever.forget_missing() == 3); // the host, its link and a cable
    for_ever.take(whole(false, false).s, at(2h));
    CHECK(missing_of(for_ever) == ";");
}

TEST_CASE("a discovery that ended early marks nothing as missing") {
    known_fabric k;
    k.take(whole().s, at(0s));
    for (const auto kind : {discovery::failure_kind::limit, discovery::failure_kind::cancelled}) {
        fabric_of part = whole(false);
        part.s.failures.push_back({kind, {}, "ended"});
        k.take(part.s, at(1s));
        CHECK(missing_of(k) == ";");
        CHECK(k.missing()->known_nodes == 5);
    }
    for (const auto kind : {discovery::failure_kind::limit, discovery::failure_kind::cancelled}) {
        known_fabric planned; // expected because of a file
        planned.expect(whole().s);
        fabric_of part = whole(false);
        part.s.failures.push_back({kind, {}, "ended"});
        planned.take(part.s, at(0s));
        CHECK(missing_of(planned) == ";");
        CHECK(planned.missing()->known_nodes == 5);
        planned.take(whole(false).s, at(1s));
        const std::string missing = missing_of(planned);
        CHECK(missing != ";");
        planned.take(part.s, at(2s));
        CHECK(missing_of(planned) == missing);
    }
}

TEST_CASE("only nodes that match the filter and their links are remembered") {
    const auto is_switch = [](const discovery::node& n) { return n.is_switch(); };
    known_fabric k(is_switch);
    k.expect(whole().s);
    k.take(whole().s, at(0s));
    CHECK(k.missing()->known_nodes == 2);
    CHECK(k.missing()->known_links == 5);
    k.take(whole(false).s, at(1s));
    CHECK(missing_of(k) == "; 3/1-20/1 down");
    CHECK(k.missing()->find(iba::guid{3})->description == "node 3"); // the host at the other end of the link
}

TEST_CASE("a fabric of 48000 LIDs whose nodes are replaced repeatedly needs less than 100 MB") {
    /// 1500 switches with 64 ports and 46,500 hosts with two cabled ports each.
    const auto generation = [](u64 number) {
        fabric_of f;
        const u64 first = number << 32 | 1;
        for (u64 i = 0; i < 1500; ++i)
            f.add(first + i, iba::NodeType::Switch, 64, fmt::format("switch of rack {} number {}", number, i));
        for (u64 i = 0; i < 46'500; ++i) {
            const u64 host = first + 1500 + i;
            f.add(host, iba::NodeType::CA, 2, fmt::format("compute-{:05} mlx5_0 generation {}", i, number));
            f.link(first + i % 1500, static_cast<u8>(1 + i / 1500), host, 1);
            f.link(first + i % 1500, static_cast<u8>(33 + i / 1500), host, 2);
        }
        return f.s;
    };
    known_fabric k;
    const std::size_t before = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
    for (u64 number = 0; number < 4; ++number) {
        const discovery::subnet s = generation(number);
        k.take(s, at(std::chrono::hours(number)));
    }
    const std::size_t after = ::mallinfo2().uordblks + ::mallinfo2().hblkhd;
    WARN("remembers " << k.missing()->known_nodes << " nodes and " << k.missing()->known_links << " links in "
                      << (after - before) / 1024 << " KiB");
    CHECK(k.is_full());
    CHECK(k.missing()->nodes.size() == known_fabric::most_missing_nodes);
    CHECK(k.missing()->known_nodes == known_fabric::most_missing_nodes + 48'000);
    CHECK(value(k.missing()->nodes.back().nodeGUID) >> 32 == 2); // the node that was removed last
    CHECK(after - before < 100'000'000);
}

} // namespace known_fabric_test
