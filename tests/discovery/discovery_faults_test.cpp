// SPDX-License-Identifier: MIT
// discovery_faults_test.cpp - discoveries with faults: each missing part has a failure with its cause, the rest is
// complete, and the discovery ends in time.
#include "library/discovery_rig.hpp"
#include "program/key_witness.hpp"
#include "support/sanitized.hpp"
#include <comad/coro/scope.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>
#include <vector>

using namespace comad;
using namespace comad::test;
using namespace std::chrono_literals;
using discovery::failure;
using discovery::failure_kind;
using transports::sim::topology_event;

namespace {

const std::vector<std::string> none;
constexpr transports::sim::link_codes edr{2, 16};

std::size_t count(const subnet& found, failure_kind what) {
    return static_cast<std::size_t>(
        std::count_if(found.failures.begin(), found.failures.end(), [&](const failure& p) { return p.kind == what; }));
}

/// The switch and the port at the opposite end of the first cable of a node.
struct cable_end {
    iba::guid nodeGUID;
    unsigned port;
};
cable_end behind_which(const topology& t, u32 node) {
    const auto& end = t.nodes[node].ports[1];
    return {t.nodes[end.peer_node].nodeGUID, end.peer_port};
}

/// A topology as a set of cables. Each cable occurs once.
using cables = std::set<std::pair<std::pair<iba::guid, unsigned>, std::pair<iba::guid, unsigned>>>;

cables cables_of(const topology& t) {
    cables all;
    for (const auto& n : t.nodes) {
        for (unsigned p = 1; p <= n.num_ports(); ++p) {
            if (!n.ports[p].linked()) continue;
            const std::pair here{n.nodeGUID, p};
            const std::pair there{t.nodes[n.ports[p].peer_node].nodeGUID, unsigned{n.ports[p].peer_port}};
            all.insert(std::minmax(here, there));
        }
    }
    return all;
}

cables cables_of(const subnet& s) {
    cables all;
    for (const discovery::node& n : s.nodes) {
        for (unsigned p = 1; p < n.ports.size(); ++p) {
            const auto peer = n.ports[p].peer;
            if (!peer) continue;
            const std::pair here{n.info.nodeGUID, p};
            const std::pair there{s.nodes[peer.node].info.nodeGUID, unsigned{peer.port}};
            all.insert(std::minmax(here, there));
        }
    }
    return all;
}

/// Returns a host (node 0) and a switch with 64 ports (node 1).
topology host_and_switch() {
    topology t;
    const u32 host = t.add_node(iba::NodeType::CA, 1, iba::guid{0x1}, "host", edr);
    const u32 sw = t.add_node(iba::NodeType::Switch, 64, iba::guid{0x100}, "switch", edr);
    t.link(host, 1, sw, 1);
    return t;
}

bool is_subset(const cables& part, const cables& whole) {
    return std::includes(whole.begin(), whole.end(), part.begin(), part.end());
}

} // namespace

TEST_CASE("a dead host is one failure at the switch port before it and costs three attempts") {
    const topology t = managed("fattree2,radix=8");
    const u32 dead = *t.find(t.nodes[5].id);
    REQUIRE_FALSE(t.nodes[dead].is_switch());
    world w(t);
    w.net.apply({topology_event::kind::kill, dead, 0});
    const subnet found = w.discover();

    REQUIRE(found.failures.size() == 1);
    const failure& p = found.failures[0];
    CHECK(p.kind == failure_kind::timeout);
    CHECK(p.where.nodeGUID == behind_which(t, dead).nodeGUID);
    CHECK(p.where.port == behind_which(t, dead).port);
    CHECK(walk(t, w.port.node(), w.port.port(), p.where.route) == dead);
    CHECK(describe(found, p).starts_with(fmt::format("S-{:016x} ", value(p.where.nodeGUID))));

    CHECK(found.find(t.nodes[dead].nodeGUID) == nullptr);
    topology without = t;
    without.unlink(dead, 1);
    const auto missing = differences(found, without, w.port.node(), w.port.port());
    CHECK(missing.size() == 1); // the port of that switch, which is up in reality
    CHECK(w.schedule.counters().timed_out == 1);
    CHECK(w.elapsed() >= 3s);
    CHECK(w.elapsed() < 3200ms); // timeouts are rounded up by at most 3.2 %
}

