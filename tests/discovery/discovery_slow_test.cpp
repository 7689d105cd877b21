// SPDX-License-Identifier: MIT
// discovery_slow_test.cpp - discoveries with a node that replies a thousand times more slowly than the others, over the
// model of the kernel. The discovery finds every node, and sends few unnecessary requests to the slow one.
#include "library/discovery_rig.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>
#include <tuple>

using namespace comad;
using namespace comad::test;
using namespace std::chrono_literals;

namespace {

/// Counts the directed-route requests to one node, in the order of their first attempts.
class counted_requests final : public mad::transport {
public:
    counted_requests(mad::transport& watched, const topology& t, u32 start, u32 node)
        : watched_(watched), topology_(t), start_(start), node_(node) {}

    unsigned most_of_first = 0; ///< attempts of the first request
    unsigned requests = 0;      ///< requests after the first one
    unsigned answers = 0;       ///< replies to later requests

    int native_handle() const noexcept override { return watched_.native_handle(); }
    mad::transport_limits limits() const noexcept override { return watched_.limits(); }
    std::optional<mad::time_point> next_event() const noexcept override { return watched_.next_event(); }
    void set_now(mad::time_point now) noexcept override { watched_.set_now(now); }
    mad::send_result send(const mad::send_request& request) noexcept override {
        const auto result = watched_.send(request);
        if (result.state != mad::send_state::sent || !leads_there(*request.path)) return result;
        const question requested{mad::destination_key(*request.path),
                                 iba::get<&iba::MADHeader::attributeID>(request.mad),
                                 iba::get<&iba::MADHeader::attributeModifier>(request.mad)};
        tids_[tid_of(request.mad)] = requested;
        if (!first_) first_ = requested;
        if (requested == *first_ && !is_first_answered_) ++most_of_first;
        else ++requests;
        return result;
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        const auto message = watched_.receive(buffer);
        if (message.state != mad::receive_state::message || message.status != 0) return message;
        const auto known = tids_.find(tid_of(message.mad.data()));
        if (known == tids_.end()) return message;
        // A reply to an attempt of the first request does not belong to the later requests.
        if (known->second != *first_ || is_first_answered_) ++answers;
        is_first_answered_ |= known->second == *first_;
        return message;
    }

private:
    using question = std::tuple<u64, u32, u32>;
    static u32 tid_of(const u8* mad) { return static_cast<u32>(iba::get<&iba::MADHeader::transactionID>(mad)); }
    bool leads_there(const mad::any_path& path) {
        const auto [known, is_new] = leads_.try_emplace(mad::destination_key(path), false);
        const IBDRPath* const route = mad::directed(path);
        if (is_new && route) known->second = walk(topology_, start_, 1, *route) == node_;
        return known->second;
    }

    mad::transport& watched_;
    const topology& topology_;
    const u32 start_, node_;
    std::map<u64, bool> leads_;
    std::map<u32, question> tids_;
    std::optional<question> first_;
    bool is_first_answered_ = false;
};

/// The last host runs a discovery, like a program on a kernel.
struct slow_subnet {
    slow_subnet(u32 (*choose)(const topology&), mad::duration service, double loss, u64 seed, bool is_capped)
        : t(managed("fattree3,radix=8")), node(choose(t)),
          net(t, {.hop_delay = 1us, .service_time = 50us}, {.request_loss = loss, .reply_loss = loss, .seed = seed}),
          start(last_host(t)), port(net, start, 1, time_mode::virtual_), kernel(port, {.is_capped = is_capped}),
          seen(kernel, t, start, node), schedule(seen, coro::schedule_options{}) {
        net.set_service_time(node, service);
    }
    static u32 last_host(const topology& t) {
        u32 n = static_cast<u32>(t.nodes.size()) - 1;
        while (t.nodes[n].is_switch()) --n;
        return n;
    }
    subnet discover() {
        auto found = coro::sync_wait(schedule, discovery::discover(schedule));
        REQUIRE(found);
        return std::move(found).value();
    }

    topology t;
    u32 node;
    transports::sim::fabric net;
    u32 start;
    transports::sim::sim_transport port;
    transports::kernel_model kernel;
    counted_requests seen;
    coro::MADSchedule schedule;
};

u32 some_host(const topology& t) {
    u32 n = 60;
    while (t.nodes[n].is_switch()) ++n;
    return n;
}
u32 its_leaf(const topology& t) { return t.nodes[some_host(t)].ports[1].peer_node; }

struct slowness {
    std::string_view target;
    u32 (*choose)(const topology&);
    mad::duration service;
};
const auto all_slow = {slowness{"host", some_host, 10ms}, {"host", some_host, 20ms},  {"host", some_host, 60ms},
                       {"host", some_host, 100ms},        {"host", some_host, 150ms}, {"host", some_host, 300ms},
                       {"host", some_host, 900ms},        {"leaf", its_leaf, 10ms},   {"leaf", its_leaf, 20ms},
                       {"leaf", its_leaf, 40ms}};

} // namespace

TEST_CASE("one slow node is found and gets few unnecessary retries") {
    const slowness slow = GENERATE(values(all_slow));
    const bool is_capped = GENERATE(false, true);
    CAPTURE(slow.target, slow.service.count(), is_capped);
    slow_subnet w(slow.choose, slow.service, 0, 1, is_capped);
    for (int round = 0; round < 4; ++round) {
        CAPTURE(round);
        const subnet found = w.discover();
        for (const auto& p : found.failures) UNSCOPED_INFO(describe(found, p));
        CHECK(found.complete());
        CHECK(differences(found, w.t, w.start, 1).empty());
        CHECK(w.seen.most_of_first <= 3);
        CHECK(w.seen.requests <= 1.2 * w.seen.answers);
    }
}

TEST_CASE("one slow node is found at one percent loss in each direction") {
    const slowness slow = GENERATE(values(all_slow));
    const u64 seed = GENERATE(1u, 2u, 3u, 4u, 5u);
    CAPTURE(slow.target, slow.service.count(), seed);
    slow_subnet w(slow.choose, slow.service, 0.01, seed, seed % 2 == 1);
    const subnet found = w.discover();
    for (const auto& p : found.failures) UNSCOPED_INFO(describe(found, p));
    CHECK(found.complete());
    CHECK(differences(found, w.t, w.start, 1).empty());
}

TEST_CASE("every dead node times out within 1.1 seconds after its first query") {
    class oldest final : public mad::trace_sink {
    public:
        void on_event(const mad::trace_event& e) noexcept override {
            using enum mad::trace_event::kind;
            if (e.what == send) sent_[e.path] = e.when;
            if (e.what == timed_out) most = std::max(most, e.when - sent_[e.path]);
        }
        mad::duration most{0};

    private:
        std::map<const mad::any_path*, mad::time_point> sent_; // the path of an operation keeps its address
    };
    const double loss = GENERATE(0, 0.01, 0.1);
    CAPTURE(loss);
    slow_subnet w(some_host, 50us, loss, 1, false);
    const auto dead = {u32{3}, u32{17}, u32{40}, some_host(w.t), its_leaf(w.t)};
    for (const u32 n : dead) w.net.apply({transports::sim::topology_event::kind::kill, n, 0});
    oldest watch;
    w.schedule.set_trace(&watch);
    const subnet found = w.discover();
    CHECK_FALSE(found.complete());
    CHECK(watch.most > 0s);
    CHECK(watch.most <= 1100ms);
}
