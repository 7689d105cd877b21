// SPDX-License-Identifier: MIT
// open_load.cpp - the intended times of an open load, and a task that keeps to them.
#include "commands/measuring/open_load.hpp"

#include "comad.hpp"
#include <comad/coro/event.hpp>
#include <comad/coro/scope.hpp>

#include <algorithm>
#include <cmath>

namespace ibtool {

arrivals::arrivals(const open_load& how, mad::time_point start)
    : start_(start), interval_(1e9 / how.rate), position_(how.offset),
      is_poisson_(how.process == arrival_process::poisson), random_(how.seed) {
    if (is_poisson_) position_ = std::exponential_distribution<double>()(random_);
    next_ = at(position_);
}

mad::time_point arrivals::at(double intervals) const noexcept {
    return start_ + mad::duration(static_cast<mad::duration::rep>(std::llround(intervals * interval_)));
}

void arrivals::take() {
    position_ += is_poisson_ ? std::exponential_distribution<double>()(random_) : 1;
    next_ = at(position_);
}

u64 arrivals::take_until(mad::time_point end) {
    if (next_ >= end) return 0;
    const double left = static_cast<double>((end - next_).count()) / interval_;
    if (!is_poisson_) {
        const double taken = std::ceil(left);
        position_ += taken;
        next_ = std::max(end, at(position_));
        return static_cast<u64>(taken);
    }
    // After an arrival of a Poisson process, the number of arrivals in the rest of the time has a Poisson distribution.
    const u64 further = std::poisson_distribution<u64>(left)(random_);
    position_ = static_cast<double>((end - start_).count()) / interval_;
    take();
    return 1 + further;
}

namespace {

class open_meter {
public:
    open_meter(coro::MADSchedule& schedule, const load& what, const open_load& how, const extent& how_long,
               const clock_function& clock, measurement& all)
        : schedule_(schedule), load_(what), how_(how), extent_(how_long), clock_(clock), all_(all), turns_(what),
          counted_from_(clock() + how_long.warm_up), end_(counted_from_ + how_long.length), arrivals_(how, clock()),
          has_space_(schedule) {}

    coro::task<void> run() {
        coro::scope queries(co_await coro::current_scope{});
        bool is_running = true;
        for (unsigned started = 0; is_running && !over();) {
            if (!is_warm_ && clock_() >= counted_from_) {
                is_warm_ = true;
                arrivals_.take_until(counted_from_); // the wait from the warm-up is not part of the measurement
            }
            if (in_flight_ >= how_.most_in_flight) {
                has_space_.reset();
                is_running = co_await has_space_.wait();
            } else if (arrivals_.next() > clock_()) {
                is_running = co_await schedule_.pause_until(arrivals_.next());
            } else if (++started % coro::burst == 0) {
                is_running = co_await schedule_.pause(mad::duration{0}); // so that replies are read meanwhile
            } else {
                queries.spawn(start_next());
            }
        }
        const bool is_complete = is_running && !schedule_.transport_failed();
        if (!extent_.mads) count_unsent(is_complete ? end_ : std::min(end_, clock_()));
        else if (counted_ != 0) all_.last = std::max(all_.last, is_complete ? arrivals_.next() : clock_());
        co_await queries.join();
        finish();
    }

private:
    bool over() const noexcept {
        if (schedule_.transport_failed()) return true;
        if (extent_.mads) return counted_ == extent_.mads;
        return arrivals_.next() >= end_ || clock_() >= end_;
    }

    coro::task<void> start_next() {
        const mad::time_point due = arrivals_.next();
        arrivals_.take();
        const bool counts = due >= counted_from_;
        if (counts && counted_++ == 0) begin();
        const std::size_t target = next_target_;
        next_target_ = (next_target_ + 1) % load_.targets.size();
        ++in_flight_;
        return query(due, counts, target, turns_.take());
    }
    coro::task<void> query(mad::time_point due, bool counts, std::size_t target, std::size_t rpc) {
        const mad::time_point sent_at = clock_();
        const load_rpc& what = load_.rpcs[rpc];
        const mad::result<reply_content> end =
            co_await query_once(schedule_, what, payload_for(what, target), load_.targets[target]);
        --in_flight_;
        has_space_.set();
        if (!counts || (!end && end.error().code == mad::errc::cancelled)) co_return;
        const mad::time_point now = clock_();
        all_.last = std::max(all_.last, now);
        all_.add(target, rpc, now - due, end, now - sent_at);
    }
    void begin() {
        all_.first = all_.last = counted_from_;
        spent_.emplace(schedule_);
    }
    void count_unsent(mad::time_point end) {
        arrivals_.take_until(counted_from_);
        all_.unsent = arrivals_.take_until(end);
        if (counted_ == 0 && end > counted_from_) begin();
        all_.last = std::max(all_.last, end);
    }
    void finish() {
        if (!spent_) return; // nothing was sent
        all_.retries = spent_->retries();
        all_.cost = spent_->cost();
    }

    coro::MADSchedule& schedule_;
    const load& load_;
    const open_load& how_;
    const extent& extent_;
    const clock_function& clock_;
    measurement& all_;
    rpc_turns turns_;
    const mad::time_point counted_from_, end_;
    arrivals arrivals_;
    coro::event has_space_;
    bool is_warm_ = false;
    unsigned in_flight_ = 0;
    std::size_t next_target_ = 0;
    u64 counted_ = 0;
    std::optional<cost_meter> spent_; // since the warm-up
};

} // namespace

coro::task<void> measure_open(coro::MADSchedule& schedule, const load& what, const open_load& how,
                              const extent& how_long, const clock_function& clock, measurement& all) {
    open_meter m(schedule, what, how, how_long, clock, all);
    co_await m.run();
}

} // namespace ibtool
