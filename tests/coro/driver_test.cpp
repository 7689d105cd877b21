// SPDX-License-Identifier: MIT
// driver_test.cpp - the same coroutine with every driver. Timeouts expire on time under continuous traffic. Runs in
// virtual time are reproducible.
#include "library/coro_rig.hpp"
#include "wire/memory_transport.hpp"
#include <comad/coro/asio.hpp>
#include <comad/mad/detail/deadlines.hpp>
#include <comad/transports/sim/transport.hpp>

#include <boost/asio/io_context.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::asio_driver;
using coro::async_run;
using coro::mqueue_report;
using mad::result;
namespace sim = transports::sim;

namespace {

/// Runs `t` with the Asio driver.
template <class T> T run_by_asio(MADSchedule& schedule, task<T> t) {
    boost::asio::io_context io{1};
    asio_driver driver(io, schedule);
    std::optional<T> value;
    async_run(driver, std::move(t), [&](T v) { value.emplace(std::move(v)); });
    io.run();
    return std::move(*value);
}

/// Returns true if the node at the end of `to` replies, with any status.
task<bool> gets_reply(MADSchedule& s, IBDRPath to) {
    auto info = co_await s.SubnGet<smp::NodeInfo>(to);
    co_return info.has_value();
}

// ---- One coroutine: a sweep of nodes, with an inner sweep of ports for each node, and an error on the way.

struct survey {
    u64 nodes = 0, ports = 0, wrong = 0, failed = 0;
    std::string first_error;
    friend bool operator==(const survey&, const survey&) = default;
};

task<result<void>> survey_port(MADSchedule& s, IBDRPath to, u32 port, survey& all) {
    BOOST_OUTCOME_CO_TRY(auto info, co_await s.SubnGet<smp::PortInfo>(to, port));
    (void)info;
    ++all.ports;
    co_return mad::success();
}
generator<task<result<void>>> survey_ports(MADSchedule& s, IBDRPath to, survey& all) {
    for (u32 port = 1; port <= 4; ++port) co_yield survey_port(s, to, port, all);
}
task<result<void>> survey_node(MADSchedule& s, IBDRPath to, survey& all) {
    BOOST_OUTCOME_CO_TRY(auto info, co_await s.SubnGet<smp::NodeInfo>(to));
    ++all.nodes;
    all.wrong += !is_answer(info, to);
    const mqueue_report report = co_await s.mqueue(survey_ports(s, to, all));
    all.failed += report.failed;
    co_return mad::success();
}
generator<task<result<void>>> survey_nodes(MADSchedule& s, u32 count, survey& all) {
    for (u32 i = 0; i < count; ++i) co_yield survey_node(s, route_to(i), all);
}
task<survey> survey_all(MADSchedule& s, u32 count) {
    survey all;
    const mqueue_report report = co_await s.mqueue(survey_nodes(s, count, all));
    all.failed += report.failed;
    // An error that every driver must return: the root task is canceled inside its own scope.
    scope cancelled(co_await coro::current_scope{});
    cancelled.cancel();
    job<bool> hopeless = cancelled.queue(send_query(s, route(1)));
    const bool answered = co_await hopeless;
    all.first_error = answered ? "" : "cancelled";
    co_return all;
}

const survey expected_survey{500, 2000, 0, 0, "cancelled"};

} // namespace

// ---- the same coroutine ------------------------------------------------------------------------------------------------

TEST_CASE("a coroutine returns the same result under the blocking, the Asio and the virtual-time driver") {
    const unsigned lossy = GENERATE(0u, 20u);
    const schedule_options options{.max_outstanding = 16, .timeout = 10ms, .retries = 30};

    memory_transport by_poll(memory_transport::time::real), by_asio(memory_transport::time::real), by_events;
    by_poll.drop_every = by_asio.drop_every = by_events.drop_every = lossy;
    MADSchedule polled(by_poll, options), asio(by_asio, options), virtually(by_events, options);

    CHECK(sync_wait(polled, survey_all(polled, 500)) == expected_survey);
    CHECK(run_by_asio(asio, survey_all(asio, 500)) == expected_survey);
    CHECK(sync_wait(virtually, survey_all(virtually, 500)) == expected_survey);
    for (const MADSchedule* s : {&polled, &asio, &virtually}) {
        CHECK(s->counters().replied == 2500);
        CHECK((s->counters().retried > 0) == (lossy > 0));
        CHECK(s->idle());
    }
}

