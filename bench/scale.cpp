// SPDX-License-Identifier: MIT
// scale.cpp - discovers subnets of increasing size. Measures the client's costs per MAD, with the subnet in another thread, and the
// memory of the client and the subnet.
#include "counting.hpp"
#include "echo.hpp"
#include "experiments.hpp"
#include <comad/coro/driver.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/transports/sim/transport.hpp>

#include <array>
#include <chrono>
#include <malloc.h>
#include <stdexcept>
#include <unistd.h>

namespace comad::bench {
namespace {

namespace sim = transports::sim;
using namespace std::chrono_literals;

/// Returns the number of bytes that the process has allocated and not freed.
double allocated() {
    const auto info = ::mallinfo2();
    return static_cast<double>(info.uordblks + info.hblkhd);
}

/// Answers directed-route SMPs that arrive through a descriptor, one at a time.
void answer_from(sim::sim_transport& port, int descriptor) {
    const mad::any_path path = mad::IBDRPath{}; // the SMP contains the route
    std::array<u8, packet_size> packet;
    const auto mad = std::span(packet).subspan<mad::headroom>();
    while (::read(descriptor, packet.data(), packet.size()) == static_cast<ssize_t>(packet.size())) {
        port.send({&path, mad.data(), mad.size(), mad[1], mad[2], true, 1s, 1s});
        while (const auto next = port.next_event()) {
            port.set_now(*next);
            while (port.receive(mad).state == mad::receive_state::message)
                if (::write(descriptor, packet.data(), packet.size()) < 0) return;
        }
    }
}

/// A subnet, and the results of the measurements with it.
struct subnet_size {
    const char* specification;
    double simulator_bytes = 0, report_bytes = 0, virtual_ms = 0;
    std::size_t nodes = 0, ports = 0;
    u64 mads = 0;
    spread cpu_ns{}, cpu_ratio{}, memory_ns{}, memory_ratio{};
};

double per_mad(std::chrono::nanoseconds took, const coro::MADSchedule& schedule) {
    return static_cast<double>(took.count()) /
           static_cast<double>(schedule.counters().sent + schedule.counters().retried);
}

/// Runs client and subnet in one thread, in virtual time, without system calls.
double discover_in_memory(subnet_size& size, const settings& s) {
    const double before = allocated();
    auto simulation = sim::make_sim(size.specification, sim::time_mode::virtual_);
    size.simulator_bytes = allocated() - before;
    const sim::topology& graph = simulation.fabric->graph();
    size.nodes = graph.nodes.size();
    size.ports = 0;
    for (const sim::node& n : graph.nodes) size.ports += n.num_ports();

    const double empty = allocated();
    double ns = 0;
    const auto found = [&] {
        coro::MADSchedule schedule(*simulation.transport, s.schedule);
        const auto begin = thread_time();
        auto result = coro::sync_wait(schedule, discovery::discover(schedule));
        ns = per_mad(thread_time() - begin, schedule);
        size.mads = schedule.counters().sent;
        return result;
    }();
    size.report_bytes = allocated() - empty;
    size.virtual_ms = in_ms(simulation.fabric->now().time_since_epoch());
    if (!found || found.value().nodes.size() != size.nodes) throw std::runtime_error("scale: nodes are missing");
    return ns;
}

/// Measures only the client; the subnet runs in another thread.
double discover_over_wire(const subnet_size& size, const settings& s) {
    auto simulation = sim::make_sim(size.specification, sim::time_mode::virtual_);
    echo wire([&simulation](int descriptor) { answer_from(*simulation.place, descriptor); });
    wire.set_blocking(false);
    echo_transport transport(wire.descriptor());
    coro::schedule_options options = s.schedule;
    if (options.timeout.count() != 0) options.timeout = 60s; // a busy machine must not add retries
    coro::MADSchedule schedule(transport, options);
    const auto begin = thread_time();
    const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    const auto took = thread_time() - begin;
    if (!found || found.value().nodes.size() != size.nodes) throw std::runtime_error("scale: nodes are missing");
    return per_mad(took, schedule);
}

} // namespace

table try_scale(const settings& s) {
    bind_to_processor(0);
    // All round trips take 0.1 ms in virtual time.
    std::vector<subnet_size> sizes;
    const std::vector<const char*> large{"fattree3,radix=16,pods=12,delay=50us,latency=0us,service=0us",
                                         "fattree3,radix=32,pods=13,delay=50us,latency=0us,service=0us",
                                         "fattree3,radix=64,pods=10,delay=50us,latency=0us,service=0us",
                                         "fattree3,radix=64,pods=43,delay=50us,latency=0us,service=0us"};
    const std::vector<const char*> small{"fattree3,radix=4", "fattree3,radix=8"};
    for (const char* specification : s.is_small ? small : large) sizes.push_back({specification});
    for (unsigned round = 0; round < s.seeds; ++round) {
        double first_memory = 0, first_cpu = 0;
        for (subnet_size& size : sizes) {
            const double memory = discover_in_memory(size, s), CPU = discover_over_wire(size, s);
            if (&size == &sizes.front()) first_memory = memory, first_cpu = CPU;
            size.memory_ns.add(memory);
            size.memory_ratio.add(memory / first_memory);
            size.cpu_ns.add(CPU);
            size.cpu_ratio.add(CPU / first_cpu);
        }
    }
    table result(
        "scale: discovery over a socket pair, the subnet in another thread; virtual time with 0.1 ms round trip",
        {"LIDs", "ports", "MADs", "virtual ms", "CPU ns / MAD", "/ smallest", "in memory, ns / MAD",
         "in memory / smallest", "report B/port", "simulator B/port"});
    for (const subnet_size& size : sizes) {
        const auto ports = static_cast<double>(size.ports);
        result.add({size.nodes, size.ports, size.mads, size.virtual_ms, size.cpu_ns, size.cpu_ratio, size.memory_ns,
                    size.memory_ratio, size.report_bytes / ports, size.simulator_bytes / ports});
    }
    return result;
}

} // namespace comad::bench
