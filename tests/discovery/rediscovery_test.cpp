// SPDX-License-Identifier: MIT
// rediscovery_test.cpp - rediscoveries: the updated subnet equals the result of a whole discovery. The tests also count
// the MADs.
#include "library/discovery_rig.hpp"
#include <comad/discovery/compare/difference.hpp>
#include <comad/discovery/walk/changes.hpp>
#include <comad/sa/client.hpp>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <vector>

using namespace comad;
using namespace comad::test;
using discovery::change_source;
using discovery::port_ref;
using discovery::rediscover;
using transports::sim::topology_event;

namespace {

/// A subnet that was discovered, and that can change afterwards.
struct known_world : world {
    explicit known_world(topology t) : world(std::move(t)), first_sent(sent()), known(discover()) {
        first_sent = sent() - first_sent;
        schedule.set_sa_path(sa::sa_path_of(*known.at({0, known.start_port}).info));
    }
    explicit known_world(std::string_view specification) : known_world(managed(specification)) {}

    subnet again(change_source source) {
        const u64 before = sent();
        auto now = coro::sync_wait(schedule, rediscover(schedule, known, source));
        REQUIRE(now);
        again_sent = sent() - before;
        return std::move(now).value();
    }
    void let_pass(mad::duration time) {
        const auto pause = [](coro::MADSchedule& s, mad::duration t) -> coro::task<bool> {
            co_return co_await s.pause(t);
        };
        coro::sync_wait(schedule, pause(schedule, time));
    }
    /// Returns the result of a whole discovery as text.
    std::string fresh() { return text_of(discover()); }

    u64 first_sent, again_sent = 0;
    subnet known;
};

constexpr auto cut = topology_event::kind::cut;
constexpr auto restore = topology_event::kind::restore;
constexpr auto kill_ = topology_event::kind::kill;
constexpr auto revive = topology_event::kind::revive;

u32 simulated(const world& w, std::string_view description) {
    for (u32 n = 0; n < w.net.graph().nodes.size(); ++n)
        if (w.net.graph().nodes[n].description == description) return n;
    FAIL("there is no " << description);
    return 0;
}

/// Returns `removed link S-... "spine-0001"[2] <=> ...` for each difference.
std::set<std::string> events_of(const subnet& was, const subnet& is) {
    std::set<std::string> all;
    for (const discovery::difference& d : discovery::differences(was, is)) {
        all.insert(fmt::format("{} {} {}", text_of(d.what), text_of(d.of), d.place));
    }
    return all;
}

/// Returns the text of the subnet, independent of the order of its failures.
std::string sorted_text_of(subnet s) {
    std::sort(s.failures.begin(), s.failures.end(), [](const discovery::failure& a, const discovery::failure& b) {
        return std::tuple(a.where.nodeGUID, a.where.port, a.text) < std::tuple(b.where.nodeGUID, b.where.port, b.text);
    });
    return text_of(s);
}

/// Removed cables and failed switches, and their repair, in a random order.
class random_changes {
public:
    random_changes(known_world& w, unsigned seed) : w_(w), random_(seed) {}

    /// Returns a change that does not disconnect the program's own port, or nothing if it would.
    std::optional<topology_event> next() {
        if (!undo_.empty() && random_() % 2) {
            const topology_event back = undo_.back();
            undo_.pop_back();
            return back;
        }
        const auto& graph = w_.net.graph();
        const auto n = static_cast<u32>(random_() % graph.nodes.size());
        const auto p = static_cast<unsigned>(1 + random_() % (graph.nodes[n].ports.size() - 1));
        const u32 ours = w_.port.node();
        const bool is_ours =
            n == ours || !graph.nodes[n].ports[p].linked() || graph.nodes[n].ports[p].peer_node == ours;
        if (is_ours) return std::nullopt;
        // The simulated SA still lists failed switches, and reading the tables of switches does not query hosts.
        if (kills && graph.nodes[n].is_switch() && random_() % 2) {
            const bool is_dead = std::any_of(undo_.begin(), undo_.end(),
                                             [&](const topology_event& e) { return e.what == revive && e.node == n; });
            const bool is_in_front = graph.nodes[ours].ports[w_.port.port()].peer_node == n;
            if (is_dead || is_in_front) return std::nullopt;
            all_.push_back({revive, n});
            undo_.push_back(all_.back());
            return topology_event{kill_, n};
        }
        all_.push_back({restore, n, p});
        undo_.push_back(all_.back());
        return topology_event{cut, n, p};
    }
    /// Repairs everything.
    void undo_all() {
        for (const topology_event& e : all_) w_.net.apply(e);
    }
    unsigned number(unsigned end) { return static_cast<unsigned>(random_() % end); }

