// SPDX-License-Identifier: MIT
// rtt_estimator.cpp - estimates the round-trip times of destinations, and derives deadlines from them.
#include <comad/mad/detail/rtt_estimator.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace comad::mad {
namespace {

constexpr int unresponsive_share = 8; // shortest time limit of unresponsive destinations: first_patience / 8
constexpr float max_margin = 20e6f;   // ns: longer delays are exceptions, and do not count

/// Rounds up to one of four steps per octave. With fewer different deadlines, fewer lists of slots need to be
/// searched.
duration rounded_up(float ns) noexcept {
    constexpr u32 step = u32{1} << 21; // one step in the 23 mantissa bits of a float
    return duration{
        static_cast<duration::rep>(std::bit_cast<float>((std::bit_cast<u32>(ns) + step - 1) & ~(step - 1)))};
}

} // namespace

rtt_estimator::rtt_estimator(const patience_options& options, duration timer_resolution)
    : options_(options), timer_resolution_(static_cast<float>(timer_resolution.count())), margin_(timer_resolution_),
      targets_(places) {}

void rtt_estimator::estimate::add(float sample) noexcept {
    if (mean == 0) {
        mean = sample;
        deviation = sample / 2;
        return;
    }
    const float error = sample - mean;
    mean = std::max(mean + error / 8, 1.0f);
    deviation += (std::abs(error) - deviation) / 4;
}

// Returns the deadline of a reply. Equal round trips have a deviation of 0, but the next one may still take longer.
float rtt_estimator::estimate::deadline(float margin) const noexcept {
    return mean + std::max({4 * deviation, mean / 2, margin});
}

// Returns the deadline of the first query to a new distance: several times the deadline of a smaller distance.
float rtt_estimator::unmeasured(distance d) const noexcept {
    if (d <= most_hops) {
        for (unsigned nearer = d; nearer-- > 0;) {
            const estimate& e = distances_[nearer].measured;
            if (e.mean > 0) return std::max(4 * e.deadline(margin_), 10 * timer_resolution_);
        }
    }
    return static_cast<float>(options_.first_deadline.count());
}

rtt_estimator::expectation rtt_estimator::expect(u64 destination, distance d) const noexcept {
    assert(d <= most_distance);
    const target& t = target_of(destination);
    const bool is_it = t.is(destination);
    const bool is_measured = is_it && t.measured.mean > 0;
    const bool is_unresponsive = is_it && t.unresponsive;
    const estimate& same_distance = distances_[d].measured;
    const float ns = is_measured              ? t.measured.deadline(margin_)
                     : same_distance.mean > 0 ? same_distance.deadline(margin_)
                                              : unmeasured(d);
    const duration deadline = std::min(rounded_up(ns), options_.longest_deadline);
    const duration most = options_.first_patience;
    duration patience = most;
    if (is_unresponsive) patience = std::clamp(deadline * 3 / 2, most / unresponsive_share, most);
    else if (is_measured) patience = std::clamp(deadline * 8, std::min(options_.patience, most), most);
    return {deadline, patience, is_measured && !is_unresponsive, is_unresponsive};
}

rtt_estimator::target& rtt_estimator::claim(u64 destination) noexcept {
    target& t = targets_[destination & (places - 1)];
    if (!t.is(destination)) t = {.tag = tag_of(destination), .measured = {}};
    return t;
}

// Updates the estimates with a round-trip time. After one reply, the deviation of a target is estimated as that of other targets at this
// distance, within bounds.
duration rtt_estimator::answered(u64 destination, distance d, duration round_trip_time, bool few_in_flight) noexcept {
    assert(d <= most_distance);
    const float ns = std::max(static_cast<float>(round_trip_time.count()), 1.0f);
    slowest_ = std::max(ns, slowest_ - slowest_ / 4096);
    margin_ += (timer_resolution_ - margin_) / 4096;
    at_distance& same_distance = distances_[d];
    same_distance.measured.add(ns);
    target& t = claim(destination);
    const bool is_first = t.measured.mean == 0;
    t.unresponsive = false;
    t.measured.add(ns);
    if (is_first) t.measured.deviation = std::clamp(same_distance.measured.deviation, ns / 8, ns / 2);
    return duration(static_cast<duration::rep>(baseline(t, same_distance, ns, few_in_flight)));
}

// Returns the baseline of a target, which is known after a round trip with few MADs in flight. Without such a round trip, even the
// shortest one of the target may include queueing. Then the shortest round trip at its distance is used, times the usual ratio between
// the two. Routes may become longer permanently, so the shortest round trips are slowly forgotten.
float rtt_estimator::baseline(target& t, at_distance& same_distance, float round_trip_time,
                              bool few_in_flight) noexcept {
    constexpr float most_spread = 16;
    same_distance.shortest = same_distance.shortest == 0 || round_trip_time < same_distance.shortest
                                 ? round_trip_time
                                 : same_distance.shortest * (1 + 1.0f / 65536);
    if (few_in_flight) {
        t.shortest = t.has_baseline ? t.shortest + (round_trip_time - t.shortest) / 4 : round_trip_time;
        t.has_baseline = true;
        const float spread = std::min(t.shortest / same_distance.shortest, most_spread);
        same_distance.spread =
            same_distance.spread == 0 ? spread : same_distance.spread + (spread - same_distance.spread) / 16;
        spread_ += (spread - spread_) / 32;
        return round_trip_time;
    }
    if (t.shortest == 0 || round_trip_time < t.shortest) t.shortest = round_trip_time;
    else if (!t.has_baseline) t.shortest *= 1 + 1.0f / 512;
    if (t.has_baseline) return t.shortest;
    return std::min(t.shortest, same_distance.shortest * (same_distance.spread > 0 ? same_distance.spread : spread_));
}

void rtt_estimator::on_stall(duration late) noexcept {
    const auto ns = static_cast<float>(late.count());
    if (ns > margin_ && ns <= max_margin) margin_ += (ns - margin_) / 4;
}

void rtt_estimator::on_spurious_loss() noexcept {
    margin_ = std::min(margin_ * 1.25f, std::max(max_margin, timer_resolution_));
}

void rtt_estimator::set_answered(u64 destination, duration round_trip_time) noexcept {
    if (destination != 0) {
        target& t = claim(destination);
        t.has_answered_set = true;
        t.unresponsive = false;
    }
    slowest_set_ = std::max(static_cast<float>(round_trip_time.count()), slowest_set_ - slowest_set_ / 64);
}

duration rtt_estimator::set_timeout(u64 destination, distance d) const noexcept {
    constexpr int deadlines = 8, slowest_sets = 2;
    const expectation e = expect(destination, d);
    const auto slowest = duration(static_cast<duration::rep>(slowest_sets * slowest_set_));
    const duration measured = std::max({deadlines * e.deadline, slowest, options_.least_set_timeout});
    const target& t = target_of(destination);
    const bool has_answered = e.known || (t.is(destination) && t.has_answered_set && !t.unresponsive);
    return has_answered ? measured : std::max(measured, options_.first_patience);
}

void rtt_estimator::given_up(u64 destination) noexcept { claim(destination).unresponsive = true; }

bool rtt_estimator::is_unresponsive(u64 destination) const noexcept {
    const target& t = target_of(destination);
    return t.is(destination) && t.unresponsive;
}

} // namespace comad::mad
