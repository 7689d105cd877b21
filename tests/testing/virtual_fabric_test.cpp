// SPDX-License-Identifier: MIT
// virtual_fabric_test.cpp - the test kit: several schedules share virtual time, scripted nodes reply, and tests inject
// faults by name.
#include "support/catch.hpp"
#include "support/exception_message.hpp"
#include <comad/coro/asio.hpp>
#include <comad/coro/detail/blocking.hpp>
#include <comad/coro/event.hpp>
#include <comad/iba/pm.hpp>
#include <comad/iba/smp.hpp>
#include <comad/iba/vendor.hpp>
#include <comad/server/agent.hpp>
#include <comad/testing.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

using namespace comad;
using namespace std::chrono_literals;
using coro::MADSchedule;
using coro::sync_wait;
using coro::task;
using iba::smp::NodeDescription;
using iba::smp::NodeInfo;
using iba::vend::OFASysStatPing;
using testing::virtual_fabric;

namespace {

const char* const small = "fattree2,radix=4,sm=1";
constexpr u16 invalid_value = server::status::invalid_value;

mad::IBDRPath local() { return mad::IBDRPath{}; }

/// A server that replies with ten times the number in the request.
struct ten_times {
    explicit ten_times(MADSchedule& on) : agent(on.transport(), answers()), schedule(on) {
        schedule.set_server(&agent);
    }
    ~ten_times() { schedule.set_server(nullptr); }
    ten_times(const ten_times&) = delete;
    ten_times& operator=(const ten_times&) = delete;

    server::responder& answers() {
        responder.add({iba::MgmtClass{0x33}, 1, mad::methods(iba::Method::Get), 0x001405},
                      [](const server::request& r) {
                          auto ping = r.payload<OFASysStatPing>();
                          ping.cookie *= 10;
                          return server::response::of(ping);
                      });
        return responder;
    }
    server::responder responder;
    server::agent agent;
    MADSchedule& schedule;
};

/// Returns the number in the reply of the server, or 0 for an error.
task<u64> send_query(MADSchedule& schedule, mad::IBPath server, u64 cookie) {
    OFASysStatPing request;
    request.cookie = cookie;
    auto reply = co_await schedule.VendGet(request, server);
    co_return reply ? reply.value().cookie : 0;
}

/// Returns the text of the error of a Get; empty if there is none.
template <class T> task<std::string> error_of(MADSchedule& schedule, mad::any_path path) {
    const auto reply = co_await schedule.SubnGet<T>(path);
    co_return reply ? std::string() : plain_text(reply.error());
}

} // namespace

// ---- Several schedules ----

TEST_CASE("a client gets the reply of a server on another schedule of the same virtual fabric") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    MADSchedule& serving = fabric.schedule("h-0008 HCA-1");
    const ten_times server(serving);
    CHECK(sync_wait(client, send_query(client, fabric.path_to("h-0008 HCA-1"), 7)) == 70);
    CHECK(server.agent.counters().requests == 1);
    CHECK(fabric.now().time_since_epoch() < 1ms);
}

TEST_CASE("a virtual fabric drives a schedule of the program until the schedule ends") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    const mad::IBPath to = fabric.path_to("h-0008 HCA-1/1");
    {
        MADSchedule serving(fabric.open("h-0008 HCA-1/1"));
        fabric.drive(serving);
        const ten_times server(serving);
        CHECK(sync_wait(client, send_query(client, to, 1)) == 10);
    }
    CHECK(sync_wait(client, send_query(client, to, 1)) == 0);
}

TEST_CASE("tasks on two ports of one virtual fabric interleave by virtual time") {
    virtual_fabric fabric(small);
    MADSchedule& first = fabric.schedule("h-0001 HCA-1");
    MADSchedule& second = fabric.schedule("h-0002 HCA-1");
    std::vector<int> order;
    const auto note_each = [&order](MADSchedule& s, mad::duration between, int number) -> task<void> {
        for (int i = 0; i < 3; ++i) {
            co_await s.pause(between);
            order.push_back(number);
        }
    };
    auto slow = first.queue(note_each(first, 10ms, 1));
    sync_wait(second, note_each(second, 4ms, 2));
    CHECK(order == std::vector{2, 2, 1, 2});
    CHECK(fabric.now().time_since_epoch() == 12ms);
    fabric.run_until([&] { return slow.done(); });
    CHECK(order == std::vector{2, 2, 1, 2, 1, 1});
}

