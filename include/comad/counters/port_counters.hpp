// SPDX-License-Identifier: MIT
// port_counters.hpp - the performance counters of a port: their names, the values of one sample, the change between two samples,
// and the request that clears them. Does not depend on a schedule; sweep.hpp reads counters.
//
//     counters::sample before = ..., after = ...; // as sweep.hpp reads them
//     const auto change = change_of(counters::counter::portXmitData, before, after);
//     const double bytes_per_second = rate_of(counters::counter::portXmitData, change, after.at - before.at);
//
// All functions are noexcept and have no errors; values own their data.
#pragma once
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/pm/counters.hpp>
#include <comad/iba/detail/text_formatter.hpp>
#include <comad/mad/detail/time.hpp>

#include <array>
#include <optional>
#include <span>
#include <string_view>

namespace comad::counters {

/// The portSelect that selects all ports of a node.
inline constexpr u8 all_ports = 255;

/// The counters of PortCountersExtended, in its order (IBA 16.1.4.11). PortCounters has all of them except the unicast and
/// multicast counters. Data counters count words of 4 bytes, portXmitWait counts ticks, all others count packets or events.
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
/// The number of counters.
inline constexpr unsigned counter_count = 22;

/// Calls f(counter) for each counter, in order.
template <class F> void for_each_counter(F&& f) {
    for (unsigned i = 0; i < counter_count; ++i) f(static_cast<counter>(i));
}

/// The counter's name in the structures of the IBA: `portXmitData`.
std::string_view name_of(counter) noexcept;
/// The names of all counters, in order. They live as long as the program.
std::span<const std::string_view, counter_count> counter_names() noexcept;
/// The counter with that name; nullopt if there is none.
std::optional<counter> counter_named(std::string_view name) noexcept;
/// Returns whether the counter counts words of 4 bytes.
constexpr bool is_data(counter c) noexcept { return c == counter::portXmitData || c == counter::portRcvData; }
/// Returns whether the counter counts errors: all counters from symbolErrorCounter on, except portXmitWait.
constexpr bool is_error(counter c) noexcept { return c >= counter::symbolErrorCounter && c != counter::portXmitWait; }

/// A set of counters.
class counter_set {
public:
    counter_set& add(counter c) noexcept {
        bits_ |= 1u << static_cast<unsigned>(c);
        return *this;
    }
    bool has(counter c) const noexcept { return bits_ >> static_cast<unsigned>(c) & 1; }
    bool empty() const noexcept { return bits_ == 0; }
    /// Returns whether a counter is in both sets.
    bool meets(counter_set other) const noexcept { return (bits_ & other.bits_) != 0; }
    /// The counters of this set that `other` does not have.
    counter_set without(counter_set other) const noexcept {
        other.bits_ = bits_ & ~other.bits_;
        return other;
    }
    /// All counters.
    static counter_set all() noexcept {
        counter_set set;
        set.bits_ = (1u << counter_count) - 1;
        return set;
    }

private:
    u32 bits_ = 0;
};

/// The counters for which `predicate` returns true: `counters_that(is_error)`.
template <class F> counter_set counters_that(F&& predicate) {
    counter_set set;
    for_each_counter([&](counter c) {
        if (predicate(c)) set.add(c);
    });
    return set;
}

/// What a PMA supports, according to its ClassPortInfo (IBA 16.1.3.1).
struct capabilities {
    bool all_ports = false;   ///< portSelect 255 selects all ports of the node (AllPortSelect)
    bool extended = false;    ///< PortCountersExtended, at least with data and packets
    bool unicast = false;     ///< PortCountersExtended with unicast and multicast packets
    bool additional = false;  ///< PortCountersExtended with all other counters
    bool xmit_wait = false;   ///< portXmitWait, in each attribute that has it
    bool qp1_dropped = false; ///< QP1Dropped, in each attribute that has it
    bool RS_FEC = false;      ///< PortExtendedSpeedsCountersRSFEC of ports with RS forward error correction

