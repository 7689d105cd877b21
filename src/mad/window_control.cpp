// SPDX-License-Identifier: MIT
// window_control.cpp - epochs and what they teach.
#include <comad/mad/window_control.hpp>

#include <algorithm>
#include <utility>

namespace comad::mad {
namespace {

constexpr unsigned first_window = 8;
constexpr unsigned shortest_epoch = 16;
constexpr unsigned few = 4; // losses that say nothing
constexpr unsigned long_epoch = 200;
constexpr unsigned most_decreases = 3;       // that nothing comes of, before it is looked again what losses depend on
constexpr double most_tolerated = 0.4;       // of what is worse the window is the cause
constexpr double late = 1.5, much_later = 2; // round trips, against the quickest

} // namespace

window_control::window_control(unsigned most, bool polite) noexcept
    : window_(std::min(first_window, most)), most_(most), polite_(polite) {}

void window_control::answered(double inflation) noexcept {
    ++answered_;
    if (inflation > 0) {
        inflation_ += inflation;
        ++inflations_;
    }
    // On trial an epoch is longer, so that there is something to compare: some eight losses.
    const auto enough = before_trial_ ? std::max(2.0 * window_, 8 / trial_loss_) : 1.0 * window_;
    if (answered_ + lost_ >= std::max<double>(enough, shortest_epoch)) end_epoch();
}

void window_control::lost() noexcept {
    ++lost_;
    if (!before_trial_ && lost_ >= std::max(8u, window_ / 2)) end_epoch();
}

void window_control::busy() noexcept {
    ++busy_;
    if (busy_ >= std::max(8u, window_ / 2)) end_epoch();
}

void window_control::end_epoch() noexcept {
    const unsigned sent = std::max(answered_ + lost_, 1u);
    const double loss = static_cast<double>(lost_) / sent;
    const double inflation = inflations_ ? inflation_ / inflations_ : 1;
    const bool many_lost = lost_ >= few + 2 * tolerated_ * sent;
    const bool is_crowded = (lost_ >= 2 && inflation > much_later) || (polite_ && inflation > late);

    if (busy_ > answered_ / 8 || is_crowded || loss > most_tolerated) {
        before_trial_ = 0;
        shrink();
    } else if (before_trial_ && loss > 0.6 * trial_loss_) { // that changed nothing
        tolerated_ = std::max(tolerated_, loss);
        window_ = std::exchange(before_trial_, 0);
        decreases_in_a_row_ = 0;
    } else if (many_lost && decreases_in_a_row_ < most_decreases && !doubling_) { // it is known to be the cause
        if (decreases_in_a_row_++ == 0) before_decreases_ = window_;
        before_trial_ = 0;
        window_ = std::max(1u, window_ * 3 / 4);
    } else if (many_lost) {
        trial_loss_ = loss;
        before_trial_ = decreases_in_a_row_ ? before_decreases_ : window_;
        window_ = std::max(1u, window_ / 4);
    } else if (before_trial_) { // it helped: the wire carries something between the two
        doubling_ = false;
        decreases_in_a_row_ = 0;
        window_ = std::max(window_, std::exchange(before_trial_, 0) / 2);
    } else if (!doubling_ && loss > 2 * tolerated_ && sent < long_epoch) {
        return; // too few to tell: do not grow on it
    } else if (was_full_) {
        decreases_in_a_row_ = 0;
        tolerated_ = std::max(tolerated_ * 0.99, always_tolerated);
        grow();
    }
    begin_epoch();
}

void window_control::begin_epoch() noexcept {
    answered_ = lost_ = busy_ = inflations_ = 0;
    inflation_ = 0;
    was_full_ = false;
}

void window_control::grow() noexcept {
    window_ = std::min(most_, doubling_ ? window_ * 2 : window_ + std::max(1u, window_ / 8));
}

void window_control::shrink() noexcept {
    doubling_ = false;
    window_ = std::max(1u, window_ / 2);
}

} // namespace comad::mad
