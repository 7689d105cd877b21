// SPDX-License-Identifier: MIT
// health.cpp - applies the health rules to the difference between two sweeps, and defines the default rules.
#include <comad/counters/health.hpp>
#include <comad/discovery/database/detail/link.hpp>

#include <algorithm>
#include <span>

namespace comad::counters {
namespace {

using discovery::port_ref;
using discovery::subnet;
using std::chrono::duration;

using rule = health_finding::rule;

/// Returns the change of a group of 32-bit counters, one for each lane.
counter_change change_of(std::span<const u32> before, std::span<const u32> after) noexcept {
    constexpr u32 end = ~u32{0};
    counter_change all{counter_change::state::counted, 0};
    for (std::size_t i = 0; i < after.size(); ++i) {
        const bool was_cleared = after[i] < before[i];
        all.value += was_cleared ? after[i] : after[i] - before[i];
        if (was_cleared) all.what = counter_change::state::reset;
        else if (after[i] == end) all.what = counter_change::state::saturated;
    }
    return all;
}

/// Returns the details of type T in a reading; null if they were not read.
template <class T> const T* detail_of(const reading& l) noexcept {
    for (const port_detail& d : l.details)
        if (const T* found = std::get_if<T>(&d)) return found;
    return nullptr;
}

/// Applies the health rules to pairs of readings, and collects the findings.
class evaluation {
public:
    evaluation(const health_rules& rules, const subnet& s) : rules_(rules), subnet_(s) {}

    void evaluate_port(const reading& before, const reading& after) {
        where_ = after.where;
        between_ = after.counters.at - before.counters.at;
        if (between_ > mad::duration::zero()) {
            for_each_counter([&](counter c) { judge_counter(c, before, after); });
            judge_correction(before, after);
            judge_use(before, after);
        }
        judge_link();
    }
    /// Evaluates only what the discovery has read.
    void evaluate_link(port_ref where) {
        where_ = where;
        judge_link();
    }

    std::vector<health_finding> findings;

private:
    void judge_counter(counter c, const reading& before, const reading& after) {
        const growth_rule& growth = rules_.of(c);
        const bool is_of_bits = c == counter::symbolErrorCounter && !rules_.bit_errors.empty();
        if (growth.most.empty() && !is_of_bits) return;
        if (before.counters.counters.is_pegged(c) && after.counters.counters.is_pegged(c)) {
            const auto end = static_cast<double>(after.counters.counters[c]);
            add({rules_.pegged, where_, rule::pegged, end, end, name_of(c)});
            return;
        }
        const counter_change more = counters::change_of(c, before.counters, after.counters);
        if (more.what == counter_change::state::unknown) return;
        const double units = duration<double>(between_) / duration<double>(growth.per);
        measure(rule::growth, name_of(c), more, growth.most, units, growth.per);
        if (is_of_bits) measure(rule::bit_errors, name_of(c), more, rules_.bit_errors, bits());
    }

    void judge_correction(const reading& before, const reading& after) {
        using iba::pm::PortExtendedSpeedsCounters;
        using iba::pm::PortExtendedSpeedsCountersRSFEC;
        const auto evaluate = [&](rule why, std::string_view name, std::span<const u32> then,
                                  std::span<const u32> now) {
            const limits& most = why == rule::bit_errors ? rules_.bit_errors : rules_.raw_bit_errors;
            measure(why, name, change_of(then, now), most, bits());
        };
        const auto* const RS = detail_of<PortExtendedSpeedsCountersRSFEC>(after);
        const auto* const rs_then = detail_of<PortExtendedSpeedsCountersRSFEC>(before);
        if (RS && rs_then) {
            evaluate(rule::bit_errors, "portFECUncorrectableBlockCounter",
                     {&rs_then->portFECUncorrectableBlockCounter, 1}, {&RS->portFECUncorrectableBlockCounter, 1});
            evaluate(rule::raw_bit_errors, "portFECCorrectedSymbolCounter",
                     {&rs_then->portFECCorrectedSymbolCounter, 1}, {&RS->portFECCorrectedSymbolCounter, 1});
        }
        const auto* const other = detail_of<PortExtendedSpeedsCounters>(after);
        const auto* const other_then = detail_of<PortExtendedSpeedsCounters>(before);
        if (other && other_then) {
            evaluate(rule::bit_errors, "FECUncorrectableBlockCounterLane", other_then->FECUncorrectableBlockCounterLane,
                     other->FECUncorrectableBlockCounterLane);
            evaluate(rule::raw_bit_errors, "FECCorrectableBlockCounterLane", other_then->FECCorrectableBlockCounterLane,
                     other->FECCorrectableBlockCounterLane);
        }
    }

    void judge_use(const reading& before, const reading& after) {
        if (rules_.utilization.empty() && rules_.congestion.empty()) return;
        const link_use use = use_of(subnet_, before, after);
        const auto evaluate = [&](rule why, counter c, const std::optional<link_share>& share) {
            const limits& most = why == rule::congestion ? rules_.congestion : rules_.utilization;
            const severity how_bad = share ? most.evaluate(share->value) : severity::ok;
            if (how_bad == severity::ok) return;
            const u64 counted = counters::change_of(c, before.counters, after.counters).value;
            add({how_bad,
                 where_,
                 why,
                 share->value,
                 most.exceeded(how_bad),
                 name_of(c),
                 counted,
                 between_,
                 {},
                 share->is_lower_bound});
        };
        evaluate(rule::utilization, counter::portXmitData, use.xmit);
        evaluate(rule::utilization, counter::portRcvData, use.rcv);
        evaluate(rule::congestion, counter::portXmitWait, use.congestion);
    }

