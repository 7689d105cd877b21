// SPDX-License-Identifier: MIT
// lid_discovery_test.cpp - discovery by LIDs compared with discovery by directed routes, in virtual time. Both return
// the same subnet, but by LIDs fewer agents forward each SMP and the limit of 63 hops does not apply. Also tests LIDs that
// lead nowhere or to another node.
#include "library/discovery_rig.hpp"
#include <comad/coro/detail/when_all.hpp>
#include <comad/discovery/database/detail/lid_index.hpp>
#include <comad/discovery/walk/node_sequence.hpp>

#include <cerrno>
#include <chrono>
#include <functional>
#include <set>
#include <string>

using namespace comad;
using namespace comad::test;

namespace {

iba::lid lid_of(const world& w) {
    const transports::sim::node& n = w.net.graph().nodes[w.port.node()];
    return n.ports[n.is_switch() ? 0 : w.port.port()].LID;
}

discovery::discover_options by_lid(const world& w) {
    discovery::discover_options how;
    how.from_lid = lid_of(w);
    return how;
}

/// Checks that the result is the one of directed routes, without failures.
void check_equal(world& w, const subnet& found) {
    CHECK(differences(found, w) == std::vector<std::string>{});
    CHECK(inconsistencies(found) == std::vector<std::string>{});
    CHECK(found.complete());
}

/// Rejects or loses the LID-routed requests that `evaluate` selects, and forwards the rest.
class spoiled final : public mad::transport {
public:
    enum class fate : u8 { carried, refused, lost };
    spoiled(mad::transport& carrier, std::function<fate(const mad::send_request&)> evaluate)
        : carrier_(carrier), judge_(std::move(evaluate)) {}

    int native_handle() const noexcept override { return carrier_.native_handle(); }
    mad::send_result send(const mad::send_request& request) noexcept override {
        const bool begins_by_lid = mad::directed(*request.path) && value(mad::headers_of(*request.path).DLID) != 0xffff;
        const bool goes_by_lid = !mad::directed(*request.path) || begins_by_lid;
        lid_routed += goes_by_lid;
        from_lid += begins_by_lid;
        const fate what = goes_by_lid ? judge_(request) : fate::carried;
        if (what == fate::refused) return {mad::send_state::failed, EOPNOTSUPP};
        return what == fate::lost ? mad::send_result{} : carrier_.send(request);
    }
    mad::received receive(std::span<u8> buffer) noexcept override { return carrier_.receive(buffer); }
    mad::transport_limits limits() const noexcept override { return carrier_.limits(); }
    std::optional<mad::time_point> next_event() const noexcept override { return carrier_.next_event(); }
    void set_now(mad::time_point now) noexcept override { carrier_.set_now(now); }

    unsigned lid_routed = 0;
    unsigned from_lid = 0; ///< of these, the directed routes that start at a LID

private:
    mad::transport& carrier_;
    std::function<fate(const mad::send_request&)> judge_;
};

} // namespace

TEST_CASE("LID discovery finds what directed routes find with as many SMPs and no intermediate SMA") {
    const std::string specification =
        GENERATE("fattree3,radix=4", "torus,x=4,y=3,hosts=2", "ring,switches=7,hosts=1", "single");
    CAPTURE(specification);
    world w(managed(specification)), directed(managed(specification));
    const subnet found = w.discover(by_lid(w)), expected = directed.discover();
    check_equal(w, found);
    CHECK(text_of(found) == text_of(expected));
    // While the first SMP with each LID routing is in flight, others use directed routes, here of at most two hops.
    CHECK(w.seen.longest_route <= 2);
    for (u32 n = 0; n < found.nodes.size(); ++n) CHECK(found.nodes[n].hops == expected.nodes[n].route.hopCount);

    // One request at a time, so that no link is probed from both of its ends.
    world slow(managed(specification), window(1)), slow_directed(managed(specification), window(1));
    check_equal(slow, slow.discover(by_lid(slow)));
    slow_directed.discover();
    CHECK(slow.sent() == slow_directed.sent());
}

