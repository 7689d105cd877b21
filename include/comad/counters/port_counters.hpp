// SPDX-License-Identifier: MIT
// port_counters.hpp - the counters of a port, whichever attribute told them, what lies between two readings of them, and what
// clears them. Knows no MAD and no schedule.
#pragma once
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/pm/counters.hpp>
#include <comad/mad/detail/time.hpp>

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace comad::counters {

/// The counters of PortCountersExtended, in its order (IBA 16.1.4.11); PortCounters has all but those of unicast and
/// multicast. Data counts words of 4 bytes.
enum class counter : u8 {
    portXmitData,
    portRcvData,
    portXmitPkts,
    portRcvPkts,
    portUnicastXmitPkts,
    portUnicastRcvPkts,
    portMulticastXmitPkts,
    portMulticastRcvPkts,
    symbolErrorCounter,
    linkErrorRecoveryCounter,
    linkDownedCounter,
    portRcvErrors,
    portRcvRemotePhysicalErrors,
    portRcvSwitchRelayErrors,
    portXmitDiscards,
    portXmitConstraintErrors,
    portRcvConstraintErrors,
    localLinkIntegrityErrors,
    excessiveBufferOverrunErrors,
    VL15Dropped,
    portXmitWait,
    QP1Dropped,
};
inline constexpr unsigned counter_count = 22;

/// Calls f(counter) for each of them, in order.
template <class F> void for_each_counter(F&& f) {
    for (unsigned i = 0; i < counter_count; ++i) f(static_cast<counter>(i));
}

/// Its name in the structures of the IBA: `portXmitData`.
std::string_view name_of(counter) noexcept;
/// All the names, in order; and the counter that has one.
std::span<const std::string_view, counter_count> counter_names() noexcept;
std::optional<counter> counter_named(std::string_view name) noexcept;
/// It counts words of 4 bytes.
constexpr bool is_data(counter c) noexcept { return c == counter::portXmitData || c == counter::portRcvData; }
/// It counts something that should not happen: from symbolErrorCounter on, portXmitWait apart.
constexpr bool is_error(counter c) noexcept { return c >= counter::symbolErrorCounter && c != counter::portXmitWait; }

/// Some of them.
class counter_set {
public:
    counter_set& add(counter c) noexcept {
        bits_ |= 1u << static_cast<unsigned>(c);
        return *this;
    }
    bool has(counter c) const noexcept { return bits_ >> static_cast<unsigned>(c) & 1; }
    bool empty() const noexcept { return bits_ == 0; }
    bool meets(counter_set other) const noexcept { return (bits_ & other.bits_) != 0; }
    counter_set without(counter_set other) const noexcept {
        other.bits_ = bits_ & ~other.bits_;
        return other;
    }
    static counter_set all() noexcept {
        counter_set set;
        set.bits_ = (1u << counter_count) - 1;
        return set;
    }

private:
    u32 bits_ = 0;
};

/// Those of which `are` is true.
template <class F> counter_set counters_that(F&& are) {
    counter_set set;
    for_each_counter([&](counter c) {
        if (are(c)) set.add(c);
    });
    return set;
}

/// What a PMA says that it can do (IBA 16.1.3.1).
struct capabilities {
    bool all_ports = false;   ///< portSelect 255 is the sum of all
    bool extended = false;    ///< PortCountersExtended, at least data and packets
    bool unicast = false;     ///< of these, unicast and multicast apart
    bool additional = false;  ///< of these, everything else
    bool xmit_wait = false;   ///< portXmitWait, in whichever attributes it has
    bool qp1_dropped = false; ///< QP1Dropped, the same
    bool RS_FEC = false;      ///< PortExtendedSpeedsCountersRSFEC of ports with such error correction

    static capabilities of(const iba::ClassPortInfo&) noexcept;
    friend bool operator==(const capabilities&, const capabilities&) = default;
};

/// The counters that a PMA's PortCounters tell and clear, and those that its PortCountersExtended do. Of portXmitWait and
/// QP1Dropped both need their bits in the capabilityMask, as infiniband-diags' perfquery -R has it.
counter_set narrow_counters(const capabilities&) noexcept;
counter_set wide_counters(const capabilities&) noexcept;

/// One reading of the counters of a port.
class port_counters {
public:
    bool has(counter c) const noexcept { return told_ >> bit(c) & 1; }
    /// Bits of the field that told it: 4 to 32, or 64. Precondition: has(c).
    unsigned width(counter c) const noexcept;
    /// As told; 0 if it was not.
    u64 operator[](counter c) const noexcept { return values_[bit(c)]; }
    /// A narrow counter stands at its end, where it stays until somebody clears it: there was as much, or more.
    bool is_pegged(counter c) const noexcept;

    /// What is known from the wide ones already stays.
    void take(const iba::pm::PortCounters&, const capabilities&) noexcept;
    void take(const iba::pm::PortCountersExt&, const capabilities&) noexcept;

    friend bool operator==(const port_counters&, const port_counters&) = default;

private:
    static constexpr unsigned bit(counter c) noexcept { return static_cast<unsigned>(c); }

    std::array<u64, counter_count> values_{};
    u32 told_ = 0, wide_ = 0; // by bit(counter)
};

/// One reading and when it was.
struct sample {
    mad::time_point at;
    port_counters counters;
};

/// What happened to a counter between two readings.
struct counter_change {
    enum class state : u8 {
        counted,   ///< `value` more
        wrapped,   ///< the same, past the highest number of 64 bits
        saturated, ///< it stands at its end now: at least `value` more
        reset,     ///< somebody cleared it in between: at least `value` more
        unknown,   ///< one of the readings did not tell it, or in another width
    };
    state what = state::unknown;
    u64 value = 0; ///< 0 if unknown

    /// `value` is all that there was.
    bool is_exact() const noexcept { return what == state::counted || what == state::wrapped; }
    friend bool operator==(const counter_change&, const counter_change&) = default;
};

/// `counted`, `wrapped`, ...
std::string_view name_of(counter_change::state) noexcept;

/// `state::reset` is told from `state::wrapped` by what no link could have counted in the time between the two. Precondition:
/// `before` is not later.
counter_change change_of(counter c, const sample& before, const sample& after) noexcept;

/// What a PerformanceSet has to carry to clear counters; nothing where a PMA has none of them in that attribute.
struct clearing {
    std::optional<iba::pm::PortCounters> narrow;
    std::optional<iba::pm::PortCountersExt> wide;
};

/// Zeros, and selected what `which` has and the PMA, too: of a counter that both attributes have in both.
/// `port`: 255 is all of them, where `capabilities::all_ports` says so.
clearing clearing_of(counter_set which, const capabilities&, u8 port) noexcept;

/// Per second; of data: bytes. 0 if no time is between the two.
double rate_of(counter c, const counter_change&, mad::duration between) noexcept;

} // namespace comad::counters
