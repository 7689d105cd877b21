// SPDX-License-Identifier: MIT
// discovery_test.cpp - discoveries without faults find exactly the graph of the simulator, with every window. They send
// no unnecessary SMP and never exceed the limit of SMPs in flight.
#include "library/discovery_rig.hpp"
#include "program/key_witness.hpp"
#include "subnet/two_port_adapters.hpp"
#include <comad/coro/asio.hpp>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace discovery_test {

using namespace comad;
using namespace comad::test;

namespace {

const std::vector<std::string> none;

topology read(const char* text) {
    std::istringstream in(text);
    return transports::sim::read_topology(in, "test");
}

} // namespace

TEST_CASE("discovery finds the nodes, ports, links and shortest routes of the fabric") {
    const char* const specification = GENERATE("single", "fattree2,radix=4", "fattree2,radix=8,speed=QDR",
                                               "fattree3,radix=8", "torus,x=2,y=2,hosts=2", "torus,x=4,y=3,z=2,hosts=1",
                                               "torus,x=2,y=5,hosts=1", "ring,switches=9,hosts=1,width=12x,speed=SDR",
                                               "line,switches=20,hosts=1,speed=HDR", "ring,switches=3,hosts=0");
    CAPTURE(specification);
    const bool is_up = GENERATE(false, true);
    world w(is_up ? managed(specification) : transports::sim::make_topology(specification));
    const subnet found = w.discover();
    CHECK(differences(found, w) == none);
    CHECK(inconsistencies(found) == none);
    CHECK(found.complete());
    CHECK(w.seen.queried_twice == 0);
}

TEST_CASE("discovery can start at a host in the middle, at a switch and at a spine") {
    const topology t = managed("fattree3,radix=4");
    for (u32 start = 0; start < t.nodes.size(); ++start) {
        CAPTURE(t.nodes[start].id);
        world w(t, start, transports::sim::default_port(t.nodes[start]));
        const subnet found = w.discover();
        CHECK(differences(found, w) == none);
        CHECK(found.start_port == (t.nodes[start].is_switch() ? 0 : 1));
    }
}

TEST_CASE("a CA with two cabled ports is one node, and routes leave only through the local port") {
    const topology t = two_port_adapters(cabled_ports_of_b::only_second);
    for (u32 node = 0; node < t.nodes.size(); ++node) {
        const unsigned last = t.nodes[node].is_switch() ? 0 : 2;
        for (unsigned port = t.nodes[node].first_port(); port <= last; ++port) {
            if (port != 0 && !t.nodes[node].ports[port].linked()) continue;
            CAPTURE(t.nodes[node].id, port);
            world w(t, node, port);
            const subnet found = w.discover();
            CHECK(differences(found, w) == none);
            CHECK(found.complete());
        }
    }
}

