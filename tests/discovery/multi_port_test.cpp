// SPDX-License-Identifier: MIT
// multi_port_test.cpp - multi-port discoveries, with a schedule and a thread for each port. Whatever fails, they find what a
// discovery through one port finds. Also discoveries of several subnets in one process. Run under ThreadSanitizer.
#include "../../discovery/walk/subnet_builder.hpp"
#include "ibsim/ibsim_programs.hpp"
#include "program/key_witness.hpp"
#include "subnet/two_port_adapters.hpp"
#include "wire/locked_transport.hpp"
#include <comad/coro/asio.hpp>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::MADSchedule;
using discovery::discover_multi_port;
using discovery::failure;
using discovery::failure_kind;
using transports::ibsim_transport;

namespace {

const std::vector<std::string> none;

/// Returns what a discovery through one port finds, in virtual time.
subnet by_one_port(const topology& t, u32 node, unsigned port, const mad::port_keys* keys = nullptr) {
    world w(t, node, port);
    return w.discover({.keys = keys});
}

struct port_of_host {
    u32 node;
    unsigned port;
};

/// Returns some hosts of a subnet. The first two of them are close together.
std::vector<port_of_host> hosts(const topology& t, std::size_t count) {
    std::vector<port_of_host> all;
    for (u32 n = 0; n < t.nodes.size(); ++n)
        if (!t.nodes[n].is_switch()) all.push_back({n, transports::sim::default_port(t.nodes[n])});
    std::vector<port_of_host> some;
    for (std::size_t i = 0; i < count; ++i) some.push_back(all[i < 2 ? i : i * all.size() / count]);
    return some;
}

/// Several ports of a simulated subnet, in real time.
struct multi_port_world {
    /// Nothing times out unless `options` set a timeout, except at the port `impatient`.
    multi_port_world(const topology& t, const std::vector<port_of_host>& places,
                     coro::schedule_options options = window(16), std::optional<std::size_t> impatient = {})
        : subnet_under_test(t) {
        if (options.timeout.count() == 0) options.timeout = std::chrono::hours(1);
        for (const port_of_host& p : places) {
            coro::schedule_options its_own = options;
            if (ports.size() == impatient) its_own.timeout = std::chrono::milliseconds(10);
            ports.emplace_back(subnet_under_test, p.node, p.port);
            all.push_back(&schedules.emplace_back(ports.back(), its_own));
        }
    }
    subnet discover(const discovery::discover_options& options = {}, std::stop_token stop = {}) {
        auto found = discover_multi_port(all, options, std::move(stop));
        REQUIRE(found);
        return std::move(found).value();
    }
    u64 sent() const {
        u64 sum = 0;
        for (const auto& s : schedules) sum += s.counters().sent;
        return sum;
    }

    shared_fabric subnet_under_test;
    std::deque<locked_transport> ports;
    std::deque<MADSchedule> schedules;
    std::vector<MADSchedule*> all;
};

std::size_t count(const subnet& found, failure_kind what) {
    return static_cast<std::size_t>(
        std::count_if(found.failures.begin(), found.failures.end(), [&](const failure& p) { return p.kind == what; }));
}

} // namespace

TEST_CASE("a multi-port discovery returns the subnet that a discovery through its first port returns") {
    const char* const specification =
        GENERATE("single", "fattree2,radix=8", "fattree3,radix=8", "torus,x=4,y=4,hosts=2", "ring,switches=16,hosts=1");
    const topology t = managed(specification);
    for (const std::size_t count : {1u, 2u, 3u, 5u}) {
        const auto places = hosts(t, std::min<std::size_t>(count, t.count(iba::NodeType::CA)));
        const subnet expected = by_one_port(t, places[0].node, places[0].port);
        for (int round = 0; round < 3; ++round) {
            CAPTURE(specification, count, round);
            multi_port_world w(t, places);
            const subnet found = w.discover();
            CHECK(text_of(found) == text_of(expected));
            CHECK(differences(found, t, places[0].node, places[0].port) == none);
            CHECK(inconsistencies(found) == none);
        }
    }
}

