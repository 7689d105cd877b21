// SPDX-License-Identifier: MIT
// window_control.hpp - how many MADs may be in flight: more while that brings more answers, fewer when MADs queue or get lost
// for it. Knows no MAD and no clock.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <array>

namespace comad::mad::detail {

/// A congestion window for MADs; docs/explanation/adaptive-retries.md has the reasons and the sources. Queues show in round trips before they
/// show as loss, so the window stays at the knee, where round trips begin to grow and more MADs bring no more answers. Where
/// buffers are too small for that to be seen, it gives way to losses, unless as many are lost while few MADs are in flight:
/// those are the wire's. It decides once in an epoch, a window's worth of answers.
class window_control {
public:
    /// Precondition: 1 <= most. `polite`: never more than most_polite.
    window_control(unsigned most, bool polite) noexcept;
    static constexpr unsigned most_polite = 4; ///< as many as a subnet manager has (OpenSM's max_wire_smps)
    static constexpr unsigned few = 4;         ///< MADs in flight that are in nobody's way

    unsigned window() const noexcept { return window_; }

    /// A MAD was sent and the window is full: only a window that is used up may grow.
    void full() noexcept { now_.was_full = true; }
    /// The round trip of an answer beside what it would have been with few in flight (rtt_estimator). Before answered().
    void measured(duration round_trip_time, duration baseline, unsigned in_flight) noexcept;
    /// An answer came. `in_flight`: how many MADs were in flight with its request, itself included; more than few if more followed
    /// while it was under way.
    void answered(unsigned in_flight) noexcept;
    /// An attempt had no answer in time, at a target that answers.
    void lost(unsigned in_flight) noexcept;
    /// That attempt had its answer, only later: what was done because of it is undone.
    void on_spurious_loss(unsigned in_flight) noexcept;
    /// An answer said BUSY.
    void busy() noexcept;

private:
    /// What became of some MADs.
    struct share {
        double sent = 0, lost = 0;
        void add(double sent, double lost) noexcept;
        void take_back_a_loss() noexcept;
        double loss() const noexcept { return sent > 0 ? lost / sent : 0; }
    };
    struct epoch {
        unsigned answered = 0, lost = 0, busy = 0;
        double in_flight = 0;                     // sum
        double round_trip_time = 0, baseline = 0; // sums, ns
        bool was_full = false;
        double sent() const noexcept { return answered + lost; }
        double mean_in_flight() const noexcept { return answered ? in_flight / answered : 0; }
        /// How much longer round trips are than with few in flight.
        double inflation() const noexcept { return baseline > 0 ? round_trip_time / baseline : 1; }
    };
    /// To go back to, when losses turn out to be none.
    struct decrease {
        double window = 0, knee = 0;
        bool doubling = false;
        unsigned losses = 0; // that it was made for
    };

    void end_epoch_if_over() noexcept;
    void end_epoch() noexcept;
    bool is_used_up() const noexcept;
    void learn_throughput(double inflation) noexcept;
    double gain() const noexcept;
    bool end_trial() noexcept;
    bool is_link_loss() const noexcept;
    bool yield_to_losses(bool queues) noexcept;
    bool begin_trial() noexcept;
    void grow(double inflation, bool pays) noexcept;
    void set(double window) noexcept;
    void shrink(double factor) noexcept;

    double exact_; // the window
    unsigned window_;
    unsigned most_;
    bool doubling_ = true;
    epoch now_;
    share few_, recent_; // while few were in flight; lately, since the window last shrank for losses
    double knee_;        // where MADs were last lost for the window; unknown: more than any window
    decrease last_;
    unsigned decreases_ = 0; // in a row, for losses
    double before_decreases_ = 0;
    double before_trial_ = 0; // the window, while few are tried; 0: they are not
    double enough_ = 0;       // MADs, to end that
    double since_trial_ = 0;  // MADs
    share on_trial_;
    std::array<double, 70>
        throughput_{}; // of windows in quarters of an octave: MADs in a baseline round trip; 0: not known
};

} // namespace comad::mad::detail