TEST_CASE("discovery reads routers, enhanced ports 0, long descriptions and mixed links correctly") {
    world w(read(R"(
vendid=0x2c9
devid=0xbd36
sysimgguid=0x1003
switchguid=0x1000(1000)
Switch	36 "S-0000000000001000"		# "a description as long as they can be, which is sixty-four bytes." enhanced port 0 lid 3 lmc 2
[1]	"H-0000000000002000"[1](2001) 		# "host" lid 1 4xEDR
[7]	"R-0000000000003000"[2](3002) 		# "router" lid 9 1xSDR
[36]	"S-0000000000004000"[5]		# "leaf" lid 4 12xHDR

switchguid=0x4000(4000)
Switch	8 "S-0000000000004000"		# "leaf" base port 0 lid 4 lmc 0
[5]	"S-0000000000001000"[36]		# "" lid 3 12xHDR

rtguid=0x3000
Rt	2 "R-0000000000003000"		# "router"
[2](3002) 	"S-0000000000001000"[7]		# lid 9 lmc 1 "" lid 3 1xSDR

caguid=0x2000
Ca	2 "H-0000000000002000"		# "host"
[1](2001) 	"S-0000000000001000"[1]		# lid 1 lmc 0 "" lid 3 4xEDR
)"));
    const subnet found = w.discover();
    CHECK(differences(found, w) == none);
    CHECK(found.count(iba::NodeType::Router) == 1);
    REQUIRE(found.find(iba::guid{0x1000}));
    CHECK(found.find(iba::guid{0x1000})->description.size() == 64);
    CHECK(found.find(iba::guid{0x1000})->ports[0].info->LMC == 2);
}

TEST_CASE("discovery returns nodes breadth-first from the start in order of port numbers") {
    world w(managed("fattree3,radix=4"));
    const subnet found = w.discover();
    unsigned hops = 0;
    for (const discovery::node& n : found.nodes) {
        CHECK(n.route.hopCount >= hops);
        hops = n.route.hopCount;
    }
    // At the same distance, the ports of the routes ascend.
    for (std::size_t n = 1; n < found.nodes.size(); ++n) {
        if (found.nodes[n - 1].route.hopCount != found.nodes[n].route.hopCount) continue;
        CHECK(found.nodes[n - 1].route.drPath < found.nodes[n].route.drPath);
    }
}

TEST_CASE("a discovery sends no SMP over a route longer than one hop beyond the farthest node") {
    const char* const specification = GENERATE("ring,switches=60,hosts=1", "torus,x=6,y=6,hosts=1", "fattree3,radix=8");
    for (unsigned outstanding : {1u, 64u}) {
        CAPTURE(specification, outstanding);
        coro::schedule_options options = window(outstanding);
        options.per_destination = 2; // with one at a time, the port that is read first would win
        world w(managed(specification), options);
        const subnet found = w.discover();
        CHECK(w.seen.longest_route <= found.max_hops() + 1);
    }
}

TEST_CASE("results and their order are the same for every window and every timing") {
    const char* const specification = GENERATE("fattree3,radix=8", "torus,x=4,y=4,hosts=2", "ring,switches=30,hosts=1");
    world reference(managed(specification), window(1));
    const std::string expected = text_of(reference.discover());
    for (unsigned outstanding : {1u, 2u, 4u, 16u, 64u, 256u}) {
        for (u64 seed : {0u, 1u, 2u}) {
            CAPTURE(specification, outstanding, seed);
            faults luck;
            luck.seed = seed;
            luck.reorder = seed == 2 ? 0.2 : 0;
            world w(managed(specification), window(outstanding), seed == 0 ? timing{} : with_jitter(), luck);
            const subnet found = w.discover();
            CHECK(text_of(found) == expected);
            CHECK(differences(found, w) == none);
            CHECK(w.seen.queried_twice == 0);
        }
    }
}

// Each attribute needs one SMP. NodeInfo: the local node, every link that the discovery follows, and every link that
// only closes a cycle. PortInfo: every port of a switch, including port 0, and the port of each CA. NodeDescription:
// every node. SwitchInfo: every switch. Any further SMP must come from a link that is probed from both ends at the same
// time.
TEST_CASE("discovery of 1344 nodes sends only required SMPs plus simultaneous probes, for every window") {
    const topology t = managed("fattree3,radix=16");
    REQUIRE(t.nodes.size() == 1344);
    REQUIRE(t.link_count() == 3072);
    const std::size_t switches = t.count(iba::NodeType::Switch);
    const std::size_t hosts = t.nodes.size() - switches;
    const std::size_t least = 1 + t.link_count() + switches * (16 + 1) + hosts + t.nodes.size() + switches;
    CHECK(least == 11201);

    std::string report;
    const auto count = [&](unsigned outstanding, bool jitter) {
        world w(t, window(outstanding), jitter ? with_jitter() : timing{});
        const subnet found = w.discover();
        CHECK(found.complete());
        CHECK(found.link_count() == 3072);
        CHECK(found.nodes.size() == 1344);
        CHECK(w.sent() == w.seen.first_attempts);
        CHECK(w.seen.queried_twice == 0);
        CHECK(w.sent() >= least);
        report += fmt::format("\nwindow {:3}{}: {} SMPs, {} at once in one node, {} virtual ms", outstanding,
                              jitter ? " with jitter" : "", w.sent(), w.net.most_held(),
                              std::chrono::duration_cast<std::chrono::milliseconds>(w.elapsed()).count());
        return w.sent();
    };
    for (bool jitter : {false, true}) {
        CHECK(count(1, jitter) <= 11203);
        CHECK(count(4, jitter) <= 11260);
        for (unsigned outstanding : {8u, 16u, 32u, 64u, 100u}) {
            CAPTURE(outstanding, jitter);
            CHECK(count(outstanding, jitter) <= 11427);
        }
    }
    WARN("1344 nodes, 3072 links, at least " << least << " SMPs" << report);
}

TEST_CASE("the MADs in flight never exceed the window, nor the SMPs to one destination their bound") {
    const bool jitter = GENERATE(false, true);
    for (unsigned outstanding : {1u, 2u, 7u, 64u}) {
        for (unsigned bound : {1u, 2u, 4u, 0u}) {
            CAPTURE(outstanding, bound, jitter);
            coro::schedule_options options = window(outstanding);
            options.per_destination = bound;
            world w(managed("fattree3,radix=8"), options, jitter ? with_jitter() : timing{});
            CHECK(w.discover().complete());
            CHECK(w.seen.most == outstanding); // the whole window is used
            CHECK(w.seen.most_to_one <= (bound ? bound : outstanding));
            if (bound == 2 && outstanding > 2) CHECK(w.seen.most_to_one == 2);
        }
    }
    CHECK(coro::schedule_options{}.per_destination == 1);
}

TEST_CASE("the bound per destination holds while MADs are lost and retried") {
    faults wrong;
    wrong.request_loss = wrong.reply_loss = 0.05;
    world w(managed("fattree2,radix=8"), window(16, 8), with_jitter(), wrong);
    const subnet found = w.discover();
    CHECK(w.schedule.counters().retried > 0);
    CHECK(w.seen.most <= 16);
    CHECK(w.seen.most_to_one <= 2);
    CHECK(differences(found, w) == none);
}

TEST_CASE("two virtual-time discoveries with one seed are identical, and another seed differs") {
    const auto run = [](u64 seed) {
        faults wrong;
        wrong.request_loss = wrong.reply_loss = wrong.duplicate = wrong.reorder = wrong.garbage = 0.02;
        wrong.seed = seed;
        world w(managed("fattree2,radix=8"), window(32, 8), with_jitter(), wrong);
        const std::string text = text_of(w.discover());
        return std::tuple(text, w.seen.trace, w.elapsed(), w.sent(), w.schedule.counters().retried,
                          w.schedule.counters().stale);
    };
    const auto first = run(7);
    CHECK(run(7) == first);
    CHECK(std::get<1>(run(8)) != std::get<1>(first));
    CHECK(std::get<0>(run(8)) == std::get<0>(first));
}

TEST_CASE("a discovery finds the same subnet under the blocking, the Asio and the virtual-time driver") {
    const topology t = managed("fattree3,radix=4");
    world in_virtual_time(t);
    const std::string expected = text_of(in_virtual_time.discover());

    transports::sim::fabric net(t);
    transports::sim::sim_transport port(net, time_mode::real);
    coro::MADSchedule schedule(port);
    auto blocking = coro::sync_wait(schedule, discovery::discover(schedule));
    REQUIRE(blocking);
    CHECK(text_of(blocking.value()) == expected);

    boost::asio::io_context io;
    coro::asio_driver driver(io, schedule);
    std::optional<mad::result<subnet>> with_asio;
    coro::async_run(driver, discovery::discover(schedule),
                    [&](mad::result<subnet> found) { with_asio.emplace(std::move(found)); });
    io.run();
    REQUIRE(with_asio);
    REQUIRE(*with_asio);
    CHECK(text_of(with_asio->value()) == expected);
}

TEST_CASE("discovery_progress counts the nodes, links and failures found so far") {
    world w(managed("fattree2,radix=4"));
    discovery::discovery_progress progress;
    const subnet found = w.discover({.progress = &progress});
    CHECK(progress.nodes.load() == found.nodes.size());
    CHECK(progress.links.load() == found.link_count());
    CHECK(progress.failures.load() == 0);
}

TEST_CASE("each SMP carries the M_Key of its port as soon as the key is known") {
    const topology t = GENERATE(two_port_adapters(cabled_ports_of_b::only_second), managed("fattree2,radix=4"),
                                managed("ring,switches=9,hosts=1"));
    mad::port_keys keys = different_keys(t);
    keys.set_default(mad::key_kind::MKey, 1);
    world w(t);
    key_witness witness(w, keys);
    w.schedule.set_trace(&witness);
    const subnet found = w.discover({.keys = &keys});
    CHECK(differences(found, w) == none);
    CHECK(witness.wrong == 0);
    CHECK(witness.requested >= found.nodes.size());
    CHECK(witness.right > 2 * found.nodes.size());
    for (const discovery::node& n : found.nodes)
        CHECK(n.route.MKey == keys.of(mad::key_kind::MKey, witness.port_at(n.route)));
}

// ---- Filters ----

TEST_CASE("a discovery with a port filter sends no SMP beyond the excluded ports") {
    world w(managed("fattree2,radix=8"));
    const discovery::port_filter filter = [](const subnet& s, discovery::port_ref at) {
        return !s.nodes[at.node].description.starts_with("spine-");
    };
    discovery::discover_options options;
    options.follows = &filter;
    const subnet found = w.discover(options);
    CHECK(found.complete());
    CHECK(found.nodes.size() == 9); // the hosts of the first leaf, that leaf and the spines
    CHECK(inconsistencies(found) == none);
    CHECK(w.sent() == 4 * 3 + 5 * 12); // NodeInfo, NodeDescription, PortInfo of all ports, SwitchInfo
    for (u32 n = 0; n < w.net.graph().nodes.size(); ++n) {
        const bool is_found = found.find(w.net.graph().nodes[n].nodeGUID) != nullptr;
        CHECK((w.net.counters(n).received > 0) == is_found);
    }
    for (const discovery::node& n : found.nodes) {
        if (!n.description.starts_with("spine-")) continue;
        for (unsigned p = 1; p <= n.info.numPorts; ++p) {
            CAPTURE(n.description, p);
            REQUIRE(n.ports[p].info);
            CHECK(bool(n.ports[p].peer) == (p == n.info.localPortNum));
        }
    }
}

TEST_CASE("a filter that accepts all ports finds the subnet of a discovery without a filter") {
    world w(managed("fattree3,radix=4")), filtered(managed("fattree3,radix=4"));
    const discovery::port_filter filter = [](const subnet&, discovery::port_ref) { return true; };
    discovery::discover_options options;
    options.follows = &filter;
    CHECK(text_of(filtered.discover(options)) == text_of(w.discover()));
    CHECK(filtered.sent() == w.sent());
}

TEST_CASE("a port filter receives the port and the description of its node") {
    world w(managed("fattree2,radix=4"));
    std::vector<std::string> seen;
    const discovery::port_filter filter = [&](const subnet& s, discovery::port_ref at) {
        const discovery::node& n = s.nodes[at.node];
        REQUIRE(n.ports[at.port].info);
        seen.push_back(fmt::format("{}/{}", n.description, at.port));
        return n.hops == 0;
    };
    discovery::discover_options options;
    options.follows = &filter;
    const subnet found = w.discover(options);
    CHECK(found.nodes.size() == 2);
    CHECK(seen == std::vector<std::string>{"h-0001 HCA-1/1", "leaf-0001/2", "leaf-0001/3", "leaf-0001/4"});
}

} // namespace discovery_test
