// SPDX-License-Identifier: MIT
// asio.cpp - RPCs in an Asio program of several threads: the pieces of docs/reference/library.md. It prints what the comments say.
#include <comad/coro/asio_transactor.hpp>
#include <comad/coro/combinators.hpp>
#include <comad/coro/use_task.hpp>
#include <comad/iba/smp.hpp>
#include <comad/transports/sim/transport.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fmt/format.h>

#include <chrono>
#include <thread>
#include <vector>

using namespace comad;
using namespace std::chrono_literals;
namespace asio = boost::asio;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;

namespace {

coro::task<unsigned> ports_of(coro::MADSchedule& sched, mad::IBPath path) {
    auto info = co_await sched.SubnGet<NodeInfo>(path);
    co_return info ? info.value().numPorts : 0;
}

coro::task<unsigned> sum_of_ports(coro::asio_transactor& mads, mad::IBPath here, mad::IBPath there) {
    asio::steady_timer timer(mads.get_executor(), 1ms);
    const auto error = co_await timer.async_wait(coro::use_task(mads.driver()));
    if (error) co_return 0;
    auto [one, other] = co_await coro::when_all(ports_of(mads.schedule(), here), ports_of(mads.schedule(), there));
    co_return one + other;
}

asio::awaitable<void> program(coro::asio_transactor& mads, mad::IBPath here, mad::IBPath there) {
    auto info = co_await mads.async_SubnGet<PortInfo>(here, 1); // mad::result<PortInfo>; or any completion token
    fmt::print("LID {}\n", value(info.value().LID));
    //> LID 1
    const unsigned ports = co_await mads.async_run(sum_of_ports(mads, here, there)); // throws what the task throws
    fmt::print("{} ports\n", ports);
    //> 2 ports
    const auto in_time = co_await mads.async_run(with_timeout(mads.schedule(), 60s, sum_of_ports(mads, here, there)));
    fmt::print("{}\n", in_time ? "in time" : "too late");
    //> in time
}

} // namespace

int main() {
    transports::sim::simulation subnet =
        transports::sim::make_sim("fattree2,radix=4,sm=1", transports::sim::time_mode::real);
    mad::IBPath here, there;
    here.DLID = iba::lid{1};
    there.DLID = iba::lid{2};

    asio::io_context io;
    coro::asio_transactor mads(io.get_executor(), *subnet.transport); // a schedule of its own, in a strand
    asio::co_spawn(io, program(mads, here, there), asio::detached);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { io.run(); });
}