TEST_CASE("LID discovery works with losses, with one SMP in flight and from a switch") {
    const auto [specification, lost, outstanding] =
        GENERATE(std::tuple{"fattree2,radix=8", 0.01, 64u}, std::tuple{"torus,x=4,y=4,z=2,hosts=1", 0.01, 64u},
                 std::tuple{"torus,x=3,y=3,hosts=1", 0.0, 1u});
    CAPTURE(specification);
    faults wrong;
    wrong.request_loss = wrong.reply_loss = lost;
    world w(managed(specification), window(outstanding, 8), {}, wrong);
    check_equal(w, w.discover(by_lid(w)));

    const topology t = managed(specification);
    const auto first_switch = static_cast<u32>(
        std::find_if(t.nodes.begin(), t.nodes.end(), [](const auto& n) { return n.is_switch(); }) - t.nodes.begin());
    world from_switch(t, first_switch, 0);
    check_equal(from_switch, from_switch.discover(by_lid(from_switch)));
}

TEST_CASE("LID discovery goes beyond 63 hops, and every returned route leads to its node") {
    world w(managed("line,switches=150,hosts=1"));
    const subnet found = w.discover(by_lid(w));
    CHECK(found.complete());
    CHECK(found.nodes.size() == 300);
    CHECK(found.max_hops() == 151);
    for (const discovery::node& n : found.nodes) {
        const auto again = coro::sync_wait(w.schedule, w.schedule.SubnGet<iba::smp::NodeInfo>(n.route));
        REQUIRE(again);
        CHECK(again.value().nodeGUID == n.info.nodeGUID);
    }
    SECTION("limited by max_hops") {
        discovery::discover_options how = by_lid(w);
        how.max_hops = 100;
        const subnet near = w.discover(how);
        CHECK(near.max_hops() == 100);
        CHECK_FALSE(near.failures.empty());
        for (const discovery::failure& p : near.failures) CHECK(p.kind == discovery::failure_kind::too_far);
    }
    SECTION("limited to 63 hops without LIDs") {
        const subnet near = w.discover();
        CHECK(near.max_hops() == 63);
        CHECK_FALSE(near.failures.empty());
        for (const discovery::failure& p : near.failures) CHECK(p.kind == discovery::failure_kind::too_far);
    }
}

TEST_CASE("discovery falls back to directed routes soon if LID-routed SMPs do not arrive") {
    using fate = spoiled::fate;
    const fate what = GENERATE(fate::refused, fate::lost);
    const bool only_from_lid = GENERATE(false, true);
    CAPTURE(static_cast<int>(what), only_from_lid);
    world w(managed("fattree2,radix=8"));
    spoiled wire(w.seen, [&](const mad::send_request& r) {
        return !only_from_lid || mad::directed(*r.path) ? what : fate::carried;
    });
    coro::MADSchedule schedule(wire, window(16));
    auto found = coro::sync_wait(schedule, discovery::discover(schedule, by_lid(w)));
    REQUIRE(found);
    check_equal(w, found.value());
    // One SMP with each routing is tried, with three attempts.
    CHECK(wire.from_lid > 0);
    CHECK(wire.from_lid <= 3);
    if (!only_from_lid) CHECK(wire.lid_routed <= 2 * 3);
    // The directed route is tried as soon as an SMP by LID has timed out, after three attempts of a second each, and
    // not at the end.
    CHECK(schedule.now().time_since_epoch() < std::chrono::milliseconds(6500));
}

TEST_CASE("a discovery by LIDs takes as long as by directed routes if routes that start at a LID do not arrive") {
    transports::sim::timing far;
    far.delay = std::chrono::milliseconds(1);
    world w(managed("fattree3,radix=8"), coro::schedule_options{}, far);
    world directed(managed("fattree3,radix=8"), coro::schedule_options{}, far);
    spoiled wire(w.seen, [&](const mad::send_request& r) {
        return mad::directed(*r.path) ? spoiled::fate::lost : spoiled::fate::carried;
    });
    coro::MADSchedule schedule(wire);
    const auto found = coro::sync_wait(schedule, discovery::discover(schedule, by_lid(w)));
    REQUIRE(found);
    check_equal(w, found.value());
    directed.discover();
    CHECK(wire.from_lid <= 10); // one SMP; its attempts depend on the losses that the engine measured
    CHECK(w.elapsed() < directed.elapsed() * 3 / 2);
}