TEST_CASE("a discovery queries unresponsive nodes once more at its end if there is time left") {
    const topology t = managed("fattree2,radix=8");
    const u32 mute = *t.find(t.nodes[GENERATE(5u, 33u)].id); // a host, and a leaf
    CAPTURE(t.nodes[mute].id);
    world w(t, coro::schedule_options{});
    w.net.apply({topology_event::kind::kill, mute, 0});
    // This is long after the last attempt of its query.
    w.net.apply_at(mad::time_point{900ms}, {topology_event::kind::revive, mute, 0});
    const subnet found = w.discover();
    CHECK(found.complete());
    CHECK(differences(found, t, w.port.node(), w.port.port()).empty());
    CHECK(w.schedule.counters().timed_out >= 1);
    CHECK(w.elapsed() < 1100ms);
}

TEST_CASE("all dead nodes together cost one second, and the last query one eighth of a second") {
    const topology t = managed("fattree2,radix=8");
    world w(t, coro::schedule_options{});
    for (const u32 dead : {4u, 5u, 33u}) w.net.apply({topology_event::kind::kill, *t.find(t.nodes[dead].id), 0});
    const subnet found = w.discover();
    CHECK_FALSE(found.complete());
    for (const failure& p : found.failures) CHECK(p.kind == failure_kind::timeout);
    CHECK(w.elapsed() < 1200ms);
}

TEST_CASE("a discovery finds all nodes that a route around a dead switch reaches") {
    const topology t = managed("torus,x=4,y=4,hosts=1");
    u32 dead = 0;
    while (!t.nodes[dead].is_switch() || t.nodes[dead].nodeGUID == behind_which(t, t.default_node()).nodeGUID) ++dead;
    world w(t);
    w.net.apply({topology_event::kind::kill, dead, 0});
    const subnet found = w.discover();
    // Each of its four neighbors has a failure at the port to it. Its host cannot be reached.
    CHECK(found.failures.size() == 4);
    CHECK(count(found, failure_kind::timeout) == 4);
    CHECK(found.nodes.size() == t.nodes.size() - 2);
    CHECK(inconsistencies(found) == none);
    CHECK(w.elapsed() < 2 * 3200ms);
}

TEST_CASE("a switch that dies after its first reply is abandoned after two timeouts in a row") {
    const u32 dying = 1;
    // NodeInfo, port and description of the host are queried at once; NodeInfo of the switch follows.
    timing slow;
    slow.service_time = 1ms;
    coro::schedule_options options = window();
    options.per_destination = 2;
    world w(host_and_switch(), options, slow);
    discovery::discovery_progress progress;
    w.net.apply_at(mad::time_point{} + 4500us, {topology_event::kind::kill, dying, 0});
    const subnet found = w.discover({.progress = &progress});
    REQUIRE(found.nodes.size() == 2);
    CHECK(found.nodes[1].info.nodeGUID == iba::guid{0x100});
    CHECK(found.nodes[0].ports[1].peer == discovery::port_ref{1, 1});
    CHECK(inconsistencies(found) == none);
    // Two requests were in flight at once; a third one was not started.
    CHECK(w.schedule.counters().timed_out == 2);
    CHECK(count(found, failure_kind::timeout) == 3);
    CHECK(std::any_of(found.failures.begin(), found.failures.end(), [](const failure& p) {
        return p.where.nodeGUID == iba::guid{0x100} && p.text.find("not queried further") != std::string::npos;
    }));
    CHECK(w.elapsed() < 3200ms);
}

TEST_CASE("a switch that misses two queries with a reply in between is queried further") {
    timing slow;
    slow.service_time = 1ms;
    world w(host_and_switch(), window(1, 0), slow);
    const u32 sw = 1;
    for (const auto at : {20ms, 1040ms}) {
        w.net.apply_at(mad::time_point{} + at, {topology_event::kind::kill, sw, 0});
        w.net.apply_at(mad::time_point{} + at + 300ms, {topology_event::kind::revive, sw, 0});
    }
    const subnet found = w.discover();
    CHECK(w.schedule.counters().timed_out == 2);
    CHECK(count(found, failure_kind::timeout) == 2);
    const auto is_known = [](const discovery::port& p) { return p.info.has_value(); };
    CHECK(std::ranges::count_if(found.nodes[1].ports, is_known) == 63);
}