TEST_CASE("a task that sets an event of another schedule wakes that schedule at once") {
    virtual_fabric fabric(small);
    MADSchedule& first = fabric.schedule("h-0001 HCA-1"); // it runs before the event is set
    MADSchedule& second = fabric.schedule("h-0002 HCA-1");
    coro::event ready(first);
    const auto wait = [](coro::event& e) -> task<bool> { co_return co_await e.wait(); };
    const auto set = [](MADSchedule& s, coro::event& e) -> task<void> {
        co_await s.pause(5ms);
        e.set();
        co_await s.pause(1s);
    };
    auto setting = second.queue(set(second, ready));
    CHECK(sync_wait(first, wait(ready)));
    CHECK(fabric.now().time_since_epoch() == 5ms);
    CHECK_FALSE(setting.done());
}

TEST_CASE("an Asio program runs in virtual time with a server on the same fabric") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    MADSchedule& serving = fabric.schedule("h-0008 HCA-1");
    const ten_times server(serving);
    boost::asio::io_context io;
    coro::asio_driver driver(io, client);
    std::vector<u64> replies;
    const auto later = [](MADSchedule& s, mad::IBPath to) -> task<u64> {
        co_await s.pause(3s);
        co_return co_await send_query(s, to, 2);
    };
    coro::async_run(driver, later(client, fabric.path_to("h-0008 HCA-1")), [&](u64 r) { replies.push_back(r); });
    coro::async_run(driver, send_query(client, fabric.path_to("h-0008 HCA-1"), 1),
                    [&](u64 r) { replies.push_back(r); });
    const auto started = std::chrono::steady_clock::now();
    fabric.run(io);
    CHECK(replies == std::vector<u64>{10, 20});
    CHECK(fabric.now().time_since_epoch() > 3s);
    CHECK(std::chrono::steady_clock::now() - started < 2s);
}

TEST_CASE("a blocking program runs in virtual time with a server on the same fabric") {
    virtual_fabric fabric(small);
    const ten_times server(fabric.schedule("h-0008 HCA-1"));
    coro::blocking_transactor client(fabric.open("h-0001 HCA-1"));
    fabric.drive(client.schedule());
    OFASysStatPing request;
    request.cookie = 4;
    CHECK(client.VendGet(request, fabric.path_to("h-0008 HCA-1")).value().cookie == 40);
}

TEST_CASE("a virtual fabric has equal times in each run with seeded losses") {
    const auto run = [] {
        virtual_fabric fabric("fattree2,radix=4,sm=1,loss=0.2,seed=7");
        MADSchedule& client = fabric.schedule("h-0001 HCA-1");
        const ten_times server(fabric.schedule("h-0008 HCA-1"));
        for (u64 i = 0; i < 20; ++i) sync_wait(client, send_query(client, fabric.path_to("h-0008 HCA-1"), i));
        return fabric.now();
    };
    CHECK(run() == run());
}

// ---- Errors ----

TEST_CASE("sync_wait reports a server in virtual time that no driver runs") {
    virtual_fabric fabric(small);
    MADSchedule client(fabric.open("h-0001 HCA-1")), serving(fabric.open("h-0008 HCA-1"));
    const ten_times server(serving);
    CHECK(message_of([&] { sync_wait(client, send_query(client, fabric.path_to("h-0008 HCA-1"), 7)); }) ==
          "the schedule at h-0008 HCA-1/1 has an event that is due, and nothing drives that schedule; use "
          "testing::virtual_fabric for several schedules in virtual time");
}

TEST_CASE("a virtual fabric reports a schedule that it does not drive") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    MADSchedule forgotten(fabric.open("h-0002 HCA-1"));
    const auto pause = [](MADSchedule& s, mad::duration length) -> task<void> { co_await s.pause(length); };
    const auto waiting = forgotten.queue(pause(forgotten, 1ms));
    forgotten.set_now(forgotten.now());
    CHECK_NOTHROW(sync_wait(client, pause(client, 1ms))); // not due before that time
    CHECK(message_of([&] { sync_wait(client, pause(client, 1s)); }).find("h-0002 HCA-1/1") != std::string::npos);
}

TEST_CASE("a schedule without work in virtual time needs no driver") {
    virtual_fabric fabric(small);
    MADSchedule client(fabric.open("h-0001 HCA-1"));
    const MADSchedule unused(fabric.open("h-0008 HCA-1"));
    CHECK(sync_wait(client, error_of<NodeInfo>(client, local())).empty());
}

TEST_CASE("a virtual fabric reports a task that waits for an event that no schedule delivers") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    coro::event never(client);
    const auto wait = [](coro::event& e) -> task<bool> { co_return co_await e.wait(); };
    CHECK_THROWS_AS(sync_wait(client, wait(never)), std::logic_error);
}

