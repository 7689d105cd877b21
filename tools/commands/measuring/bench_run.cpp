// SPDX-License-Identifier: MIT
// bench_run.cpp - the rounds of bench.
#include "commands/measuring/bench_run.hpp"

#include "comad.hpp"
#include "session/fabric.hpp"
#include <comad/coro/threads.hpp>
#include <comad/iba/detail/text.hpp>
#include <comad/iba/parse.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

namespace ibtool {
namespace {

using namespace std::chrono_literals;

/// The transport of a thread.
struct bench_worker {
    std::unique_ptr<fabric> own; ///< null: the session's fabric
    mad::transport* carrier;
};

/// The part of the load that a thread measures.
struct bench_share {
    load part;
    std::vector<std::size_t> target_of{}; ///< index in the report of each target of the part
    unsigned window = 0;                  ///< 0: adaptive
    extent length{};
};

/// Returns the length of a measurement. A short measurement is enough in virtual time, which has no noise; every MAD costs processor
/// time.
extent extent_of(const bench_plan& plan, bool is_virtual) {
    return {plan.warm_up.value_or(is_virtual ? 5ms : 20ms), plan.duration.value_or(is_virtual ? 10ms : 200ms),
            plan.count};
}

/// Lowers window sizes to the number of MADs that can be in flight.
void lower_windows(bench_report& r, unsigned transport_takes) {
    unsigned most = transport_takes;
    std::string why = fmt::format("the transport allows {} in flight", most);
    const std::size_t bound = r.what.targets.size() * r.what.per_destination;
    if (bound != 0 && bound < most) {
        most = static_cast<unsigned>(bound);
        why = fmt::format("at most {} in flight to each of {}, so at most {} in total", r.what.per_destination,
                          r.what.targets.size() == 1 ? "1 target" : fmt::format("{} targets", r.what.targets.size()),
                          most);
    }
    std::vector<bench_row> rows;
    for (bench_row& row : r.rows) {
        const bool is_whole = r.is_open() && row.max_outstanding == 0; // as many as possible
        if (is_whole) row.max_outstanding = most;
        if (row.max_outstanding > most) {
            row.max_outstanding = most;
            if (!r.is_open()) row.load = std::to_string(most);
            r.lowered = why;
        }
        if (std::ranges::find(rows, row.load, &bench_row::load) == rows.end()) rows.push_back(std::move(row));
    }
    r.rows = std::move(rows);
}

/// Returns the part of the load for these targets.
load part_of(const load& all, const std::vector<std::size_t>& targets) {
    load part{all.rpcs, {}, all.per_destination};
    for (load_rpc& rpc : part.rpcs) rpc.of_target.clear();
    for (const std::size_t i : targets) {
        part.targets.push_back(all.targets[i]);
        for (std::size_t rpc = 0; rpc < all.rpcs.size(); ++rpc)
            if (!all.rpcs[rpc].of_target.empty()) part.rpcs[rpc].of_target.push_back(all.rpcs[rpc].of_target[i]);
    }
    return part;
}

/// Measures the rows of a report with one or several threads.
class bench_runner {
public:
    bench_runner(session& in, const global_options& options, bench_report& r) : in_(in), report_(r) {
        const std::size_t targets = r.what.targets.size();
        if (r.what.per_destination) r.threads = static_cast<unsigned>(std::min<std::size_t>(r.threads, targets));
        for (unsigned i = 0; i < r.threads; ++i) workers_.push_back(make_worker(options, i));
        last_.resize(targets);
    }

    /// Measures all rows, and adds problems to the report: an interruption, and targets that stopped replying.
    void measure_all() {
        measure_rounds();
        if (!is_disconnected_) report_silent_targets();
    }

private:
    /// The requests to a target in the last measurement in which one of them ended.
    struct last_measurement {
        u64 answered = 0, unanswered = 0;
        unsigned round = 0;
        bool is_silent() const noexcept { return answered == 0 && unanswered != 0; }
    };