TEST_CASE("a cable that is removed at any moment gives a consistent result without hidden losses") {
    const char* const specification = GENERATE("fattree2,radix=4", "ring,switches=4,hosts=1", "torus,x=3,y=3,hosts=1");
    const topology before = managed(specification);
    coro::schedule_options options = window(8);
    options.timeout = 1ms;
    world undisturbed(before, options);
    undisturbed.discover();
    const mad::duration whole = undisturbed.elapsed();

    constexpr int moments = sanitized ? 7 : 40;
    unsigned whole_results = 0, results = 0;
    for (const auto& cable : cables_of(before)) {
        const u32 node = *before.find(fmt::format("{:#x}", value(cable.first.first)));
        topology after = before;
        after.unlink(node, cable.first.second);
        // Only the loss of the program's own cable hides more than the cable itself.
        const iba::guid start = before.nodes[before.default_node()].nodeGUID;
        const bool is_ours = cable.first.first == start || cable.second.first == start;
        const cables remaining = is_ours ? cables{} : cables_of(after);
        for (int moment = 0; moment < moments; ++moment) {
            CAPTURE(specification, before.nodes[node].id, cable.first.second, moment);
            world w(before, options);
            w.net.apply_at(mad::time_point{} + whole * moment / moments,
                           {topology_event::kind::cut, node, cable.first.second});
            auto outcome = coro::sync_wait(w.schedule, discovery::discover(w.schedule));
            // The local port responds, whatever happens to the cables.
            REQUIRE(outcome);
            const subnet& found = outcome.value();
            CHECK(inconsistencies(found) == none);
            CHECK(is_subset(cables_of(found), cables_of(before)));
            CHECK(w.schedule.in_flight() == 0);
            ++results;
            if (!found.complete()) continue;
            ++whole_results;
            CHECK(is_subset(remaining, cables_of(found)));
        }
    }
    CHECK(whole_results > 0);
    CHECK(whole_results < results);
}

TEST_CASE("a node that dies at any moment and returns gives a consistent result without hidden losses") {
    const topology t = managed("torus,x=3,y=2,hosts=1");
    coro::schedule_options options = window(8);
    options.timeout = 1ms;
    world undisturbed(t, options);
    const std::string expected = text_of(undisturbed.discover());
    const mad::duration whole = undisturbed.elapsed();

    constexpr int moments = sanitized ? 11 : 60;
    for (u32 node = 0; node < t.nodes.size(); ++node) {
        for (int moment = 1; moment < moments; ++moment) {
            const bool comes_back = moment % 2;
            CAPTURE(t.nodes[node].id, moment, comes_back);
            world w(t, options);
            const mad::time_point when = mad::time_point{} + whole * moment / moments;
            w.net.apply_at(when, {topology_event::kind::kill, node, 0});
            // The node recovers within the three attempts, so nothing may be missing.
            if (comes_back) w.net.apply_at(when + 2ms, {topology_event::kind::revive, node, 0});
            const subnet found = w.discover();
            CHECK(inconsistencies(found) == none);
            CHECK(is_subset(cables_of(found), cables_of(t)));
            CHECK(found.complete() == (text_of(found) == expected));
            if (comes_back) CHECK(found.complete());
        }
    }
}

TEST_CASE("nodes beyond 63 hops are reported at the last reachable switch, and the rest is complete") {
    world w(managed("line,switches=70,hosts=1"));
    const subnet found = w.discover();
    CHECK(found.max_hops() == 63);
    CHECK(w.seen.longest_route == 63);
    // Switches 1 to 63 and the hosts of the first 62. The next nodes are 64 hops away.
    CHECK(found.nodes.size() == 63 + 62);
    REQUIRE(found.failures.size() == 2);
    const topology& t = w.net.graph();
    for (const failure& p : found.failures) {
        CHECK(p.kind == failure_kind::too_far);
        CHECK(p.where.route.hopCount == 63);
        const u32 last = *walk(t, w.port.node(), w.port.port(), p.where.route);
        CHECK(t.nodes[last].nodeGUID == p.where.nodeGUID);
        CHECK(found.find(t.nodes[t.nodes[last].ports[p.where.port].peer_node].nodeGUID) == nullptr);
    }
    // Only the cables of those two ports are missing.
    CHECK(differences(found, w, 63) == none);
    CHECK(w.elapsed() < 1s);
}

