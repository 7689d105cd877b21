// SPDX-License-Identifier: MIT
// main.cpp - a program outside the comad tree: a coroutine queries a simulated node for its identity. It needs every
// part of the installed package, and the dependencies of these parts.
#include <comad/coro/driver.hpp>
#include <comad/iba/smp.hpp>
#include <comad/transports/sim/transport.hpp>

#include <cstdio>

namespace {

using comad::iba::smp::NodeInfo;

comad::coro::task<bool> send_query(comad::coro::MADSchedule& schedule) {
    const comad::mad::IBDRPath here;
    const auto info = co_await schedule.SubnGet<NodeInfo>(here);
    if (!info) co_return false;
    std::printf("the local node has %u ports\n", unsigned{info.value().numPorts});
    co_return info.value().nodeType == comad::iba::NodeType::CA;
}

} // namespace

int main() {
    namespace sim = comad::transports::sim;
    const sim::simulation simulated = sim::make_sim("ring,switches=4", sim::time_mode::virtual_);
    comad::coro::MADSchedule schedule(*simulated.transport);
    return comad::coro::sync_wait(schedule, send_query(schedule)) ? 0 : 1;
}
