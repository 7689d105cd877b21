// SPDX-License-Identifier: MIT
// throughput.cpp - sends the RPCs of a load, and keeps a window full of them.
#include "commands/measuring/throughput.hpp"

#include "comad.hpp"
#include <comad/mad/detail/record_table.hpp>

#include <algorithm>
#include <memory>
#include <numeric>

namespace ibtool {
namespace {

using rpc_end = mad::result<reply_content>;

template <std::size_t Bytes>
coro::task<rpc_end> query_with(coro::MADSchedule& schedule, const load_rpc& rpc, const request_payload& data,
                               const mad::any_path& target) {
    const coro::rpc_request request{rpc.kind, target, rpc.attributeModifier, rpc.component_mask};
    any_payload<Bytes> payload;
    std::copy_n(data.begin(), Bytes, payload.bytes.begin());
    auto reply = co_await schedule.call<any_payload<Bytes>, false>(request, payload);
    if (!reply) co_return std::move(reply.error());
    co_return reply_content{mad::mad_size, 0};
}

/// Returns the error of a reply that is not a table.
mad::mad_error malformed(const load_rpc& rpc, const mad::any_path& target, const std::vector<u8>& reply,
                         const std::string& why) {
    mad::mad_error e;
    e.code = mad::errc::malformed_reply;
    e.attempts = 1;
    e.mgmt_class = rpc.kind.mgmt_class;
    e.class_version = rpc.kind.class_version;
    e.method = rpc.kind.method;
    e.attributeID = rpc.kind.attributeID;
    e.detail = std::make_unique<mad::error_detail>();
    e.detail->path = target;
    e.detail->reply = reply;
    e.detail->invalid_value = why;
    return e;
}

coro::task<rpc_end> query_table(coro::MADSchedule& schedule, const load_rpc& rpc, const request_payload& data,
                                const mad::any_path& target) {
    const coro::rpc_request request{rpc.kind, target, rpc.attributeModifier, rpc.component_mask};
    std::array<u8, mad::mad_size> bytes{};
    u8* const payload = mad::write_request(bytes.data(), rpc.kind, target, rpc.attributeModifier, rpc.component_mask);
    std::copy(data.begin(), data.end(), payload);
    auto reply = co_await schedule.call_raw(request, bytes);
    if (!reply) co_return std::move(reply.error());
    const std::vector<u8>& table = reply.value().payload;
    const auto records = mad::record_table::of_reply(table, rpc.record_size);
    if (records) co_return reply_content{table.size(), records.value().size()};
    co_return malformed(rpc, target, table, records.error().text);
}

/// Counts the replies and times of one measurement.
class meter {
public:
    meter(coro::MADSchedule& schedule, const load& what, const extent& how_long, const clock_function& clock,
          measurement& all)
        : schedule_(schedule), load_(what), extent_(how_long), clock_(clock), all_(all), turns_(what),
          in_flight_(what.targets.size()), started_(clock()) {}

    bool over() const noexcept { return stage_ == stage::over || schedule_.transport_failed(); }
    std::size_t take_rpc() noexcept { return turns_.take(); }
    /// Returns the next target, in turn, that is below its limit; nullopt if there is none. This happens with an adaptive window only.
    std::optional<std::size_t> take_target() noexcept {
        for (std::size_t i = 0; i < in_flight_.size(); ++i) {
            next_ = (next_ + 1) % in_flight_.size();
            if (load_.per_destination && in_flight_[next_] >= load_.per_destination) continue;
            ++in_flight_[next_];
            return next_;
        }
        return std::nullopt;
    }
    coro::task<void> query_target(std::size_t target, std::size_t rpc) {
        const mad::time_point sent_at = clock_();
        const load_rpc& what = load_.rpcs[rpc];
        const rpc_end end = co_await query_once(schedule_, what, payload_for(what, target), load_.targets[target]);
        --in_flight_[target];
        const mad::time_point now = clock_();
        if (!end && end.error().code == mad::errc::cancelled) co_return;
        if (stage_ == stage::over) all_.add_unfinished(target, rpc, now - sent_at, end);
        else if (counts(now)) ended(now, now - sent_at, target, rpc, end);
    }

    /// Adds the cost of a measurement that a signal or a failed transport ended early.
    void finish() {
        if (stage_ == stage::measuring && all_.all.ended() != 0) all_.cost = spent_->cost();
    }

private:
    enum class stage : u8 { warming_up, measuring, over };

    bool counts(mad::time_point now) {
        if (stage_ == stage::measuring) return true;
        if (now - started_ < extent_.warm_up) return false;
        stage_ = stage::measuring;
        all_.first = all_.last = now;
        spent_.emplace(schedule_);
        return false;
    }
    void ended(mad::time_point now, mad::duration took, std::size_t target, std::size_t rpc, const rpc_end& end) {
        all_.last = now;
        all_.add(target, rpc, took, end);
        all_.retries = spent_->retries();
        const bool is_over = extent_.mads ? all_.all.ended() == extent_.mads : now - all_.first >= extent_.length;
        if (!is_over) return;
        stage_ = stage::over;
        all_.cost = spent_->cost();
    }

    coro::MADSchedule& schedule_;
    const load& load_;
    const extent& extent_;
    const clock_function& clock_;
    measurement& all_;
    rpc_turns turns_;
    std::vector<unsigned> in_flight_; // number for each target
    std::size_t next_ = 0;
    stage stage_ = stage::warming_up;
    mad::time_point started_;
    std::optional<cost_meter> spent_; // since the warm-up
};

coro::generator<coro::task<void>> queries(meter& m) {
    while (!m.over()) {
        const auto target = m.take_target();
        if (target) co_yield m.query_target(*target, m.take_rpc());
        else co_yield coro::task<void>(); // again after the next reply
    }
}

} // namespace

cost_meter::cost_meter(const coro::MADSchedule& schedule)
    : schedule_(schedule), retries_before_(schedule.counters().retried), before_(cost_of_thread()) {}

u64 cost_meter::retries() const noexcept { return schedule_.counters().retried - retries_before_; }

program_cost cost_meter::cost() const noexcept {
    const program_cost now = cost_of_thread();
    return {now.cpu_seconds - before_.cpu_seconds, now.system_calls - before_.system_calls};
}

rpc_turns::rpc_turns(const load& what) : credits_(what.rpcs.size()) {
    for (const load_rpc& rpc : what.rpcs) weights_.push_back(rpc.weight);
    sum_ = std::accumulate(weights_.begin(), weights_.end(), 0LL);
}

std::size_t rpc_turns::take() noexcept {
    if (weights_.size() == 1) return 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) credits_[i] += weights_[i];
    const auto most = std::ranges::max_element(credits_);
    *most -= sum_;
    return static_cast<std::size_t>(most - credits_.begin());
}

coro::task<mad::result<reply_content>> query_once(coro::MADSchedule& schedule, const load_rpc& rpc,
                                                  const request_payload& data, const mad::any_path& target) {
    if (mad::is_table_method(rpc.kind.method)) return query_table(schedule, rpc, data, target);
    const bool is_smp = rpc.kind.mgmt_class == comad::iba::MgmtClass::SubnLID;
    return is_smp ? query_with<smp_payload_size>(schedule, rpc, data, target)
                  : query_with<payload_size>(schedule, rpc, data, target);
}

coro::task<void> measure(coro::MADSchedule& schedule, const load& what, const extent& how_long,
                         const clock_function& clock, measurement& all) {
    meter m(schedule, what, how_long, clock, all);
    co_await schedule.mqueue(queries(m));
    m.finish();
}

} // namespace ibtool
