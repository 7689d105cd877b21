// SPDX-License-Identifier: MIT
// threads.cpp - several end ports in several threads: the pieces of docs/explanation/threads.md. It prints what the comments say.
#include <comad/coro/threads.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/transports/sim/transport.hpp>
#include <comad/transports/striped.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <vector>

using namespace comad;
using iba::smp::NodeInfo;
using transports::sim::make_sim;
using transports::sim::time_mode;

namespace {

void stripes() {
    transports::sim::simulation subnet = make_sim("fattree2,radix=8", time_mode::virtual_);
    const auto open_end_port = [&] {
        return std::make_unique<transports::sim::sim_transport>(*subnet.fabric, time_mode::virtual_);
    };
    std::vector<std::unique_ptr<mad::transport>> members;
    for (int i = 0; i < 4; ++i) members.push_back(open_end_port());
    transports::striped_transport wide(std::move(members));
    coro::MADSchedule schedule(wide, {.max_outstanding = 512});
    const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    fmt::print("{} nodes\n", found.value().nodes.size());
    //> 44 nodes
}

void several_ports() {
    // In the place of two end ports of a subnet: the same simulated subnet twice, from different hosts.
    transports::sim::simulation here = make_sim("fattree2,radix=8,sm=1", time_mode::virtual_);
    transports::sim::simulation there = make_sim("fattree2,radix=8,sm=1,at=H-0002c90300002000", time_mode::virtual_);

    coro::MADSchedule by_here(*here.transport), by_there(*there.transport);
    coro::MADSchedule* const ports[] = {&by_here, &by_there};
    const mad::result<discovery::subnet> found = discovery::discover_multi_port(ports);
    fmt::print("{} nodes, {} links\n", found.value().nodes.size(), found.value().link_count());
    //> 44 nodes, 64 links

    const auto info_of = [](coro::MADSchedule& schedule, std::size_t item) -> coro::task<mad::result<NodeInfo>> {
        mad::IBPath path;
        path.DLID = iba::lid(static_cast<u16>(item + 1));
        co_return co_await schedule.SubnGet<NodeInfo>(path);
    };
    const auto results = coro::share_items(ports, 44, info_of);
    fmt::print("{} replies\n", std::count_if(results.begin(), results.end(), [](auto& r) { return r && *r; }));
    //> 44 replies
}

} // namespace

int main() {
    stripes();
    several_ports();
}
