// SPDX-License-Identifier: MIT
// rtt_estimator.cpp - estimates and what follows from them.
#include <comad/mad/rtt_estimator.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace comad::mad {
namespace {

constexpr int patience_with_the_silent = 8; // a part of that with others
constexpr float most_room = 20e6f;          // ns: what lasts longer is no habit

/// Up to the next of four steps per octave: few different deadlines are few lists to look through.
duration rounded_up(float ns) noexcept {
    constexpr u32 step = u32{1} << 21; // of a float's 23 bits behind the point
    return duration{
        static_cast<duration::rep>(std::bit_cast<float>((std::bit_cast<u32>(ns) + step - 1) & ~(step - 1)))};
}

} // namespace

rtt_estimator::rtt_estimator(const patience_options& options, duration grain)
    : options_(options), grain_(static_cast<float>(grain.count())), room_(grain_), targets_(places) {}

void rtt_estimator::estimate::take(float sample) noexcept {
    if (mean == 0) {
        mean = sample;
        deviation = sample / 2;
        return;
    }
    const float error = sample - mean;
    mean = std::max(mean + error / 8, 1.0f);
    deviation += (std::abs(error) - deviation) / 4;
}

// Equal round trips have no deviation, but the next one is not therefore equal.
float rtt_estimator::estimate::deadline(float room) const noexcept {
    return mean + std::max({4 * deviation, mean / 2, room});
}

// A first look one hop farther: several times what was seen nearer.
float rtt_estimator::unmeasured(distance d) const noexcept {
    if (d <= most_hops) {
        for (unsigned nearer = d; nearer-- > 0;) {
            const estimate& e = distances_[nearer].measured;
            if (e.mean > 0) return std::max(4 * e.deadline(room_), 10 * grain_);
        }
    }
    return static_cast<float>(options_.first_deadline.count());
}

rtt_estimator::expectation rtt_estimator::expect(u64 destination, distance d) const noexcept {
    assert(d <= most_distance);
    const target& t = target_of(destination);
    const bool is_it = t.is(destination);
    const bool is_measured = is_it && t.measured.mean > 0;
    const bool is_silent = is_it && t.silent;
    const estimate& farness = distances_[d].measured;
    const float ns = is_measured        ? t.measured.deadline(room_)
                     : farness.mean > 0 ? farness.deadline(room_)
                                        : unmeasured(d);
    const duration deadline = std::min(rounded_up(ns), options_.longest_deadline);
    const duration most = options_.first_patience;
    duration patience = most;
    if (is_silent) patience = std::clamp(deadline * 3 / 2, most / patience_with_the_silent, most);
    else if (is_measured) patience = std::clamp(deadline * 8, std::min(options_.patience, most), most);
    return {deadline, patience, is_measured && !is_silent, is_silent};
}

rtt_estimator::target& rtt_estimator::claim(u64 destination) noexcept {
    target& t = targets_[destination & (places - 1)];
    if (!t.is(destination)) t = {.tag = tag_of(destination), .measured = {}};
    return t;
}

// After one answer a target's deviation is guessed: that of others as far away, within bounds.
duration rtt_estimator::answered(u64 destination, distance d, duration took, bool uncrowded) noexcept {
    assert(d <= most_distance);
    const float ns = std::max(static_cast<float>(took.count()), 1.0f);
    slowest_ = std::max(ns, slowest_ - slowest_ / 4096);
    room_ += (grain_ - room_) / 4096;
    at_distance& farness = distances_[d];
    farness.measured.take(ns);
    target& t = claim(destination);
    const bool is_first = t.measured.mean == 0;
    t.silent = false;
    t.measured.take(ns);
    if (is_first) t.measured.deviation = std::clamp(farness.measured.deviation, ns / 8, ns / 2);
    return duration(static_cast<duration::rep>(baseline(t, farness, ns, uncrowded)));
}

// A target's own time is known from when few MADs were in flight. Of one that was never asked then, the shortest that it took
// may be queueing as well: then the shortest of all at its distance counts, times what is usual between the two. Ways may
// become longer for good, so that what is shortest is slowly forgotten.
float rtt_estimator::baseline(target& t, at_distance& farness, float took, bool uncrowded) noexcept {
    constexpr float most_spread = 16;
    farness.shortest = farness.shortest == 0 || took < farness.shortest ? took : farness.shortest * (1 + 1.0f / 65536);
    if (uncrowded) {
        t.shortest = t.has_baseline ? t.shortest + (took - t.shortest) / 4 : took;
        t.has_baseline = true;
        const float spread = std::min(t.shortest / farness.shortest, most_spread);
        farness.spread = farness.spread == 0 ? spread : farness.spread + (spread - farness.spread) / 16;
        spread_ += (spread - spread_) / 32;
        return took;
    }
    if (t.shortest == 0 || took < t.shortest) t.shortest = took;
    else if (!t.has_baseline) t.shortest *= 1 + 1.0f / 512;
    if (t.has_baseline) return t.shortest;
    return std::min(t.shortest, farness.shortest * (farness.spread > 0 ? farness.spread : spread_));
}

void rtt_estimator::stalled(duration late) noexcept {
    const auto ns = static_cast<float>(late.count());
    if (ns > room_ && ns <= most_room) room_ += (ns - room_) / 4;
}

void rtt_estimator::was_hasty() noexcept { room_ = std::min(room_ * 1.25f, std::max(most_room, grain_)); }

void rtt_estimator::acted(u64 destination, duration took) noexcept {
    if (destination != 0) {
        target& t = claim(destination);
        t.has_acted = true;
        t.silent = false;
    }
    slowest_set_ = std::max(static_cast<float>(took.count()), slowest_set_ - slowest_set_ / 64);
}

duration rtt_estimator::set_timeout(u64 destination, distance d) const noexcept {
    constexpr int deadlines = 8, slowest_sets = 2;
    const expectation e = expect(destination, d);
    const auto slowest = duration(static_cast<duration::rep>(slowest_sets * slowest_set_));
    const duration measured = std::max({deadlines * e.deadline, slowest, options_.least_set_timeout});
    const target& t = target_of(destination);
    const bool has_answered = e.known || (t.is(destination) && t.has_acted && !t.silent);
    return has_answered ? measured : std::max(measured, options_.first_patience);
}

void rtt_estimator::given_up(u64 destination) noexcept { claim(destination).silent = true; }

bool rtt_estimator::is_silent(u64 destination) const noexcept {
    const target& t = target_of(destination);
    return t.is(destination) && t.silent;
}

} // namespace comad::mad
