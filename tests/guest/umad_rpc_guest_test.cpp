// SPDX-License-Identifier: MIT
// umad_rpc_guest_test.cpp - RPCs over the kernel's MAD devices: SMPs and GMPs, and late, duplicate, lost or excess
// MADs.
#include "guest_rig.hpp"
#include "wire/delivered_request.hpp"
#include <comad/coro/asio.hpp>
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba/pm.hpp>
#include <comad/iba/smp.hpp>
#include <comad/transports/smi_gsi.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <sys/epoll.h>
#include <utility>

namespace umad_rpc_guest_test {

using namespace comad;
using namespace comad::test;
using coro::generator;
using coro::MADSchedule;
using coro::task;
using iba::Method;
using iba::MgmtClass;
using iba::pm::PortCounters;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using mad::errc;
using mad::IBDRPath;
using transports::kernel_timeout;

namespace {

constexpr u64 first_guid = 0x0002c90000fab000; // the first GUID of fakeib
constexpr mad::registration performance{MgmtClass::Performance, 1, mad::methods(Method::Get)};

template <class... Port> IBDRPath route(Port... ports) {
    const std::array<u8, sizeof...(ports)> hops{static_cast<u8>(ports)...};
    return IBDRPath{hops};
}

/// The result of one RPC.
struct outcome {
    std::optional<errc> error;
    unsigned attempts = 0;
    mad::duration took{};
};
task<outcome> send_query(MADSchedule& s, mad::IBPath to) {
    const mad::time_point start = s.now();
    auto counters = co_await s.PerformanceGet<PortCounters>(to, 1);
    if (counters) co_return outcome{std::nullopt, 0, s.now() - start};
    co_return outcome{counters.error().code, counters.error().attempts, s.now() - start};
}
task<void> query_into(MADSchedule& s, mad::IBPath to, std::vector<outcome>& all) {
    outcome one = co_await send_query(s, to);
    all.push_back(one);
}
generator<task<void>> many(MADSchedule& s, mad::IBPath to, unsigned count, std::vector<outcome>& all) {
    for (unsigned i = 0; i < count; ++i) co_yield query_into(s, to, all);
}
task<std::vector<outcome>> query_many(MADSchedule& s, mad::IBPath to, unsigned count) {
    std::vector<outcome> all;
    co_await s.mqueue(many(s, to, count, all), {.max_tasks = count});
    co_return all;
}
std::size_t answered(const std::vector<outcome>& all) {
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](const outcome& o) { return !o.error; }));
}

/// Reads until the kernel holds no request.
void read_all_back(MADSchedule& s, umad_transport& device, mad::duration limit) {
    const mad::time_point end = clock_now() + limit;
    while (device.held() > 0 && clock_now() < end)
        coro::sync_wait(s, [](MADSchedule& on) -> task<bool> { co_return co_await on.pause(5ms); }(s));
    CHECK(device.held() == 0);
}

} // namespace

TEST_CASE("SMPs travel by directed route and by LID, and the SMA of the driver replies") {
    use_fakeib();
    umad_transport device(port_of("fib0/1"));
    coro::blocking_transactor rpcs(device, {.timeout = 100ms});
    for (const u64 hops : {0u, 1u}) {
        const auto info = rpcs.SubnGet<NodeInfo>(hops ? route(1) : route());
        REQUIRE(info);
        CHECK(value(info.value().nodeGUID) == first_guid + hops);
    }
    const auto port = rpcs.SubnGet<PortInfo>(to_lid(2), 1);
    REQUIRE(port);
    CHECK(port.value().LID == iba::lid{2});
    CHECK(port.value().portState == iba::PortState::Active);

    const auto unknown = rpcs.SubnGet<iba::smp::SwitchInfo>(to_lid(2));
    REQUIRE_FALSE(unknown);
    CHECK(unknown.error().code == errc::status);
    const auto beyond = rpcs.SubnGet<NodeInfo>(route(1, 1)); // through a CA
    REQUIRE_FALSE(beyond);
    CHECK(beyond.error().code == errc::timed_out);
    CHECK(beyond.error().attempts == 3);
    const auto no_node = rpcs.SubnGet<NodeInfo>(to_lid(77));
    REQUIRE_FALSE(no_node);
    CHECK(no_node.error().code == errc::timed_out);
    const auto no_port = rpcs.SubnGet<NodeInfo>(route(2)); // a CA with one port
    CHECK_FALSE(no_port);
}

