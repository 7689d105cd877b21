// SPDX-License-Identifier: MIT
// endurance.cpp - sends millions of MADs through one schedule with all faults of the simulator. The counts must balance, and memory must
// not grow.
#include "experiments.hpp"
#include <comad/coro/driver.hpp>
#include <comad/discovery/walk/discover.hpp>
#include <comad/iba/pm.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <malloc.h>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace comad::bench {
namespace {

namespace sim = transports::sim;
using namespace std::chrono_literals;
using coro::generator;
using coro::MADSchedule;
using coro::task;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;

constexpr const char* subnet = "fattree3,radix=8,sm=1";
constexpr const char* everything =
    ",jitter=2us,transit=1us,buffer=16,loss=0.01,duplicate=0.01,reorder=0.01,busy=0.01,garbage=0.01,dead=0.02,"
    "slow=0.05:50us,flap=core-0001/1@1ms:300us:50ms,flap=leaf-0003/5@2ms:1ms:70ms,kill=spine-0002@100ms,"
    "revive=spine-0002@200ms";

/// How the operations ended, as their awaiting tasks saw it.
struct endings {
    u64 replied = 0, timed_out = 0, cancelled = 0, otherwise = 0;

    template <class T> void count(const mad::result<T>& r) {
        if (r || r.error().code == mad::errc::status) ++replied;
        else if (r.error().code == mad::errc::timed_out) ++timed_out;
        else if (r.error().code == mad::errc::cancelled) ++cancelled;
        else ++otherwise;
    }
};

/// Measures how long operations that time out are in progress. A BUSY reply counts as an answer: the measurement starts again with the
/// next attempt.
class waiting_times final : public mad::trace_sink {
public:
    void on_event(const mad::trace_event& e) noexcept override {
        using enum mad::trace_event::kind;
        const auto known = started_.find(e.path);
        if (e.what == send) started_.insert_or_assign(e.path, begin{e.when, false});
        if (known == started_.end()) return;
        if (e.what == reply) known->second.has_answered = true;
        if (e.what == retry && known->second.has_answered) known->second = {e.when, false};
        if (e.what == timed_out && !known->second.has_answered)
            longest = std::max(longest, e.when - known->second.when);
    }
    mad::duration longest{0};

private:
    struct begin {
        mad::time_point when;
        bool has_answered;
    };
    std::unordered_map<const mad::any_path*, begin> started_; // the key is the path object of an operation
};

/// A port that gets requests, by its directed route and by its LID.
struct target {
    mad::IBDRPath route;
    mad::IBPath by_lid;
};

/// Finds all targets before the faults start.
std::vector<target> targets() {
    auto simulation = sim::make_sim(subnet, sim::time_mode::virtual_);
    MADSchedule schedule(*simulation.transport);
    const auto found = coro::sync_wait(schedule, discovery::discover(schedule));
    std::vector<target> all;
    for (const discovery::node& n : found.value().nodes) {
        target t{n.route, {}};
        t.by_lid.DLID = n.ports[n.is_switch() ? 0 : n.info.localPortNum].info.value().LID;
        all.push_back(t);
    }
    return all;
}

/// The operations of the run: requests until the wanted number of MADs was sent.
class endurance {
public:
    endurance(MADSchedule& schedule, const std::vector<target>& targets, u64 mads)
        : schedule_(schedule), targets_(targets), wanted_(mads) {}

    task<void> run() { co_await schedule_.mqueue(work(), {.max_tasks = 512}); }
    const endings& ended() const noexcept { return ended_; }
    /// Returns the growth of memory in use since the first half of the run, in bytes. The first half reaches the peak of requests in
    /// progress.
    double growth() const { return in_use() - early_; }

private:
    static double in_use() {
        const auto info = ::mallinfo2();
        return static_cast<double>(info.uordblks + info.hblkhd);
    }
    u64 sent() const noexcept { return schedule_.counters().sent + schedule_.counters().retried; }

