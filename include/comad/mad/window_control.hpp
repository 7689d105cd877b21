// SPDX-License-Identifier: MIT
// window_control.hpp - how many MADs may be in flight: more while they come back, fewer when that makes them get lost.
// Knows no MAD and no clock.
#pragma once
#include <comad/iba/types.hpp>

namespace comad::mad {

/// Additive increase and multiplicative decrease, over epochs of about a window's worth of MADs; docs/adaptive.md has the
/// reasons. Losses shrink the window only if it is their cause: it is halved for one epoch, and if as many are lost then as
/// before, the wire is bad and not the window too large.
class window_control {
public:
    /// Begins small, and doubles each epoch until something is lost. Precondition: 1 <= most.
    /// `polite`: shrinks already when round trips grow, before anything is lost.
    window_control(unsigned most, bool polite) noexcept;

    unsigned window() const noexcept { return window_; }

    /// A MAD was sent and the window is full: only a window that is used up may grow.
    void full() noexcept { was_full_ = true; }
    /// An answer came, `inflation` times as late as the quickest ones; 0: not known.
    void answered(double inflation) noexcept;
    /// An attempt had no answer in time, at a target that answers.
    void lost() noexcept;
    /// That attempt had its answer, only later.
    void not_lost() noexcept {
        if (lost_ > 0) --lost_;
    }
    /// An answer said BUSY.
    void busy() noexcept;

private:
    void end_epoch() noexcept;
    void begin_epoch() noexcept;
    void grow() noexcept;
    void shrink() noexcept;

    unsigned window_;
    unsigned most_;
    bool polite_;
    bool doubling_ = true;
    unsigned decreases_in_a_row_ = 0;
    unsigned before_decreases_ = 0;
    // this epoch
    unsigned answered_ = 0, lost_ = 0, busy_ = 0, inflations_ = 0;
    double inflation_ = 0;
    bool was_full_ = false;
    // a halved window on trial
    unsigned before_trial_ = 0; // 0: none
    double trial_loss_ = 0;
    static constexpr double always_tolerated = 0.0125; // cables lose something
    double tolerated_ = always_tolerated;              // losses that do not depend on the window
};

} // namespace comad::mad
