// SPDX-License-Identifier: MIT
// round_trips.cpp - estimates and what follows from them.
#include <comad/mad/round_trips.hpp>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>

namespace comad::mad {
namespace {

constexpr float loss_weight = 1.0f / 64;
constexpr int patience_with_the_silent = 8; // a part of that with others

/// Up to the next of four steps per octave: few different deadlines are few lists to look through.
duration rounded_up(float ns) noexcept {
    constexpr u32 step = u32{1} << 21; // of a float's 23 bits behind the point
    return duration{
        static_cast<duration::rep>(std::bit_cast<float>((std::bit_cast<u32>(ns) + step - 1) & ~(step - 1)))};
}

} // namespace

round_trips::round_trips(const patience_options& options, duration grain)
    : options_(options), grain_(static_cast<float>(grain.count())), targets_(places) {}

void round_trips::estimate::take(float sample) noexcept {
    if (mean == 0) {
        mean = std::max(sample, 1.0f);
        deviation = sample / 2;
        return;
    }
    const float error = sample - mean;
    mean = std::max(mean + error / 8, 1.0f);
    deviation += (std::abs(error) - deviation) / 4;
}

// Equal round trips have no deviation, but the next one is not therefore equal.
float round_trips::estimate::deadline(float grain) const noexcept {
    return mean + std::max({4 * deviation, mean / 2, grain});
}

// A first look one hop farther: several times what was seen nearer.
float round_trips::unmeasured(distance d) const noexcept {
    if (d <= most_hops) {
        for (unsigned nearer = d; nearer-- > 0;) {
            const estimate& e = distances_[nearer].measured;
            if (e.mean > 0) return std::max(4 * e.deadline(grain_), 10 * grain_);
        }
    }
    return static_cast<float>(options_.first_deadline.count());
}

round_trips::expectation round_trips::expect(u64 destination, distance d) const noexcept {
    assert(d <= most_distance);
    const target& t = target_of(destination);
    const bool is_it = t.is(destination);
    const bool is_measured = is_it && t.measured.mean > 0;
    const bool is_silent = is_it && t.silent;
    const estimate& farness = distances_[d].measured;
    const bool is_first = !is_measured && farness.mean == 0;
    const float ns = is_measured ? t.measured.deadline(grain_) : is_first ? unmeasured(d) : farness.deadline(grain_);
    const duration patience = is_silent  ? options_.patience / patience_with_the_silent
                              : is_first ? options_.first_patience
                                         : options_.patience;
    return {std::min(rounded_up(ns), options_.longest_deadline), patience, is_measured && !is_silent, is_silent};
}

unsigned round_trips::attempts(unsigned least) const noexcept {
    constexpr float log_of_rare = -20.7f; // log(10^-9)
    const float lost_every_time = log_of_rare / std::log(std::clamp(loss_, 1e-3f, 0.9f));
    return std::clamp(static_cast<unsigned>(std::ceil(lost_every_time)), least, most_attempts(false));
}

round_trips::target& round_trips::claim(u64 destination) noexcept {
    target& t = targets_[destination & (places - 1)];
    if (!t.is(destination)) t = {tag_of(destination), false, {}};
    return t;
}

void round_trips::answered(u64 destination, distance d, duration took) noexcept {
    assert(d <= most_distance);
    const auto sample = static_cast<float>(took.count());
    slowest_ = std::max(sample, slowest_ - slowest_ / 4096);
    target& t = claim(destination);
    t.silent = false;
    t.measured.take(sample);
    at_distance& farness = distances_[d];
    farness.measured.take(sample);
    if (farness.quickest == 0 || sample < farness.quickest) farness.quickest = sample;
    else farness.quickest += (sample - farness.quickest) / 8192; // ways may become longer for good
}

void round_trips::count(unsigned lost) noexcept {
    for (; lost > 0; --lost) loss_ += (1 - loss_) * loss_weight;
    loss_ -= loss_ * loss_weight;
}

void round_trips::given_up(u64 destination) noexcept { claim(destination).silent = true; }

double round_trips::inflation(distance d, duration took) const noexcept {
    const float quickest = distances_[d].quickest;
    if (quickest == 0) return 1;
    return (static_cast<double>(took.count()) + grain_) / (static_cast<double>(quickest) + grain_);
}

} // namespace comad::mad