TEST_CASE("discovery switches to directed routes if the transport rejects LID-routed SMPs later") {
    const bool measures = GENERATE(false, true);
    world w(managed("fattree2,radix=8"));
    unsigned taken = 0;
    spoiled wire(w.seen, [&](const mad::send_request&) {
        return ++taken > 50 ? spoiled::fate::refused : spoiled::fate::carried;
    });
    coro::MADSchedule schedule(wire, measures ? coro::schedule_options{} : window(16));
    auto found = coro::sync_wait(schedule, discovery::discover(schedule, by_lid(w)));
    REQUIRE(found);
    check_equal(w, found.value());
}

TEST_CASE("LID-routed SMPs carry the source LID of the query for a port with an LMC") {
    world w(managed("fattree2,radix=4"));
    const discovery::discover_options how = by_lid(w);
    unsigned request_count = 0, right = 0;
    spoiled wire(w.seen, [&](const mad::send_request& r) {
        if (const auto* to = std::get_if<mad::IBPath>(r.path)) {
            ++request_count;
            right += to->SLID == how.from_lid;
        }
        return spoiled::fate::carried;
    });
    coro::MADSchedule schedule(wire, window());
    REQUIRE(coro::sync_wait(schedule, discovery::discover(schedule, how)));
    CHECK(request_count > 0);
    CHECK(right == request_count);
}

TEST_CASE("LID discovery reads nodes without a reachable LID by directed routes") {
    const bool measures = GENERATE(false, true);
    world w(managed("fattree2,radix=8"));
    const topology& t = w.net.graph();
    std::set<iba::lid> stale; // the LIDs of every third node
    for (std::size_t n = 5; n < t.nodes.size(); n += 3)
        stale.insert(t.nodes[n].ports[t.nodes[n].is_switch() ? 0 : 1].LID);
    spoiled wire(w.seen, [&](const mad::send_request& r) {
        const bool is_lost = !mad::directed(*r.path) && stale.contains(mad::headers_of(*r.path).DLID);
        return is_lost ? spoiled::fate::lost : spoiled::fate::carried;
    });
    coro::MADSchedule schedule(wire, measures ? coro::schedule_options{} : window(16));
    auto found = coro::sync_wait(schedule, discovery::discover(schedule, by_lid(w)));
    REQUIRE(found);
    check_equal(w, found.value());
    CHECK(wire.lid_routed > 100);
    world directed(managed("fattree2,radix=8"));
    directed.discover();
    CHECK(w.sent() < directed.sent() * 3 / 2); // the discovery did not start again
}

TEST_CASE("LID discovery does not use a retrained link before a subnet manager activated it") {
    world w(managed("fattree2,radix=8"));
    using transports::sim::topology_event;
    const u32 host = 9;
    REQUIRE_FALSE(w.net.graph().nodes[host].is_switch());
    w.net.apply({topology_event::kind::cut, host, 1});
    w.net.apply({topology_event::kind::restore, host, 1});
    check_equal(w, w.discover(by_lid(w)));
    CHECK(w.net.counters().undelivered == 0);
}

TEST_CASE("LID discovery uses no LID that two ports share, and reports both ports") {
    topology t = managed("fattree2,radix=4");
    const u32 one = 1, other = static_cast<u32>(t.nodes.size() - 1);
    REQUIRE((!t.nodes[one].is_switch() && t.nodes[other].is_switch()));
    t.nodes[other].ports[0].LID = t.nodes[one].ports[1].LID;
    world w(t);
    const subnet found = w.discover(by_lid(w));
    CHECK(differences(found, w) == std::vector<std::string>{});
    CHECK(found.complete());
    const discovery::lid_index lids(found);
    REQUIRE(lids.duplicates().size() == 1);
    CHECK(lids.duplicates()[0].LID == iba::lid{2});
    CHECK(text_of(found).find("duplicate_LID") != std::string::npos);
    world again(t);
    CHECK(text_of(again.discover()) == text_of(found));
}