TEST_CASE("a node first found over a route that is too long is reached by the shorter route") {
    // The hosts on the opposite side of the ring are at most 62 hops away. The neighbor on one side is so slow that the
    // discovery follows the other direction to its end first.
    const topology t = managed("ring,switches=120,hosts=1");
    const u32 first = t.nodes[t.default_node()].ports[1].peer_node;
    u32 slow = topology::no_node;
    for (const auto& p : t.nodes[first].ports) {
        if (p.linked() && t.nodes[p.peer_node].is_switch()) slow = p.peer_node;
    }
    REQUIRE(slow != topology::no_node);
    const unsigned outstanding = GENERATE(1u, 4u, 64u);
    CAPTURE(outstanding);
    world w(t, window(outstanding));
    w.net.set_service_time(slow, 300ms);
    const subnet found = w.discover();
    if (outstanding > 1) CHECK(w.seen.longest_route == 63); // the discovery used that direction
    CHECK(found.failures.empty());
    CHECK(differences(found, w) == none);
    CHECK(found.max_hops() == 62);

    world undisturbed(t);
    CHECK(text_of(undisturbed.discover()) == text_of(found));
}

TEST_CASE("a discovery respects max_hops") {
    for (unsigned most : {0u, 1u, 2u, 3u, 4u}) {
        CAPTURE(most);
        world w(managed("fattree3,radix=4"));
        const subnet found = w.discover({.max_hops = most});
        CHECK(w.seen.longest_route == most);
        CHECK(differences(found, w, most) == none);
        CHECK_FALSE(found.complete());
        CHECK(count(found, failure_kind::too_far) == found.failures.size());
    }
}

TEST_CASE("loss, duplicates, reordering and garbage hide nothing while retries are left") {
    const double loss = GENERATE(0.0, 0.01, 0.05);
    u64 late_replies = 0;
    for (u64 seed = 1; seed <= 10; ++seed) {
        CAPTURE(loss, seed);
        faults wrong;
        wrong.request_loss = wrong.reply_loss = loss;
        wrong.duplicate = wrong.reorder = wrong.garbage = 0.05;
        // Longer than the timeout of an attempt: replies to earlier attempts arrive, too.
        wrong.reorder_delay = 3ms;
        wrong.seed = seed;
        coro::schedule_options options = window(64, 10);
        options.timeout = 1ms;
        world w(managed("fattree2,radix=8"), options, with_jitter(), wrong);
        const subnet found = w.discover();
        CHECK(found.complete());
        CHECK(differences(found, w) == none);
        CHECK(w.seen.queried_twice == 0);
        const auto& c = w.schedule.counters();
        CHECK(c.stale > 0);
        CHECK(c.malformed > 0);
        CHECK(c.retried > 0);
        late_replies += c.late_replies;
    }
    CHECK(late_replies > 0);
}

TEST_CASE("switches that forward SMPs slowly and drop some hide nothing while retries are left") {
    timing times = with_jitter();
    times.transit = 5us;
    times.buffer = 4;
    world w(managed("fattree3,radix=6"), window(64, 20), times);
    const subnet found = w.discover();
    CHECK(found.failures.empty());
    CHECK(differences(found, w).empty());
    CHECK(w.net.counters().overflowed > 0);
}

TEST_CASE("a discovery during flapping cables is consistent and reproducible") {
    using transports::sim::topology_event;
    const auto discovered = [] {
        world w(managed("fattree3,radix=6"), window(16, 2), with_jitter(), faults{.request_loss = 0.01, .seed = 3});
        const u32 core = *w.net.graph().find("core-0001"), leaf = *w.net.graph().find("leaf-0002");
        const auto flap = [&](u32 node, unsigned port, mad::duration first, mad::duration down, mad::duration period) {
            w.net.apply_every(period, mad::time_point(first), {topology_event::kind::cut, node, port});
            w.net.apply_every(period, mad::time_point(first + down), {topology_event::kind::restore, node, port});
        };
        flap(core, 2, 100us, 200us, 1ms);
        flap(leaf, 5, 150us, 100us, 300us);
        const subnet found = w.discover();
        CHECK(inconsistencies(found).empty());
        return std::pair(text_of(found), w.seen.trace);
    };
    CHECK(discovered() == discovered());
}

