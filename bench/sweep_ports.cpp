// SPDX-License-Identifier: MIT
// sweep_ports.cpp - reads PortCounters of every port of a subnet that ibsim simulates, with one task per port. `bench/sweep` compares it
// with other programs.
#include <comad/coro/driver.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/iba/pm.hpp>
#include <comad/transports/ibsim.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <chrono>
#include <stdexcept>

namespace comad::bench {
namespace {

using coro::MADSchedule;
using coro::task;
using discovery::subnet;
using iba::pm::PortCounters;

task<mad::result<void>> read_counters(MADSchedule& schedule, mad::IBPath path, u8 port) {
    PortCounters request;
    request.portSelect = port;
    const auto counters = co_await schedule.PerformanceGet<PortCounters>(request, path);
    if (!counters) throw std::runtime_error(to_string(counters.error()));
    if (counters.value().portSelect != port) throw std::runtime_error("the counters are another port's");
    co_return boost::outcome_v2::success();
}

/// Yields every port of a switch, and the ports with a cable of other nodes.
coro::generator<task<mad::result<void>>> all_ports(MADSchedule& schedule, const subnet& s) {
    for (u32 i = 0; i < s.nodes.size(); ++i) {
        const discovery::node& node = s.nodes[i];
        for (unsigned p = 1; p < node.ports.size(); ++p) {
            const discovery::port_ref where{i, static_cast<u8>(p)};
            const discovery::port& end = s.end_port(where);
            if (!end.info) continue;
            mad::IBPath path;
            path.DLID = end.info->LID;
            co_yield read_counters(schedule, path, where.port);
        }
    }
}

task<coro::mqueue_report> sweep(MADSchedule& schedule, const subnet& s) {
    co_return co_await schedule.mqueue(all_ports(schedule, s));
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void run(unsigned window) {
    transports::ibsim_transport port;
    MADSchedule schedule(port, {.max_outstanding = window, .timeout = std::chrono::seconds(1)});
    const auto begin = std::chrono::steady_clock::now();
    const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    if (!found || !found.value().complete()) throw std::runtime_error("the discovery is not complete");
    const double discovered = seconds_since(begin);
    const auto report = coro::sync_wait(schedule, sweep(schedule, found.value()));
    const double swept = seconds_since(begin) - discovered;
    fmt::print("{} nodes checked, {} ports checked, discovery {:.6f} s, sweep {:.6f} s, {} MADs sent\n",
               found.value().nodes.size(), report.finished, discovered, swept, schedule.counters().sent);
}

} // namespace
} // namespace comad::bench

int main(int argc, char** argv) {
    unsigned window = 64;
    CLI::App app{"Reads the PortCounters of every port; of an ibsim server, which the environment names."};
    app.add_option("--window", window, "MADs in flight")->check(CLI::Range(1u, 65536u))->capture_default_str();
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& e) {
        return app.exit(e) == 0 ? 0 : 2;
    }
    try {
        comad::bench::run(window);
        return 0;
    } catch (const std::exception& e) {
        fmt::print(stderr, "sweep_ports: {}\n", e.what());
        return 1;
    }
}