TEST_CASE("a server over the kernel receives the headers that servers on the simulator receive") {
    use_fakeib();
    umad_transport device(port_of("fib0/1")), server(port_of("fib1/1"));
    for (const request_kind what : {request_kind::by_ports, request_kind::by_lid, request_kind::of_other_port}) {
        CAPTURE(static_cast<int>(what));
        const auto bytes = bytes_of(what);
        const MgmtClass mgmt_class{bytes[1]};
        REQUIRE(server.serve({mgmt_class, 1, mad::methods(Method::Get)}) == 0);
        outgoing_mad request(path_of(what, iba::lid{2}), mgmt_class, 1, Method::Get, 0, requested_tid);
        std::copy(bytes.begin(), bytes.end(), request.mad());
        REQUIRE(request.send(device).state == mad::send_state::sent);
        const auto came = await_message(server);
        REQUIRE(came);
        CHECK(differences(fields_of(came->source, came->mad), expected_of(what, iba::lid{1})) == "");
    }
}

TEST_CASE("GMPs travel by LID over InfiniBand and by GID over soft RoCE and return") {
    use_fakeib();
    const auto check = [](const end_port& from, const end_port& at, const mad::IBPath& to) {
        CAPTURE(from.name(), at.name());
        const peer answers(at, performance, answer_after(0ms));
        umad_transport device(from);
        coro::blocking_transactor rpcs(device);
        for (int i = 0; i < 20; ++i) CHECK(rpcs.PerformanceGet<PortCounters>(to, 1));
        CHECK(answers.count() >= 20); // a busy machine may cause retries
        CHECK(device.held() == 0);
    };
    check(port_of("fib0/1"), port_of("fib1/1"), to_lid(2));
    check(port_of("rxe0/1"), port_of("rxe1/1"), to_gid(port_of("rxe1/1")));
    check(port_of("rxe1/1"), port_of("rxe0/1"), to_gid(port_of("rxe0/1")));
    check(port_of("rxe0/1"), port_of("rxe0/1"), to_gid(port_of("rxe0/1"))); // to the port itself
}

TEST_CASE("the kernel itself rejects a class that no agent serves") {
    use_fakeib();
    umad_transport device(port_of("fib0/1"));
    coro::blocking_transactor rpcs(device);
    const auto refused = rpcs.PerformanceGet<PortCounters>(to_lid(2), 1);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::status);
    CHECK(refused.error().status == 0x000c);
}

TEST_CASE("an unresponsive node gets the configured attempts, and the kernel keeps no request afterwards") {
    use_fakeib();
    const peer silent(port_of("fib1/1"), performance, silence());
    umad_transport device(port_of("fib0/1"));
    MADSchedule schedule(device, {.timeout = 60ms, .retries = 2});
    const outcome o = coro::sync_wait(schedule, send_query(schedule, to_lid(2)));
    CHECK(o.error == errc::timed_out);
    CHECK(o.attempts == 3);
    CHECK(o.took >= 180ms);
    CHECK(o.took < 5s);
    CHECK(silent.count() == 3);
    read_all_back(schedule, device, 2s);
    CHECK(schedule.counters().expired_reports == 3);
}

TEST_CASE("a reply to an earlier attempt counts only if the kernel timeout covers the operation") {
    use_fakeib();
    // The first request gets its reply after the timeout of its attempt, all others get none.
    bool is_first = true;
    const peer late(port_of("fib1/1"), performance, [&](std::span<const u8>) {
        return std::exchange(is_first, false) ? std::vector<mad::duration>{300ms} : std::vector<mad::duration>{};
    });
    umad_options options;
    options.timeout = GENERATE(kernel_timeout::automatic, kernel_timeout::operation, kernel_timeout::attempt);
    const bool is_reported = options.timeout != kernel_timeout::attempt;
    umad_transport device(port_of("fib0/1"), options);
    MADSchedule schedule(device, {.timeout = 200ms, .retries = 3});
    const outcome o = coro::sync_wait(schedule, send_query(schedule, to_lid(2)));
    CHECK(o.error.has_value() == !is_reported);
    CHECK(schedule.counters().late_replies == (is_reported ? 1 : 0));
    read_all_back(schedule, device, 2s);
}