// A lost attempt stays in the kernel until its timeout. If the number of requests per agent is limited, lost attempts
// delay others.
TEST_CASE("random loss hides nothing with the default options and costs little time") {
    faults wrong;
    wrong.request_loss = wrong.reply_loss = GENERATE(0.01, 0.1);
    world lossless(managed("fattree3,radix=8"), {});
    CHECK(lossless.discover().complete());
    world w(managed("fattree3,radix=8"), {}, {}, wrong);
    const subnet found = w.discover();
    CHECK(w.schedule.counters().retried > 0);
    CHECK(differences(found, w) == none);
    // With a timeout of a second per attempt it would take a thousand times as long. A Get has as many attempts as the
    // loss rate of all Gets requires. If a kernel counts in milliseconds, no attempt is shorter than a millisecond.
    const mad::duration least = w.kernel ? w.kernel->limits().timer_resolution : 0ms;
    CHECK(w.elapsed() < (w.kernel ? 150 : 20) * (lossless.elapsed() + least));
}

TEST_CASE("a discovery finds a host that takes 110 ms per SMP among hosts that take microseconds") {
    world w(managed("fattree2,radix=8"), {});
    const u32 slow = *w.net.graph().find(w.net.graph().nodes[5].id);
    REQUIRE_FALSE(w.net.graph().nodes[slow].is_switch());
    w.net.set_service_time(slow, 110ms);
    const subnet found = w.discover();
    CHECK(found.complete());
    CHECK(differences(found, w) == none);
}

TEST_CASE("a request lost in all attempts is a failure of that port or node, and the rest is complete") {
    faults wrong;
    wrong.request_loss = 0.2;
    for (u64 seed = 1; seed <= 20; ++seed) {
        CAPTURE(seed);
        wrong.seed = seed;
        world w(managed("fattree2,radix=8"), window(64, 0), {}, wrong);
        auto outcome = coro::sync_wait(w.schedule, discovery::discover(w.schedule));
        if (!outcome) { // the query of the local port failed
            CHECK(outcome.error().code == mad::errc::timed_out);
            continue;
        }
        const subnet& found = outcome.value();
        CHECK_FALSE(found.complete());
        CHECK(inconsistencies(found) == none);
        CHECK(is_subset(cables_of(found), cables_of(w.net.graph())));
        CHECK(count(found, failure_kind::timeout) == found.failures.size());
    }
}

TEST_CASE("an error status in a reply is a failure that names the status") {
    faults wrong;
    wrong.busy = 0.02;
    wrong.seed = 3;
    coro::schedule_options options;
    options.busy_retries = 0;
    world w(managed("fattree2,radix=8"), options, {}, wrong);
    const subnet found = w.discover();
    REQUIRE(found.failures.size() > 0);
    CHECK(count(found, failure_kind::error_reply) == found.failures.size());
    CHECK(found.failures.size() == w.net.counters().busy);
}

TEST_CASE("nodes that are occasionally busy are retried, and nothing is missing") {
    faults wrong;
    wrong.busy = 0.02;
    wrong.seed = 3;
    world w(managed("fattree2,radix=8"), {}, {}, wrong);
    const subnet found = w.discover();
    CHECK(found.complete());
    CHECK(w.net.counters().busy > 0);
    CHECK(w.schedule.counters().busy == w.net.counters().busy);
}