TEST_CASE("a discovery that restarts after a duplicate LID keeps its total time limit") {
    topology t = managed("fattree2,radix=4");
    t.nodes.back().ports[0].LID = t.nodes[1].ports[1].LID;
    transports::sim::timing slow;
    slow.hop_delay = std::chrono::milliseconds(1);
    world whole(t, window(1, 1), slow);
    CHECK(whole.discover(by_lid(whole)).complete());
    const auto all = whole.elapsed();
    world w(t, window(1, 1), slow);
    discovery::discover_options how = by_lid(w);
    how.max_time = std::chrono::duration_cast<std::chrono::milliseconds>(all) - std::chrono::milliseconds(10);
    const subnet found = w.discover(how);
    CHECK(w.elapsed() >= how.max_time);
    CHECK(w.elapsed() < all);
    REQUIRE(found.failures.size() == 1);
    CHECK(found.failures[0].kind == discovery::failure_kind::limit);
    CHECK(found.failures[0].text == fmt::format("stopped at the time limit of {} s", mad::in_seconds(how.max_time)));
}

TEST_CASE("a node_sequence returns each node once as soon as it is found") {
    const bool lids = GENERATE(true, false), has_losses = GENERATE(false, true);
    faults wrong;
    wrong.request_loss = wrong.reply_loss = has_losses ? 0.01 : 0;
    world w(managed("fattree3,radix=4"), window(16, 8), {}, wrong);
    discovery::node_sequence nodes(w.schedule);
    discovery::discover_options how = lids ? by_lid(w) : discovery::discover_options{};
    how.found = &nodes;
    discovery::discovery_progress progress;
    how.progress = &progress;
    std::vector<discovery::node> seen;
    std::size_t known_at_first = 0;
    const auto visit = [&]() -> coro::task<void> {
        while (auto n = co_await nodes.next()) {
            if (seen.empty()) known_at_first = progress.nodes;
            const auto info = co_await w.schedule.SubnGet<iba::smp::NodeInfo>(n->route);
            CHECK(info.value().nodeGUID == n->info.nodeGUID);
            seen.push_back(std::move(*n));
        }
        CHECK_FALSE(co_await nodes.next());
    };
    auto [found, nothing] = coro::sync_wait(w.schedule, coro::when_all(discovery::discover(w.schedule, how), visit()));
    REQUIRE(found);
    check_equal(w, found.value());
    CHECK(known_at_first < found.value().nodes.size() / 2);
    CHECK(seen.size() == found.value().nodes.size());
    for (const discovery::node& n : seen) {
        const discovery::node* const whole = found.value().find(n.info.nodeGUID);
        REQUIRE(whole);
        CHECK(n.description == whole->description);
        CHECK(n.switch_info == whole->switch_info);
        REQUIRE(n.ports.size() == whole->ports.size());
        for (std::size_t p = 0; p < n.ports.size(); ++p)
            CHECK(n.ports[p].info.has_value() == whole->ports[p].info.has_value());
    }
}

TEST_CASE("a node_sequence ends for every way in which the discovery ends") {
    world w(managed("fattree2,radix=4"));
    discovery::node_sequence nodes(w.schedule);
    discovery::discover_options how;
    how.found = &nodes;
    const auto count = [&]() -> coro::task<unsigned> {
        unsigned all = 0;
        while (co_await nodes.next()) ++all;
        co_return all;
    };
    SECTION("local port without a reply") {
        w.net.apply({transports::sim::topology_event::kind::kill, w.port.node()});
        auto [found, all] = coro::sync_wait(w.schedule, coro::when_all(discovery::discover(w.schedule, how), count()));
        CHECK_FALSE(found);
        CHECK(all == 0);
    }
    SECTION("restart after a duplicate LID") {
        topology t = managed("fattree2,radix=4");
        t.nodes.back().ports[0].LID = t.nodes[1].ports[1].LID;
        world again(t);
        discovery::node_sequence once(again.schedule);
        discovery::discover_options twice = by_lid(again);
        twice.found = &once;
        const auto count_once = [&]() -> coro::task<unsigned> {
            unsigned all = 0;
            while (co_await once.next()) ++all;
            co_return all;
        };
        auto [found, all] =
            coro::sync_wait(again.schedule, coro::when_all(discovery::discover(again.schedule, twice), count_once()));
        REQUIRE(found);
        CHECK(all == found.value().nodes.size());
    }
}