TEST_CASE("a multi-port discovery may start at two ports of one node, twice at one port, and at switches") {
    const topology t = two_port_adapters(cabled_ports_of_b::both);
    const std::vector<std::vector<port_of_host>> beginnings{
        {{0, 1}, {0, 2}}, {{0, 2}, {0, 1}},         {{0, 1}, {0, 1}}, {{0, 1}, {1, 2}},
        {{2, 0}, {4, 0}}, {{4, 0}, {0, 1}, {1, 1}}, {{3, 0}, {3, 0}}};
    const mad::port_keys keys = different_keys(t);
    for (const auto& places : beginnings) {
        const subnet expected = by_one_port(t, places[0].node, places[0].port, &keys);
        for (int round = 0; round < 5; ++round) {
            CAPTURE(places[0].node, places[0].port, places[1].node, places[1].port);
            multi_port_world w(t, places);
            const subnet found = w.discover({.keys = &keys});
            CHECK(text_of(found) == text_of(expected));
            CHECK(found.complete());
            for (std::size_t n = 0; n < found.nodes.size(); ++n) {
                CHECK(found.nodes[n].info.localPortNum == expected.nodes[n].info.localPortNum);
                CHECK(found.nodes[n].info.portGUID == expected.nodes[n].info.portGUID);
                CHECK(found.nodes[n].route.MKey == expected.nodes[n].route.MKey);
            }
        }
    }
}

TEST_CASE("nodes that only the second port of a multi-port discovery reaches come last") {
    constexpr transports::sim::link_codes edr{2, 16};
    topology t;
    const u32 host = t.add_node(iba::NodeType::CA, 2, iba::guid{0xa0}, "host", edr);
    const u32 left = t.add_node(iba::NodeType::Switch, 4, iba::guid{0x10}, "left", edr);
    const u32 right = t.add_node(iba::NodeType::Switch, 4, iba::guid{0x20}, "right", edr);
    t.link(host, 1, left, 1);
    t.link(host, 2, right, 3);
    bring_up(t);
    multi_port_world w(t, {{host, 2}, {host, 1}});
    const subnet found = w.discover();
    CHECK(found.complete());
    REQUIRE(found.nodes.size() == 3);
    CHECK(found.start_port == 2);
    CHECK(found.nodes[1].info.nodeGUID == t.nodes[right].nodeGUID);
    CHECK(found.nodes[2].info.nodeGUID == t.nodes[left].nodeGUID);
    CHECK(found.nodes[2].route.hopCount == 1);
    for (const unsigned p : {1u, 2u}) {
        CHECK(found.nodes[0].ports[p].portGUID == t.nodes[host].ports[p].GUID);
        CHECK(found.nodes[0].ports[p].info);
        CHECK(found.nodes[0].ports[p].peer);
    }
}

TEST_CASE("a multi-port discovery queries nothing twice, except links whose two ends are queried at once") {
    const topology t = managed("fattree3,radix=8");
    const std::size_t switches = t.count(iba::NodeType::Switch);
    const std::size_t least =
        t.link_count() + switches * (8 + 1) + (t.nodes.size() - switches) + t.nodes.size() + switches;
    for (const std::size_t count : {2u, 4u}) {
        multi_port_world w(t, hosts(t, count));
        CHECK(w.discover().complete());
        CHECK(w.sent() >= least + count);
        CHECK(w.sent() <= least + 2 * count + t.link_count()); // each link from both ends
    }
}

