// SPDX-License-Identifier: MIT
// tutorial_discover.cpp - the program of tutorial 1, which discovers a fabric. Lines with //> show what it prints.
#include <comad/discovery.hpp>
#include <comad/fabric/open_fabric.hpp>

#include <fmt/format.h>

#include <utility>

using namespace comad;

static void show(const discovery::subnet& subnet) {
    fmt::print("{} switches, {} CAs, {} links\n", subnet.count(iba::NodeType::Switch), subnet.count(iba::NodeType::CA),
               subnet.link_count());
    const discovery::node& local = subnet.nodes.front();
    const discovery::port_ref neighbor = local.ports[subnet.start_port].peer;
    fmt::print("{} port {} is connected to {} port {}\n", name_of(local), subnet.start_port,
               name_of(subnet.nodes[neighbor.node]), neighbor.port);
    for (const discovery::failure& failure : subnet.failures) fmt::print("{}\n", describe(subnet, failure));
}

static coro::task<unsigned> count_switches(discovery::node_sequence& nodes,
                                           const discovery::discovery_progress& progress) {
    unsigned switches = 0;
    while (const auto node = co_await nodes.next()) {
        if (node->is_switch() && ++switches == 1)
            fmt::print("received the first switch after {} nodes were found\n", progress.nodes.load());
    }
    co_return switches;
}

static coro::task<void> discover_and_count(coro::MADSchedule& schedule) {
    discovery::node_sequence nodes(schedule);
    discovery::discovery_progress progress;
    discovery::discover_options options;
    options.found = &nodes;
    options.progress = &progress;
    auto both = coro::when_all(discovery::discover(schedule, options), count_switches(nodes, progress));
    const auto [found, switches] = co_await std::move(both);
    fmt::print("{} of {} nodes were switches\n", switches, found.value().nodes.size());
}

static coro::task<void> by_lids(coro::MADSchedule& schedule) {
    const mad::IBDRPath local_port;
    const auto port = co_await schedule.SubnGet<iba::smp::PortInfo>(local_port);
    discovery::discover_options options;
    options.from_lid = port.value().LID;
    const auto found = co_await discovery::discover(schedule, options);
    fmt::print("from LID {}: {} nodes\n", options.from_lid, found.value().nodes.size());
}

int main() {
    auto fabric = open_fabric("sim:fattree2,radix=4,sm=1,time=virtual").value();
    coro::MADSchedule& schedule = fabric.schedule();
    const mad::result<discovery::subnet> found = fabric.run(discovery::discover(schedule));
    if (!found) {
        fmt::print(stderr, "{}\n", found.error());
        return 1;
    }
    show(found.value());
    //> 6 switches, 8 CAs, 16 links
    //> H-0002c90300000100 "h-0001 HCA-1" port 1 is connected to S-0002c90300000900 "leaf-0001" port 1

    discovery::discover_options options;
    options.max_nodes = 5;
    const auto part = fabric.run(discovery::discover(schedule, options));
    show(part.value());
    //> 3 switches, 2 CAs, 4 links
    //> H-0002c90300000100 "h-0001 HCA-1" port 1 is connected to S-0002c90300000900 "leaf-0001" port 1
    //> not all nodes were discovered: the limit is 5 nodes

    fabric.run(discover_and_count(schedule));
    //> received the first switch after 5 nodes were found
    //> 6 of 14 nodes were switches

    fabric.run(by_lids(schedule));
    //> from LID 1: 14 nodes
}