TEST_CASE("two nodes with the same GUID are a contradiction and do not crash the discovery") {
    SECTION("equal hosts") {
        topology t = managed("fattree2,radix=4");
        std::vector<u32> hosts;
        for (u32 n = 0; n < t.nodes.size(); ++n) {
            if (!t.nodes[n].is_switch()) hosts.push_back(n);
        }
        const u32 copy = hosts.back(), original = hosts[hosts.size() - 2];
        t.nodes[copy].nodeGUID = t.nodes[original].nodeGUID;
        for (unsigned outstanding : {1u, 64u}) {
            world w(t, window(outstanding));
            const subnet found = w.discover();
            CHECK(found.nodes.size() == t.nodes.size() - 1);
            CHECK(count(found, failure_kind::contradiction) == 1);
            CHECK(inconsistencies(found) == none);
        }
    }
    SECTION("different switches") {
        topology t;
        const u32 host = t.add_node(iba::NodeType::CA, 1, iba::guid{0x1}, "host", edr);
        const u32 small = t.add_node(iba::NodeType::Switch, 4, iba::guid{0x100}, "small", edr);
        const u32 large = t.add_node(iba::NodeType::Switch, 36, iba::guid{0x100}, "large", edr);
        const u32 far = t.add_node(iba::NodeType::CA, 1, iba::guid{0x2}, "far", edr);
        t.link(host, 1, small, 1);
        t.link(small, 4, large, 2); // a port number that the small switch has, and that is free
        t.link(large, 36, far, 1);
        world w(t);
        const subnet found = w.discover();
        REQUIRE(found.failures.size() == 1);
        CHECK(found.failures[0].kind == failure_kind::contradiction);
        CHECK(found.failures[0].where.nodeGUID == iba::guid{0x100});
        CHECK(found.failures[0].where.port == 4);
        CHECK(found.nodes.size() == 2);
        CHECK(inconsistencies(found) == none);
    }
}

namespace {

/// Sends some SMPs, and then cancels `domain`.
coro::task<void> cancel_after(coro::MADSchedule& schedule, coro::scope& domain, unsigned answers) {
    for (unsigned i = 0; i < answers; ++i) {
        const auto local = co_await schedule.SubnGet<iba::smp::NodeInfo>(IBDRPath{});
        CHECK(local);
    }
    domain.cancel();
}

coro::task<mad::result<subnet>> discover_for_a_while(coro::MADSchedule& schedule, unsigned answers) {
    coro::scope domain(schedule.root());
    auto discovering = domain.queue(discovery::discover(schedule));
    co_await cancel_after(schedule, domain, answers);
    auto found = co_await discovering;
    co_return found;
}

} // namespace

TEST_CASE("a canceled discovery returns its partial result as canceled and leaves the schedule usable") {
    const topology t = managed("fattree2,radix=8");
    std::size_t cancelled_early = 0;
    for (unsigned answers = 1; answers < 60; ++answers) {
        CAPTURE(answers);
        world w(t, window(8));
        auto outcome = coro::sync_wait(w.schedule, discover_for_a_while(w.schedule, answers));
        CHECK(w.schedule.idle());
        CHECK(w.schedule.in_flight() <= 8); // replies to canceled requests may still arrive
        if (!outcome) {
            CHECK(outcome.error().code == mad::errc::cancelled); // before the local port replied
        } else {
            const subnet& found = outcome.value();
            CHECK(inconsistencies(found) == none);
            CHECK(is_subset(cables_of(found), cables_of(t)));
            REQUIRE(found.failures.size() <= 1);
            if (found.failures.empty()) {
                CHECK(differences(found, w) == none);
            } else {
                CHECK(found.failures[0].kind == failure_kind::cancelled);
                cancelled_early += found.nodes.size() > 1 && found.nodes.size() < t.nodes.size();
            }
        }
        const subnet again = w.discover();
        CHECK(again.complete());
        CHECK(differences(again, w) == none);
    }
    CHECK(cancelled_early > 5);
}

TEST_CASE("a local port that does not reply is an error instead of an empty subnet") {
    world w(managed("fattree2,radix=4"));
    w.net.apply({topology_event::kind::kill, w.port.node(), 0});
    auto outcome = coro::sync_wait(w.schedule, discovery::discover(w.schedule));
    REQUIRE_FALSE(outcome);
    CHECK(outcome.error().code == mad::errc::timed_out);
    CHECK(w.schedule.counters().sent == 1);
}

TEST_CASE("an unplugged local port is a complete subnet of one node") {
    topology t = managed("single");
    t.unlink(0, 1);
    world w(t);
    const subnet found = w.discover();
    CHECK(found.nodes.size() == 1);
    CHECK(found.link_count() == 0);
    CHECK(found.complete());
}