TEST_CASE("a worker that has nothing else to send takes part in reading the switch that it reaches") {
    using discovery::node_query;
    using discovery::query_kind;
    discovery::subnet_builder builder({}, {.has_several_workers = true});
    iba::smp::NodeInfo host{}, leaf{};
    host.nodeType = iba::NodeType::CA;
    host.numPorts = host.localPortNum = 1;
    leaf.nodeType = iba::NodeType::Switch;
    leaf.numPorts = 4;
    leaf.nodeGUID = iba::guid{0x10};
    discovery::query_queue queue;
    const auto begin = [&](u32 worker) {
        host.nodeGUID = host.portGUID = iba::guid{worker + 1};
        return builder.begin(host, {worker, 2, true}, queue);
    };
    // Returns the readers that the worker is to start.
    const auto reach = [&](u32 from, u32 worker, bool is_idle) {
        leaf.localPortNum = static_cast<u8>(worker + 1);
        queue.clear();
        const discovery::node_request request{.query = {.kind = query_kind::neighbor, .node = from, .port = 1},
                                              .directed = IBDRPath{}.extended(1)};
        CHECK_FALSE(builder.accept(request, leaf, {worker, 2, is_idle}, queue));
        CHECK(std::ranges::all_of(queue, [](const node_query& q) { return q.kind == query_kind::node; }));
        return queue.size();
    };
    const u32 a = begin(0), b = begin(1), c = begin(2);
    CHECK(reach(a, 0, true) == 2);
    const node_query reader = queue.front();
    CHECK(reach(b, 1, false) == 0); // it has other queries to send
    CHECK(reach(c, 2, true) == 2);
    CHECK(queue.front().node == reader.node);
    CHECK(reach(c, 2, true) == 0); // it takes part already
    // All readers together read each port once.
    std::vector<unsigned> read(5);
    while (const auto request = builder.next(reader))
        if (request->query.kind == query_kind::port) ++read[request->query.port];
    CHECK(read == std::vector<unsigned>{1, 1, 1, 1, 1});
    CHECK(reach(a, 0, true) == 0); // nothing is left to read
}

TEST_CASE("a worker that starts at another port of a known host reads that port") {
    discovery::subnet_builder builder({}, {.has_several_workers = true});
    iba::smp::NodeInfo host{};
    host.nodeType = iba::NodeType::CA;
    host.numPorts = host.localPortNum = 2;
    host.nodeGUID = iba::guid{0x77};
    discovery::query_queue first, second;
    const u32 node = builder.begin(host, {0, 2, true}, first);
    host.localPortNum = 1;
    CHECK(builder.begin(host, {1, 2, true}, second) == node);
    REQUIRE(first.size() == 2);
    CHECK(first[0].kind == discovery::query_kind::node);
    CHECK(first[1].kind == discovery::query_kind::node);
    REQUIRE(second.size() == 1);
    CHECK(second[0].kind == discovery::query_kind::port);
    CHECK(second[0].node == node);
    CHECK(second[0].port == 1);
}

TEST_CASE("a multi-port discovery through one port starts no thread") {
    const topology t = managed("fattree2,radix=4");
    multi_port_world w(t, hosts(t, 1));
    std::thread::id driven_by;
    w.ports[0].on_send = [&](u64) { driven_by = std::this_thread::get_id(); };
    CHECK(w.discover().complete());
    CHECK(driven_by == std::this_thread::get_id());
}

TEST_CASE("any thread may read the progress of a multi-port discovery") {
    const topology t = managed("fattree2,radix=8");
    multi_port_world w(t, hosts(t, 3));
    discovery::discovery_progress progress;
    subnet found;
    {
        const std::jthread looks([&](const std::stop_token& enough) {
            std::size_t nodes = 0;
            while (!enough.stop_requested()) nodes = std::max(nodes, progress.nodes.load());
        });
        found = w.discover({.progress = &progress});
    }
    CHECK(progress.nodes.load() == found.nodes.size());
    CHECK(progress.links.load() == found.link_count());
}

// ---- failures --------------------------------------------------------------------------------------------------------------

TEST_CASE("a multi-port discovery continues if a port fails, and reports the failed port") {
    const topology t = managed("fattree2,radix=8");
    const auto places = hosts(t, 3);
    const subnet expected = by_one_port(t, places[0].node, places[0].port);
    for (std::size_t victim = 0; victim < places.size(); ++victim) {
        for (const u64 when : {1u, 2u, 5u, 20u, 60u}) {
            CAPTURE(victim, when);
            multi_port_world w(t, places);
            w.ports[victim].fails_after = when;
            subnet found = w.discover();
            CHECK(differences(found, t, places[0].node, places[0].port) == none);
            const bool failed = w.schedules[victim].transport_failed();
            CHECK(found.failures.size() == (failed ? 1 : 0));
            CHECK(count(found, failure_kind::send_failed) == found.failures.size());
            found.failures.clear();
            CHECK(text_of(found) == text_of(expected));
        }
    }
}

