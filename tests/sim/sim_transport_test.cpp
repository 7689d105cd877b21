// SPDX-License-Identifier: MIT
// sim_transport_test.cpp - simulated subnets: time, faults, order, allocations, and the texts that describe faults.
#include "support/allocations.hpp"
#include "support/catch.hpp"
#include "wire/sim_client.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <set>
#include <stdexcept>
#include <string>
#include <unistd.h>

using namespace comad;
using namespace comad::transports::sim;
using namespace std::chrono_literals;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;

namespace {

simulation make(std::string_view specification) { return make_sim(specification, time_mode::virtual_); }

mad::duration since_start(const arrived& a) { return a.when.time_since_epoch(); }

u64 tid_of(const arrived& a) { return iba::get<&iba::MADHeader::transactionID>(a.bytes.data()); }

/// Sends a SubnGet(NodeInfo) with a distinct transaction ID.
void send_numbered(mad::transport& t, const mad::any_path& path, u64 tid) {
    smp_bytes request = get_request(iba::attribute_id<NodeInfo>, path);
    iba::put<&iba::MADHeader::transactionID>(request.data(), tid);
    REQUIRE(send_to(t, path, request).state == mad::send_state::sent);
}

std::vector<u64> tids(const std::vector<arrived>& all) {
    std::vector<u64> numbers;
    for (const arrived& a : all) numbers.push_back(tid_of(a));
    return numbers;
}

bool is_readable(const mad::transport& t, int patience_ms = 0) {
    pollfd descriptor{t.native_handle(), POLLIN, 0};
    return ::poll(&descriptor, 1, patience_ms) == 1;
}

std::string refusal_of(std::string_view specification) {
    try {
        make(specification);
    } catch (const std::runtime_error& e) {
        return e.what();
    }
    return "no error";
}

/// Returns an FNV-1a hash over what arrived and when. Two runs are equal if their hashes are.
u64 trace_hash(std::string_view specification) {
    const auto s = make(specification);
    u64 tid = 0;
    for (u8 port = 4; port <= 6; ++port) { // the ports of a leaf to the spines
        for (u8 further = 1; further <= 6; ++further) {
            for (int again = 0; again < 4; ++again) send_numbered(*s.transport, route({1, port, further}), ++tid);
        }
    }
    u64 hash = 0xcbf29ce484222325;
    const auto add = [&hash](u64 x) { hash = (hash ^ x) * 0x100000001b3; };
    const auto all = drain(*s.transport);
    REQUIRE(all.size() > 50);
    for (const arrived& a : all) {
        add(static_cast<u64>(since_start(a).count()));
        add(a.full_size);
        for (u8 byte : a.bytes) add(byte);
    }
    return hash;
}

} // namespace

TEST_CASE("the time of a reply is twice the latency of its cables plus the service time") {
    const auto s = make("fattree2,radix=4,latency=7us,service=3us");
    send_numbered(*s.transport, route({}), 1);
    send_numbered(*s.transport, route({1}), 2);
    send_numbered(*s.transport, route({1, 3, 2, 1}), 3);
    const auto all = drain(*s.transport);
    REQUIRE(tids(all) == std::vector<u64>{1, 2, 3});
    CHECK(since_start(all[0]) == 3us);
    CHECK(since_start(all[1]) == 17us);
    CHECK(since_start(all[2]) == 8 * 7us + 3us);
}

TEST_CASE("an SMA serves one SMP after the other, and two SMAs serve at once") {
    const auto s = make("fattree2,radix=4,latency=1us,service=10us");
    for (u64 tid : {1, 2, 3}) send_numbered(*s.transport, route({1}), tid);
    send_numbered(*s.transport, route({1, 2}), 4);
    CHECK(s.fabric->next_event() == mad::time_point(1us));
    const auto all = drain(*s.transport);
    REQUIRE(tids(all) == std::vector<u64>{1, 4, 2, 3});
    CHECK(since_start(all[0]) == 12us);
    CHECK(since_start(all[1]) == 14us);
    CHECK(since_start(all[2]) == 22us);
    CHECK(since_start(all[3]) == 32us);
    const u32 leaf = *s.fabric->graph().find("leaf-0001");
    CHECK(s.fabric->counters(leaf).received == 3);
    CHECK(s.fabric->counters(leaf).most_held == 3);
    CHECK(s.fabric->counters(leaf).held == 0);
    CHECK(s.fabric->most_held() == 3);
}