TEST_CASE("several drivers can drive one schedule in turn") {
    memory_transport net(memory_transport::time::real);
    MADSchedule schedule(net);
    CHECK(sync_wait(schedule, send_query(schedule, route(1))));
    CHECK(run_by_asio(schedule, send_query(schedule, route(2))));
    CHECK(run_by_asio(schedule, send_query(schedule, route(3))));
    CHECK(sync_wait(schedule, send_query(schedule, route(4))));
}

TEST_CASE("duplicate, late and garbled replies in real time leave no awaited reply unread") {
    // Nothing is lost. Therefore, only a reply that is not read could make a task wait for its timeout of a minute.
    const unsigned window = GENERATE(1u, 2u, 16u);
    const bool asio = GENERATE(false, true);
    sim::simulation net = sim::make_sim("ring,switches=6,duplicate=0.3,garbage=0.3,reorder=0.2", sim::time_mode::real);
    MADSchedule schedule(*net.transport, {.max_outstanding = window, .timeout = 60s, .retries = 0});
    const auto nodes = [](MADSchedule& s, u64& got) -> generator<task<void>> {
        const auto one = [](MADSchedule& sched, IBDRPath to, u64& sum) -> task<void> {
            sum += co_await gets_reply(sched, to);
        };
        for (u32 i = 0; i < 300; ++i) co_yield one(s, i % 2 ? route(1) : IBDRPath{}, got);
    };
    const auto body = [](auto make, MADSchedule& s) -> task<u64> {
        u64 got = 0;
        co_await s.mqueue(make(s, got));
        co_return got;
    };
    CHECK((asio ? run_by_asio(schedule, body(nodes, schedule)) : sync_wait(schedule, body(nodes, schedule))) == 300);
    CHECK(schedule.counters().timed_out == 0);
    CHECK(schedule.counters().stale > 0);
    CHECK(schedule.counters().malformed > 0);
}

TEST_CASE("a canceled MAD keeps its slot in the window, and the driver waits for its release") {
    // At that time only a MAD is in flight that no task awaits.
    const bool asio = GENERATE(false, true);
    sim::simulation net = sim::make_sim("ring,switches=4,latency=10ms", sim::time_mode::real);
    MADSchedule schedule(*net.transport, {.max_outstanding = 1, .timeout = 60s, .retries = 0});
    const auto count_reply = [](MADSchedule& s, IBDRPath to, unsigned& got) -> task<void> {
        got += co_await gets_reply(s, to);
    };
    const auto all = [](MADSchedule& s, auto query, unsigned& got) -> generator<task<void>> {
        co_yield query(s, route(1), got);
        co_yield query(s, IBDRPath{}, got);
    };
    const auto body = [](MADSchedule& s, auto query, auto make) -> task<unsigned> {
        unsigned got = 0;
        {
            scope children(co_await coro::current_scope{});
            children.spawn(query(s, route(1), got));
            co_await s.pause(1ms);
            children.cancel();
            co_await children.join();
        }
        co_await s.mqueue(make(s, query, got));
        co_return got;
    };
    CHECK((asio ? run_by_asio(schedule, body(schedule, count_reply, all))
                : sync_wait(schedule, body(schedule, count_reply, all))) == 2);
    CHECK(schedule.counters().cancelled == 1);
}

// ---- timeouts in real time ---------------------------------------------------------------------------------------------

TEST_CASE("the timeout of an RPC does not start before a driver runs") {
    // A reply takes 5 ms of real time. The clock of the schedule was never read before, or a long time ago.
    sim::simulation net = sim::make_sim("ring,switches=4,latency=2500us", sim::time_mode::real);
    MADSchedule schedule(*net.transport, {.timeout = 60s, .retries = 0});
    for (int round = 0; round < 2; ++round) {
        CHECK(sync_wait(schedule, gets_reply(schedule, route(1))));
        job<bool> queued = schedule.queue(gets_reply(schedule, IBDRPath{}));
        CHECK(run_by_asio(schedule, gets_reply(schedule, route(1))));
        REQUIRE(queued.done());
        CHECK(queued.take());
    }
    CHECK(schedule.counters().timed_out == 0);
}

