// SPDX-License-Identifier: MIT
// port_counters.cpp - combines the counters of PortCounters and PortCountersExtended, and calculates differences.
#include <comad/counters/port_counters.hpp>
#include <comad/iba/detail/enums.hpp>
#include <comad/iba/detail/mask.hpp>
#include <comad/iba/detail/pm/select.hpp>

#include <algorithm>

namespace comad::counters {
namespace {

using iba::PMCapability;
using iba::PMCapability2;
using iba::pm::counter_pair;
using iba::pm::PortCounters;
using iba::pm::PortCountersExt;

/// Calls f(counter, counter_pair) for each counter, in order.
template <class F> constexpr void for_each_pair(F&& f) {
    unsigned i = 0;
    iba::pm::for_each_counter([&](auto pair) { f(static_cast<counter>(i++), pair); });
}

/// The width in bits of each counter in PortCounters; 0: PortCounters does not have it.
constexpr std::array<u8, counter_count> narrow_widths = [] {
    std::array<u8, counter_count> widths{};
    for_each_pair([&]<auto Wide, auto Narrow>(counter c, counter_pair<Wide, Narrow> pair) {
        if constexpr (pair.has_narrow)
            widths[static_cast<unsigned>(c)] = static_cast<u8>(iba::detail::last_row<Narrow>().width);
    });
    return widths;
}();

std::array<std::string_view, counter_count> all_names() noexcept {
    std::array<std::string_view, counter_count> names;
    for_each_pair([&]<auto Wide, auto Narrow>(counter c, counter_pair<Wide, Narrow>) {
        names[static_cast<unsigned>(c)] = iba::detail::last_row<Wide>().name;
    });
    return names;
}

/// Returns whether the PMA supports a counter, by the capability bits that concern only this counter.
bool is_counted(counter c, const capabilities& can) noexcept {
    return (c != counter::portXmitWait || can.xmit_wait) && (c != counter::QP1Dropped || can.qp1_dropped);
}

template <auto Wide, auto Narrow>
bool has_narrow(counter c, counter_pair<Wide, Narrow> pair, const capabilities& can) noexcept {
    return pair.has_narrow && is_counted(c, can);
}

template <auto Wide, auto Narrow>
bool has_wide(counter c, counter_pair<Wide, Narrow> pair, const capabilities& can) noexcept {
    const bool is_of_kind = c >= counter::portUnicastXmitPkts && c <= counter::portMulticastRcvPkts;
    if (pair.is_additional ? !can.additional : is_of_kind && !can.unicast) return false;
    return can.extended && is_counted(c, can);
}

/// A rate that no link reaches: 2^40 words per second are 4.4 TB/s.
constexpr double most_per_second = 1099511627776.0;

/// No counter reaches this increase: at the rate of a 4x XDR link it takes five years. After a longer time, a lower value is a reset.
constexpr u64 largest_increase = u64{1} << 62;

bool could_count(u64 more, mad::duration between) noexcept {
    const double seconds = std::max(mad::in_seconds(between), 1.0);
    return more <= largest_increase && static_cast<double>(more) <= most_per_second * seconds;
}

} // namespace

std::span<const std::string_view, counter_count> counter_names() noexcept {
    static const std::array names = all_names();
    return names;
}

std::string_view name_of(counter c) noexcept { return counter_names()[static_cast<unsigned>(c)]; }

std::optional<counter> counter_named(std::string_view name) noexcept {
    const auto names = counter_names();
    const auto found = std::ranges::find(names, name);
    if (found == names.end()) return std::nullopt;
    return static_cast<counter>(found - names.begin());
}

capabilities capabilities::of(const iba::ClassPortInfo& info) noexcept {
    const auto can = [&](PMCapability bit) { return (info.capabilityMask & value(bit)) != 0; };
    capabilities a;
    a.all_ports = can(PMCapability::IsAllPortSelectSupported);
    a.unicast = can(PMCapability::IsExtendedWidthSupported);
    a.extended = a.unicast || can(PMCapability::IsExtendedWidthSupportedNoIETF);
    a.additional =
        a.extended && (info.capabilityMask2 & value(PMCapability2::IsAdditionalPortCountersExtendedSupported)) != 0;
    a.xmit_wait = can(PMCapability::IsPortCountersXmitWaitSupported);
    a.qp1_dropped = can(PMCapability::IsQP1DroppedSupported);
    a.RS_FEC = can(PMCapability::IsRSFECModeSupported);
    return a;
}

counter_set narrow_counters(const capabilities& can) noexcept {
    counter_set supported;
    for_each_pair([&](counter c, auto pair) {
        if (has_narrow(c, pair, can)) supported.add(c);
    });
    return supported;
}

counter_set wide_counters(const capabilities& can) noexcept {
    counter_set supported;
    for_each_pair([&](counter c, auto pair) {
        if (has_wide(c, pair, can)) supported.add(c);
    });
    return supported;
}

unsigned counter_values::width(counter c) const noexcept { return wide_ >> bit(c) & 1 ? 64 : narrow_widths[bit(c)]; }

bool counter_values::is_pegged(counter c) const noexcept {
    return has(c) && width(c) < 64 && values_[bit(c)] == iba::low_bits(width(c));
}

void counter_values::take(const PortCounters& attribute, const capabilities& can) noexcept {
    for_each_pair([&]<auto Wide, auto Narrow>(counter c, counter_pair<Wide, Narrow> pair) {
        if constexpr (pair.has_narrow) {
            if ((wide_ >> bit(c) & 1) != 0 || !has_narrow(c, pair, can)) return;
            values_[bit(c)] = attribute.*Narrow;
            present_ |= 1u << bit(c);
        }
    });
}

void counter_values::take(const PortCountersExt& attribute, const capabilities& can) noexcept {
    for_each_pair([&]<auto Wide, auto Narrow>(counter c, counter_pair<Wide, Narrow> pair) {
        if (!has_wide(c, pair, can)) return;
        values_[bit(c)] = attribute.*Wide;
        present_ |= 1u << bit(c);
        wide_ |= 1u << bit(c);
    });
}

bool counter_values::set(counter c, u64 value, bool is_wide) noexcept {
    const unsigned narrow = narrow_widths[bit(c)];
    if (!is_wide && (narrow == 0 || value > iba::low_bits(narrow))) return false;
    values_[bit(c)] = value;
    present_ |= 1u << bit(c);
    wide_ = (wide_ & ~(1u << bit(c))) | (is_wide ? 1u << bit(c) : 0);
    return true;
}

void counter_values::remove(counter c) noexcept {
    values_[bit(c)] = 0;
    present_ &= ~(1u << bit(c));
    wide_ &= ~(1u << bit(c));
}

counter_values& counter_values::operator+=(const counter_values& other) noexcept {
    for_each_counter([&](counter c) {
        if (!has(c) || !other.has(c)) return remove(c);
        const u64 largest = iba::low_bits(width(c)), more = std::min(other[c], largest);
        u64& sum = values_[bit(c)];
        sum = more > largest - sum ? largest : sum + more;
    });
    return *this;
}

counter_change change_of(counter c, const sample& before, const sample& after) noexcept {
    const counter_values &then = before.counters, &now = after.counters;
    if (!then.has(c) || !now.has(c) || then.width(c) != now.width(c)) return {};
    const u64 more = now[c] - then[c];
    if (now[c] < then[c]) {
        if (now.width(c) == 64 && could_count(more, after.at - before.at))
            return {counter_change::state::wrapped, more};
        return {counter_change::state::reset, now[c]};
    }
    return {now.is_pegged(c) ? counter_change::state::saturated : counter_change::state::counted, more};
}

clearing clearing_of(counter_set which, const capabilities& can, u8 port) noexcept {
    u32 narrow = 0, wide = 0, additional = 0; // bits of counterSelect and of counterSelect2
    unsigned next_wide = 0, next_additional = 0;
    for_each_pair([&](counter c, auto pair) {
        u32& selected = pair.is_additional ? additional : wide;
        const u32 bit = 1u << (pair.is_additional ? next_additional++ : next_wide++);
        if (!which.has(c)) return;
        if (has_narrow(c, pair, can)) narrow |= 1u << pair.narrow_bit;
        if (has_wide(c, pair, can)) selected |= bit;
    });
    clearing zeros;
    if (narrow) {
        auto& set = zeros.narrow.emplace();
        set.portSelect = port;
        set.counterSelect = static_cast<u16>(narrow);
        set.counterSelect2 = static_cast<u8>(narrow >> 16);
    }
    if (wide | additional) {
        auto& set = zeros.wide.emplace();
        set.portSelect = port;
        set.counterSelect = static_cast<u16>(wide);
        set.counterSelect2 = additional;
    }
    return zeros;
}

std::string_view name_of(counter_change::state s) noexcept {
    switch (s) {
    case counter_change::state::counted: return "counted";
    case counter_change::state::wrapped: return "wrapped";
    case counter_change::state::saturated: return "saturated";
    case counter_change::state::reset: return "reset";
    case counter_change::state::unknown: break;
    }
    return "unknown";
}

double rate_of(counter c, const counter_change& changed, mad::duration between) noexcept {
    if (between.count() <= 0) return 0;
    const double units = is_data(c) ? 4 : 1;
    return units * static_cast<double>(changed.value) / mad::in_seconds(between);
}

} // namespace comad::counters