TEST_CASE("set_service_time slows one node only") {
    const auto s = make("fattree2,radix=4,latency=0ns,service=1us");
    s.fabric->set_service_time(*s.fabric->graph().find("h-0002 HCA-1"), 50us);
    send_numbered(*s.transport, route({1, 2}), 1);
    send_numbered(*s.transport, route({1}), 2);
    const auto all = drain(*s.transport);
    REQUIRE(tids(all) == std::vector<u64>{2, 1});
    CHECK(since_start(all[1]) == 50us);
}

TEST_CASE("delay= adds the same time to every reply, whatever the length of the route") {
    const auto s = make("fattree2,radix=4,delay=50us,latency=0us,service=4us");
    send_numbered(*s.transport, route({}), 1);
    send_numbered(*s.transport, route({1}), 2);
    send_numbered(*s.transport, route({1, 3, 2, 1}), 3);
    const auto all = drain(*s.transport);
    REQUIRE(tids(all) == std::vector<u64>{1, 2, 3});
    for (const arrived& a : all) CHECK(since_start(a) == 2 * 50us + 4us);
}

TEST_CASE("each cable adds its own jitter") {
    const auto s = make("line,switches=4,latency=1us,jitter=100us,service=0us");
    for (u64 tid = 0; tid < 1000; ++tid) send_numbered(*s.transport, route({1, 1, 1, 1}), tid);
    send_numbered(*s.transport, route({}), 1000);
    const auto all = drain(*s.transport);
    REQUIRE(all.size() == 1001);
    CHECK(tid_of(all.front()) == 1000);
    CHECK(since_start(all.front()) == 0us); // no cable on the way
    mad::duration sum{0};
    for (const arrived& a : all) {
        sum += since_start(a);
        if (tid_of(a) < 1000) CHECK((since_start(a) >= 8us && since_start(a) <= 808us));
    }
    // The sum of 8 delays has a standard deviation of 82 us, and the mean of a thousand sums one of 2.6 us. The
    // smallest of a thousand sums is far from 8 us. With a single jitter value per direction it would be close to 8 us.
    CHECK(sum / 1000 > 408us - 13us);
    CHECK(sum / 1000 < 408us + 13us);
    CHECK(since_start(all[1]) > 100us);
}

TEST_CASE("switches need transit time for each directed-route SMP in both directions") {
    const std::string times = ",latency=1us,service=10us,transit=5us";
    const auto s = make("line,switches=3" + times);
    const u32 first = *s.fabric->graph().find("sw-0001");
    const auto time_to = [&](const mad::any_path& path) {
        const auto start = s.fabric->now();
        send_numbered(*s.transport, path, 1);
        const auto all = drain(*s.transport);
        REQUIRE(all.size() == 1);
        return all[0].when - start;
    };
    SECTION("each switch of the route") {
        CHECK(time_to(route({})) == 10us);
        CHECK(time_to(route({1})) == 12us);
        CHECK(time_to(route({1, 1})) == 2 * 2us + 2 * 5us + 10us);
        CHECK(time_to(route({1, 1, 1})) == 2 * 3us + 4 * 5us + 10us);
        CHECK(time_to(route({1, 1, 1, 3})) == 2 * 4us + 6 * 5us + 10us);
        CHECK(s.fabric->counters(first).received == 1 + 2 + 2 + 2);
    }
    SECTION("one SMP after the other, together with SMPs to the switch") {
        send_numbered(*s.transport, route({1, 1}), 1);
        send_numbered(*s.transport, route({1}), 2);
        const auto all = drain(*s.transport);
        REQUIRE(tids(all) == std::vector<u64>{2, 1});
        CHECK(since_start(all[0]) == 1us + 5us + 10us + 1us);
        // The MAD is at the first switch from 1 to 6 us, at the second from 7 to 17, and at the first again from 18 to
        // 23.
        CHECK(since_start(all[1]) == 24us);
        CHECK(s.fabric->counters(first).received == 3);
        CHECK(s.fabric->counters(first).most_held == 2);
        CHECK(s.fabric->counters(first).held == 0);
    }
    SECTION("no switch that died or lost its cable meanwhile") {
        const u32 second = *s.fabric->graph().find("sw-0002");
        const auto what = GENERATE(topology_event::kind::kill, topology_event::kind::cut);
        s.fabric->apply_at(mad::time_point(3us), {what, first, 1}); // while the MAD is there
        send_numbered(*s.transport, route({1, 1}), 1);
        CHECK(drain(*s.transport).empty());
        CHECK(s.fabric->counters().undelivered == 1);
        CHECK(s.fabric->counters(first).held == 0);
        CHECK(s.fabric->counters(second).received == 0);
    }
}