namespace {

/// A transport in real time. One MAD gets no reply, all others get theirs at once. It measures the delay of the timeout
/// in messages that were handled meanwhile, because time is not reliable on a busy machine.
class stopwatch final : public mad::transport {
public:
    const MADSchedule* schedule = nullptr;  ///< its clock shows when the driver last read the real clock
    std::optional<mad::time_point> sent_at; ///< the real time at which the unanswered MAD was sent
    mad::duration timeout{};
    bool over = false; ///< true when the unanswered RPC has ended: later messages do not count

    u64 until_started = 0;  ///< messages between the transmission and the next time that the driver reads the clock
    u64 since_deadline = 0; ///< messages between the clock reading at which the timeout is due and the end of the RPC
    u64 messages = 0;

    int native_handle() const noexcept override { return net_.native_handle(); }
    mad::transport_limits limits() const noexcept override { return net_.limits(); }
    mad::send_result send(const mad::send_request& request) noexcept override {
        if (mad::destination_key(*request.path) != silent_) return net_.send(request);
        sent_at = std::chrono::steady_clock::now();
        clock_when_sent_ = schedule->now();
        return {};
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        const mad::received r = net_.receive(buffer);
        if (r.state != mad::receive_state::message) return r;
        ++messages;
        if (!sent_at || over) return r;
        const mad::time_point now = schedule->now();
        if (now == clock_when_sent_) ++until_started;
        else if (!started_) started_ = now;
        if (started_ && now >= *started_ + timeout) ++since_deadline;
        return r;
    }
    static IBDRPath silent_node() { return route(99); }

private:
    memory_transport net_{memory_transport::time::real};
    const u64 silent_ = mad::destination_key(mad::any_path{silent_node()});
    mad::time_point clock_when_sent_;
    std::optional<mad::time_point> started_;
};

/// Loads the schedule until the RPC to the unresponsive node has timed out. Returns the time of the timeout.
task<mad::time_point> time_out_under_load(MADSchedule& s, stopwatch& net, mad::duration timeout, u32 load) {
    const auto background = [](MADSchedule& schedule, u32 number, const bool& stop) -> task<void> {
        while (!stop) co_await touch(schedule, route_to(number));
    };
    scope children(co_await coro::current_scope{});
    for (u32 i = 0; i < load; ++i) children.spawn(background(s, 1000 + i, net.over));
    co_await touch(s, stopwatch::silent_node(), rpc_options{.timeout = timeout, .retries = 0});
    const mad::time_point ended = std::chrono::steady_clock::now();
    net.over = true;
    co_await children.join();
    co_return ended;
}

} // namespace

TEST_CASE("a timeout under continuous traffic in real time is never early and late only by pending work") {
    const mad::duration timeout = GENERATE(1ms, 20ms, 200ms);
    const unsigned window = GENERATE(2u, 64u, 256u);
    const bool asio = GENERATE(false, true);
    CAPTURE(timeout.count(), window, asio);
    const mad::duration kept = mad::detail::deadlines::rounded(timeout);
    CHECK(kept - timeout <= std::max<mad::duration>(1ms, timeout / 20));

    stopwatch net;
    MADSchedule schedule(net, {.max_outstanding = window, .timeout = 60s});
    net.schedule = &schedule;
    net.timeout = kept;
    const u32 load = 2 * window;
    const auto ended = asio ? run_by_asio(schedule, time_out_under_load(schedule, net, timeout, load))
                            : sync_wait(schedule, time_out_under_load(schedule, net, timeout, load));
    REQUIRE(net.sent_at);
    CHECK(ended - *net.sent_at >= timeout);
    CHECK(net.until_started <= coro::burst);
    CHECK(net.since_deadline <= coro::burst + 2 * window); // a reply and a late reply for each slot
    CHECK(net.messages > 0);
}