// ---- M_Keys ---------------------------------------------------------------------------------------------------------

namespace {

/// Writes an M_Key and its protection bits (IBA 14.2.4.2) into the port of every node but the local one.
template <class Key> void protect(world& w, u8 bits, Key&& key_of) {
    const subnet all = w.discover();
    for (std::size_t i = 1; i < all.nodes.size(); ++i) {
        const discovery::node& n = all.nodes[i];
        const u8 number = n.is_switch() ? 0 : n.info.localPortNum;
        iba::smp::PortInfo port = n.ports[number].info.value();
        port.MKey = key_of(n.ports[number].portGUID);
        port.MKeyProtectBits = bits;
        port.portState = iba::PortState::NoChange;
        port.portPhysicalState = iba::PortPhysicalState::NoChange;
        REQUIRE(coro::sync_wait(w.schedule, w.schedule.SubnSet(port, n.route, number)));
    }
}

} // namespace

TEST_CASE("a discovery with keys reads M_Keys of ports that hide the M_Key without authentication") {
    const topology t = managed("fattree2,radix=4");
    const mad::port_keys keys = different_keys(t);
    world w(t);
    protect(w, 1, [&](iba::guid port) { return keys.of(mad::key_kind::MKey, port); });
    const auto shown = [](const subnet& found) {
        return std::count_if(found.nodes.begin() + 1, found.nodes.end(), [](const discovery::node& n) {
            return n.ports[n.is_switch() ? 0 : n.info.localPortNum].info->MKey == value(n.info.portGUID) * 3;
        });
    };
    CHECK(shown(w.discover()) == 0);
    const iba::lid from_lid = GENERATE(false, true) ? t.nodes[w.port.node()].ports[w.port.port()].LID : iba::lid{};
    const subnet found = w.discover({.from_lid = from_lid, .keys = &keys});
    CHECK(found.complete());
    CHECK(shown(found) == static_cast<std::ptrdiff_t>(t.nodes.size()) - 1);
}

TEST_CASE("a subnet with a protected key per port is discovered if the cache names the neighbors") {
    const topology t = managed("fattree2,radix=4");
    mad::port_keys keys;
    std::string neighbors;
    const auto guid_of = [&](u32 n, unsigned port) {
        return value(t.nodes[n].ports[t.nodes[n].is_switch() ? 0 : port].GUID);
    };
    for (u32 n = 0; n < t.nodes.size(); ++n)
        for (unsigned p = 0; p < t.nodes[n].ports.size(); ++p) {
            const auto& port = t.nodes[n].ports[p];
            keys.set(mad::key_kind::MKey, iba::guid{guid_of(n, p)}, guid_of(n, p) * 3);
            if (port.linked())
                neighbors += fmt::format("{:#018x}:{} {:#018x}:{}\n", guid_of(n, p), p,
                                         guid_of(port.peer_node, port.peer_port), port.peer_port);
        }
    world w(t);
    protect(w, 2, [&](iba::guid port) { return keys.of(mad::key_kind::MKey, port); });
    const iba::guid here{guid_of(w.port.node(), w.port.port())};
    CHECK(w.discover({.keys = &keys, .start_portGUID = here}).nodes.size() == 1);
    REQUIRE(keys.add_neighbors(neighbors));
    const subnet found = w.discover({.keys = &keys, .start_portGUID = here});
    CHECK(found.complete());
    CHECK(found.nodes.size() == t.nodes.size());
}

TEST_CASE("a subnet that replies only to its M_Key is discovered with that key") {
    world w(managed("fattree2,radix=4"));
    protect(w, 2, [](iba::guid) { return u64{0x1122334455667788}; });
    const subnet without = w.discover();
    CHECK(without.nodes.size() == 1);
    CHECK(count(without, failure_kind::timeout) == 1);
    mad::port_keys keys;
    keys.set_default(mad::key_kind::MKey, 0x1122334455667788);
    const subnet found = w.discover({.keys = &keys});
    CHECK(found.complete());
    CHECK(found.nodes.size() == w.net.graph().nodes.size());
}
