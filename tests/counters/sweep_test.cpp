// SPDX-License-Identifier: MIT
// sweep_test.cpp - sweeps over simulated subnets in virtual time: each port once, in parallel, and with unresponsive
// nodes.
#include "library/sweep_rig.hpp"
#include <comad/counters/detail/kept_counters.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

using namespace comad;
using namespace comad::test;
using namespace std::chrono_literals;
using counters::counter;
using discovery::failure;
using discovery::failure_kind;
using discovery::port_ref;
using transports::sim::topology_event;

namespace {

timing round_trip(mad::duration rtt) {
    timing t;
    t.delay = rtt / 2;
    t.hop_delay = 0ns;
    t.service_time = 0ns;
    return t;
}

} // namespace

TEST_CASE("a sweep queries each PMA once for its capabilities and each port once for its counters") {
    swept_world w("fattree3,radix=8");
    const u64 before = w.sent();
    counters::sweeper s(w.schedule, w.known);
    const counters::sweep first = w.sweep(s);
    CHECK(first.complete());
    CHECK(first.ports.size() == w.all_ports());
    CHECK(std::all_of(first.ports.begin(), first.ports.end(), [](const counters::reading& l) { return l.valid; }));
    CHECK(w.sent() - before == w.PMAs() + w.all_ports());
    CHECK(first.mads == w.PMAs() + w.all_ports());
    const counters::sweep second = w.sweep(s);
    CHECK(second.complete());
    CHECK(second.mads == w.all_ports()); // the capabilities are known now
}

TEST_CASE("both ends of each cable have equal preset counters") {
    faults earlier;
    earlier.counter_seed = 7;
    swept_world w("fattree2,radix=8", {}, {}, earlier);
    const counters::sweep all = w.sweep();
    REQUIRE(all.complete());
    std::size_t cables = 0;
    for (const counters::reading& l : all.ports) {
        const port_ref peer = w.known.at(l.where).peer;
        if (!peer) continue;
        const auto other = std::find_if(all.ports.begin(), all.ports.end(),
                                        [&](const counters::reading& o) { return o.where == peer; });
        REQUIRE(other != all.ports.end());
        ++cables;
        // The counters at the ends of the first link also counted the MADs of the discovery and of the sweep itself.
        const auto apart = [](u64 x, u64 y) { return x > y ? x - y : y - x; };
        const counters::counter_values &here = l.counters.counters, &there = other->counters.counters;
        CHECK(apart(here[counter::portXmitPkts], there[counter::portRcvPkts]) <= w.sent());
        CHECK(apart(here[counter::portXmitData], there[counter::portRcvData]) <= w.sent() * 72);
        CHECK(here[counter::portXmitPkts] > w.sent());
    }
    CHECK(cables > 0);
}

// The kernel allows 128 MADs in flight, not 512.
TEST_CASE("results arrive one by one, and the requests in flight to one PMA stay below its limit", "[bare]") {
    coro::schedule_options options;
    options.max_outstanding = 512;
    options.gmps_per_destination = 16;
    swept_world w("fattree2,radix=16", options, round_trip(1ms));
    // A switch has 16 ports, of which `bound` are read at a time, after a query for its capabilities. All other nodes
    // have fewer ports and are queried at the same time.
    for (const auto& [bound, round_trips] : {std::pair{1u, 17}, {3u, 7}, {16u, 2}}) {
        std::set<std::pair<u32, u8>> arrived;
        counters::sweep_options how;
        how.per_agent = bound;
        how.on_port = [&](const counters::reading& l) { arrived.emplace(l.where.node, l.where.port); };
        const counters::sweep all = w.sweep(how);
        CHECK(all.complete());
        CHECK(arrived.size() == all.ports.size());
        CHECK(all.end - all.begin == round_trips * 1ms);
    }
}

TEST_CASE("details that a PMA does not support are queried once and are not a failure") {
    swept_world w("fattree2,radix=4");
    counters::sweep_options how;
    how.details.add<iba::pm::PortVLXmitTimeCong>().add<iba::pm::PortXmitConCtrl>();
    how.per_agent = 1;
    const auto check = [&](u8 abilities, bool has_them) {
        for (u32 n = 0; n < w.net.graph().nodes.size(); ++n) w.net.set_pma(n, abilities);
        counters::sweeper s(w.schedule, w.known, how);
        const counters::sweep first = w.sweep(s);
        CHECK(first.complete());
        for (const counters::reading& l : first.ports) CHECK(l.details.size() == (has_them ? 2 : 0));
        CHECK(first.mads == w.PMAs() + w.all_ports() + (has_them ? 2 * w.all_ports() : 2 * w.PMAs()));
        CHECK(w.sweep(s).mads == w.all_ports() * (has_them ? 3 : 1));
    };
    check(transports::sim::pma_ability::all, true);
    check(transports::sim::pma_ability::none, false);
}