TEST_CASE("a switch forwards SMPs that arrive or continue by LID") {
    const auto s = make("line,switches=2,sm=1,latency=1us,service=10us,transit=5us");
    const topology& g = s.fabric->graph();
    const auto lid_of = [&](const char* name, unsigned port) { return g.nodes[*g.find(name)].ports[port].LID; };
    mad::IBDRPath begins_by_lid = route({1});
    begins_by_lid.DLID = lid_of("sw-0001", 0);
    begins_by_lid.drSLID = lid_of("h-0001 HCA-1", 1);
    mad::IBDRPath ends_by_lid = route({1});
    ends_by_lid.drDLID = lid_of("h-0002 HCA-1", 1);
    send_numbered(*s.transport, begins_by_lid, 1);
    auto all = drain(*s.transport);
    REQUIRE(all.size() == 1);
    CHECK(since_start(all[0]) == 2 * 2us + 2 * 5us + 10us);
    const auto start = s.fabric->now();
    send_numbered(*s.transport, ends_by_lid, 2);
    all = drain(*s.transport);
    REQUIRE(all.size() == 1);
    CHECK(all[0].when - start == 2 * 3us + 2 * 5us + 10us); // the second switch receives a packet with a LID
    CHECK(s.fabric->counters(*g.find("sw-0001")).received == 4);
    CHECK(s.fabric->counters(*g.find("sw-0002")).received == 1); // only the first request, as its destination
}

TEST_CASE("forwarded requests and replies occupy the buffer of a switch") {
    const auto s = make("line,switches=2,latency=1us,service=10us,transit=5us,buffer=1");
    const u32 first = *s.fabric->graph().find("sw-0001");
    send_numbered(*s.transport, route({1, 1}), 1);
    send_numbered(*s.transport, route({1}), 2); // lost at the first switch, which still forwards the first request
    s.transport->set_now(mad::time_point(16us));
    // The third request is there from 17 to 27 us. The reply to the first request arrives at 18 us.
    send_numbered(*s.transport, route({1}), 3);
    CHECK(tids(drain(*s.transport)) == std::vector<u64>{3});
    CHECK(s.fabric->counters(first).overflowed == 2);
    CHECK(s.fabric->counters().overflowed == 2);
    CHECK(s.fabric->counters(first).received == 4);
}

TEST_CASE("MADs that do not fit the buffer of a node are lost and counted") {
    const auto s = make("fattree2,radix=4,latency=1us,service=10us,buffer=2");
    for (u64 tid : {1, 2, 3, 4}) send_numbered(*s.transport, route({1}), tid);
    CHECK(tids(drain(*s.transport)) == std::vector<u64>{1, 2});
    const u32 leaf = *s.fabric->graph().find("leaf-0001");
    CHECK(s.fabric->counters(leaf).received == 4);
    CHECK(s.fabric->counters(leaf).overflowed == 2);
    CHECK(s.fabric->counters(leaf).most_held == 2);
    CHECK(s.fabric->counters().overflowed == 2);
    // The buffer has space again.
    send_numbered(*s.transport, route({1}), 5);
    CHECK(tids(drain(*s.transport)) == std::vector<u64>{5});
}

TEST_CASE("requests and replies are lost with the given probabilities") {
    topology t = make_topology("single");
    SECTION("every request") {
        fabric net(t, {}, {.request_loss = 1});
        sim_transport transport(net, time_mode::virtual_);
        CHECK_FALSE(get<NodeInfo>(transport, route({1})));
        CHECK(net.counters(1).received == 0);
        CHECK(net.counters().lost == 1);
    }
    SECTION("every reply") {
        fabric net(t, {}, {.reply_loss = 1});
        sim_transport transport(net, time_mode::virtual_);
        CHECK_FALSE(get<NodeInfo>(transport, route({1})));
        CHECK(net.counters(1).received == 1);
        CHECK(net.counters().lost == 1);
    }
    SECTION("one in ten in each direction") {
        fabric net(t, {}, {.request_loss = 0.1, .reply_loss = 0.1, .seed = 7});
        sim_transport transport(net, time_mode::virtual_);
        constexpr unsigned tries = 10'000;
        for (unsigned i = 0; i < tries; ++i) send_numbered(transport, route({1}), i);
        const auto came = drain(transport).size();
        // 81 % of 10,000, with a standard deviation of 39.
        CHECK(came > 8100 - 200);
        CHECK(came < 8100 + 200);
        CHECK(came + net.counters().lost == tries);
    }
}