    static capabilities of(const iba::ClassPortInfo&) noexcept;
    friend bool operator==(const capabilities&, const capabilities&) = default;
};

/// The counters that a PMA with these capabilities reports and clears in PortCounters.
/// portXmitWait and QP1Dropped require their bits in the capabilityMask, as in infiniband-diags' perfquery -R.
counter_set narrow_counters(const capabilities&) noexcept;
/// The same for PortCountersExtended.
counter_set wide_counters(const capabilities&) noexcept;

/// The values of a port's counters at one time, from PortCounters, PortCountersExtended or both.
class counter_values {
public:
    /// Returns whether the counter was read.
    bool has(counter c) const noexcept { return present_ >> bit(c) & 1; }
    /// The width of the field in bits: 64 if the value is from PortCountersExtended, else 4 to 32. Precondition: has(c).
    unsigned width(counter c) const noexcept;
    /// The value; 0 if the counter was not read. Data in words of 4 bytes.
    u64 operator[](counter c) const noexcept { return values_[bit(c)]; }
    /// Returns whether a counter of PortCounters is saturated: it stays at its largest value until it is cleared.
    bool is_pegged(counter c) const noexcept;

    /// Takes the counters of a reply. Values that are already there from PortCountersExtended stay.
    void take(const iba::pm::PortCounters&, const capabilities&) noexcept;
    void take(const iba::pm::PortCountersExt&, const capabilities&) noexcept;

    /// Sets a counter as if it had been read: from PortCountersExtended if `is_wide`, else from PortCounters. Returns false and changes
    /// nothing if PortCounters does not have the counter, or if its field cannot contain the value.
    bool set(counter c, u64 value, bool is_wide) noexcept;
    /// Removes a counter, as if it had not been read.
    void remove(counter c) noexcept;

    /// Adds the values of another port. Only counters that both have remain; a sum stops at the largest value of its field.
    counter_values& operator+=(const counter_values&) noexcept;

    friend bool operator==(const counter_values&, const counter_values&) = default;

private:
    static constexpr unsigned bit(counter c) noexcept { return static_cast<unsigned>(c); }

    std::array<u64, counter_count> values_{};
    u32 present_ = 0, wide_ = 0; // by bit(counter)
};

/// The counters of one port, and the time when they were read.
struct sample {
    mad::time_point at; ///< of the schedule's clock
    counter_values counters;
};

/// What happened to a counter between two samples.
struct counter_change {
    enum class state : u8 {
        counted,   ///< the counter increased by `value`
        wrapped,   ///< the counter increased by `value`; its 64-bit field overflowed
        saturated, ///< the counter increased by at least `value` and is now at its largest value
        reset,     ///< the counter was cleared, and has counted at least `value` since
        unknown,   ///< one of the samples does not have the counter, or has it in another width
    };
    state what = state::unknown;
    u64 value = 0; ///< the increase, in the counter's unit; 0 if unknown

    /// Returns whether `value` is the whole increase.
    bool is_exact() const noexcept { return what == state::counted || what == state::wrapped; }
    friend bool operator==(const counter_change&, const counter_change&) = default;
};

/// The name of the state: `counted`, `wrapped`, ...
std::string_view name_of(counter_change::state) noexcept;

/// The change of a counter between two samples of a port. A lower 64-bit value is `wrapped` if a link can have counted the
/// difference in the time between the samples (less than 2^40 words per second), else `reset`.
/// Precondition: `before` is not later than `after`.
counter_change change_of(counter c, const sample& before, const sample& after) noexcept;

/// The payloads of the PerformanceSet requests that clear counters; nullopt if the PMA has none of them in that attribute.
struct clearing {
    std::optional<iba::pm::PortCounters> narrow;
    std::optional<iba::pm::PortCountersExt> wide;
};

/// Returns payloads of zeros that select the counters of `which` that the PMA has. A counter of both attributes is selected in both.
/// `port`: portSelect; 255 selects all ports, if `capabilities::all_ports` is set.
clearing clearing_of(counter_set which, const capabilities&, u8 port) noexcept;

/// The change per second, of data counters in bytes per second; 0 if `between` is not positive.
double rate_of(counter c, const counter_change&, mad::duration between) noexcept;

} // namespace comad::counters

/// Formats the name; takes the format specification of a string.
template <> struct fmt::formatter<comad::counters::counter> : comad::iba::detail::text_formatter {
    format_context::iterator format(comad::counters::counter value, format_context& context) const {
        return format_text(name_of(value), context);
    }
};
/// Formats the name; takes the format specification of a string.
template <> struct fmt::formatter<comad::counters::counter_change::state> : comad::iba::detail::text_formatter {
    format_context::iterator format(comad::counters::counter_change::state value, format_context& context) const {
        return format_text(name_of(value), context);
    }
};