TEST_CASE("duplicate replies and replies after the end are not delivered") {
    use_fakeib();
    const peer chatty(port_of("fib1/1"), performance, [](std::span<const u8>) {
        return std::vector<mad::duration>{0ms, 0ms, 5ms, 40ms};
    });
    umad_transport device(port_of("fib0/1"));
    MADSchedule schedule(device, {.timeout = 1s});
    for (int i = 0; i < 3; ++i) CHECK_FALSE(coro::sync_wait(schedule, send_query(schedule, to_lid(2))).error);
    CHECK_FALSE(await_message(device, 100ms));
    CHECK(schedule.counters().stale == 0);
    CHECK(schedule.counters().replied == 3);
}

TEST_CASE("a transaction ID in use is rejected, and another agent can use it") {
    use_fakeib();
    const peer silent(port_of("fib1/1"), performance, silence());
    umad_transport device(port_of("fib0/1"));
    outgoing_mad request(to_lid(2), MgmtClass::Performance, 1, Method::Get, 0x12, 42);
    request.timeout = 500ms;
    REQUIRE(request.send(device).state == mad::send_state::sent);
    for (const u16 LID : {2, 77}) { // regardless of the target
        request.path = to_lid(LID);
        const auto again = request.send(device);
        CHECK(again.state == mad::send_state::failed);
        CHECK(again.error == EINVAL);
    }
    CHECK(request.send(device, u8{2}).state == mad::send_state::sent);
    CHECK_THAT(std::string(device.advice(mad::transport_call::send, EINVAL)), Catch::Contains("transaction ID"));
    for (int i = 0; i < 2; ++i) {
        const auto report = await_message(device);
        REQUIRE(report);
        CHECK(report->status == ETIMEDOUT);
        CHECK(report->mad.size() == 24);
        CHECK(report->tid() == 42);
    }
    request.path = to_lid(2);
    CHECK(request.send(device).state == mad::send_state::sent); // the transaction ID is free again
}

TEST_CASE("a thousand requests in flight all complete exactly once") {
    use_fakeib();
    constexpr u32 count = 1000;
    umad_options options;
    options.max_held = 2 * count;
    umad_transport device(port_of("fib0/1"), options);
    SECTION("no replies") {
        const peer silent(port_of("fib1/1"), performance, silence());
        for (u32 i = 0; i < count; ++i) {
            outgoing_mad request(to_lid(2), MgmtClass::Performance, 1, Method::Get, 0x12, i);
            request.timeout = 2500ms;
            REQUIRE(request.send(device).state == mad::send_state::sent);
        }
        CHECK(device.held() == count);
        std::set<u32> back;
        for (u32 i = 0; i < count; ++i) {
            const auto report = await_message(device);
            REQUIRE(report);
            CHECK(report->status == ETIMEDOUT);
            back.insert(report->tid());
        }
        CHECK(back.size() == count);
        CHECK(device.held() == 0);
    }
    SECTION("late replies") {
        const peer slow(port_of("fib1/1"), performance, answer_after(200ms));
        coro::schedule_options all_at_once{.max_outstanding = count, .gmps_per_destination = 0, .timeout = 20s};
        MADSchedule schedule(device, all_at_once);
        const auto all = coro::sync_wait(schedule, query_many(schedule, to_lid(2), count));
        CHECK(answered(all) == count);
        CHECK(schedule.window() == 128); // the size of the kernel's send queue
        CHECK(slow.most_waiting() <= 128);
        CHECK(slow.count() == count);
    }
}