TEST_CASE("a duplicated MAD arrives twice and gets two replies") {
    fabric net(make_topology("single"), {}, {.duplicate = 1});
    sim_transport transport(net, time_mode::virtual_);
    send_numbered(transport, route({1}), 1);
    const auto all = drain(transport);
    REQUIRE(all.size() == 4);
    for (const arrived& a : all) CHECK(a.bytes == all[0].bytes);
    CHECK(net.counters(1).received == 2);
    CHECK(net.counters().duplicated == 3);
}

TEST_CASE("jitter and reordering change the order of replies and lose none") {
    const auto* faults = GENERATE("jitter=20us", "reorder=0.5");
    const auto s = make(std::string("fattree2,radix=8,service=0ns,") + faults);
    for (u64 tid = 0; tid < 100; ++tid) send_numbered(*s.transport, route({1}), tid);
    const auto order = tids(drain(*s.transport));
    CHECK_FALSE(std::is_sorted(order.begin(), order.end()));
    CHECK(std::set<u64>(order.begin(), order.end()).size() == 100);
    CHECK(order.size() == 100);
}

TEST_CASE("a busy SMA replies BUSY with the usual D bit and return path") {
    fabric net(make_topology("single"), {}, {.busy = 1});
    sim_transport transport(net, time_mode::virtual_);
    const auto reply = send_query(transport, route({1}), get_request(iba::attribute_id<NodeInfo>, route({1})));
    REQUIRE(reply);
    CHECK(mad::status_of(reply->data()) == 0x01);
    CHECK(iba::get<&iba::MADHeaderDirected::D>(reply->data()));
    CHECK(net.counters().busy == 1);
}

TEST_CASE("garbage of 0 to 400 bytes arrives among the replies and never exceeds the buffer") {
    fabric net(make_topology("single"), {}, {.garbage = 1});
    sim_transport transport(net, time_mode::virtual_);
    for (u64 tid = 0; tid < 1000; ++tid) send_numbered(transport, route({1}), tid);
    constexpr std::size_t room = 320;
    const auto all = drain(transport, room);
    CHECK(all.size() == 2000);
    std::set<u64> answered;
    std::size_t shortest = 1000, longest = 0;
    for (const arrived& a : all) {
        CHECK(a.bytes.size() == std::min(a.full_size, room));
        shortest = std::min(shortest, a.full_size);
        longest = std::max(longest, a.full_size);
        // A packet with the length of a MAD that matches a request is the reply itself: garbage of that length is
        // random.
        if (a.full_size == mad::mad_size && tid_of(a) < 1000) answered.insert(tid_of(a));
    }
    CHECK(answered.size() == 1000);
    CHECK(shortest < 10);
    CHECK(longest > 390);
    CHECK(longest <= 400);
}

TEST_CASE("a dead node neither replies nor forwards directed routes until it is revived") {
    const auto s = make("line,switches=3,hosts=1,sm=1,dead=sw-0002");
    auto& t = *s.transport;
    const topology& g = s.fabric->graph();
    CHECK(get<NodeInfo>(t, route({1})));
    CHECK_FALSE(get<NodeInfo>(t, route({1, 1})));
    CHECK_FALSE(get<NodeInfo>(t, route({1, 1, 1})));
    const u32 last = *g.find("h-0003 HCA-1");
    CHECK(get<NodeInfo>(t, to_lid(value(g.nodes[last].ports[1].LID)))); // its data ports work
    s.fabric->apply({topology_event::kind::revive, *g.find("sw-0002")});
    CHECK(get<NodeInfo>(t, route({1, 1, 1})));
}

TEST_CASE("a scheduled event affects the MADs that arrive after it") {
    const auto s = make("line,switches=2,hosts=1,latency=10us,service=0ns");
    const u32 first = *s.fabric->graph().find("sw-0001");
    s.fabric->apply_at(mad::time_point(100us), {topology_event::kind::restore, first, 1});
    s.fabric->apply_at(mad::time_point(15us), {topology_event::kind::cut, first, 1});
    s.fabric->apply_at(mad::time_point(200us), {topology_event::kind::kill, first});
    auto& t = *s.transport;
    const auto way = route({1, 1});

    // In flight when the cable is cut, 20 us away from its node: it cannot return.
    CHECK_FALSE(get<NodeInfo>(t, way));
    t.set_now(mad::time_point(99us));
    CHECK_FALSE(get<NodeInfo>(t, way));
    t.set_now(mad::time_point(100us));
    CHECK(get<NodeInfo>(t, way));
    CHECK(s.fabric->now() == mad::time_point(140us));
    // The node is dead when the request arrives.
    t.set_now(mad::time_point(195us));
    CHECK_FALSE(get<NodeInfo>(t, route({1})));
}

