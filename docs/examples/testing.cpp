// SPDX-License-Identifier: MIT
// testing.cpp - tests of a small program in virtual time: the code of docs/howto/test-your-program.md. The lines with
// //> are its output.
#include <comad/coro/asio.hpp>
#include <comad/iba/smp.hpp>
#include <comad/iba/vendor.hpp>
#include <comad/server/agent.hpp>
#include <comad/testing.hpp>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <chrono>
#include <optional>
#include <string>

using namespace comad;
using namespace std::chrono_literals;
using iba::smp::NodeDescription;
using iba::smp::NodeInfo;
using iba::vend::OFASysStatPing;

namespace {

coro::task<std::string> name_of(coro::MADSchedule& schedule, mad::IBPath path) {
    const auto reply = co_await schedule.SubnGet<NodeDescription>(path);
    co_return reply ? iba::smp::text(reply.value()) : plain_text(reply.error());
}

void one_program() {
    testing::virtual_fabric fabric("fattree2,radix=4,sm=1");
    coro::MADSchedule& client = fabric.schedule("h-0001 HCA-1");

    fmt::print("{}\n", coro::sync_wait(client, name_of(client, fabric.path_to("leaf-0001"))));
    //> leaf-0001
}

coro::task<u64> ping_server(coro::MADSchedule& schedule, mad::IBPath server, u64 number) {
    OFASysStatPing request;
    request.cookie = number;
    const auto reply = co_await schedule.VendGet(request, server);
    co_return reply ? reply.value().cookie : 0;
}

void server_and_client() {
    testing::virtual_fabric fabric("fattree2,radix=4,sm=1");
    coro::MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    coro::MADSchedule& serving = fabric.schedule("h-0008 HCA-1");

    server::responder answers;
    answers.add({iba::MgmtClass{0x33}, 1, mad::methods(iba::Method::Get), 0x001405}, [](const server::request& r) {
        auto ping = r.payload<OFASysStatPing>();
        ping.cookie *= 10;
        return server::response::of(ping);
    });
    server::agent agent(serving.transport(), answers);
    serving.set_server(&agent);

    fmt::print("{}\n", coro::sync_wait(client, ping_server(client, fabric.path_to("h-0008 HCA-1"), 7)));
    //> 70

    boost::asio::io_context io;
    coro::asio_driver driver(io, client);
    coro::async_run(driver, ping_server(client, fabric.path_to("h-0008 HCA-1"), 35),
                    [](u64 n) { fmt::print("{}\n", n); });
    fabric.run(io);
    //> 350
    serving.set_server(nullptr);
}

void scripted_nodes() {
    testing::virtual_fabric fabric("fattree2,radix=4,sm=1");
    coro::MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    const mad::IBPath leaf = fabric.path_to("leaf-0001");

    fabric.answer<NodeDescription>(
        "leaf-0001", [](const server::request&) { return server::response::error(server::status::invalid_value); });
    fmt::print("{}\n", coro::sync_wait(client, name_of(client, leaf)));
    //> LID 9 refused NodeDescription: invalid attribute or attribute modifier (status 0x1c)

    int requests = 0;
    fabric.answer<NodeDescription>("leaf-0001", [&](const server::request&) -> std::optional<server::response> {
        if (++requests < 3) return server::response::nothing();
        return std::nullopt;
    });
    fmt::print("{} after {} requests\n", coro::sync_wait(client, name_of(client, leaf)), requests);
    //> leaf-0001 after 3 requests

    fabric.answer<NodeDescription>("leaf-0001", {});
    fabric.change_replies<NodeDescription>(
        "leaf-0001", [](std::span<u8> reply) { reply[iba::offset_of<&iba::smp::Format::data>] = 'L'; });
    fmt::print("{}\n", coro::sync_wait(client, name_of(client, leaf)));
    //> Leaf-0001
}

void faults() {
    testing::virtual_fabric fabric("fattree2,radix=4,sm=1,loss=0.01,seed=5");
    coro::MADSchedule& client = fabric.schedule("h-0001 HCA-1");
    const mad::IBPath leaf = fabric.path_to("leaf-0001");

    fabric.delay("leaf-0001", 20ms);
    const mad::time_point before = fabric.now();
    coro::sync_wait(client, name_of(client, leaf));
    fmt::print("{} ms\n", std::chrono::duration_cast<std::chrono::milliseconds>(fabric.now() - before).count());
    //> 20 ms

    fabric.kill_after(10s, "leaf-0001");
    fabric.run_for(10s);
    fmt::print("{}\n", coro::sync_wait(client, name_of(client, leaf)).starts_with("LID 9 did not reply"));
    //> true
}

} // namespace

int main() {
    one_program();
    server_and_client();
    scripted_nodes();
    faults();
}
