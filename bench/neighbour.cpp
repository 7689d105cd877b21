// SPDX-License-Identifier: MIT
// neighbour.cpp - measures how a subnet manager and a tool that repeatedly discovers the same subnet slow each other down. Each program
// has its own kernel, in virtual time.
#include "experiments.hpp"
#include <comad/coro/driver.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace comad::bench {
namespace {

namespace sim = transports::sim;
using namespace std::chrono_literals;
using coro::MADSchedule;
using coro::task;

/// A host with its own kernel, whose program repeats discoveries.
class scanner {
public:
    scanner(sim::fabric& net, u32 node, const transports::kernel_options& kernel, const coro::schedule_options& options,
            iba::lid from_lid = {})
        : port_(net, node, 1, sim::time_mode::virtual_), kernel_(port_, kernel), schedule_(kernel_, options) {
        how_.from_lid = from_lid;
    }

    void begin(mad::time_point end) { job_.emplace(schedule_.queue(scan_until(end))); }
    bool has_ended() const { return job_->done(); }
    MADSchedule& schedule() { return schedule_; }
    const mad::engine_counters& counters() const { return schedule_.counters(); }

    unsigned discoveries = 0, incomplete = 0;

private:
    task<void> scan_until(mad::time_point end) {
        while (schedule_.now() < end) {
            const auto found = co_await discovery::discover(schedule_, how_);
            ++discoveries;
            incomplete += !found || !found.value().complete();
        }
    }
    sim::sim_transport port_;
    transports::kernel_model kernel_;
    MADSchedule schedule_;
    discovery::discover_options how_;
    std::optional<coro::job<void>> job_;
};

/// Runs all hosts until each has ended. The virtual time advances from event to event.
void run(const std::vector<scanner*>& all, mad::time_point end) {
    for (scanner* l : all) l->begin(end);
    const auto has_ended = [](const scanner* l) { return l->has_ended(); };
    for (;;) {
        bool more = false;
        for (scanner* l : all) more = l->schedule().turn() || more;
        if (std::all_of(all.begin(), all.end(), has_ended)) return;
        if (more) continue;
        const mad::time_point now = all.front()->schedule().now();
        for (scanner* l : all) l->schedule().set_now(now); // starts the timeouts of the new requests
        mad::time_point next = mad::time_point::max();
        for (scanner* l : all) next = std::min(next, l->schedule().next_deadline());
        for (scanner* l : all) l->schedule().set_now(std::max(next, now));
    }
}

/// Returns the options that correspond to OpenSM's max_wire_smps, transaction_timeout and transaction_retries.
coro::schedule_options as_OpenSM() {
    coro::schedule_options o;
    o.max_outstanding = 4;
    o.per_destination = 0;
    o.timeout = 200ms;
    o.retries = 3;
    return o;
}

/// A subnet for the experiment, with the timing of its nodes.
struct neighbourhood {
    const char* name;
    sim::timing times;
};

/// A program that discovers the subnet while the subnet manager works.
struct tool {
    std::string name;
    coro::schedule_options options;
    bool by_lid = false;
};

std::vector<tool> tools(const settings& s) {
    std::vector<tool> all{{"defaults", s.schedule}, {"--polite", s.schedule}};
    all.back().options.polite = true;
    for (const tool& directed : std::vector(all)) all.push_back({directed.name + " by LIDs", directed.options, true});
    for (const unsigned window : {4u, 8u, 12u, 16u, 64u}) {
        all.push_back({fmt::format("window {}", window), s.schedule});
        all.back().options.max_outstanding = window;
    }
    return all;
}

double share_repeated(const scanner& l) {
    const auto& c = l.counters();
    return 100.0 * static_cast<double>(c.retried) / static_cast<double>(std::max<u64>(c.sent, 1));
}
double per_discovery(const scanner& l, double what) { return l.discoveries ? what / l.discoveries : 0; }

} // namespace

table try_neighbour(const settings& s) {
    sim::topology t = sim::make_topology(s.is_small ? "fattree2,radix=4" : "fattree3,radix=8");
    bring_up(t);
    const mad::duration span = s.is_small ? 200ms : 10s;
    const mad::time_point end{span};
    const transports::kernel_options kernel = s.kernel.value_or(transports::kernel_options{});
    const auto is_host = [](const sim::node& n) { return !n.is_switch(); };
    const auto first = static_cast<u32>(std::find_if(t.nodes.begin(), t.nodes.end(), is_host) - t.nodes.begin());
    const auto last = static_cast<u32>(t.nodes.rend() - std::find_if(t.nodes.rbegin(), t.nodes.rend(), is_host) - 1);

    table result(
        fmt::format("neighbor: {} nodes; a subnet manager's discoveries in a loop, and the tool's", t.nodes.size()),
        {"nodes hold", "tool", "SM's sweep, ms", "SM's SMPs retried per discovery", "own retries with SM, %",
         "without SM: discovery, ms", "own retries without SM, %", "incomplete"});
    sim::timing slow, quick;
    slow.hop_delay = quick.hop_delay = 1us;
    slow.buffer = 8, slow.service_time = 50us, slow.transit = 5us;
    quick.buffer = 4, quick.service_time = 20us, quick.transit = 2us;
    const double ms = in_ms(span);
    for (const auto& [holds, times] : {neighbourhood{"8 SMPs, 50 us each, 5 us to pass on", slow},
                                       neighbourhood{"4 SMPs, 20 us each, 2 us to pass on", quick}}) {
        {
            sim::fabric net(t, times, {});
            scanner manager(net, first, kernel, as_OpenSM());
            run({&manager}, end);
            result.add({holds, "none", per_discovery(manager, ms), "", "", "", "", manager.incomplete});
        }
        for (const tool& one : tools(s)) {
            const iba::lid from_lid = one.by_lid ? t.nodes[last].ports[1].LID : iba::lid{};
            sim::fabric net(t, times, {}), quiet(t, times, {});
            scanner manager(net, first, kernel, as_OpenSM()), discoverer(net, last, kernel, one.options, from_lid);
            run({&manager, &discoverer}, end);
            scanner without_manager(quiet, last, kernel, one.options, from_lid);
            run({&without_manager}, end);
            const auto repeated = static_cast<double>(manager.counters().retried);
            result.add({holds, one.name, per_discovery(manager, ms), per_discovery(discoverer, repeated),
                        share_repeated(discoverer), per_discovery(without_manager, ms), share_repeated(without_manager),
                        manager.incomplete + discoverer.incomplete + without_manager.incomplete});
        }
    }
    return result;
}

} // namespace comad::bench
