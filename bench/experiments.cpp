// SPDX-License-Identifier: MIT
// experiments.cpp - experiments with discovery in virtual time: loss, full buffers, and the lower bound of the time.
#include "experiments.hpp"

#include <comad/transports/detail/discovery_bound.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace comad::bench {
namespace {

namespace sim = transports::sim;
using namespace std::chrono_literals;

/// The results of the runs with different seeds.
struct runs {
    spread time_ms, mads, overflowed;
    unsigned complete = 0, all = 0;

    void add(const discovered& d) {
        time_ms.add(in_ms(d.time));
        mads.add(static_cast<double>(d.mads));
        overflowed.add(static_cast<double>(d.overflowed));
        complete += d.is_complete;
        ++all;
    }
    std::string completed() const { return fmt::format("{} of {}", complete, all); }
};

/// Returns the numbers, and adds `one` if it is missing.
std::vector<unsigned> with(std::vector<unsigned> numbers, unsigned one) {
    if (std::find(numbers.begin(), numbers.end(), one) == numbers.end()) numbers.push_back(one);
    return numbers;
}

} // namespace

table try_loss(const settings& s) {
    const sim::topology t = sim::make_topology(s.is_small ? "fattree3,radix=4" : "fattree3,radix=16");
    table result(fmt::format("loss: {} nodes, 0.1 ms round trip", t.nodes.size()),
                 {"loss each way", "complete", "time, ms", "MADs", "time / lossless"});
    const sim::timing times = equal_round_trips(100us);
    const double lossless = in_ms(discover_once(t, times, {}, s).time);
    for (const double loss : {0.0, 0.01, 0.1}) {
        runs all;
        spread ratio;
        for (unsigned seed = 1; seed <= s.seeds; ++seed) {
            const discovered d = discover_once(t, times, {.request_loss = loss, .reply_loss = loss, .seed = seed}, s);
            all.add(d);
            ratio.add(in_ms(d.time) / lossless);
        }
        result.add({loss, all.completed(), all.time_ms, all.mads, ratio});
    }
    return result;
}

table try_buffers(const settings& s) {
    const sim::topology t = sim::make_topology(s.is_small ? "fattree3,radix=4" : "fattree3,radix=16");
    table result(fmt::format("buffers: {} nodes that hold 8 SMPs, 50 us for each", t.nodes.size()),
                 {"transit, us", "per node", "window", "complete", "time, ms", "MADs", "dropped"});
    const unsigned own_window = s.schedule.max_outstanding, own_bound = s.schedule.per_destination;
    const auto windows = with({1, 2, 4, 8, 16, 32, 64, 128, 256}, own_window);
    const auto bounds = with({1, 2, 4, 0}, own_bound);
    for (const mad::duration transit : {0us, 5us}) {
        sim::timing times;
        times.jitter = 1us;
        times.service_time = 50us;
        times.transit = transit;
        times.buffer = 8;
        runs own, widest, best;
        std::string best_is = "none is complete";
        for (const unsigned bound : bounds) {
            for (const unsigned window : windows) {
                settings own_bounds = s;
                own_bounds.schedule.max_outstanding = window;
                own_bounds.schedule.per_destination = bound;
                runs all;
                for (unsigned seed = 1; seed <= s.seeds; ++seed)
                    all.add(discover_once(t, times, {.seed = seed}, own_bounds));
                result.add(
                    {in_ms(transit) * 1000, bound, window, all.completed(), all.time_ms, all.mads, all.overflowed});
                if (bound == own_bound && window == own_window) own = all;
                if (bound == own_bound && window == 256) widest = all;
                const bool is_better = best.all == 0 || all.time_ms.median() < best.time_ms.median();
                if (window == 0 || all.complete != all.all || !is_better) continue;
                best = all;
                best_is = fmt::format("{:.4g} ms, window {}, {} per node", best.time_ms.median(), window, bound);
            }
        }
        const auto name = [&](const char* what) {
            return fmt::format("transit {:g} us, {}", in_ms(transit) * 1000, what);
        };
        result.note(name("best fixed window"), best_is);
        if (best.all != 0)
            result.note(name("time of the given window / best"), own.time_ms.median() / best.time_ms.median());
        result.note(name("dropped with the given window"), own.overflowed);
        result.note(name("dropped with window 256"), widest.overflowed);
    }
    return result;
}

table try_bound(const settings& s) {
    table result("bound: discovery compared with the least time that its graph allows",
                 {"subnet", "round trip, us", "least SMPs", "MADs", "by depth, ms", "by window, ms", "time, ms",
                  "time / bound", "time / as queried"});
    const std::vector<const char*> large{"fattree2,radix=36", "fattree3,radix=8", "fattree3,radix=16", "torus,x=8,y=8",
                                         "torus,x=8,y=8,z=8"};
    const std::vector<const char*> small{"fattree2,radix=4", "torus,x=3,y=3"};
    for (const char* specification : s.is_small ? small : large) {
        const sim::topology t = sim::make_topology(specification);
        for (const mad::duration round_trip : {10us, 100us, 1000us}) {
            const u32 start = t.default_node();
            const auto bound =
                sim::bound_discovery(t, start, sim::default_port(t.nodes[start]),
                                     {round_trip, s.schedule.max_outstanding, s.schedule.per_destination});
            const discovered d = discover_once(t, equal_round_trips(round_trip), {}, s);
            const mad::duration without_speculation =
                round_trip * static_cast<mad::duration::rep>(bound.without_speculation);
            result.add({specification, in_ms(round_trip) * 1000, bound.smps, d.mads, in_ms(bound.by_depth),
                        in_ms(bound.by_window), in_ms(d.time), in_ms(d.time) / in_ms(bound.time()),
                        in_ms(d.time) / in_ms(std::max(without_speculation, bound.by_window))});
        }
    }
    return result;
}

} // namespace comad::bench
