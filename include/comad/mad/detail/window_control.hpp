// SPDX-License-Identifier: MIT
// window_control.hpp - the adaptive window: it grows while that increases the throughput, and shrinks if MADs queue or are lost because of
// it. It does not depend on MADs or on a clock.
#pragma once
#include <comad/iba/types.hpp>
#include <comad/mad/detail/time.hpp>

#include <array>

namespace comad::mad::detail {

/// A congestion window for MADs. docs/explanation/adaptive-retries.md has the reasons and the sources. Queues become visible in round-trip
/// times before they cause loss, so the window stays at the knee: there round-trip times start to grow, and more MADs do not increase the
/// throughput. If buffers are too small for this, the window shrinks after losses, unless as many MADs are lost with few in flight: those
/// losses are attributed to the link. It decides once in an epoch, which is one window of replies.
class window_control {
public:
    /// Precondition: 1 <= most. `polite`: never more than most_polite.
    window_control(unsigned most, bool polite) noexcept;
    static constexpr unsigned most_polite = 4; ///< the window of a subnet manager (OpenSM's max_wire_smps)
    static constexpr unsigned few = 4;         ///< MADs in flight that do not delay each other

    unsigned window() const noexcept { return window_; }

    /// A MAD was sent and the window is full. Only a window that is used up may grow.
    void full() noexcept { now_.was_full = true; }
    /// The round-trip time of a reply, and its baseline with few MADs in flight (rtt_estimator). Call it before answered().
    void measured(duration round_trip_time, duration baseline, unsigned in_flight) noexcept;
    /// A reply arrived. `in_flight`: MADs in flight with its request, which is included; more than few if more were in flight before
    /// the reply.
    void answered(unsigned in_flight) noexcept;
    /// An attempt to a destination that replies was lost.
    void lost(unsigned in_flight) noexcept;
    /// The loss was spurious: its effect on the window is undone.
    void on_spurious_loss(unsigned in_flight) noexcept;
    /// A BUSY reply arrived.
    void busy() noexcept;

private:
    /// Sent and lost MADs.
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
        /// Round-trip times relative to those with few MADs in flight.
        double inflation() const noexcept { return baseline > 0 ? round_trip_time / baseline : 1; }
    };
    /// The state before a decrease, which is restored if the losses were spurious.
    struct decrease {
        double window = 0, knee = 0;
        bool doubling = false;
        unsigned losses = 0; // that caused it
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
    share few_, recent_; // with few in flight; since the window last shrank because of losses
    double knee_;        // the window at which MADs were last lost because of it; larger than any window: unknown
    decrease last_;
    unsigned decreases_ = 0; // in a row, because of losses
    double before_decreases_ = 0;
    double before_trial_ = 0; // the window before a trial with few in flight; 0: no trial
    double enough_ = 0;       // MADs that end the trial
    double since_trial_ = 0;  // MADs
    share on_trial_;
    std::array<double, 70> throughput_{}; // MADs per baseline round trip, for windows in quarter octaves; 0: unknown
};

} // namespace comad::mad::detail