TEST_CASE("attempts beyond max_held wait until the kernel returns requests, and all RPCs end") {
    use_fakeib();
    const peer silent(port_of("fib1/1"), performance, silence());
    umad_options options;
    options.max_held = 8;
    umad_transport device(port_of("fib0/1"), options);
    MADSchedule schedule(device, {.max_outstanding = 6, .gmps_per_destination = 0, .timeout = 20ms, .retries = 3});
    const auto all = coro::sync_wait(schedule, query_many(schedule, to_lid(2), 24));
    REQUIRE(all.size() == 24);
    CHECK(answered(all) == 0);
    CHECK(std::all_of(all.begin(), all.end(), [](const outcome& o) { return o.error == errc::timed_out; }));
    read_all_back(schedule, device, 2s);
    // The kernel reported every sent attempt once.
    CHECK(schedule.counters().expired_reports == silent.count());
    CHECK(schedule.counters().stale == 0);
}

TEST_CASE("a slow node gets its time without excessive retries") {
    use_fakeib();
    const peer slow(port_of("fib1/1"), performance, answer_after(700ms));
    umad_transport device(port_of("fib0/1"));
    MADSchedule schedule(device); // default options: timeouts are measured
    CHECK_FALSE(coro::sync_wait(schedule, send_query(schedule, to_lid(2))).error);
    const std::size_t first = slow.count();
    CHECK(first <= 4);
    CHECK_FALSE(coro::sync_wait(schedule, send_query(schedule, to_lid(2))).error);
    CHECK(slow.count() - first <= first);
    CHECK(schedule.counters().replied == 2);
    CHECK(schedule.counters().timed_out == 0);
}

TEST_CASE("each message is an epoll edge of the device descriptor, whether read or not") {
    use_fakeib();
    const peer answers(port_of("fib1/1"), performance, answer_after(10ms));
    umad_transport device(port_of("fib0/1"));
    const mad::unique_fd edges(::epoll_create1(EPOLL_CLOEXEC));
    epoll_event wanted{.events = EPOLLIN | EPOLLET, .data = {}};
    REQUIRE(::epoll_ctl(edges.get(), EPOLL_CTL_ADD, device.native_handle(), &wanted) == 0);
    const auto edge_within = [&](int ms) {
        epoll_event event;
        return ::epoll_wait(edges.get(), &event, 1, ms) == 1;
    };
    CHECK_FALSE(edge_within(0)); // being writable is not an edge
    const auto query_once = [&](u32 tid) {
        outgoing_mad request(to_lid(2), MgmtClass::Performance, 1, Method::Get, 0x12, tid);
        REQUIRE(request.send(device).state == mad::send_state::sent);
    };
    query_once(1);
    CHECK(edge_within(2000));
    CHECK_FALSE(edge_within(0));
    query_once(2);
    CHECK(edge_within(2000)); // although the first message was not read
    CHECK(await_message(device, 0ms)->tid() == 1);
    CHECK(await_message(device, 0ms)->tid() == 2);
    CHECK_FALSE(await_message(device, 0ms));
    query_once(3);
    CHECK(edge_within(2000));
}

TEST_CASE("the Asio driver runs a sweep over the kernel and misses nothing") {
    use_fakeib();
    const peer answers(port_of("fib1/1"), performance, answer_after(1ms));
    umad_transport device(port_of("fib0/1"));
    MADSchedule schedule(device, {.gmps_per_destination = 0});
    boost::asio::io_context io{1};
    coro::asio_driver driver(io, schedule);
    std::vector<outcome> all;
    coro::async_run(driver, query_many(schedule, to_lid(2), 300), [&](std::vector<outcome> v) { all = std::move(v); });
    io.run();
    CHECK(all.size() == 300);
    CHECK(answered(all) == 300);
}

TEST_CASE("several open devices of a port have more requests in flight and receive their own replies") {
    use_fakeib();
    const peer slow(port_of("fib1/1"), performance, answer_after(1500ms));
    const auto wide = transports::open_end_port(port_of("fib0/1"), "/sys/class", 4);
    CHECK(wide->limits().max_window == 4 * 128);
    CHECK(wide->limits().sa_window == 4 * 16);
    coro::schedule_options options{.max_outstanding = 500, .gmps_per_destination = 0, .timeout = 20s};
    MADSchedule schedule(*wide, options);
    const auto all = coro::sync_wait(schedule, query_many(schedule, to_lid(2), 500));
    CHECK(answered(all) == 500);
    CHECK(slow.most_waiting() > 2 * 128);
    CHECK(schedule.counters().stale == 0);
}

} // namespace umad_rpc_guest_test