    bool kills = false;

private:
    known_world& w_;
    std::minstd_rand random_;
    std::vector<topology_event> undo_, all_; // what must still be undone, and everything that was done and undone
};

} // namespace

TEST_CASE("rediscovery of an unchanged subnet returns the known subnet for a tenth of the MADs") {
    const change_source source = GENERATE(change_source::sa, change_source::switches, change_source::automatic);
    known_world w("fattree2,radix=8");
    CHECK(text_of(w.again(source)) == text_of(w.known));
    CHECK(w.again_sent * 10 <= w.first_sent);
}

TEST_CASE("rediscovery queries every port of switches without PortStateChange") {
    known_world w("fattree2,radix=4");
    u64 ports = 1; // the local port
    for (discovery::node& n : w.known.nodes) {
        if (!n.is_switch()) continue;
        n.ports[0].info->capabilityMask2 = 0;
        n.switch_info->portStateChange = 0; // a subnet manager clears the bit, too
        ports += n.ports.size();
    }
    const u64 before = w.sent();
    const auto possibly_stale =
        coro::sync_wait(w.schedule, find_possibly_stale(w.schedule, w.known, change_source::switches));
    REQUIRE(possibly_stale);
    CHECK(possibly_stale.value().empty());
    CHECK(w.sent() - before == ports);
}

TEST_CASE("rediscovery does not repeat a failure of a port or node that no longer exists") {
    known_world w("fattree2,radix=4");
    w.again(change_source::sa);
    const u64 as_it_was = w.again_sent;
    const discovery::node& leaf = *w.known.find(w.net.graph().nodes[simulated(w, "leaf-0002")].nodeGUID);
    discovery::failure p;
    p.where.nodeGUID = leaf.info.nodeGUID;
    p.where.port = static_cast<u8>(leaf.ports.size());
    w.known.failures.push_back(p);
    p.where.nodeGUID = iba::guid{0x123};
    p.where.port = 1;
    w.known.failures.push_back(p);
    const subnet now = w.again(change_source::sa);
    CHECK(now.complete());
    CHECK(w.again_sent == as_it_was);
}

TEST_CASE("rediscovery equals a full discovery for any cables that are removed and restored") {
    const change_source source = GENERATE(change_source::sa, change_source::switches);
    const unsigned seed = GENERATE(range(1u, 9u));
    CAPTURE(source, seed);
    known_world w("fattree2,radix=4");
    std::minstd_rand random(seed);
    std::vector<topology_event> cuts;
    for (unsigned step = 0; step < 8; ++step) {
        if (!cuts.empty() && random() % 2) {
            w.net.apply({restore, cuts.back().node, cuts.back().port});
            cuts.pop_back();
        } else {
            const auto n = static_cast<u32>(random() % w.net.graph().nodes.size());
            const auto p = static_cast<unsigned>(1 + random() % (w.net.graph().nodes[n].ports.size() - 1));
            const bool is_ours = n == 0 || w.net.graph().nodes[n].ports[p].peer_node == 0;
            if (is_ours || !w.net.graph().nodes[n].ports[p].linked()) continue;
            w.net.apply({cut, n, p});
            cuts.push_back({cut, n, p});
        }
        CAPTURE(step);
        w.known = w.again(source);
        CHECK(w.known.complete());
        CHECK(inconsistencies(w.known) == std::vector<std::string>{});
        CHECK(text_of(w.known) == w.fresh());
    }
}

TEST_CASE("rediscovery after a removed cable costs its two ends and the detection of the change") {
    known_world w("fattree2,radix=8");
    u32 leaf = 0;
    while (w.net.graph().nodes[leaf].description != "leaf-0002") ++leaf;
    w.net.apply({cut, leaf, 8});
    const subnet now = w.again(change_source::sa);
    CHECK(now.link_count() == w.known.link_count() - 1);
    CHECK(w.again_sent * 8 <= w.first_sent);
}

