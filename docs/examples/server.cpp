// SPDX-License-Identifier: MIT
// server.cpp - a host that serves a vendor class, and a client: the code of docs/howto/write-a-server.md. The lines with
// //> are its output.
#include <comad/coro.hpp>
#include <comad/coro/asio.hpp>
#include <comad/iba/vendor.hpp>
#include <comad/server.hpp>
#include <comad/transports/sim/transport.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

using namespace comad;
using iba::vend::OFASysStatPing;

static coro::task<void> serve_until(coro::event& ended) { co_await ended.wait(); }

static coro::task<void> ping_twice(coro::MADSchedule& schedule, mad::IBPath server) {
    for (const u64 cookie : {7u, 35u}) {
        OFASysStatPing request;
        request.cookie = cookie;
        auto reply = co_await schedule.VendGet(request, server);
        if (reply) fmt::print("{} -> {}\n", cookie, reply.value().cookie);
        else fmt::print("{}\n", to_string(reply.error()));
    }
    //> 7 -> 70
    //> 35 -> 350
}

int main() {
    using namespace transports::sim;
    simulation subnet = make_sim("fattree2,radix=4,sm=1", time_mode::real);
    const u32 host = subnet.fabric->graph().find("h-0008 HCA-1").value();
    sim_transport far(*subnet.fabric, host, 1, time_mode::real);

    server::responder answers;
    answers.add({iba::MgmtClass{0x33}, 1, mad::methods(iba::Method::Get), 0x001405}, [](const server::request& r) {
        auto ping = r.payload<OFASysStatPing>();
        ping.cookie *= 10;
        return server::response::of(ping);
    });
    server::agent agent(far, answers);

    boost::asio::io_context io;
    coro::MADSchedule serving(far), requester(*subnet.transport);
    serving.set_server(&agent);
    coro::asio_driver there(io, serving), here(io, requester);
    coro::event ended(serving);
    coro::async_run(there, serve_until(ended), boost::asio::detached);

    mad::IBPath path;
    path.DLID = subnet.fabric->graph().nodes[host].ports[1].LID;
    coro::async_run(here, ping_twice(requester, path), [&] {
        ended.set();
        there.wake();
    });
    io.run();
}