TEST_CASE("a specification schedules changes of cables and nodes") {
    const auto answers_at = [](simulation& s, mad::duration when) {
        s.transport->set_now(mad::time_point(when));
        return get<NodeInfo>(*s.transport, route({1, 1})).has_value();
    };
    const std::string line = "line,switches=2,hosts=1,latency=0us,service=0us,";
    SECTION("once") {
        auto s = make(line + "cut=sw-0001/1@10us,restore=sw-0002/2@20us,kill=sw-0002@30us,revive=sw-0002@40us");
        const auto up = [&](mad::duration when) { return answers_at(s, when); };
        CHECK(up(9us));
        CHECK_FALSE(up(10us));
        CHECK_FALSE(up(19us));
        CHECK(up(20us));
        CHECK_FALSE(up(30us));
        CHECK(up(40us));
    }
    SECTION("periodically") {
        auto s = make(line + "flap=sw-0001/1@100us:50us:200us");
        const auto up = [&](mad::duration when) { return answers_at(s, when); };
        CHECK(up(99us));
        CHECK_FALSE(up(100us));
        CHECK_FALSE(up(149us));
        CHECK(up(150us));
        CHECK(up(299us));
        CHECK_FALSE(up(300us));
        CHECK(up(350us));
        CHECK_FALSE(up(1'000'149us));
        CHECK(up(1'000'150us));
    }
    SECTION("in real time from the creation of the simulation") {
        const auto s = make_sim("single,cut=h-0001 HCA-1/1@1000s");
        std::array<u8, 320> buffer;
        s.transport->receive(buffer); // reads the clock, which can have any value
        CHECK(s.fabric->graph().nodes[0].ports[1].linked());
    }
}

TEST_CASE("seeds select the slow and dead nodes, and the node of the program is never dead") {
    // 8 hosts, 4 leaves and 2 spines. LID routing, so that no node depends on the management of another node.
    const std::string tree = "fattree2,radix=4,sm=1,latency=0us,service=4us,";
    const auto times = [](simulation s) {
        std::vector<mad::duration> all; // -1 if there is no reply
        for (unsigned lid = 1; lid <= 14; ++lid) {
            const auto start = s.fabric->now();
            send_numbered(*s.transport, to_lid(lid), lid);
            const auto came = drain(*s.transport);
            all.push_back(came.empty() ? mad::duration(-1) : came[0].when - start);
        }
        return all;
    };
    const auto slow = times(make(tree + "slow=0.5:1ms"));
    CHECK(std::count(slow.begin(), slow.end(), 1ms) == 7);
    CHECK(std::count(slow.begin(), slow.end(), 4us) == 7);
    CHECK(times(make(tree + "slow=0.5:1ms")) == slow);
    CHECK(times(make(tree + "slow=0.5:1ms,seed=2")) != slow);
    const auto one = times(make(tree + "slow=leaf-0002:2ms"));
    CHECK(one[9] == 2ms);
    CHECK(std::count(one.begin(), one.end(), 4us) == 13);

    const auto dead = times(make(tree + "dead=0.25"));
    CHECK(std::count(dead.begin(), dead.end(), mad::duration(-1)) == 3); // of 13
    CHECK(times(make(tree + "dead=0.25,seed=2")) != dead);
    const auto lonely = times(make(tree + "dead=1"));
    CHECK(lonely[0] == 4us);
    CHECK(std::count(lonely.begin(), lonely.end(), mad::duration(-1)) == 13);
}

TEST_CASE("equal seeds give equal simulations, and another seed differs") {
    const std::string faults =
        std::string("fattree2,radix=6,jitter=5us,loss=0.1,duplicate=0.1,reorder=0.1,busy=0.1,garbage=0.1,") +
        GENERATE("", "slow=0.2:30us,dead=0.05,flap=leaf-0001/5@20us:10us:40us,",
                 "transit=2us,buffer=60,slow=0.2:30us,cut=leaf-0001/5@200us,") +
        "seed=";
    const u64 first = trace_hash(faults + "1");
    CHECK(trace_hash(faults + "1") == first);
    CHECK(trace_hash(faults + "2") != first);
}

