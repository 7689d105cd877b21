// SPDX-License-Identifier: MIT
// port_sampler.cpp - starts samples, waits for their end, and reads the results.
#include "session/port_sampler.hpp"

#include "comad.hpp"
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/database/detail/vendors.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace ibtool {

bool may_query_port_samples(const global_options& options) { return !selected_fabric(options).starts_with("ibsim"); }

using pm::PortSamplesCtl;
using pm::PortSamplesRes;
using pm::PortSamplesResExt;
using pm::SampleStatus;

namespace {

/// A mechanism that is still not idle this long after its interval does not work.
constexpr std::chrono::seconds longest_delay(2);
constexpr std::chrono::nanoseconds shortest_pause = std::chrono::microseconds(100);

bool is_idle(u8 sampleStatus) { return sampleStatus == static_cast<u8>(SampleStatus::done); }

} // namespace

sampled_link::sampled_link(const port_view& v) {
    const unsigned lanes = discovery::lanes_of(discovery::active_width(v.info));
    const bool is_up = v.info.portPhysicalState == iba::PortPhysicalState::LinkUp;
    constexpr u8 FDR10 = 1; // the bit in MlnxExtPortInfo; PortInfo reports QDR
    constexpr double qdr_rate = 10e9;
    double signaling_rate = discovery::bits_per_second(v.active_speed());
    const bool is_fdr10 = signaling_rate == qdr_rate && v.mellanox && (v.mellanox->LinkSpeedActive & FDR10) != 0;
    if (is_fdr10) signaling_rate = discovery::fdr10_bits_per_second;
    if (!is_up || lanes == 0 || signaling_rate <= 0) return;
    const double lane_rate = discovery::lane_data_bits_per_second(signaling_rate);
    data_rate = lane_rate * lanes;
    tick_unit = 8 / (discovery::is_tick_of_link(v.node) ? data_rate : lane_rate); // a tick is a number of bytes
}

std::string port_sampler::place() const {
    return fmt::format("LID {} port {}", value(request_.agent.to.DLID), request_.port);
}

/// Returns the message if the mechanism has the tag of another sample.
std::string port_sampler::not_sampled(u16 tag) const {
    return fmt::format(
        "{} was not sampled: another program has started a sample with sampling mechanism {} (tag {:#06x}), or the "
        "device has ignored the request; retry later, or choose another one with --mechanism",
        place(), mechanism_, tag);
}

// ---- preparation ---------------------------------------------------------------------------------------------------

query_task<PortSamplesCtl> port_sampler::read_control(u8 mechanism) {
    PortSamplesCtl which;
    which.portSelect = request_.port;
    co_return co_await in_.schedule().PerformanceGet<PortSamplesCtl>(which, request_.agent.to, mechanism);
}

query_task<bool> port_sampler::prepare() {
    has_extended_results_ = request_.agent.can().extended;
    co_return co_await choose_mechanism();
}

query_task<bool> port_sampler::choose_mechanism() {
    std::optional<PortSamplesCtl> first;
    unsigned mechanism = request_.mechanism.value_or(0); // can be 256, after the last one
    for (unsigned mechanisms = mechanism + 1; mechanism < mechanisms; ++mechanism) {
        mechanism_ = static_cast<u8>(mechanism);
        BOOST_OUTCOME_CO_TRY(const auto found, co_await read_control(mechanism_));
        if (!first) {
            first = found;
            if (!request_.mechanism) mechanisms = found.sampleMechanisms + 1u;
        }
        if (!is_idle(found.sampleStatus)) continue;
        check_quantities(found);
        set_interval(found.tick);
        bits_ = pm::bits_of_width(found.counterWidth);
        co_return true;
    }
    const bool is_choice = !request_.mechanism && first->sampleMechanisms > 0;
    throw std::runtime_error(
        is_choice
            ? fmt::format("cannot sample {}: all {} sampling mechanisms are busy; retry later", place(),
                          first->sampleMechanisms + 1u)
            : fmt::format("cannot sample {}: sampling mechanism {} is busy with the sample of another program (tag "
                          "{:#06x}); retry later",
                          place(), request_.mechanism.value_or(0), first->tag));
}

/// Checks that the device has enough counters.
void port_sampler::check_quantities(const PortSamplesCtl& c) const {
    const auto counters = std::ranges::count_if(pm::counter_masks, [&](auto mask) { return c.*mask != 0; });
    if (static_cast<std::size_t>(counters) < request_.quantities.size())
        throw std::runtime_error(
            fmt::format("{} has {} counters for samples, but {} were given; give fewer with --counters", place(),
                        counters, request_.quantities.size()));
}

void port_sampler::set_interval(u8 tick) {
    tick_seconds_ = request_.link.tick_seconds(tick);
    constexpr double most = std::numeric_limits<u32>::max();
    const double ticks = std::round(mad::in_seconds(request_.interval) / tick_seconds_);
    if (ticks > most)
        throw std::runtime_error(
            fmt::format("cannot sample {}: the interval is too long; with the tick of this device, it "
                        "must be at most {:.3g} s",
                        place(), tick_seconds_ * most));
    ticks_ = std::max<u32>(1, static_cast<u32>(ticks));
}

// ---- samples -------------------------------------------------------------------------------------------------------

query_task<bool> port_sampler::start() {
    PortSamplesCtl wanted;
    wanted.portSelect = request_.port;
    wanted.sampleInterval = ticks_;
    wanted.tag = ++tag_;
    const auto& quantities = request_.quantities;
    for (std::size_t i = 0; i < quantities.size(); ++i) wanted.*pm::counter_selects[i] = quantities[i].select;
    has_written_ = true;
    auto set = co_await in_.schedule().PerformanceSet<PortSamplesCtl>(wanted, request_.agent.to, mechanism_);
    if (!set && set.error().code == mad::errc::cancelled) co_return std::move(set.error());
    if (!set) {
        // Without a reply, or if a copy of the Set was refused, the device may still have started the sample.
        auto now = co_await read_control(mechanism_);
        if (!now)
            throw std::runtime_error(
                fmt::format("unknown whether a sample of {} was started: {}", place(), cause_text(set.error())));
        const bool is_started = now.value().tag == tag_;
        if (!is_started && set.error().code == mad::errc::status) co_return std::move(set.error());
        set = std::move(now);
    }
    // A mechanism that is not idle ignores the Set, and replies with its present values.
    if (set.value().tag != tag_) throw std::runtime_error(not_sampled(set.value().tag));
    for (std::size_t i = 0; i < quantities.size(); ++i)
        if (set.value().*pm::counter_selects[i] != quantities[i].select)
            throw std::runtime_error(
                fmt::format("{} cannot sample {}; omit it from --counters", place(), quantities[i].name));
    co_return true;
}

query_task<port_sample> port_sampler::take() {
    port_sample s{.begin = in_.now(), .counts = {}};
    BOOST_OUTCOME_CO_TRY(co_await start());
    const mad::duration interval(static_cast<mad::duration::rep>(std::ceil(interval_seconds() * 1e9)));
    mad::duration next = interval;
    const auto end = in_.now() + interval + longest_delay;
    for (;;) {
        const bool goes_on = co_await in_.schedule().pause(next);
        if (!goes_on) co_return mad::mad_error{}; // cancelled
        BOOST_OUTCOME_CO_TRY(const bool is_complete, co_await read_result(s));
        if (is_complete) co_return s;
        if (in_.now() > end)
            throw std::runtime_error(fmt::format("{} has not completed the sample {} s after its end; use a different "
                                                 "sampling mechanism with --mechanism, or restart the device",
                                                 place(), longest_delay.count()));
        next = std::max<mad::duration>(interval / 8, shortest_pause);
    }
}

/// Reads the result. Returns false if the sample is not complete.
query_task<bool> port_sampler::read_result(port_sample& s) {
    u16 tag = 0;
    u8 sampleStatus = 0;
    std::array<u64, pm::sample_counters> counters{};
    unsigned bits = bits_;
    const auto take = [&](const auto& r) {
        tag = r.tag;
        sampleStatus = r.sampleStatus;
        std::ranges::copy(r.counter, counters.begin());
    };
    if (has_extended_results_) {
        auto r = co_await in_.schedule().PerformanceGet<PortSamplesResExt>(request_.agent.to, mechanism_);
        if (!r && !mad::is_unsupported(r.error())) co_return std::move(r.error());
        has_extended_results_ = r.has_value();
        if (r) take(r.value());
        if (r) bits = r.value().extendedWidth == 1 ? 48 : 64;
    }
    if (!has_extended_results_) {
        BOOST_OUTCOME_CO_TRY(const auto r,
                             co_await in_.schedule().PerformanceGet<PortSamplesRes>(request_.agent.to, mechanism_));
        take(r);
    }
    if (tag != tag_) throw std::runtime_error(not_sampled(tag));
    if (!is_idle(sampleStatus)) co_return false;
    s.counts.clear();
    for (std::size_t i = 0; i < request_.quantities.size(); ++i)
        s.counts.push_back({counters[i], counters[i] == iba::low_bits(bits)});
    co_return true;
}

} // namespace ibtool