    /// Measures all rows. Each round starts with another row, so that no row always comes first.
    void measure_rounds() {
        for (unsigned round = 0; round < report_.rounds; ++round) {
            for (std::size_t turn = 0; turn < report_.rows.size(); ++turn) {
                measure_row(report_.rows[(round + turn) % report_.rows.size()], round);
                if (!is_disconnected_ && !in_.stopped()) continue;
                report_.problems.push_back(
                    failure_at({}, fmt::format("{} in round {} of {}",
                                               is_disconnected_ ? "the device was disconnected" : "interrupted",
                                               round + 1, report_.rounds)));
                return;
            }
        }
    }

    /// Adds a problem for each target whose last requests all remained without a reply.
    void report_silent_targets() {
        for (std::size_t i = 0; i < last_.size(); ++i) {
            if (!last_[i].is_silent()) continue;
            report_.problems.push_back(
                failure_at(target_words(i), fmt::format("stopped replying; no reply in round {} of {}",
                                                        last_[i].round + 1, report_.rounds)));
        }
    }

    /// Returns `LID 8`, `SA`, `leaf-0001`, or for a discovered target its ID and name.
    std::string target_words(std::size_t i) const {
        const std::string& name = report_.target_names[i];
        const auto* const by_lid = std::get_if<mad::IBPath>(&report_.what.targets[i]);
        if (by_lid && iba::parse_number(name)) return fmt::format("LID {}", value(by_lid->DLID));
        return iba::escaped(name);
    }

    bench_worker make_worker(const global_options& options, unsigned index) {
        bench_worker w;
        if (index > 0) {
            global_options same_port = options;
            same_port.fabric = in_.place();
            same_port.ca.clear();
            same_port.ca_port.clear();
            w.own = std::make_unique<fabric>(same_port);
        }
        w.carrier = w.own ? &w.own->transport() : &in_.schedule().transport();
        return w;
    }

    /// Divides a row among as many threads as it can use: each has a window, and a MAD of the count.
    std::vector<bench_share> divide(const bench_row& row) const {
        std::size_t threads = workers_.size();
        if (row.max_outstanding) threads = std::min<std::size_t>(threads, row.max_outstanding);
        if (report_.how_long.mads) threads = std::min<std::size_t>(threads, report_.how_long.mads);
        const std::size_t targets = report_.what.targets.size();
        const std::size_t step = targets >= threads ? threads : 1; // 1: each thread queries all targets
        std::vector<bench_share> shares(threads);
        for (std::size_t i = 0; i < threads; ++i) {
            for (std::size_t t = step == 1 ? 0 : i; t < targets; t += step) shares[i].target_of.push_back(t);
            shares[i].part = part_of(report_.what, shares[i].target_of);
            shares[i].length = report_.how_long;
            shares[i].length.mads = (report_.how_long.mads + threads - 1 - i) / threads;
        }
        unsigned left = row.max_outstanding;
        for (std::size_t next = 0; left > 0; next = (next + 1) % threads) {
            const std::size_t most = shares[next].part.targets.size() * report_.what.per_destination;
            if (most != 0 && shares[next].window >= most) continue;
            ++shares[next].window;
            --left;
        }
        return shares;
    }

    coro::schedule_options options_for(unsigned window) const {
        coro::schedule_options options = report_.patience;
        options.max_outstanding = window;
        // measure() limits the MADs in flight itself, so that no MAD waits in the schedule.
        options.per_destination = options.gmps_per_destination = options.sa_outstanding = 0;
        return options;
    }

    void measure_row(bench_row& row, unsigned round) {
        const std::vector<bench_share> shares = divide(row);
        std::vector<std::unique_ptr<coro::MADSchedule>> schedules;
        std::vector<coro::MADSchedule*> views;
        std::vector<measurement> measured;
        std::vector<std::vector<std::size_t>> target_of;
        for (std::size_t i = 0; i < shares.size(); ++i) {
            schedules.push_back(
                std::make_unique<coro::MADSchedule>(*workers_[i].carrier, options_for(shares[i].window)));
            schedules.back()->set_trace(i == 0 ? in_.trace() : nullptr);
            views.push_back(schedules.back().get());
            measured.emplace_back(shares[i].part.targets.size(), report_.what.rpcs.size());
            target_of.push_back(shares[i].target_of);
        }
        const auto make = [&](std::size_t i, coro::MADSchedule& s) {
            return measure_in(s, shares[i], share_of_rate(row, round, i, shares), measured[i]);
        };
        in_.run_in_threads(views, make, [&] {
            return fmt::format("round {} of {}, {} {}", round + 1, report_.rounds,
                               report_.is_open() ? "rate" : "window", row.load);
        });
        is_disconnected_ = std::ranges::any_of(views, [](const auto* s) { return s->transport_failed(); });
        row.measured.targets.resize(report_.what.targets.size() > 1 ? report_.what.targets.size() : 0);
        row.measured.rpcs.resize(report_.what.rpcs.size() > 1 ? report_.what.rpcs.size() : 0);
        row.measured.add_round(measured, target_of);
        note_last(measured, target_of, round);
    }