TEST_CASE("a sweep reads only the requested ports") {
    swept_world w("fattree2,radix=8");
    counters::sweep_options how;
    how.wants = [](const subnet& s, port_ref p) { return !s.nodes[p.node].is_switch(); };
    const counters::sweep hosts = w.sweep(how);
    CHECK(hosts.complete());
    CHECK(hosts.ports.size() == w.hosts().size() + 1);
    for (const counters::reading& l : hosts.ports) CHECK_FALSE(w.known.nodes[l.where.node].is_switch());
}

TEST_CASE("a sweep of a subnet without a subnet manager reports for each PMA that it has no LID") {
    world w(transports::sim::make_topology("fattree2,radix=4"));
    const subnet known = w.discover();
    counters::sweeper s(w.schedule, known);
    const counters::sweep all = coro::sync_wait(w.schedule, s.run());
    CHECK(all.mads == 0);
    CHECK(all.failures.size() == known.nodes.size());
    for (const failure& g : all.failures) CHECK(g.kind == failure_kind::no_address);
}

TEST_CASE("twenty dead hosts of a thousand are reported, are queried last and once, and cost at most half more") {
    constexpr std::size_t dead = 20;
    swept_world w("fattree3,radix=16", {}, round_trip(1ms));
    REQUIRE(w.hosts().size() + 1 == 1024);
    const mad::duration whole = [&] { // with all nodes present
        counters::sweeper s(w.schedule, w.known);
        const counters::sweep all = w.sweep(s);
        REQUIRE(all.complete());
        return all.end - all.begin;
    }();
    std::set<iba::guid> killed;
    for (std::size_t i = 0; i < dead; ++i) {
        const u32 host = w.hosts()[i * 50 + 3];
        w.net.apply({topology_event::kind::kill, host});
        killed.insert(w.net.graph().nodes[host].nodeGUID);
    }

    counters::sweeper s(w.schedule, w.known);
    const counters::sweep first = w.sweep(s);
    INFO("whole " << whole.count() << " ns, with the dead " << (first.end - first.begin).count() << " ns");
    CHECK(2 * (first.end - first.begin) <= 3 * whole);
    std::set<iba::guid> missing;
    for (const failure& g : first.failures) {
        CHECK(g.kind == failure_kind::timeout);
        missing.insert(g.where.nodeGUID);
    }
    CHECK(missing == killed);
    CHECK(std::count_if(first.ports.begin(), first.ports.end(), [](const counters::reading& l) { return !l.valid; }) ==
          dead);

    const u64 timed_out = w.schedule.counters().timed_out;
    const counters::sweep second = w.sweep(s);
    CHECK(second.failures.size() == dead);
    for (const failure& g : second.failures) CHECK(g.kind == failure_kind::unresponsive);
    CHECK(w.schedule.counters().timed_out - timed_out == dead); // only once
    for (const u32 host : w.hosts()) w.net.apply({topology_event::kind::revive, host});
    CHECK(w.sweep(s).complete());
    CHECK(w.sweep(s).complete());
}

TEST_CASE("a canceled sweep keeps its samples and reports the ports that it did not read") {
    swept_world w("fattree2,radix=16", {}, round_trip(1ms));
    std::size_t read = 0;
    coro::scope around(w.schedule.root());
    counters::sweep_options how;
    how.on_port = [&](const counters::reading&) {
        if (++read == 30) around.cancel();
    };
    counters::sweeper s(w.schedule, w.known, how);
    coro::job<counters::sweep> job = around.queue(s.run());
    const auto waited = [](coro::job<counters::sweep>& j) -> coro::task<counters::sweep> { co_return co_await j; };
    const counters::sweep part = coro::sync_wait(w.schedule, waited(job));
    CHECK(part.is_stopped);
    const auto reported =
        std::count_if(part.ports.begin(), part.ports.end(), [](const counters::reading& l) { return l.valid; });
    CHECK(reported >= 30);
    CHECK(static_cast<std::size_t>(reported) < part.ports.size());
    REQUIRE_FALSE(part.failures.empty());
    for (const failure& g : part.failures) CHECK(g.kind == failure_kind::cancelled);
    // A failure covers each missing port.
    for (const counters::reading& l : part.ports) {
        if (l.valid) continue;
        CHECK(std::any_of(part.failures.begin(), part.failures.end(), [&](const failure& g) {
            const port_ref where = w.known.find(g.where);
            return where == l.where || where == port_ref{l.where.node, 0};
        }));
    }
}