TEST_CASE("a multi-port discovery reports a port that does not reply and is ordered from the first that does") {
    const topology t = managed("fattree2,radix=4");
    const auto places = hosts(t, 3);
    for (const std::size_t silent : {0u, 1u}) {
        multi_port_world w(t, places, window(16), silent);
        w.ports[silent].silent_after = 0;
        subnet found = w.discover();
        REQUIRE(found.failures.size() == 1);
        CHECK(found.failures[0].text.starts_with(fmt::format("local port #{}: ", silent)));
        CHECK(found.failures[0].kind == failure_kind::send_failed);
        found.failures.clear();
        const port_of_host& first = places[silent == 0 ? 1 : 0];
        CHECK(text_of(found) == text_of(by_one_port(t, first.node, first.port)));
    }
}

TEST_CASE("a multi-port discovery without any port that replies returns the error of the first port") {
    const topology t = managed("fattree2,radix=4");
    multi_port_world w(t, hosts(t, 2));
    w.ports[0].fails_after = w.ports[1].fails_after = 0;
    const auto found = discover_multi_port(w.all);
    REQUIRE(!found);
    CHECK((found.error().code == mad::errc::send_failed || found.error().code == mad::errc::transport_failed));
}

TEST_CASE("a multi-port discovery returns a partial result if all ports fail") {
    const topology t = managed("fattree2,radix=8");
    const auto places = hosts(t, 2);
    multi_port_world w(t, places);
    w.ports[0].fails_after = w.ports[1].fails_after = 20;
    const subnet found = w.discover();
    CHECK(found.nodes.size() > 4); // 20 SMPs through each port find some nodes
    CHECK(found.nodes.size() < t.nodes.size());
    CHECK(inconsistencies(found) == none);
    CHECK(count(found, failure_kind::send_failed) > 2);
    CHECK(count(found, failure_kind::send_failed) == found.failures.size());
}

TEST_CASE("a dead switch causes equal failures in discoveries through one port and through several") {
    topology t = managed("fattree2,radix=8");
    const auto places = hosts(t, 3);
    u32 dead = 0; // a spine: cabled to switches only
    for (u32 n = 0; n < t.nodes.size(); ++n) {
        bool is_spine = t.nodes[n].is_switch();
        for (unsigned p = 1; is_spine && p <= t.nodes[n].num_ports(); ++p)
            is_spine = t.nodes[n].ports[p].linked() && t.nodes[t.nodes[n].ports[p].peer_node].is_switch();
        if (is_spine) dead = n;
    }
    REQUIRE(dead != 0);
    coro::schedule_options options = window(16, 1);
    options.timeout = std::chrono::seconds(1);
    const auto describe_all = [](const subnet& s) {
        std::vector<std::string> lines;
        for (const failure& p : s.failures) // without the text, which contains the route of the query
            lines.push_back(fmt::format("{} {}[{}] {}", static_cast<int>(p.kind), value(p.where.nodeGUID), p.where.port,
                                        to_string(mad::any_path(p.where.route))));
        std::sort(lines.begin(), lines.end());
        return lines;
    };
    multi_port_world single(t, {places[0]}, options), several(t, places, options);
    using transports::sim::topology_event;
    single.subnet_under_test.net.apply({topology_event::kind::kill, dead, 0});
    several.subnet_under_test.net.apply({topology_event::kind::kill, dead, 0});
    const subnet expected = single.discover(), found = several.discover();
    CHECK(expected.failures.size() == 8);
    CHECK(describe_all(found) == describe_all(expected));
}