TEST_CASE("rediscovery removes the nodes that only a dead switch reaches and restores them with it") {
    known_world w("fattree2,radix=4");
    const u32 leaf = simulated(w, "leaf-0003");
    const auto place = [&](u32 n, unsigned p) {
        return fmt::format("{}[{}]", name_of(*w.known.find(w.net.graph().nodes[n].nodeGUID)), p);
    };
    const auto link = [&](u32 n, unsigned p) {
        const auto& end = w.net.graph().nodes[n].ports[p];
        const bool is_first = w.net.graph().nodes[n].nodeGUID < w.net.graph().nodes[end.peer_node].nodeGUID;
        const std::string here = place(n, p), there = place(end.peer_node, end.peer_port);
        return is_first ? here + " <=> " + there : there + " <=> " + here;
    };
    std::set<std::string> places;
    for (const char* name : {"leaf-0003", "h-0005 HCA-1", "h-0006 HCA-1"})
        places.insert("node " + name_of(*w.known.find(w.net.graph().nodes[simulated(w, name)].nodeGUID)));
    for (unsigned p = 1; p <= 4; ++p) places.insert("link " + link(leaf, p));
    const auto all = [&](const char* what) {
        std::set<std::string> events;
        for (const std::string& one : places) events.insert(fmt::format("{} {}", what, one));
        return events;
    };

    w.net.apply({kill_, leaf});
    const subnet without = w.again(change_source::switches);
    CHECK(events_of(w.known, without) == all("removed"));
    CHECK_FALSE(without.complete()); // cables that are up lead to unresponsive nodes
    for (const discovery::failure& p : without.failures) CHECK(p.kind == discovery::failure_kind::timeout);
    CHECK(inconsistencies(without) == std::vector<std::string>{});

    w.net.apply({revive, leaf});
    const subnet before = std::exchange(w.known, without);
    const subnet with = w.again(change_source::switches);
    CHECK(events_of(without, with) == all("added"));
    CHECK(with.complete());
    CHECK(text_of(with) == text_of(before));
}

TEST_CASE("rediscovery after changes during a rediscovery finds the actual subnet") {
    const change_source source = GENERATE(change_source::sa, change_source::switches);
    const unsigned seed = GENERATE(range(1u, 17u));
    CAPTURE(source, seed);
    known_world w("fattree2,radix=4");
    random_changes events(w, seed);
    events.kills = source == change_source::switches;
    const auto rescan = [&] {
        w.known = w.again(source);
        const subnet fresh = w.discover();
        CHECK(inconsistencies(w.known) == std::vector<std::string>{});
        // If no subnet manager makes a port Active again, the SA still reports the state before the cable was removed.
        std::set<std::string> differing = events_of(w.known, fresh);
        if (source == change_source::sa)
            std::erase_if(differing, [](const std::string& e) { return e.starts_with("changed state"); });
        CHECK(differing == std::set<std::string>{});
        if (source == change_source::switches) CHECK(sorted_text_of(w.known) == sorted_text_of(fresh));
    };
    for (unsigned step = 0; step < 6; ++step) {
        CAPTURE(step);
        // Reading all ports takes some hundred microseconds.
        for (unsigned i = 0; i < 3; ++i)
            if (const auto e = events.next())
                w.net.apply_at(w.net.now() + std::chrono::microseconds(events.number(400)), *e);
        w.known = w.again(source);
        CHECK(inconsistencies(w.known) == std::vector<std::string>{});
        w.let_pass(std::chrono::milliseconds(1));
        rescan();
    }
    events.undo_all();
    rescan();
    CHECK(w.known.complete());
    CHECK(w.known.nodes.size() == w.net.graph().nodes.size());
}

TEST_CASE("a change during a discovery makes the result partial or is found by the next rediscovery") {
    const auto what = GENERATE(cut, kill_);
    const unsigned time = GENERATE(range(0u, 40u));
    CAPTURE(what, time);
    known_world w("fattree2,radix=4");
    const auto before = text_of(w.known);
    const u32 spine = simulated(w, "spine-0002");
    const mad::time_point begin = w.net.now();
    w.net.apply_at(begin + std::chrono::microseconds(10 * time), {what, spine, 2});
    w.known = w.discover();
    CHECK(inconsistencies(w.known) == std::vector<std::string>{});
    // For a failed switch, the result is complete, or it has a failure with a location.
    if (what == kill_ && w.known.complete()) CHECK(text_of(w.known) == before);
    for (const discovery::failure& p : w.known.failures) {
        CHECK(p.kind == discovery::failure_kind::timeout);
        CHECK(w.known.find(p.where.nodeGUID));
    }
    w.let_pass(std::chrono::milliseconds(1));
    w.known = w.again(change_source::switches);
    CHECK(sorted_text_of(w.known) == sorted_text_of(w.discover()));
}