TEST_CASE("a sweep of an earlier discovery is aligned to the current ports after nodes were added or removed") {
    swept_world w("fattree2,radix=4", {}, {}, {.counter_seed = 3});
    const counters::sweep first = w.sweep();
    const subnet then = w.known;
    const u32 gone = w.hosts().front();
    w.net.apply({topology_event::kind::cut, gone, 1});
    w.known = w.discover();
    REQUIRE(w.known.nodes.size() == then.nodes.size() - 1);
    const counters::sweep now = w.sweep();

    const auto by_place = [](const counters::sweep& s, const subnet& known) {
        std::map<std::pair<iba::guid, unsigned>, counters::reading> all;
        for (const counters::reading& l : s.ports) all[{known.nodes[l.where.node].info.nodeGUID, l.where.port}] = l;
        return all;
    };
    const counters::sweep forward = counters::align_to(now, w.known, first, then);
    REQUIRE(forward.ports.size() == now.ports.size());
    const auto was = by_place(first, then);
    for (std::size_t i = 0; i < now.ports.size(); ++i) {
        CHECK(forward.ports[i].where == now.ports[i].where);
        const auto& reported = was.at({w.known.nodes[now.ports[i].where.node].info.nodeGUID, now.ports[i].where.port});
        CHECK(forward.ports[i].valid);
        CHECK(forward.ports[i].counters.counters == reported.counters.counters);
        CHECK(forward.ports[i].counters.at == reported.counters.at);
    }

    // In the other direction, a host appears that did not exist before.
    const counters::sweep back = counters::align_to(first, then, now, w.known);
    REQUIRE(back.ports.size() == first.ports.size());
    const iba::guid stranger = w.net.graph().nodes[gone].nodeGUID;
    for (const counters::reading& l : back.ports)
        CHECK(l.valid == (then.nodes[l.where.node].info.nodeGUID != stranger));
}

TEST_CASE("a sweep does not abandon a responsive host because of a long round trip") {
    timing far;
    far.hop_delay = 10ms; // round trips take 20 to 120 ms
    swept_world w("fattree3,radix=4", {}, far);
    const counters::sweep swept = w.sweep();
    for (const failure& g : swept.failures) FAIL_CHECK(describe(w.known, g));
    CHECK(swept.complete());
}

TEST_CASE("a counter counts as not cleared if a Set does not lower it, except at its former rate") {
    swept_world w("fattree2,radix=4");
    const std::vector<u64> before{0, 10, 10, 10, 10};
    std::vector<std::vector<u64>> replies{{5, 9, 10, 12, 10}, {5, 9, 10, 17, 14}};
    std::size_t reads = 0;
    const counters::counters_reader read = [&]() -> coro::task<mad::result<std::vector<u64>>> {
        co_return replies.at(reads++);
    };
    const auto kept = coro::sync_wait(w.schedule, counters::find_kept(before, read));
    REQUIRE(kept);
    REQUIRE(kept.value().size() == 2); // one did not change, one grew by less than half of 10
    CHECK(kept.value()[0].index == 2);
    CHECK(kept.value()[1].index == 4);
    CHECK(kept_text("portRcvErrors", kept.value()[1]) == "portRcvErrors is 10, was 10");
    CHECK(reads == 2);

    reads = 0;
    replies = {{0, 0, 9, 1, 2}};
    const auto none = coro::sync_wait(w.schedule, counters::find_kept(before, read));
    REQUIRE(none);
    CHECK(none.value().empty());
    CHECK(reads == 1);
}

TEST_CASE("a failed clear is reported for its port, or for the node if all ports are cleared at once") {
    swept_world w("fattree2,radix=4");
    const auto known = std::ranges::find(w.known.nodes, std::string("leaf-0004"), &discovery::node::description);
    REQUIRE(known != w.known.nodes.end());
    const auto leaf = static_cast<u32>(known - w.known.nodes.begin());
    const auto& graph = w.net.graph().nodes;
    const auto in_graph =
        std::ranges::find(graph, known->info.nodeGUID, &transports::sim::node::nodeGUID) - graph.begin();
    const auto die = [&] { w.net.apply({topology_event::kind::kill, static_cast<u32>(in_graph)}); };
    const auto check = [&](const counters::sweep& all, port_ref where) {
        CHECK(std::ranges::all_of(all.ports, &counters::reading::valid));
        // The Sets get no reply, nor do the Gets after them.
        REQUIRE(all.failures.size() == 1);
        CHECK(all.failures[0].kind == failure_kind::not_cleared);
        CHECK(all.after_clear.empty());
        CHECK(w.known.find(all.failures[0].where) == where);
        CHECK_THAT(all.failures[0].text, Catch::StartsWith("unknown whether the counters were cleared: ") &&
                                             Catch::Contains("MAD_METHOD_SET"));
    };
    counters::sweep_options how;
    how.clears.add(counter::portRcvErrors);
    SECTION("one port of several") {
        how.wants = [&](const subnet&, port_ref p) { return p == port_ref{leaf, 3}; };
        how.choose_details = [&](const counters::reading&) { // its counters were read
            die();
            return counters::port_detail_set();
        };
        check(w.sweep(how), {leaf, 3});
    }
    SECTION("all ports of a switch") {
        how.wants = [&](const subnet&, port_ref p) { return p.node == leaf; };
        std::size_t read = 0;
        how.on_port = [&](const counters::reading&) {
            if (++read == 4) die();
        };
        check(w.sweep(how), {leaf, 0});
    }
}