TEST_CASE("a task that computes for longer than a timeout does not shorten the timeout") {
    // The task keeps the only thread busy before it sends the request. Every earlier clock reading is then too old.
    sim::simulation net = sim::make_sim("ring,switches=4,latency=100us", sim::time_mode::real);
    MADSchedule schedule(*net.transport, {.timeout = 50ms, .retries = 0});
    const auto busy = [](MADSchedule& s) -> task<bool> {
        co_await touch(s, IBDRPath{});
        const auto until = std::chrono::steady_clock::now() + 100ms;
        while (std::chrono::steady_clock::now() < until) {}
        auto info = co_await s.SubnGet<smp::NodeInfo>(IBDRPath{}, 0, rpc_options{.timeout = 60ms, .retries = 0});
        co_return info.has_value();
    };
    const bool asio = GENERATE(false, true);
    CHECK((asio ? run_by_asio(schedule, busy(schedule)) : sync_wait(schedule, busy(schedule))));
}

// ---- timeouts in virtual time ------------------------------------------------------------------------------------------

TEST_CASE("a timeout in virtual time is accurate to 5 percent or 1 ms, whatever else happens") {
    const mad::duration timeout = GENERATE(100us, 1ms, 20ms, 333ms, 1s);
    memory_transport net;
    struct silent_node final : mad::transport { // replies to all requests but one
        explicit silent_node(memory_transport& n) : net(n) {}
        int native_handle() const noexcept override { return -1; }
        mad::transport_limits limits() const noexcept override { return net.limits(); }
        mad::send_result send(const mad::send_request& request) noexcept override {
            if (mad::destination_key(*request.path) == mad::destination_key(mad::any_path{route(99)})) return {};
            return net.send(request);
        }
        mad::received receive(std::span<u8> buffer) noexcept override { return net.receive(buffer); }
        std::optional<mad::time_point> next_event() const noexcept override { return net.next_event(); }
        void set_now(mad::time_point now) noexcept override { net.set_now(now); }
        memory_transport& net;
    } one_silent(net);
    MADSchedule schedule(one_silent, {.max_outstanding = 8});
    const auto body = [](MADSchedule& s, mad::duration wanted) -> task<mad::duration> {
        bool over = false;
        const auto background = [](MADSchedule& sched, u32 number, const bool& stop) -> task<void> {
            while (!stop) co_await touch(sched, route_to(number));
        };
        scope children(co_await coro::current_scope{});
        for (u32 i = 0; i < 3; ++i) children.spawn(background(s, i, over));
        const mad::time_point start = s.now();
        co_await touch(s, route(99), rpc_options{.timeout = wanted, .retries = 0});
        const mad::duration took = s.now() - start;
        over = true;
        co_await children.join();
        co_return took;
    };
    const mad::duration took = sync_wait(schedule, body(schedule, timeout));
    CHECK(took == mad::detail::deadlines::rounded(timeout));
    CHECK(took >= timeout);
    CHECK(took <= timeout + std::max<mad::duration>(1ms, timeout / 20));
    CHECK(net.sent >= static_cast<u64>(timeout / round_trip));
}

// ---- reproducible runs in virtual time ---------------------------------------------------------------------------------

namespace {

/// Forwards everything, and hashes the time, the direction and the bytes.
class tracing_transport final : public mad::transport {
public:
    explicit tracing_transport(mad::transport& inner) : inner_(inner) {}
    u64 hash = 0xcbf29ce484222325;

