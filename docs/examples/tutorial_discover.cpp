// SPDX-License-Identifier: MIT
// tutorial_discover.cpp - the first chapter of the tutorial: a fabric is discovered. The lines with //> are what it prints.
#include <comad/coro/driver.hpp>
#include <comad/coro/when_all.hpp>
#include <comad/discovery/discover.hpp>
#include <comad/discovery/node_sequence.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <utility>

using namespace comad;

static void show(const discovery::subnet& subnet) {
    fmt::print("{} switches, {} CAs, {} links\n", subnet.count(iba::NodeType::Switch), subnet.count(iba::NodeType::CA),
               subnet.link_count());
    const discovery::node& here = subnet.nodes.front();
    const discovery::port_ref next = here.ports[subnet.start_port].peer;
    fmt::print("behind port {} of {}: {}\n", subnet.start_port, name_of(here), name_of(subnet.nodes[next.node]));
    for (const discovery::problem& problem : subnet.problems) fmt::print("{}\n", describe(subnet, problem));
}

static coro::task<unsigned> count_switches(discovery::node_sequence& nodes,
                                           const discovery::discovery_progress& progress) {
    unsigned switches = 0;
    while (const auto node = co_await nodes.next()) {
        if (node->is_switch() && ++switches == 1)
            fmt::print("the first switch came when {} nodes were known\n", progress.nodes.load());
    }
    co_return switches;
}

static coro::task<void> as_they_come(coro::MADSchedule& schedule) {
    discovery::node_sequence nodes(schedule);
    discovery::discovery_progress progress;
    discovery::discover_options options;
    options.found = &nodes;
    options.progress = &progress;
    auto both = coro::when_all(discovery::discover(schedule, options), count_switches(nodes, progress));
    const auto [found, switches] = co_await std::move(both);
    fmt::print("{} of {} nodes were switches\n", switches, found.value().nodes.size());
}

static coro::task<void> by_LIDs(coro::MADSchedule& schedule) {
    const mad::IBDRPath here;
    const auto port = co_await schedule.SubnGet<iba::smp::PortInfo>(here);
    discovery::discover_options options;
    options.from_LID = port.value().LID;
    const auto found = co_await discovery::discover(schedule, options);
    fmt::print("from LID {}: {} nodes\n", value(options.from_LID), found.value().nodes.size());
}

int main() {
    auto simulation = transports::sim::make_sim("fattree2,radix=4,sm=1,time=virtual");
    coro::MADSchedule schedule(*simulation.transport);
    const mad::result<discovery::subnet> found = coro::sync_wait(schedule, discovery::discover(schedule));
    if (!found) {
        fmt::print(stderr, "{}\n", plain_text(found.error()));
        return 1;
    }
    show(found.value());
    //> 6 switches, 8 CAs, 16 links
    //> behind port 1 of H-0002c90300000100 "h-0001 HCA-1": S-0002c90300000900 "leaf-0001"

    discovery::discover_options options;
    options.max_nodes = 5;
    const auto part = coro::sync_wait(schedule, discovery::discover(schedule, options));
    show(part.value());
    //> 3 switches, 2 CAs, 4 links
    //> behind port 1 of H-0002c90300000100 "h-0001 HCA-1": S-0002c90300000900 "leaf-0001"
    //> there are more than 5 nodes, the most that it may find

    coro::sync_wait(schedule, as_they_come(schedule));
    //> the first switch came when 5 nodes were known
    //> 6 of 14 nodes were switches

    coro::sync_wait(schedule, by_LIDs(schedule));
    //> from LID 1: 14 nodes
}