TEST_CASE("the simulator allocates nothing per MAD after its peak load") {
    fabric net(make_topology("fattree2,radix=8"), {.jitter = 5us},
               {.request_loss = 0.05, .duplicate = 0.05, .busy = 0.05, .garbage = 0.05});
    sim_transport t(net, time_mode::virtual_);
    const mad::any_path path = route({1, 5, 2});
    const smp_bytes request = get_request(iba::attribute_id<PortInfo>, path, 1);
    std::array<u8, mad::headroom + mad::mad_size> packet{}, buffer{};
    std::copy(request.begin(), request.end(), packet.begin() + mad::headroom);
    std::size_t received = 0;
    const auto rounds = [&](unsigned count) {
        for (unsigned round = 0; round < count; ++round) {
            for (unsigned i = 0; i < 64; ++i) {
                t.send({&path, packet.data() + mad::headroom, mad::mad_size, 0x81, 1, true, 1s, 1s});
            }
            while (const auto next = t.next_event()) {
                t.set_now(*next);
                while (t.receive(buffer).state == mad::receive_state::message) ++received;
            }
        }
    };
    rounds(20);
    const std::size_t before = allocations::so_far().count;
    received = 0;
    rounds(200);
    CHECK(allocations::so_far().count == before);
    CHECK(received > 200 * 60);
}

