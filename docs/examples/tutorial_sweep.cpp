// SPDX-License-Identifier: MIT
// tutorial_sweep.cpp - the program of tutorial 2, which reads the counters of all ports. Lines with //> show what it prints.
#include <comad/counters.hpp>
#include <comad/fabric/open_fabric.hpp>

#include <fmt/format.h>

using namespace comad;
using namespace std::chrono_literals;
using counters::counter;

/// Returns how much a counter grew per second between two samples.
static double rate(counter which, const counters::reading& before, const counters::reading& after) {
    const counters::counter_change change = change_of(which, before.counters, after.counters);
    return rate_of(which, change, after.counters.at - before.counters.at);
}

static void show_busiest(const discovery::subnet& subnet, const counters::sweep& before, const counters::sweep& after) {
    double most = 0;
    discovery::port_ref busiest;
    for (std::size_t i = 0; i < after.ports.size(); ++i) {
        const double sent = rate(counter::portXmitData, before.ports[i], after.ports[i]);
        if (sent <= most) continue;
        most = sent;
        busiest = after.ports[i].where;
    }
    fmt::print("{} ports, {} failures, {} MADs; the busiest port sends {:.0f} MB/s: {} port {}\n", after.ports.size(),
               after.failures.size(), after.mads, most / 1e6, name_of(subnet.nodes[busiest.node]), busiest.port);
}

static void show_health(const discovery::subnet& subnet, const counters::sweep& before, const counters::sweep& after) {
    for (const counters::health_finding& finding : evaluate(counters::default_rules(), subnet, before, after)) {
        if (finding.how_bad < counters::severity::error) continue;
        fmt::print("{}: {} port {}: {} {}\n", name_of(finding.how_bad), name_of(subnet.nodes[finding.where.node]),
                   finding.where.port, finding.counter, name_of(finding.why));
    }
}

static coro::task<void> monitor(coro::MADSchedule& schedule, const discovery::subnet& subnet, unsigned periods) {
    counters::sweeper sweeper(schedule, subnet);
    counters::sweep before = co_await sweeper.run();
    coro::ticker ticks(schedule, 1s);
    co_await ticks.next(); // the first tick comes at once
    while (periods-- > 0 && co_await ticks.next()) {
        counters::sweep after = co_await sweeper.run();
        show_busiest(subnet, before, after);
        show_health(subnet, before, after);
        before = std::move(after);
    }
}

static coro::task<void> only_errors(coro::MADSchedule& schedule, const discovery::subnet& subnet) {
    counters::sweep_options options;
    options.counters = counters::counters_that(counters::is_error);
    options.wants = [](const discovery::subnet& all, discovery::port_ref r) { return all.nodes[r.node].is_switch(); };
    counters::sweeper sweeper(schedule, subnet, options);
    const counters::sweep sweep = co_await sweeper.run();
    fmt::print("{} ports, {} MADs\n", sweep.ports.size(), sweep.mads);
}

int main() {
    auto fabric = open_fabric("sim:fattree2,radix=4,sm=1,traffic=100000,errors=0.06:20,seed=3,time=virtual").value();
    coro::MADSchedule& schedule = fabric.schedule();
    const auto found = fabric.run(discovery::discover(schedule));
    const discovery::subnet& subnet = found.value();
    fabric.run(monitor(schedule, subnet, 1));
    //> 32 ports, 0 failures, 32 MADs; the busiest port sends 186 MB/s: S-0002c90300000e00 "spine-0002" port 1
    //> error: S-0002c90300000900 "leaf-0001" port 2: symbolErrorCounter bit_errors
    //> error: H-0002c90300000200 "h-0002 HCA-1" port 1: symbolErrorCounter bit_errors
    //> error: S-0002c90300000c00 "leaf-0004" port 1: symbolErrorCounter bit_errors
    //> error: H-0002c90300000700 "h-0007 HCA-1" port 1: symbolErrorCounter bit_errors
    fabric.run(only_errors(schedule, subnet));
    //> 24 ports, 30 MADs
}