    void judge_link() {
        if (subnet_.at(where_).info->portState == iba::PortState::Down) return;
        if (const auto width = discovery::possible_width(subnet_, where_); width != iba::LinkWidth{}) {
            const unsigned lanes = discovery::lanes_of(discovery::active_width(subnet_, where_));
            add({rules_.width, where_, rule::width, static_cast<double>(lanes),
                 static_cast<double>(discovery::lanes_of(width))});
        } else if (const auto there = discovery::other_width(subnet_, where_); there != iba::LinkWidth{}) {
            add({.how_bad = rules_.width,
                 .where = where_,
                 .why = rule::width,
                 .measured = static_cast<double>(discovery::lanes_of(discovery::active_width(subnet_, where_))),
                 .limit = static_cast<double>(discovery::lanes_of(there)),
                 .is_of_other_end = true});
        }
        const double now = discovery::bits_per_second(discovery::active_speed(subnet_, where_));
        if (const auto speed = discovery::possible_speed(subnet_, where_))
            add({rules_.speed, where_, rule::speed, now, discovery::bits_per_second(speed)});
        else if (discovery::could_be_fdr10(subnet_, where_))
            add({rules_.speed, where_, rule::speed, now, discovery::fdr10_bits_per_second});
        else if (const auto there = discovery::other_speed(subnet_, where_))
            add({.how_bad = rules_.speed,
                 .where = where_,
                 .why = rule::speed,
                 .measured = now,
                 .limit = discovery::bits_per_second(there),
                 .is_of_other_end = true});
    }

    /// Checks a counter's growth `more` against its limits. `units`: the number of bits, or of periods `per`.
    void measure(rule why, std::string_view name, const counter_change& more, const limits& most, double units,
                 mad::duration per = {}) {
        if (units <= 0) return;
        const double measured = static_cast<double>(more.value) / units;
        const severity how_bad = most.evaluate(measured);
        if (how_bad == severity::ok) return;
        add({how_bad, where_, why, measured, most.exceeded(how_bad), name, more.value, between_, per,
             !more.is_exact()});
    }

    void add(const health_finding& v) {
        if (v.how_bad != severity::ok) findings.push_back(v);
    }

    /// Returns the number of bits that all lanes carried between the two sweeps.
    double bits() const { return discovery::bits_per_second(subnet_, where_) * duration<double>(between_).count(); }

    const health_rules& rules_;
    const subnet& subnet_;
    port_ref where_; // the port that is judged
    mad::duration between_{};
};

} // namespace

std::string_view name_of(severity s) noexcept {
    constexpr std::string_view names[] = {"ok", "warning", "error", "critical"};
    return names[static_cast<unsigned>(s)];
}

severity limits::evaluate(double measured) const noexcept {
    if (critical && measured > *critical) return severity::critical;
    if (error && measured > *error) return severity::error;
    if (warning && measured > *warning) return severity::warning;
    return severity::ok;
}

double limits::exceeded(severity s) const noexcept {
    return *(s == severity::critical ? critical : s == severity::error ? error : warning);
}

health_rules default_rules() {
    health_rules rules;
    const auto warn_above = [&](counter c, double an_hour) { rules.of(c).most.warning = an_hour; };
    warn_above(counter::linkErrorRecoveryCounter, 10);
    warn_above(counter::portRcvErrors, 10);
    warn_above(counter::portRcvRemotePhysicalErrors, 100);
    warn_above(counter::portRcvSwitchRelayErrors, 100);
    warn_above(counter::portXmitDiscards, 100);
    warn_above(counter::portXmitConstraintErrors, 100);
    warn_above(counter::portRcvConstraintErrors, 100);
    warn_above(counter::localLinkIntegrityErrors, 10);
    warn_above(counter::excessiveBufferOverrunErrors, 10);
    warn_above(counter::VL15Dropped, 100);
    rules.of(counter::linkDownedCounter).most = {.warning = {}, .error = 0, .critical = 10};
    rules.bit_errors = {.warning = 1e-15, .error = 1e-12, .critical = {}};
    rules.raw_bit_errors = {.warning = 5e-5, .error = 2.4e-4, .critical = {}};
    rules.width = rules.speed = severity::error;
    rules.pegged = severity::warning;
    return rules;
}

std::string_view name_of(health_finding::rule r) noexcept {
    constexpr std::string_view names[] = {"growth", "bit_errors", "raw_bit_errors", "width",
                                          "speed",  "pegged",     "utilization",    "congestion"};
    return names[static_cast<unsigned>(r)];
}

port_detail_set health_details() noexcept { return port_detail_set().add<iba::pm::PortExtendedSpeedsCounters>(); }

std::vector<health_finding> evaluate(const health_rules& rules, const subnet& s, const sweep& before,
                                     const sweep& after) {
    evaluation all(rules, s);
    const std::size_t both = std::min(before.ports.size(), after.ports.size());
    for (std::size_t i = 0; i < both; ++i)
        if (before.ports[i].valid && after.ports[i].valid) all.evaluate_port(before.ports[i], after.ports[i]);
        else all.evaluate_link(after.ports[i].where); // its counters could not be read
    return std::move(all.findings);
}

} // namespace comad::counters
