// SPDX-License-Identifier: MIT
// rediscovery_test.cpp - a subnet that is known is brought up to date: what comes out is what a whole discovery finds, and how many
// MADs that takes.
#include "discovery_rig.hpp"
#include <comad/discovery/rediscover.hpp>
#include <comad/sa/client.hpp>

#include <random>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::test;
using discovery::port_ref;
using discovery::rediscover;
using discovery::told_by;
using transports::sim::topology_event;

namespace {

/// A subnet that was discovered, and then lives on.
struct known_world : world {
    explicit known_world(topology t) : world(std::move(t)), first_sent(sent()), known(discover()) {
        first_sent = sent() - first_sent;
        schedule.set_sa_path(sa::sa_path_of(*known.at({0, known.start_port}).info));
    }
    explicit known_world(std::string_view specification) : known_world(managed(specification)) {}

    subnet again(told_by who) {
        const u64 before = sent();
        auto now = coro::sync_wait(schedule, rediscover(schedule, known, who));
        REQUIRE(now);
        again_sent = sent() - before;
        return std::move(now).value();
    }
    /// What a whole discovery says, as text.
    std::string anew() { return text_of(discover()); }

    u64 first_sent, again_sent = 0;
    subnet known;
};

constexpr auto cut = topology_event::kind::cut;
constexpr auto restore = topology_event::kind::restore;

} // namespace

TEST_CASE("nothing has changed: the subnet is as before, for a tenth of the MADs") {
    const told_by who = GENERATE(told_by::SA, told_by::switches, told_by::anybody);
    known_world w("fattree2,radix=8");
    CHECK(text_of(w.again(who)) == text_of(w.known));
    CHECK(w.again_sent * 10 <= w.first_sent);
}

TEST_CASE("whatever cables are cut and plugged in again, the result is that of a whole discovery") {
    const told_by who = GENERATE(told_by::SA, told_by::switches);
    const unsigned seed = GENERATE(range(1u, 9u));
    CAPTURE(who, seed);
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
        w.known = w.again(who);
        CHECK(w.known.complete());
        CHECK(inconsistencies(w.known) == std::vector<std::string>{});
        CHECK(text_of(w.known) == w.anew());
    }
}

TEST_CASE("a cable that was cut costs the two ends of it and what tells of it") {
    known_world w("fattree2,radix=8");
    u32 leaf = 0;
    while (w.net.graph().nodes[leaf].description != "leaf-0002") ++leaf;
    w.net.apply({cut, leaf, 8});
    const subnet now = w.again(told_by::SA);
    CHECK(now.link_count() == w.known.link_count() - 1);
    CHECK(w.again_sent * 8 <= w.first_sent);
}