TEST_CASE("sync_wait inside a task in the same virtual time is an error") {
    virtual_fabric fabric(small);
    MADSchedule& first = fabric.schedule("h-0001 HCA-1");
    MADSchedule& second = fabric.schedule("h-0002 HCA-1");
    const auto nested = [&]() -> task<std::string> {
        co_await first.pause(1ms);
        co_return message_of([&] { sync_wait(second, error_of<NodeInfo>(second, local())); });
    };
    CHECK(sync_wait(first, nested()) == "a task calls sync_wait for a schedule of its own virtual time; use co_await");
}

TEST_CASE("asio_driver rejects a schedule in virtual time without a virtual fabric") {
    virtual_fabric fabric(small);
    MADSchedule client(fabric.open("h-0001 HCA-1"));
    boost::asio::io_context io;
    CHECK_THROWS_AS(coro::asio_driver(io, client), std::invalid_argument);
}

TEST_CASE("a virtual fabric names unknown nodes and ports in its errors") {
    virtual_fabric fabric(small);
    CHECK(message_of([&] { fabric.open("h-0009 HCA-1"); }) == "the fabric has no node 'h-0009 HCA-1'");
    CHECK(message_of([&] { fabric.kill("leaf-0009"); }) == "the fabric has no node 'leaf-0009'");
    CHECK(message_of([&] { fabric.cut("leaf-0001/9"); }) == "'leaf-0001' has no port 9; the port must be 0..4");
    CHECK(message_of([&] { fabric.cut("leaf-0001"); }) == "'leaf-0001' is not the port of a cable; expected NODE/PORT");
    CHECK(message_of([&] { fabric.open("leaf-0001/2"); }) ==
          "'leaf-0001' has no port 2 to attach to; the port must be 0 for a switch");
    CHECK(message_of([] { virtual_fabric("single,time=real"); }) ==
          "single,time=real: a virtual_fabric has virtual time; omit time=real");
}

// ---- Scripted nodes ----

TEST_CASE("a scripted node replies with a status that the script returns") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    fabric.answer<NodeInfo>("leaf-0001", [](const auto&) { return server::response::error(invalid_value); });
    const mad::IBPath leaf = fabric.path_to("leaf-0001");
    CHECK(sync_wait(client, client.SubnGet<NodeInfo>(leaf)).error().status == invalid_value);
    CHECK(sync_wait(client, client.SubnGet<NodeInfo>(mad::IBDRPath().extended(1))).error().status == invalid_value);
    CHECK(sync_wait(client, client.SubnGet<NodeDescription>(leaf)).has_value());
    CHECK(sync_wait(client, client.SubnGet<NodeInfo>(fabric.path_to("leaf-0002"))).has_value());
    fabric.answer<NodeInfo>("leaf-0001", {});
    CHECK(sync_wait(client, client.SubnGet<NodeInfo>(leaf)).has_value());
}

TEST_CASE("a scripted node replies with the attribute that the script returns") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    fabric.answer<NodeInfo>("leaf-0001", [](const server::request& r) {
        NodeInfo info;
        info.numPorts = 77;
        info.nodeGUID = iba::guid{r.header.attributeModifier};
        return server::response::of(info);
    });
    const auto by_lid = sync_wait(client, client.SubnGet<NodeInfo>(fabric.path_to("leaf-0001"), 5));
    CHECK(by_lid.value().numPorts == 77);
    CHECK(by_lid.value().nodeGUID == iba::guid{5});
    CHECK(sync_wait(client, client.SubnGet<NodeInfo>(mad::IBDRPath().extended(1))).value().numPorts == 77);
}

TEST_CASE("a script can send requests by another schedule of the fabric") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    MADSchedule& other = fabric.schedule("h-0002 HCA-1");
    const mad::IBPath leaf = fabric.path_to("leaf-0001");
    std::vector<coro::job<mad::result<NodeInfo>>> sent;
    const auto query = [&]() -> task<mad::result<NodeInfo>> { co_return co_await other.SubnGet<NodeInfo>(leaf); };
    fabric.answer<NodeDescription>("leaf-0001", [&](const server::request&) -> std::optional<server::response> {
        for (int i = 0; i < 50; ++i) sent.push_back(other.queue(query()));
        return std::nullopt;
    });
    const auto reply = coro::sync_wait(client, client.SubnGet<NodeDescription>(leaf));
    REQUIRE(reply);
    CHECK(iba::smp::text(reply.value()) == "leaf-0001");
    fabric.run_until([&] { return std::ranges::all_of(sent, [](const auto& j) { return j.done(); }); });
    CHECK(sent.size() == 50);
}

