// SPDX-License-Identifier: MIT
// throughput.cpp - keeps a window full of queries, and measures replies and time.
#include "commands/measuring/throughput.hpp"

#include "comad.hpp"

#include <boost/math/distributions/students_t.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>

namespace ibtool {

namespace {

template <std::size_t Bytes>
coro::task<std::optional<mad::mad_error>> query_with(coro::MADSchedule& schedule, const load& what,
                                                     const mad::any_path& target) {
    const coro::rpc_request request{what.kind, target, what.attributeModifier, what.component_mask};
    any_payload<Bytes> payload;
    std::copy_n(what.payload.begin(), Bytes, payload.bytes.begin());
    auto reply = co_await schedule.call<any_payload<Bytes>, false>(request, payload);
    if (reply) co_return std::nullopt;
    co_return std::move(reply.error());
}

/// Counts the replies and times of one measurement.
class meter {
public:
    meter(coro::MADSchedule& schedule, const load& what, const extent& how_long, const clock_function& clock,
          tally& all)
        : schedule_(schedule), load_(what), extent_(how_long), clock_(clock), all_(all),
          in_flight_(what.targets.size()), started_(clock()) {}

    bool over() const noexcept { return stage_ == stage::over || schedule_.transport_failed(); }
    /// Returns the next target, in turn, that is below its limit. Precondition: such a target exists.
    std::size_t take_target() noexcept {
        do next_ = (next_ + 1) % in_flight_.size();
        while (load_.per_destination && in_flight_[next_] >= load_.per_destination);
        ++in_flight_[next_];
        return next_;
    }
    coro::task<void> query_target(std::size_t target) {
        const mad::time_point sent_at = clock_();
        const auto problem = co_await query_once(schedule_, load_, load_.targets[target]);
        --in_flight_[target];
        ended(clock_(), sent_at, problem);
    }
    void finish() {
        if (last_ <= first_) return;
        all_.retries += retried_ - retried_before_;
        all_.rates.push_back(static_cast<double>(replies_) / mad::in_seconds(last_ - first_));
    }

private:
    enum class stage : comad::u8 { warming_up, measuring, over };

    void ended(mad::time_point now, mad::time_point sent_at, const std::optional<mad::mad_error>& problem) {
        if (stage_ == stage::over || (problem && problem->code == mad::errc::cancelled)) return;
        if (stage_ == stage::warming_up) {
            if (now - started_ < extent_.warm_up) return;
            stage_ = stage::measuring;
            first_ = last_ = now;
            retried_before_ = retried_ = schedule_.counters().retried;
            return;
        }
        last_ = now;
        retried_ = schedule_.counters().retried;
        ++ended_;
        if (problem) {
            ++(problem->code == mad::errc::timed_out ? all_.timeouts : all_.errors);
        } else {
            ++replies_;
            ++all_.replies;
            all_.times.add(now - sent_at);
        }
        if (extent_.mads ? ended_ == extent_.mads : now - first_ >= extent_.length) stage_ = stage::over;
    }

    coro::MADSchedule& schedule_;
    const load& load_;
    const extent& extent_;
    const clock_function& clock_;
    tally& all_;
    std::vector<unsigned> in_flight_; // number for each target
    std::size_t next_ = 0;
    stage stage_ = stage::warming_up;
    mad::time_point started_, first_{}, last_{};
    u64 ended_ = 0, replies_ = 0, retried_before_ = 0, retried_ = 0;
};

coro::generator<coro::task<void>> queries(meter& m) {
    while (!m.over()) co_yield m.query_target(m.take_target());
}

} // namespace

coro::task<std::optional<mad::mad_error>> query_once(coro::MADSchedule& schedule, const load& what,
                                                     const mad::any_path& target) {
    const bool is_smp = what.kind.mgmt_class == comad::iba::MgmtClass::SubnLID;
    return is_smp ? query_with<smp_payload_size>(schedule, what, target)
                  : query_with<payload_size>(schedule, what, target);
}

coro::task<void> measure(coro::MADSchedule& schedule, const load& what, const extent& how_long,
                         const clock_function& clock, tally& all) {
    meter m(schedule, what, how_long, clock, all);
    co_await schedule.mqueue(queries(m));
    m.finish();
}

estimate estimate_of(std::span<const double> values) {
    const auto count = static_cast<double>(values.size());
    estimate e{std::accumulate(values.begin(), values.end(), 0.0) / count, std::nullopt};
    if (values.size() < 2) return e;
    double squares = 0;
    for (const double value : values) squares += (value - e.mean) * (value - e.mean);
    const boost::math::students_t distribution(count - 1);
    e.half_width = boost::math::quantile(distribution, 0.975) * std::sqrt(squares / (count - 1) / count);
    return e;
}

} // namespace ibtool