    /// Stores the requests to each target. A measurement in which no request to a target ended does not count.
    void note_last(const std::vector<measurement>& measured, const std::vector<std::vector<std::size_t>>& target_of,
                   unsigned round) {
        std::vector<last_measurement> now(last_.size());
        for (std::size_t i = 0; i < measured.size(); ++i) {
            for (std::size_t j = 0; j < target_of[i].size(); ++j) {
                const responses& r = measured[i].targets.empty() ? measured[i].all : measured[i].targets[j];
                now[target_of[i][j]].answered += r.answered;
                now[target_of[i][j]].unanswered += r.unanswered;
            }
        }
        for (std::size_t t = 0; t < now.size(); ++t) {
            if (now[t].answered + now[t].unanswered == 0) continue;
            last_[t] = now[t];
            last_[t].round = round;
        }
    }

    /// Returns the open load of a thread. Constant arrivals of the threads alternate.
    open_load share_of_rate(const bench_row& row, unsigned round, std::size_t thread,
                            const std::vector<bench_share>& shares) const {
        const auto count = static_cast<double>(shares.size());
        return {row.rate / count, report_.arrivals.value_or(arrival_process::constant), shares[thread].window,
                round * workers_.size() + thread + 1, static_cast<double>(thread) / count};
    }

    /// Measures with one schedule.
    coro::task<bool> measure_in(coro::MADSchedule& schedule, const bench_share& share, open_load how,
                                measurement& all) {
        const clock_function clock = [this, &schedule] { return in_.is_virtual() ? schedule.now() : in_.now(); };
        if (report_.is_open()) co_await measure_open(schedule, share.part, how, share.length, clock, all);
        else co_await measure(schedule, share.part, share.length, clock, all);
        co_return !schedule.transport_failed();
    }

    session& in_;
    bench_report& report_;
    std::vector<bench_worker> workers_;
    std::vector<last_measurement> last_; // for each target
    bool is_disconnected_ = false;
};

} // namespace

bool queries_sa(const load& what) { return what.rpcs.front().kind.mgmt_class == iba::MgmtClass::SubnAdm; }

std::string run_bench(const bench_plan& plan, const global_options& options, bench_report& r) {
    session in(options, plan.targets.empty() ? nullptr : &plan.targets.front().target);
    r.is_virtual = in.is_virtual();
    r.how_long = extent_of(plan, r.is_virtual);
    std::vector<bench_target> chosen = plan.targets;
    if (chosen.empty() && queries_sa(r.what)) {
        require_sa(in);
        chosen.push_back({command_target({in.schedule().sa_path(), std::nullopt}), "SA"});
    } else if (chosen.empty()) {
        chosen.push_back({this_node(), "local node"});
    }
    const bool is_answered = in.run(find_targets(in, plan.discovered, plan.requests, r, std::move(chosen)));
    if (is_answered && !in.stopped()) {
        const unsigned of_several = coro::schedule_options{}.per_destination; // the default limit of all commands
        const bool is_unlimited = r.is_open() || r.what.targets.size() == 1;
        r.what.per_destination = plan.per_destination.value_or(is_unlimited ? 0 : of_several);
        lower_windows(r, in.schedule().transport().limits().max_window);
        if (plan.check) plan.check(r);
        bench_runner(in, options, r).measure_all();
    }
    const std::string capture_problem = in.finish_capture();
    if (!capture_problem.empty()) r.problems.push_back(failure_at({}, capture_problem));
    return in.counts();
}

} // namespace ibtool
