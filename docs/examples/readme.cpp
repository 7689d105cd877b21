// SPDX-License-Identifier: MIT
// readme.cpp - the program of README.md: prints the LID of the local port.
#include <comad/coro/driver.hpp>
#include <comad/iba/smp.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

using namespace comad;
using iba::smp::PortInfo;

static coro::task<mad::result<iba::lid>> lid_of(coro::MADSchedule& schedule, mad::IBDRPath route) {
    // Queries port 1 of the node at the end of the directed route. Returns the error if the query fails.
    BOOST_OUTCOME_CO_TRY(const PortInfo info, co_await schedule.SubnGet<PortInfo>(route, 1));
    co_return info.LID;
}

int main() {
    auto simulation = transports::sim::make_sim("fattree2,radix=4,sm=1");
    coro::MADSchedule schedule(*simulation.transport);
    const mad::IBDRPath local_port;
    const mad::result<iba::lid> lid = coro::sync_wait(schedule, lid_of(schedule, local_port));
    if (!lid) {
        fmt::print(stderr, "{}\n", plain_text(lid.error()));
        return 1;
    }
    fmt::print("The local port has LID {}\n", value(lid.value()));
    //> The local port has LID 1
}
