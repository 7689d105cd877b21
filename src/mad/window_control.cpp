// SPDX-License-Identifier: MIT
// window_control.cpp - adjusts the number of requests in flight to the measured throughput, round-trip times and losses.
#include <comad/mad/detail/window_control.hpp>

#include <algorithm>
#include <cmath>

namespace comad::mad::detail {
namespace {

constexpr unsigned first_window = 8;
constexpr double shortest_epoch = 16;
constexpr double memory = 400; // number of recent MADs that a loss rate is computed from

// round-trip times as multiples of those with few MADs in flight
constexpr double unqueued = 1.05, visible = 1.04, long_enough = 1.15, too_long = 1.4;
constexpr double shrink_for_queue = 0.85;

// The window grows by `careful` in an epoch near the knee and shrinks by `least_shrink` for a loss, so about one MAD
// in 150 is lost there. Larger values make the window vary more, and the throughput of a varying window is lower than
// that of its mean.
constexpr double quick = 0.125, careful = 0.009, far_above = 4 * careful;
constexpr double least_shrink = 0.05, most_shrink = 0.5;
constexpr double shrink_after_doubling = 0.6;

constexpr double paying = 0.6, paying_well = 0.8; // share of the throughput that a larger window could add
constexpr double most_tried = 60;                 // MADs of a trial
constexpr double few_losses = 0.03;               // loss rate that may be due to the link
constexpr double unknown = 1e9;                   // value of an unknown knee

} // namespace

window_control::window_control(unsigned most, bool polite) noexcept
    : exact_(std::min({first_window, most, polite ? most_polite : most})), window_(static_cast<unsigned>(exact_)),
      most_(polite ? std::min(most, most_polite) : most), knee_(unknown) {}

void window_control::set(double window) noexcept {
    exact_ = std::clamp(window, 1.0, static_cast<double>(most_));
    window_ = static_cast<unsigned>(std::lround(exact_));
}

// Shrinks the window, but not below `few`, because this number of requests in flight cannot cause congestion.
void window_control::shrink(double factor) noexcept { set(std::max(exact_ * factor, std::min<double>(few, exact_))); }

void window_control::share::add(double more_sent, double more_lost) noexcept {
    sent += more_sent;
    lost += more_lost;
    if (sent <= memory) return;
    lost *= memory / sent;
    sent = memory;
}

void window_control::share::take_back_a_loss() noexcept { lost = std::max(0.0, lost - 1); }

// ---- events ------------------------------------------------------------------------------------------------------------

void window_control::measured(duration round_trip_time, duration baseline, unsigned in_flight) noexcept {
    if (2 * in_flight < window_) return; // too few in flight to measure this window
    constexpr int outlier = 4;
    now_.round_trip_time += static_cast<double>(std::min(round_trip_time, outlier * baseline).count());
    now_.baseline += static_cast<double>(baseline.count());
}

void window_control::answered(unsigned in_flight) noexcept {
    ++now_.answered;
    now_.in_flight += in_flight;
    if (in_flight <= few) few_.add(1, 0);
    end_epoch_if_over();
}

void window_control::lost(unsigned in_flight) noexcept {
    ++now_.lost;
    if (in_flight <= few) few_.add(1, 1);
    end_epoch_if_over();
}

void window_control::on_spurious_loss(unsigned in_flight) noexcept {
    if (now_.lost > 0) --now_.lost;
    recent_.take_back_a_loss();
    if (in_flight <= few) few_.take_back_a_loss();
    if (last_.losses == 0 || --last_.losses > 0 || last_.window <= exact_) return;
    knee_ = last_.knee;
    doubling_ = last_.doubling;
    set(last_.window);
}

void window_control::busy() noexcept {
    ++now_.busy;
    if (now_.busy >= std::max(8u, window_ / 2)) end_epoch();
}

void window_control::end_epoch_if_over() noexcept {
    if (now_.sent() >= std::max<double>(window_, shortest_epoch)) end_epoch();
}

// ---- results of an epoch -------------------------------------------------------------------------------------------------

void window_control::end_epoch() noexcept {
    const double inflation = now_.inflation();
    recent_.add(now_.sent(), now_.lost);
    since_trial_ += now_.sent();
    learn_throughput(inflation);
    if (now_.busy > now_.answered / 8) {
        doubling_ = false;
        set(exact_ / 2);
    } else if (before_trial_ == 0 || end_trial()) {
        const bool pays = is_used_up() && gain() > paying && knee_ == unknown;
        const bool gave_way = now_.lost > 0 && yield_to_losses(inflation > visible);
        if (now_.lost == 0) decreases_ = 0;
        if (!gave_way) grow(inflation, pays);
    }
    now_ = {};
}

bool window_control::is_used_up() const noexcept { return now_.was_full && now_.mean_in_flight() >= 0.7 * exact_; }

void window_control::learn_throughput(double inflation) noexcept {
    if (!is_used_up() || now_.baseline == 0) return;
    double& known = throughput_[static_cast<std::size_t>(std::lround(4 * std::log2(exact_)))];
    const double seen = now_.mean_in_flight() / std::max(inflation, 1.0);
    known = known == 0 ? seen : (known + seen) / 2;
}

// Returns the throughput that the current window added, as a share of what it could add. The comparison is with a window
// that is smaller by half an octave to one and a half octaves. 0: unknown.
double window_control::gain() const noexcept {
    const auto level = static_cast<std::size_t>(std::lround(4 * std::log2(exact_)));
    for (std::size_t below = 2; below <= 6 && below <= level; ++below) {
        const double smaller = throughput_[level - below];
        if (smaller == 0) continue;
        const double now = now_.mean_in_flight() / std::max(now_.inflation(), 1.0);
        return (now / smaller - 1) / (std::exp2(static_cast<double>(below) / 4) - 1);
    }
    return 0;
}

void window_control::grow(double inflation, bool pays) noexcept {
    if (inflation > long_enough && !pays) {
        doubling_ = false;
        if (inflation > too_long) shrink(shrink_for_queue);
    } else if (is_used_up()) {
        const bool is_free = inflation < unqueued || (pays && gain() > paying_well);
        const double step = doubling_ && is_free    ? 1
                            : exact_ < 0.8 * knee_  ? quick
                            : exact_ < 1.25 * knee_ ? careful
                                                    : far_above;
        set(exact_ * (1 + step));
        if (exact_ > 2 * knee_) knee_ = unknown;
    }
}

// ---- losses --------------------------------------------------------------------------------------------------------------

namespace {

/// Returns whether the loss rate lost / sent is significantly and considerably higher than the other one.
bool is_worse(double sent, double lost, double other_sent, double other_lost) noexcept {
    if (sent == 0 || other_sent == 0) return false;
    const double p = (lost + other_lost) / (sent + other_sent);
    const double difference = lost / sent - other_lost / other_sent;
    const double deviation = std::sqrt(p * (1 - p) * (1 / sent + 1 / other_sent));
    return lost / sent > 1.5 * other_lost / other_sent && difference > 2.5 * deviation;
}

} // namespace

// Returns whether about the same share is lost with few MADs in flight, and the share is significant.
bool window_control::is_link_loss() const noexcept {
    constexpr double least_sent = 30, notable = 0.01;
    const double surely_lost = few_.lost - 2 * std::sqrt(few_.lost);
    return few_.sent >= least_sent && surely_lost > notable * few_.sent &&
           !is_worse(recent_.sent, recent_.lost, few_.sent, few_.lost);
}

// Returns false if the losses do not justify a smaller window.
bool window_control::yield_to_losses(bool queues) noexcept {
    if (is_link_loss()) return false;
    constexpr double well_known = 100, next_to_nothing = 0.02;
    const bool is_clean = few_.sent >= well_known && few_.loss() < next_to_nothing;
    const bool is_window = queues || is_clean || is_worse(recent_.sent, recent_.lost, few_.sent, few_.lost);
    const double by_chance = few_losses * recent_.sent + 2 * std::sqrt(few_losses * recent_.sent);
    if (!is_window && recent_.lost <= by_chance) return false;

    constexpr unsigned in_vain = 4; // decreases without an effect on the losses
    if (!is_window || (decreases_ >= in_vain && few_.sent < most_tried)) return begin_trial();
    if (decreases_++ == 0) before_decreases_ = exact_;
    last_ = {exact_, knee_, doubling_, now_.lost};
    if (doubling_) {
        knee_ = exact_ * (shrink_after_doubling + 0.1);
        shrink(shrink_after_doubling);
    } else {
        knee_ = exact_;
        shrink(1 - std::clamp(now_.lost / now_.sent(), least_shrink, most_shrink));
    }
    doubling_ = false;
    recent_ = {};
    return true;
}

// Starts a trial with few MADs in flight, to see whether as many are lost then. A first trial is short. If its result
// is not clear, another one follows much later. Returns false if the trial has to wait.
bool window_control::begin_trial() noexcept {
    constexpr double enough_samples = 200, long_after = 5000;
    const bool is_again = few_.sent >= most_tried;
    if (is_again && (few_.sent >= enough_samples || since_trial_ < long_after)) return false;
    enough_ = is_again ? few_.sent + most_tried : std::min(8 / std::max(recent_.loss(), 0.01), most_tried);
    before_trial_ = decreases_ ? before_decreases_ : exact_;
    on_trial_ = recent_;
    doubling_ = false;
    since_trial_ = 0;
    set(few);
    return true;
}

// Returns false if the trial continues.
bool window_control::end_trial() noexcept {
    if (few_.sent < enough_) return false;
    const bool helps = is_worse(on_trial_.sent, on_trial_.lost, few_.sent, few_.lost);
    knee_ = helps ? before_trial_ / 2 : unknown;
    doubling_ = !helps;
    set(helps ? before_trial_ / 2 : before_trial_);
    before_trial_ = 0;
    recent_ = {};
    now_ = {}; // an epoch without losses, so that the count of decreases restarts
    return true;
}

} // namespace comad::mad::detail