TEST_CASE("a schedule can start after another one of the fabric has ended") {
    virtual_fabric fabric(small);
    const mad::IBPath leaf = fabric.path_to("leaf-0001");
    MADSchedule& first = fabric.schedule("h-0001 HCA-1");
    {
        MADSchedule second(fabric.open("h-0002 HCA-1"));
        fabric.drive(second);
        CHECK(coro::sync_wait(second, second.SubnGet<NodeInfo>(leaf)));
    }
    MADSchedule& third = fabric.schedule("h-0003 HCA-1");
    CHECK(coro::sync_wait(third, third.SubnGet<NodeInfo>(leaf)));
    CHECK(coro::sync_wait(first, first.SubnGet<NodeInfo>(leaf)));
}

TEST_CASE("a script without a result leaves the reply to the node") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    int requests = 0;
    fabric.answer<NodeInfo>("leaf-0001", [&](const auto&) -> std::optional<server::response> {
        if (++requests == 1) return server::response::nothing();
        return std::nullopt;
    });
    const auto reply = sync_wait(client, client.SubnGet<NodeInfo>(fabric.path_to("leaf-0001")));
    CHECK(reply.value().nodeType == iba::NodeType::Switch);
    CHECK(requests == 2); // the first request got no reply
}

TEST_CASE("a scripted node replies to PMA requests") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    fabric.answer<iba::pm::PortCounters>("leaf-0001", [](const server::request& r) {
        auto counters = r.payload<iba::pm::PortCounters>();
        counters.symbolErrorCounter = 1234;
        return server::response::of(counters);
    });
    iba::pm::PortCounters request;
    request.portSelect = 3;
    const auto reply = sync_wait(client, client.PerformanceGet(request, fabric.path_to("leaf-0001")));
    CHECK(reply.value().symbolErrorCounter == 1234);
    CHECK(reply.value().portSelect == 3);
}

TEST_CASE("change_replies changes the replies of a node") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    fabric.change_replies<NodeInfo>("leaf-0001", [](std::span<u8> reply) {
        iba::put<&NodeInfo::numPorts>(reply.data() + iba::offset_of<&iba::smp::Format::data>, 200);
    });
    CHECK(sync_wait(client, client.SubnGet<NodeInfo>(fabric.path_to("leaf-0001"))).value().numPorts == 200);
    CHECK(sync_wait(client, client.SubnGet<NodeInfo>(fabric.path_to("leaf-0002"))).value().numPorts == 4);
}

// ---- Faults ----

TEST_CASE("requests to a node are lost with the probability that the test specifies") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    const mad::IBPath leaf = fabric.path_to("leaf-0001");
    fabric.lose("leaf-0001", 1);
    CHECK(sync_wait(client, error_of<NodeInfo>(client, leaf)).find("did not reply") != std::string::npos);
    CHECK(sync_wait(client, error_of<NodeInfo>(client, fabric.path_to("leaf-0002"))).empty());
    fabric.lose("leaf-0001", 0);
    CHECK(sync_wait(client, error_of<NodeInfo>(client, leaf)).empty());
    fabric.lose(1);
    CHECK_FALSE(sync_wait(client, error_of<NodeInfo>(client, fabric.path_to("leaf-0002"))).empty());
}

TEST_CASE("a delayed node replies after the delay") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    fabric.delay("leaf-0001", 20ms);
    const auto before = fabric.now();
    CHECK(sync_wait(client, error_of<NodeInfo>(client, fabric.path_to("leaf-0001"))).empty());
    CHECK(fabric.now() - before >= 20ms);
    CHECK(fabric.now() - before < 21ms);
}

TEST_CASE("scheduled faults occur at their virtual time") {
    virtual_fabric fabric(small);
    MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    const mad::IBPath host = fabric.path_to("h-0002 HCA-1");
    fabric.kill_after(1s, "h-0002 HCA-1");
    fabric.revive_after(60s, "h-0002 HCA-1");
    CHECK(sync_wait(client, error_of<NodeInfo>(client, host)).empty());
    fabric.run_for(2s);
    CHECK(fabric.now().time_since_epoch() >= 2s);
    CHECK_FALSE(sync_wait(client, error_of<NodeInfo>(client, host)).empty());
    fabric.run_for(60s);
    CHECK(sync_wait(client, error_of<NodeInfo>(client, host)).empty());

    fabric.cut_after(1s, "leaf-0001/2");
    fabric.run_for(2s);
    CHECK_FALSE(fabric.simulation().graph().nodes[0].ports.empty());
    CHECK_FALSE(sync_wait(client, error_of<NodeInfo>(client, mad::IBDRPath().extended(1).extended(2))).empty());
    fabric.restore("leaf-0001/2");
    CHECK(sync_wait(client, error_of<NodeInfo>(client, mad::IBDRPath().extended(1).extended(2))).empty());
}