TEST_CASE("a subnet of more than 100,000 ports needs less than 100 MB") {
    const std::size_t before = allocations::so_far().bytes;
    topology t = make_topology("fattree3,radix=44");
    std::size_t ports = 0;
    for (const node& n : t.nodes) ports += n.num_ports();
    CHECK(ports > 100'000);
    fabric net(std::move(t));
    // Total of all allocations, which is more than the current usage.
    CHECK(allocations::so_far().bytes - before < 40'000'000);
}

TEST_CASE("a MAD of another size is rejected, and a MAD of another class is dropped") {
    const auto s = make("single");
    const mad::any_path path = route({1});
    std::array<u8, mad::headroom + mad::mad_size> packet{};
    const auto result = s.transport->send({&path, packet.data() + mad::headroom, 255, 0x81, 1, true, 1s, 1s});
    CHECK(result.state == mad::send_state::failed);
    CHECK(result.error == EMSGSIZE);
    mad::IBPath gmp = to_lid(1);
    smp_bytes performance = get_request(iba::attribute_id<NodeInfo>, gmp);
    iba::put<&iba::MADHeader::mgmtClass>(performance.data(), iba::MgmtClass::Performance);
    CHECK_FALSE(send_query(*s.transport, gmp, performance));
}

TEST_CASE("programs at several nodes of a fabric receive their own replies") {
    fabric net(make_topology("fattree2,radix=4"));
    sim_transport first(net, time_mode::virtual_);
    {
        sim_transport second(net, 5, 1, time_mode::virtual_);
        send_numbered(first, route({}), 1);
        send_numbered(second, route({}), 2);
        const auto firsts = drain(first);
        REQUIRE(firsts.size() == 1);
        CHECK(tid_of(firsts[0]) == 1);
        const auto seconds = drain(second);
        REQUIRE(seconds.size() == 1);
        CHECK(tid_of(seconds[0]) == 2);
        send_numbered(second, route({}), 3);
    }
    // Packets in flight to the port that left are gone.
    CHECK(drain(first).empty());
    CHECK_THROWS_WITH(sim_transport(net, 0, 2, time_mode::virtual_), Catch::Contains("has no port 2"));
    CHECK_THROWS_WITH(sim_transport(net, 9, 1, time_mode::virtual_), Catch::Contains("must be 0 for a switch"));
}

TEST_CASE("in real time, the descriptor is readable exactly while a reply is due") {
    const auto s = make("single,latency=10ms,service=1ms,time=real");
    auto& t = *s.transport;
    REQUIRE(t.native_handle() >= 0);
    std::array<u8, 320> buffer{};
    CHECK(t.receive(buffer).state == mad::receive_state::would_block);
    CHECK_FALSE(is_readable(t));

    const auto start = std::chrono::steady_clock::now();
    send_numbered(t, route({1}), 1);
    mad::received r;
    do {
        REQUIRE(is_readable(t, 30'000));
        r = t.receive(buffer);
    } while (r.state == mad::receive_state::would_block);
    CHECK(r.state == mad::receive_state::message);
    CHECK(std::chrono::steady_clock::now() - start >= 21ms);
    CHECK(iba::get<&iba::MADHeader::transactionID>(r.mad.data()) == 1);
    // Nothing is in flight: the port does not become readable without an event.
    CHECK_FALSE(is_readable(t));
    CHECK_FALSE(t.next_event());
}

TEST_CASE("the descriptor in real time stays readable while messages wait, however few are read at a time") {
    const auto s = make("single,latency=0ns,service=0ns,time=real");
    auto& t = *s.transport;
    std::array<u8, 320> buffer{};
    for (u64 tid = 1; tid <= 5; ++tid) send_numbered(t, route({1}), tid);
    for (u64 tid = 1; tid <= 5; ++tid) {
        mad::received r;
        do {
            REQUIRE(is_readable(t, 30'000));
            r = t.receive(buffer);
        } while (r.state == mad::receive_state::would_block);
        CHECK(iba::get<&iba::MADHeader::transactionID>(r.mad.data()) == tid);
    }
    CHECK_FALSE(is_readable(t));
    CHECK(t.receive(buffer).state == mad::receive_state::would_block);
}

TEST_CASE("the descriptor in real time becomes readable for requests from another program") {
    const auto s = make("fattree2,radix=4,sm=1,latency=1us,time=real");
    const u32 host = s.fabric->graph().find("h-0008 HCA-1").value();
    sim_transport server(*s.fabric, host, 1, time_mode::real);
    REQUIRE(server.serve({.mgmt_class = iba::MgmtClass{0x33},
                          .class_version = 1,
                          .methods = mad::methods(iba::Method::Get),
                          .OUI = 0x001405}) == 0);
    CHECK_FALSE(is_readable(server)); // its timer is not armed
    smp_bytes request{};
    request[0] = 1, request[1] = 0x33, request[2] = 1, request[3] = 1;
    request[37] = 0x00, request[38] = 0x14, request[39] = 0x05;
    mad::IBPath path;
    path.DLID = s.fabric->graph().nodes[host].ports[1].LID;
    REQUIRE(send_to(*s.transport, path, request).state == mad::send_state::sent);
    std::array<u8, 320> buffer{};
    mad::received r;
    do {
        REQUIRE(is_readable(server, 30'000));
        r = server.receive(buffer);
    } while (r.state == mad::receive_state::would_block);
    CHECK(r.state == mad::receive_state::message);
}

TEST_CASE("a specification selects the node of the program, the clock and the topology file") {
    const auto at_leaf = make("fattree2,radix=4,at=leaf-0002");
    CHECK(at_leaf.place->port() == 0);
    CHECK(text(*get<iba::smp::NodeDescription>(*at_leaf.transport, route({}))) == "leaf-0002");
    CHECK(at_leaf.transport->native_handle() == -1);
    CHECK(make_sim("single").transport->native_handle() >= 0);
    CHECK(make_sim("single,time=virtual").transport->native_handle() == -1);
    CHECK(make("single,at=0x2c90300000201").place->node() == 1);

    std::string name = (std::filesystem::temp_directory_path() / "comad-sim-XXXXXX").string();
    REQUIRE(::close(::mkstemp(name.data())) == 0);
    {
        std::ofstream file(name);
        topology t = make_topology("fattree2,radix=4");
        bring_up(t);
        write_topology(file, t);
    }
    const auto from_file = make(name + ",latency=2us,at=h-0003 HCA-1");
    CHECK(from_file.place->node() == 2);
    CHECK(get<PortInfo>(*from_file.transport, route({}))->LID == iba::lid{3});
    CHECK(get<PortInfo>(*from_file.transport, route({}))->portState == iba::PortState::Active);
    {
        std::ofstream file(name);
        file << "Switch 4 \"S1\"\n[1] \"S2\"[1]\n";
    }
    CHECK(refusal_of(name + ",strict").starts_with(name + ":2: unknown node \"S2\"; "));
    const auto without_link = make(name);
    REQUIRE(without_link.notes.size() == 1);
    CHECK_THAT(without_link.notes[0],
               Catch::Contains("line 2") && Catch::Contains("the simulator leaves these links out"));
    std::filesystem::remove(name);
    CHECK(refusal_of(name) ==
          "cannot read '" + name +
              "': No such file or directory; expected a topology file as printed by ibnetdiscover, or "
              "one of single, fattree2, fattree3, torus, ring, line");
}

TEST_CASE("`kernel` in a specification adds umad on a Linux kernel model") {
    const auto without = make("single");
    CHECK_FALSE(without.kernel);
    CHECK(without.transport == without.place.get());

    const auto [word, most_on_wire] =
        GENERATE(table<const char*, std::size_t>({{"kernel", 200}, {"kernel=2024", 200}, {"kernel=2025", 128}}));
    const auto with = make(std::string("single,") + word);
    REQUIRE(with.kernel);
    CHECK(with.transport == with.kernel.get());
    CHECK(with.transport->limits().max_window == 128);
    for (u32 tid = 0; tid < 200; ++tid) send_numbered(*with.transport, route({1}), tid);
    CHECK(with.kernel->counters().most_on_wire == most_on_wire);
    CHECK(drain(*with.transport).size() == 200);
    // Port 9 does not exist: the request is returned one second later.
    send_to(*with.transport, route({9}), get_request(iba::attribute_id<NodeInfo>, route({9})));
    const mad::time_point sent_at = with.fabric->now();
    const auto back = drain(*with.transport);
    REQUIRE(back.size() == 1);
    CHECK(back[0].bytes.size() == 24);
    CHECK(back[0].when >= sent_at + 1s);
    CHECK(back[0].when < sent_at + 1s + 1ms);
}

TEST_CASE("an invalid simulation specification is rejected in one line") {
    CHECK(refusal_of("single,kernel=2026") ==
          "single: kernel=2026 is unknown; expected kernel, kernel=2024 or kernel=2025");
    CHECK(refusal_of("single,kernel,time=real") == "single: kernel needs virtual time; add time=virtual");
    CHECK(refusal_of("single,kernel,kernel=2025") == "single: kernel is given twice; keep one");
    CHECK(refusal_of("single,loss") == "single: invalid option 'loss'; expected NAME=VALUE, such as radix=16");
    CHECK(refusal_of("single,cut") == "single: invalid option 'cut'; expected NAME=VALUE, such as radix=16");
    CHECK(refusal_of("single,colonel") == "single: invalid option 'colonel'; expected NAME=VALUE, such as radix=16");
    CHECK(refusal_of("single,=1") == "single: invalid option '=1'; expected NAME=VALUE, such as radix=16");
    CHECK(refusal_of("single,loss=2") == "single: loss=2 is not a probability; must be 0..1");
    CHECK(refusal_of("single,latency=5") ==
          "single: latency=5 is not a time; expected a number followed by ns, us, ms or s, at most 3600s");
    CHECK(refusal_of("single,latency=-1us").starts_with("single: latency=-1us is not a time"));
    CHECK(refusal_of("single,time=later") == "single: time=later is unknown; expected one of real, virtual");
    CHECK(refusal_of("single,at=h-9") ==
          "single: at=h-9: unknown node; expected an id, a description or a GUID (0x...), "
          "such as H-0002c90300000100");
    CHECK(refusal_of("single,dead=h-9").starts_with("single: dead=h-9: unknown node"));
    CHECK(refusal_of("single,port=2") == "'h-0001 HCA-1' has no port 2 to attach to; the port must be 1..1");
    CHECK(refusal_of("single,los=1").starts_with("single: unknown option 'los'; the nearest are loss, "));
    CHECK(refusal_of("single,dead=1.5") == "single: dead=1.5 is not a probability; must be 0..1");
    CHECK(refusal_of("single,slow=0.1") ==
          "single: slow=0.1 has no time; expected NODE:TIME or FRACTION:TIME, such as 0.1:1ms");
    CHECK(refusal_of("single,slow=h-9:1ms").starts_with("single: slow=h-9: unknown node"));
    CHECK(refusal_of("single,cut=h-0001 HCA-1/1") ==
          "single: cut=h-0001 HCA-1/1 is incomplete; expected NODE/PORT@5ms");
    CHECK(refusal_of("single,restore=h-0001 HCA-1@1ms").ends_with("expected NODE/PORT@5ms"));
    CHECK(refusal_of("single,kill=h-0001 HCA-1").ends_with("expected NODE@5ms"));
    CHECK(refusal_of("single,cut=h-0001 HCA-1/2@1ms") ==
          "single: cut=h-0001 HCA-1/2@1ms: no cable at port 2 of 'h-0001 HCA-1', whose ports are 1..1");
    CHECK(refusal_of("single,kill=h-0001 HCA-1@soon").starts_with("single: kill=soon is not a time"));
    CHECK(refusal_of("single,flap=h-0001 HCA-1/1@1ms") ==
          "single: flap=h-0001 HCA-1/1@1ms needs three times; expected FIRST:DOWN:PERIOD, such as 5ms:1ms:10ms");
    CHECK(refusal_of("single,flap=h-0001 HCA-1/1@1ms:2ms:2ms")
              .ends_with("DOWN must be more than 0 and less than PERIOD"));
    CHECK(refusal_of("").starts_with("cannot read '': No such file"));
    CHECK(refusal_of("/").starts_with("cannot read '/': Is a directory; expected a topology file"));
    CHECK(refusal_of("/dev/zero").starts_with("cannot read '/dev/zero': it is a binary file"));
}
