// SPDX-License-Identifier: MIT
// umad_ports_guest_test.cpp - ports of two devices, ports that serve requests and receive traps, and ports that are
// removed.
#include "guest_rig.hpp"
#include <comad/coro/asio.hpp>
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba/pm.hpp>
#include <comad/iba/smp.hpp>
#include <comad/transports/smi_gsi.hpp>

#include <boost/asio/io_context.hpp>

#include <array>
#include <future>

namespace umad_ports_guest_test {

using namespace comad;
using namespace comad::test;
using coro::generator;
using coro::MADSchedule;
using coro::task;
using iba::Method;
using iba::MgmtClass;
using iba::pm::PortCounters;
using iba::smp::NodeInfo;
using iba::smp::SMInfo;
using mad::errc;

namespace {

const std::array<u8, 1> out_of_port_1{1};

server::responder manager_with_counters() {
    server::responder answers;
    const auto report = [](const server::request& r) {
        SMInfo info;
        info.priority = 7;
        return r.header.attributeID == iba::attribute_id<SMInfo>
                   ? server::response::of(info)
                   : server::response::error(server::status::unsupported_attribute);
    };
    answers.add({MgmtClass::SubnLID, 1, mad::methods(Method::Get)}, report);
    answers.add({MgmtClass::SubnDirected, 1, mad::methods(Method::Get)}, report);
    answers.add({MgmtClass::Performance, 1, mad::methods(Method::Get)}, [](const server::request& r) {
        auto counters = r.payload<PortCounters>();
        counters.symbolErrorCounter = 42;
        return server::response::of(counters);
    });
    return answers;
}

} // namespace

TEST_CASE("SMPs and GMPs of a port of two devices use different devices, and both devices serve") {
    use_fakeib("presets=1 split=1");
    for (const char* name : {"fib0/1", "smi0/1"}) { // named by either side
        const end_port here = port_of(name), there = port_of("fib1/1");
        const transports::smi_gsi sides = transports::smi_gsi_pair(here, transports::end_ports());
        REQUIRE((sides.smi && sides.gsi));
        CHECK(sides.smi->name() == "smi0/1");
        CHECK(sides.gsi->name() == "fib0/1");
        CHECK(sides.gsi->is_gsi_only());

        const served_port server(transports::open_end_port(there), manager_with_counters());
        const auto device = transports::open_end_port(here);
        CHECK_THAT(device->name(), Catch::StartsWith("smi0/1 (umad") && Catch::Contains(", fib0/1 (umad"));
        coro::blocking_transactor rpcs(*device);
        CHECK(rpcs.SubnGet<NodeInfo>(mad::IBDRPath(out_of_port_1)));
        const auto by_route = rpcs.SubnGet<SMInfo>(mad::IBDRPath(out_of_port_1));
        REQUIRE(by_route);
        CHECK(by_route.value().priority == 7);
        const auto by_lid = rpcs.SubnGet<SMInfo>(to_lid(2));
        REQUIRE(by_lid);
        CHECK(by_lid.value().priority == 7);
        const auto counters = rpcs.PerformanceGet<PortCounters>(to_lid(2), 1);
        REQUIRE(counters);
        CHECK(counters.value().symbolErrorCounter == 42);
    }
    // A transport over only the side with the SMI carries no GMPs. A transport over only the other side carries no
    // SMPs.
    umad_transport gsi(port_of("fib0/1"));
    coro::blocking_transactor rpcs(gsi);
    const auto refused = rpcs.SubnGet<NodeInfo>(mad::IBDRPath{});
    REQUIRE_FALSE(refused);
    CHECK(refused.error().sys_errno == EPROTONOSUPPORT);
}

TEST_CASE("a trap reaches the server of its class, and its sender gets a reply") {
    use_fakeib();
    std::promise<u16> traps[2]; // the LIDs of the senders
    unsigned received = 0;
    server::responder answers;
    answers.on_trap(MgmtClass::SubnLID, 1, [&](const server::request&, const iba::Notice& notice) {
        traps[received++].set_value(value(notice.issuerLID));
        return true;
    });
    const auto issuer_of = [&](unsigned trap) {
        auto issuer = traps[trap].get_future();
        REQUIRE(issuer.wait_for(10s) == std::future_status::ready);
        return issuer.get();
    };
    const served_port manager(std::make_unique<umad_transport>(port_of("fib0/1")), std::move(answers));

    umad_transport device(port_of("fib1/1"));
    iba::smp::NoticeTrap notice;
    notice.isGeneric = true;
    notice.trapNumber = iba::TrapNumber::LinkStateChange;
    notice.issuerLID = iba::lid{2};
    outgoing_mad trap(to_lid(1), MgmtClass::SubnLID, 1, Method::Trap, 0x0002, 77);
    const auto bytes = iba::encode(notice);
    std::copy(bytes.begin(), bytes.end(), trap.mad() + 64);
    REQUIRE(trap.send(device).state == mad::send_state::sent);
    const auto repress = await_message(device);
    REQUIRE(repress);
    CHECK(repress->status == 0);
    CHECK(repress->mad[3] == value(Method::TrapRepress));
    CHECK(repress->tid() == 77);
    CHECK(issuer_of(0) == 2);
    CHECK(device.held() == 0);

    // Without waiting for the TrapRepress, as the RPC of the library does.
    MADSchedule schedule(device);
    const auto send = [](MADSchedule& s, iba::smp::NoticeTrap n) -> task<bool> {
        auto sent = co_await s.Trap(n, to_lid(1));
        co_return sent.has_value();
    };
    CHECK(coro::sync_wait(schedule, send(schedule, notice)));
    CHECK(issuer_of(1) == 2);
}

// ---- removed devices ---------------------------------------------------------------------------------------------------

namespace {

struct ending {
    std::optional<errc> code;
    int error = 0;
    std::string text;
};
task<void> await_end(MADSchedule& s, mad::IBPath to, std::vector<ending>& all) {
    auto counters = co_await s.PerformanceGet<PortCounters>(to, 1);
    ending e;
    if (!counters) {
        e.code = counters.error().code;
        e.error = counters.error().sys_errno;
        e.text = plain_text(counters.error());
    }
    all.push_back(std::move(e));
}
generator<task<void>> begin_all(MADSchedule& s, mad::IBPath to, unsigned count, std::vector<ending>& all) {
    for (unsigned i = 0; i < count; ++i) co_yield await_end(s, to, all);
}
task<std::vector<ending>> in_flight(MADSchedule& s, mad::IBPath to, unsigned count) {
    std::vector<ending> all;
    co_await s.mqueue(begin_all(s, to, count, all), {.max_tasks = count});
    co_return all;
}

void rdma(const std::vector<std::string>& words) {
    std::vector<std::string> command{"rdma", "link"};
    command.insert(command.end(), words.begin(), words.end());
    const process_result r = run_process(command);
    INFO(r.err);
    REQUIRE(r.status == 0);
}

} // namespace

TEST_CASE("RPCs in flight fail soon after their device is removed, under both drivers") {
    const bool by_asio = GENERATE(false, true);
    CAPTURE(by_asio);
    constexpr unsigned count = 10;
    const end_port there = port_of("rxe1/1");
    const std::string name = "rxe1/1 (" + there.umad + ")";
    const peer silent(port_of("rxe0/1"), {MgmtClass::Performance, 1, mad::methods(Method::Get)}, silence());
    umad_transport device(there);
    MADSchedule schedule(device, {.max_outstanding = count, .gmps_per_destination = 0, .timeout = 60s, .retries = 0});
    std::future<void> remover = std::async(std::launch::async, [&] {
        silent.await_count(count);
        run_process({"rdma", "link", "del", "rxe1"});
    });
    const mad::time_point start = clock_now();
    std::vector<ending> all;
    const mad::IBPath to = to_gid(port_of("rxe0/1"));
    if (by_asio) {
        boost::asio::io_context io{1};
        coro::asio_driver driver(io, schedule);
        coro::async_run(driver, in_flight(schedule, to, count), [&](std::vector<ending> v) { all = std::move(v); });
        io.run();
    } else {
        all = coro::sync_wait(schedule, in_flight(schedule, to, count));
    }
    CHECK(clock_now() - start < 10s);
    remover.get();
    REQUIRE(all.size() == count);
    for (const ending& e : all) {
        CHECK(e.code == errc::transport_failed);
        CHECK(e.error == EIO);
        CHECK_THAT(e.text,
                   Catch::StartsWith(name + " was disconnected (the device was removed or reset; it can be reopened"));
    }
    CHECK(schedule.transport_failed());
    const auto later = coro::sync_wait(schedule, in_flight(schedule, to, 1));
    CHECK(later[0].code == errc::send_failed);
    CHECK_THAT(later[0].text, Catch::StartsWith(name + " rejected the request (the device was removed"));

    // A program that serves requests gets the error, too. When the device is back, it can be opened again.
    rdma({"add", "rxe1", "type", "rxe", "netdev", "eth1"});
    const peer back(port_of("rxe1/1"), {MgmtClass::Performance, 1, mad::methods(Method::Get)}, answer_after(0ms));
    umad_transport other(port_of("rxe0/1"));
    coro::blocking_transactor rpcs(other);
    CHECK(rpcs.PerformanceGet<PortCounters>(to_gid(port_of("rxe1/1")), 1));
}

TEST_CASE("a removed device rejects agents and requests with explanatory errors") {
    umad_transport device(port_of("rxe1/1"));
    rdma({"del", "rxe1"});
    CHECK(device.serve({MgmtClass::Performance, 1, mad::methods(Method::Get)}) == EPIPE);
    CHECK_THAT(std::string(device.advice(mad::transport_call::serve, EPIPE)),
               Catch::StartsWith("the device was removed"));
    outgoing_mad request(to_lid(1), MgmtClass::Performance, 1, Method::Get, 0x12, 1);
    const auto result = request.send(device);
    CHECK(result.state == mad::send_state::failed);
    CHECK(result.error == EPIPE);
    rdma({"add", "rxe1", "type", "rxe", "netdev", "eth1"});
}

} // namespace umad_ports_guest_test