    int native_handle() const noexcept override { return inner_.native_handle(); }
    mad::transport_limits limits() const noexcept override { return inner_.limits(); }
    std::optional<mad::time_point> next_event() const noexcept override { return inner_.next_event(); }
    void set_now(mad::time_point now) noexcept override { inner_.set_now(now_ = now); }
    mad::send_result send(const mad::send_request& request) noexcept override {
        note(1, {request.mad, request.size});
        return inner_.send(request);
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        const mad::received r = inner_.receive(buffer);
        if (r.state == mad::receive_state::message) note(2, r.mad);
        return r;
    }

private:
    void note(u8 way, std::span<const u8> bytes) noexcept {
        add(way);
        for (u64 t = static_cast<u64>(now_.time_since_epoch().count()); t; t >>= 8) add(static_cast<u8>(t));
        for (u8 b : bytes) add(b);
    }
    void add(u8 byte) noexcept { hash = (hash ^ byte) * 0x100000001b3; } // FNV-1a
    mad::transport& inner_;
    mad::time_point now_{};
};

struct run_result {
    u64 trace;
    mad::time_point ended;
    mad::engine_counters counters;
    u64 right;
};

/// Queries every node of a lossy ring at once, and returns what happened.
run_result lossy_run(u64 seed) {
    const std::string text =
        "ring,switches=8,latency=3us,jitter=5us,loss=0.05,duplicate=0.05,reorder=0.05,garbage=0.02,seed=" +
        std::to_string(seed);
    sim::simulation net = sim::make_sim(text, sim::time_mode::virtual_);
    tracing_transport traced(*net.transport);
    MADSchedule schedule(traced, {.max_outstanding = 16, .timeout = 1ms, .retries = 20});
    u64 right = 0;
    const auto one = [](MADSchedule& s, u64& sum) -> task<void> {
        auto info = co_await s.SubnGet<smp::NodeInfo>(IBDRPath{});
        sum += info.has_value();
    };
    const auto many = [](auto make, MADSchedule& s, u64& sum) -> generator<task<void>> {
        for (int i = 0; i < 2000; ++i) co_yield make(s, sum);
    };
    const auto body = [](auto tasks, auto make, MADSchedule& s, u64& sum) -> task<mqueue_report> {
        co_return co_await s.mqueue(tasks(make, s, sum));
    };
    sync_wait(schedule, body(many, one, schedule, right));
    return {traced.hash, schedule.now(), schedule.counters(), right};
}

} // namespace

TEST_CASE("two virtual-time runs with one seed have equal traces, and another seed changes the trace") {
    const run_result first = lossy_run(7), again = lossy_run(7), other = lossy_run(8);
    CHECK(first.right == 2000);
    CHECK(first.counters.retried > 0);
    CHECK(first.counters.stale > 0);
    CHECK(first.trace == again.trace);
    CHECK(first.ended == again.ended);
    CHECK(other.right == 2000);
    CHECK(first.trace != other.trace);
}

TEST_CASE("a reply that arrives at the moment of the deadline counts") {
    rig r([](const packet& p) { return answered(p, mad::detail::deadlines::rounded(1ms)); },
          {.timeout = 1ms, .retries = 0});
    CHECK(sync_wait(r.schedule, send_query(r.schedule, route(1))));
    CHECK(r.schedule.counters().timed_out == 0);
}

TEST_CASE("time never goes back and does not advance while work is pending") {
    std::vector<mad::time_point> seen;
    rig r([&](const packet& p) {
        seen.push_back(p.at);
        return answered(p, p.number % 3 ? 0s : round_trip);
    });
    const auto body = [](MADSchedule& s) -> task<int> {
        int right = 0;
        for (u32 i = 0; i < 30; ++i) right += co_await send_query(s, route_to(i));
        co_return right;
    };
    CHECK(sync_wait(r.schedule, body(r.schedule)) == 30);
    CHECK(std::is_sorted(seen.begin(), seen.end()));
    CHECK(r.schedule.now().time_since_epoch() == 10 * round_trip);
}

TEST_CASE("a task reads the current time at its first step, in real time and in virtual time") {
    namespace sim = transports::sim;
    const auto query_time = [](MADSchedule& s) -> task<mad::time_point> {
        const mad::time_point first = s.now();
        (void)co_await s.SubnGet<iba::smp::NodeInfo>(mad::IBDRPath{});
        co_return first;
    };
    const auto before = std::chrono::steady_clock::now();
    sim::simulation real = sim::make_sim("single", sim::time_mode::real);
    MADSchedule on_real(*real.transport);
    CHECK(sync_wait(on_real, query_time(on_real)) >= before);

    const std::string simulated = GENERATE("single,latency=1ms,time=virtual", "single,latency=1ms,kernel,time=virtual");
    sim::simulation net = sim::make_sim(simulated);
    MADSchedule first(*net.transport), second(*net.transport);
    CHECK(sync_wait(first, query_time(first)) == mad::time_point{});
    CHECK(first.now() > mad::time_point{});
    CHECK(sync_wait(second, query_time(second)) == first.now());
}