TEST_CASE("a stop request ends a multi-port discovery at all ports, including a port that waits for a reply") {
    const topology t = managed("fattree3,radix=8");
    multi_port_world w(t, hosts(t, 3));
    std::stop_source stop;
    w.ports[0].silent_after = 1; // its worker waits for an hour
    std::atomic<u64> by_others = 0;
    w.ports[1].on_send = w.ports[2].on_send = [&](u64) {
        if (++by_others == 100) stop.request_stop();
    };
    const subnet found = w.discover({}, stop.get_token());
    CHECK(found.nodes.size() > 1);
    CHECK(count(found, failure_kind::cancelled) == 1);
    CHECK(inconsistencies(found) == none);

    // If nothing was found yet, the result is an error.
    const auto nothing = discover_multi_port(w.all, {}, stop.get_token());
    REQUIRE(!nothing);
    CHECK(nothing.error().code == mad::errc::cancelled);
}

// ---- a real server -----------------------------------------------------------------------------------------------------------

TEST_CASE("a multi-port discovery by several clients of one ibsim finds what ibnetdiscover finds") {
    const char* const specification = GENERATE("fattree2,radix=8", "torus,x=3,y=3,hosts=1");
    CAPTURE(specification);
    const topology t = transports::sim::make_topology(specification);
    const ibsim_server server(topology_file_of(specification));
    const auto places = hosts(t, 4);
    std::deque<ibsim_transport> ports;
    std::deque<MADSchedule> schedules;
    std::vector<MADSchedule*> all;
    for (const port_of_host& p : places) {
        transports::ibsim_options where = at(server);
        where.node = t.nodes[p.node].id;
        ports.emplace_back(where);
        all.push_back(&schedules.emplace_back(ports.back(), window(32)));
    }
    const auto one = coro::sync_wait(schedules[0], discovery::discover(schedules[0]));
    REQUIRE(one);
    for (int round = 0; round < 10; ++round) {
        const auto found = discover_multi_port(all);
        REQUIRE(found);
        CHECK(text_of(found.value()) == text_of(one.value()));
    }
    compare_reports(server, one.value());
}

// ---- several subnets in one process --------------------------------------------------------------------------------------------

TEST_CASE("discoveries of two subnets in two threads do not affect each other") {
    const topology first = managed("fattree2,radix=8"), second = managed("torus,x=3,y=3,hosts=1");
    const auto discover_in_real_time = [](const topology& t) {
        transports::sim::fabric net(t);
        transports::sim::sim_transport port(net, time_mode::real);
        MADSchedule schedule(port);
        auto found = coro::sync_wait(schedule, discovery::discover(schedule));
        return found ? text_of(found.value()) : to_string(found.error());
    };
    const std::string expected[] = {discover_in_real_time(first), discover_in_real_time(second)};
    CHECK(expected[0] != expected[1]);
    std::string found[2];
    {
        const std::jthread other([&] {
            for (int round = 0; round < 5; ++round) found[1] = discover_in_real_time(second);
        });
        for (int round = 0; round < 5; ++round) found[0] = discover_in_real_time(first);
    }
    CHECK(found[0] == expected[0]);
    CHECK(found[1] == expected[1]);
}

TEST_CASE("one io_context in one thread runs the discoveries of two subnets at the same time") {
    const topology graphs[] = {managed("fattree2,radix=8"), managed("torus,x=3,y=3,hosts=1")};
    boost::asio::io_context io{1};
    std::deque<transports::sim::fabric> nets;
    std::deque<transports::sim::sim_transport> ports;
    std::deque<MADSchedule> schedules;
    std::deque<coro::asio_driver> drivers;
    std::string found[2];
    for (std::size_t i = 0; i < 2; ++i) {
        nets.emplace_back(graphs[i], with_jitter());
        ports.emplace_back(nets[i], time_mode::real);
        schedules.emplace_back(ports[i]);
        drivers.emplace_back(io, schedules[i]);
        coro::async_run(drivers[i], discovery::discover(schedules[i]), [&found, i](mad::result<subnet> s) {
            found[i] = s ? text_of(s.value()) : to_string(s.error());
        });
    }
    io.run();
    for (std::size_t i = 0; i < 2; ++i) {
        world w(graphs[i]);
        CHECK(found[i] == text_of(w.discover()));
    }
}