    generator<task<void>> work() {
        for (u64 i = 0; sent() < wanted_; ++i) {
            if (early_ == 0 && sent() > wanted_ / 2) early_ = in_use();
            const target& t = targets_[i % targets_.size()];
            const u64 round = i / targets_.size();
            if (round % 4 == 0) co_yield query_port(t);
            else if (round % 4 == 1) co_yield query_counters(t);
            else if (i % 16 == 0) co_yield give_up(t);
            else co_yield query_node(t);
        }
    }
    task<void> query_node(const target& t) {
        const auto answer = co_await schedule_.SubnGet<NodeInfo>(t.route);
        ended_.count(answer);
    }
    task<void> query_port(const target& t) {
        const auto answer = co_await schedule_.SubnGet<PortInfo>(t.by_lid, 1);
        ended_.count(answer);
    }
    task<void> query_counters(const target& t) {
        iba::pm::PortCounters request;
        request.portSelect = 1;
        const auto answer = co_await schedule_.PerformanceGet(request, t.by_lid);
        ended_.count(answer);
    }
    /// Sends two requests, and cancels them after a short time.
    task<void> give_up(const target& t) {
        coro::scope own(co_await coro::current_scope{});
        own.spawn(query_node(t));
        own.spawn(query_counters(t));
        co_await schedule_.pause(5us);
        own.cancel();
        co_await own.join();
    }

    MADSchedule& schedule_;
    const std::vector<target>& targets_;
    u64 wanted_;
    endings ended_;
    double early_ = 0;
};

void require(bool holds, const char* what) {
    if (!holds) throw std::runtime_error(fmt::format("endurance: {}", what));
}

} // namespace

table try_endurance(const settings& s) {
    const std::vector<target> all = targets();
    auto simulation = sim::make_sim(std::string(subnet) + everything, sim::time_mode::virtual_);
    sim::fabric& net = *simulation.fabric;
    std::optional<transports::kernel_model> kernel;
    if (s.kernel) kernel.emplace(*simulation.transport, *s.kernel);
    MADSchedule schedule(kernel ? *kernel : *simulation.transport, s.schedule);
    waiting_times waited;
    schedule.set_trace(&waited);
    endurance run(schedule, all, static_cast<u64>(s.million_mads * 1e6));
    const auto begin = std::chrono::steady_clock::now();
    coro::sync_wait(schedule, run.run());
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;

    // Every MAD that is still in the subnet arrives, but no operation waits for it.
    while (const auto next = net.next_event()) {
        schedule.set_now(*next);
        while (schedule.receive(coro::burst)) {}
    }
    const mad::engine_counters& c = schedule.counters();
    const sim::fabric_counters& f = net.counters();
    const endings& e = run.ended();
    table result("endurance: all faults at once", {"what", "MADs"});
    const auto add_row = [&](const char* what, u64 count) { result.add({what, count}); };
    add_row("operations sent", c.sent);
    add_row("  repeated", c.retried);
    add_row("  replied", c.replied);
    add_row("  timed out", c.timed_out);
    add_row("  cancelled", c.cancelled);
    add_row("  lost", c.lost);
    add_row("  in flight", schedule.in_flight());
    add_row("BUSY, repeated", c.busy);
    add_row("stale replies", c.stale);
    add_row("lost in the subnet", f.lost);
    add_row("overflowed there", f.overflowed);
    add_row("doubled there", f.duplicated);
    add_row("garbage from there", f.garbage);
    add_row("without a way there", f.undelivered);
    result.note("longest until given up, ms", in_ms(waited.longest));
    result.note("virtual s", in_ms(net.now().time_since_epoch()) / 1000);
    result.note("real s", took.count());
    result.note("bytes grown", run.growth());

    require(c.sent == c.replied + c.timed_out + c.cancelled + c.lost + schedule.in_flight(),
            "operations do not balance");
    require(schedule.in_flight() == 0 && schedule.idle(), "the schedule is not idle");
    require(e.replied + e.otherwise == c.replied && e.timed_out == c.timed_out && e.cancelled >= c.cancelled,
            "awaiters and schedule count different results");
    require(f.sent == c.sent + c.retried, "the subnet got another number of MADs");
    require(f.sent + f.duplicated + f.garbage == f.delivered + f.undelivered + f.lost + f.overflowed,
            "MADs in the subnet do not balance");
    // In a short run, the peak of requests in progress may occur in the second half.
    if (s.million_mads >= 1) require(run.growth() < 1 << 20, "memory grows");
    // The time limit does not include the time in which an operation is queued, and a target that replied before gets all of its
    // attempts.
    if (s.schedule.timeout.count() == 0)
        require(waited.longest <= s.schedule.patience.first_patience * 2, "an operation ended too late");
    return result;
}

} // namespace comad::bench
