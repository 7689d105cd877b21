// SPDX-License-Identifier: MIT
// sets.cpp - an experiment with Gets and Sets of PortInfo while MADs are lost, in virtual time.
#include "experiments.hpp"
#include <comad/coro/driver.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/iba/smp.hpp>
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
using iba::smp::PortInfo;
using tasks = coro::generator<coro::task<mad::result<void>>>;

/// The outcome of the requests of a run.
struct written {
    unsigned Gets = 0, Sets = 0, failed = 0;
};

/// A port that requests read or write.
struct target_port {
    mad::IBDRPath route;
    u8 port;
};

coro::task<bool> set_port(coro::MADSchedule& schedule, target_port where, PortInfo info, written& all) {
    info.portState = iba::PortState::NoChange;
    info.portPhysicalState = {};
    ++all.Sets;
    auto set = co_await schedule.SubnSet(info, where.route, where.port);
    if (!set) ++all.failed;
    co_return set.has_value();
}

coro::task<mad::result<void>> get_and_set(coro::MADSchedule& schedule, target_port where, written& all) {
    ++all.Gets;
    auto got = co_await schedule.SubnGet<PortInfo>(where.route, where.port);
    if (!got) {
        ++all.failed;
        co_return mad::success();
    }
    auto setting = set_port(schedule, where, got.value(), all);
    co_await std::move(setting);
    co_return mad::success();
}

coro::task<mad::result<void>> set_only(coro::MADSchedule& schedule, target_port where, PortInfo info, written& all) {
    auto setting = set_port(schedule, where, std::move(info), all);
    co_await std::move(setting);
    co_return mad::success();
}

tasks pairs(coro::MADSchedule& schedule, const std::vector<target_port>& places, written& all) {
    for (const target_port& p : places) co_yield get_and_set(schedule, p, all);
}

tasks sets(coro::MADSchedule& schedule, const std::vector<target_port>& places, const PortInfo& info, written& all) {
    for (const target_port& p : places) co_yield set_only(schedule, p, info, all);
}

coro::task<void> await_all(coro::MADSchedule& schedule, tasks list) {
    static_cast<void>(co_await schedule.mqueue(std::move(list)));
}

enum class load : u8 { pairs, sets };

/// Returns the targets: all ports that a discovery without loss finds, or the four ports of one switch, 2,000 in total.
std::vector<target_port> places_in(const sim::topology& t, bool is_subnet, bool is_small) {
    std::vector<target_port> all;
    if (!is_subnet) {
        for (unsigned i = 0; i < (is_small ? 200u : 2000u); ++i)
            all.push_back({mad::IBDRPath{}.extended(1), static_cast<u8>(1 + i % 4)});
        return all;
    }
    sim::fabric net(t, equal_round_trips(100us), {});
    sim::sim_transport port(net, sim::time_mode::virtual_);
    coro::MADSchedule schedule(port);
    const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    for (const discovery::node& n : found.value().nodes)
        for (u8 p = 1; p < n.ports.size(); ++p)
            if (n.ports[p].info) all.push_back({n.route, p});
    return all;
}

/// The results of one run of a load.
struct measured_run {
    written requests;
    mad::duration time;
    u64 mads;
};

measured_run run_load(const sim::topology& t, const std::vector<target_port>& places, load what,
                      const sim::faults& wrong, const settings& s) {
    sim::fabric net(t, equal_round_trips(100us), wrong);
    sim::sim_transport port(net, sim::time_mode::virtual_);
    coro::MADSchedule schedule(port, s.schedule);
    written all;
    PortInfo info;
    while (what == load::sets) {
        auto got = coro::sync_wait(schedule, schedule.SubnGet<PortInfo>(places[0].route, places[0].port));
        if (!got) continue;
        info = got.value();
        break;
    }
    const mad::time_point start = schedule.now();
    tasks list = what == load::pairs ? pairs(schedule, places, all) : sets(schedule, places, info, all);
    coro::sync_wait(schedule, await_all(schedule, std::move(list)));
    return {all, schedule.now() - start, schedule.counters().sent + schedule.counters().retried};
}

} // namespace

table try_sets(const settings& s) {
    const sim::topology t = sim::make_topology(s.is_small ? "fattree3,radix=4" : "fattree3,radix=8");
    table result(fmt::format("sets: PortInfo in a subnet of {} nodes, 0.1 ms round trip", t.nodes.size()),
                 {"requests", "waits", "loss each way", "Gets and Sets", "failed", "time, s", "time / lossless",
                  "MADs / request"});
    struct variant {
        const char* name;
        mad::duration timeout;
    };
    struct workload {
        const char* name;
        load what;
        bool is_subnet;
    };
    // With --timeout, runs only this timeout. Without it, compares measured timeouts with the fixed timeout of a subnet manager.
    std::vector<variant> variants{{s.schedule.timeout.count() > 0 ? "as given" : "measured", s.schedule.timeout}};
    if (s.schedule.timeout.count() == 0) variants.push_back({"200 ms, 3 attempts", 200ms});
    for (const workload& w :
         {workload{"Get and Set, one switch", load::pairs, false}, workload{"Set, one switch", load::sets, false},
          workload{"Get and Set, all ports", load::pairs, true}}) {
        const std::vector<target_port> places = places_in(t, w.is_subnet, s.is_small);
        for (const variant& v : variants) {
            settings own = s;
            own.schedule.timeout = v.timeout;
            const mad::duration lossless = run_load(t, places, w.what, {}, own).time;
            for (const double loss : {0.005, 0.02, 0.05}) {
                spread time, ratio, repeated;
                unsigned failed = 0;
                u64 requests = 0;
                for (unsigned seed = 1; seed <= s.seeds; ++seed) {
                    const measured_run r =
                        run_load(t, places, w.what, {.request_loss = loss, .reply_loss = loss, .seed = seed}, own);
                    const unsigned request_count = r.requests.Gets + r.requests.Sets;
                    requests += request_count;
                    failed += r.requests.failed;
                    time.add(mad::in_seconds(r.time));
                    ratio.add(mad::in_seconds(r.time) / mad::in_seconds(lossless));
                    repeated.add(static_cast<double>(r.mads) / request_count);
                }
                result.add({w.name, v.name, loss, requests, failed, time, ratio, repeated});
            }
        }
    }
    return result;
}

} // namespace comad::bench
