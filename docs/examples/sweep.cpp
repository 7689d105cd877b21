// SPDX-License-Identifier: MIT
// sweep.cpp - two sweeps of a simulated subnet, a second apart, and what its ports sent in between. The lines with //> are
// what it prints.
#include <comad/counters.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <cmath>

using namespace comad;
using namespace std::chrono_literals;

static coro::task<void> show_traffic(coro::MADSchedule& schedule) {
    const auto found = co_await discovery::discover(schedule);
    counters::sweeper sweeper(schedule, found.value());
    const counters::sweep first = co_await sweeper.run();
    co_await schedule.pause(1s);
    const counters::sweep second = co_await sweeper.run();
    unsigned busy = 0;
    for (std::size_t i = 0; i < sweeper.ports(); ++i) {
        const counters::sample &before = first.ports[i].counters, &after = second.ports[i].counters;
        const counters::counter_change sent = change_of(counters::counter::portXmitPkts, before, after);
        const double rate = rate_of(counters::counter::portXmitPkts, sent, after.at - before.at);
        if (sent.is_exact() && std::round(rate / 1000) == 10) ++busy;
    }
    fmt::print("{} of {} ports sent about 10000 packets a second\n", busy, sweeper.ports());
    //> 32 of 32 ports sent about 10000 packets a second
}

int main() {
    auto simulation = transports::sim::make_sim("fattree2,radix=4,sm=1,traffic=10000,time=virtual");
    coro::MADSchedule schedule(*simulation.transport);
    coro::sync_wait(schedule, show_traffic(schedule));
}