TEST_CASE("nodes that are checked in turn report their death or a new description with one SMP each") {
    const bool by_lid = GENERATE(false, true);
    CAPTURE(by_lid);
    known_world w("fattree2,radix=4");
    discovery::discover_options how;
    if (by_lid) how.from_lid = w.known.at({0, w.known.start_port}).info->LID;
    std::vector<u32> all;
    for (u32 n = 0; n < w.known.nodes.size(); ++n) all.push_back(n);
    const auto look = [&](const std::vector<u32>& nodes) {
        const u64 before = w.sent();
        auto changed = coro::sync_wait(w.schedule, discovery::find_changed_nodes(w.schedule, w.known, nodes, how));
        w.again_sent = w.sent() - before;
        return changed;
    };
    CHECK(w.seen.longest_route > 1); // from the discovery
    w.seen.longest_route = 0;
    CHECK(look(all).empty());
    CHECK(w.again_sent == all.size());
    CHECK((w.seen.longest_route == 0) == by_lid); // the local node is queried by the directed route without hops

    const auto known = [&](std::string_view description) {
        return w.known.by_guid.at(w.net.graph().nodes[simulated(w, description)].nodeGUID);
    };
    const u32 host = known("h-0006 HCA-1"), other = known("h-0007 HCA-1");
    w.net.apply({kill_, simulated(w, "h-0006 HCA-1")});
    w.known.nodes[other].description = "was called so";
    std::vector<port_ref> expected{{host, 0}, {other, 0}};
    auto changed = look(all);
    std::sort(changed.begin(), changed.end(), [](port_ref a, port_ref b) { return a.node < b.node; });
    std::sort(expected.begin(), expected.end(), [](port_ref a, port_ref b) { return a.node < b.node; });
    CHECK(changed == expected);
    CHECK(look({0}).empty());

    const auto now = coro::sync_wait(w.schedule, rediscover(w.schedule, w.known, changed));
    REQUIRE(now);
    CHECK(now.value().nodes[now.value().by_guid.at(w.known.nodes[other].info.nodeGUID)].description == "h-0007 HCA-1");
    CHECK_FALSE(now.value().complete());
}

TEST_CASE("a removed node does not affect links between nodes beyond the reach of directed routes") {
    known_world w("ring,switches=140,hosts=1");
    discovery::discover_options how;
    how.from_lid = w.known.at({0, w.known.start_port}).info->LID;
    w.known = w.discover(how);
    REQUIRE(w.known.complete());
    REQUIRE(w.known.max_hops() > IBDRPath::max_hops);
    // Its GUID is between the GUIDs of the nodes that are too far away.
    const iba::guid gone = w.net.graph().nodes[simulated(w, "h-0015 HCA-1")].nodeGUID;
    const port_ref behind = w.known.find(gone)->ports[1].peer;
    w.net.apply({kill_, simulated(w, "h-0015 HCA-1")});
    const auto now = coro::sync_wait(w.schedule, rediscover(w.schedule, w.known, std::vector<port_ref>{behind}));
    REQUIRE(now);
    CHECK(now.value().nodes.size() == w.known.nodes.size() - 1);
    CHECK_FALSE(now.value().find(gone));
    CHECK(inconsistencies(now.value()) == std::vector<std::string>{});
    for (const discovery::node& n : w.known.nodes)
        for (unsigned p = 1; p < n.ports.size(); ++p) {
            const port_ref peer = n.ports[p].peer;
            if (!peer || n.info.nodeGUID == gone || w.known.nodes[peer.node].info.nodeGUID == gone) continue;
            const discovery::node* const same = now.value().find(n.info.nodeGUID);
            REQUIRE(same);
            REQUIRE(same->ports[p].peer);
            CHECK(now.value().nodes[same->ports[p].peer.node].info.nodeGUID == w.known.nodes[peer.node].info.nodeGUID);
        }
}

TEST_CASE("rediscovery repeats the query of a link that was not yet Active") {
    known_world w("fattree2,radix=4");
    const u32 spine = simulated(w, "spine-0002");
    w.net.apply({cut, spine, 2});
    w.known = w.again(change_source::sa);
    w.net.apply({restore, spine, 2});
    w.known = w.again(change_source::sa);
    CHECK(text_of(w.known) == w.fresh());

    // Sets both ends, as a subnet manager does.
    const port_ref here{w.known.by_guid.at(w.net.graph().nodes[spine].nodeGUID), 2}, there = w.known.at(here).peer;
    const auto lead = [&](port_ref r, iba::PortState state) -> coro::task<bool> {
        iba::smp::PortInfo info = *w.known.at(r).info;
        info.portState = state;
        info.portPhysicalState = {}; // no change
        const mad::any_path path = w.known.nodes[r.node].route;
        const auto reply = co_await w.schedule.SubnSet<iba::smp::PortInfo>(info, path, r.port);
        co_return reply.has_value();
    };
    for (const iba::PortState state : {iba::PortState::Armed, iba::PortState::Active})
        for (const port_ref r : {here, there}) REQUIRE(coro::sync_wait(w.schedule, lead(r, state)));
    w.known = w.again(change_source::sa);
    CHECK(w.known.at({w.known.by_guid.at(w.net.graph().nodes[spine].nodeGUID), 2}).info->portState ==
          iba::PortState::Active);
    CHECK(text_of(w.known) == w.fresh());
    const u64 before = w.again_sent;
    w.again(change_source::sa);
    CHECK(w.again_sent < before); // nothing is left to query
}
