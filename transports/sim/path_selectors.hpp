// SPDX-License-Identifier: MIT
// path_selectors.hpp - selectors for MTU, rate and packet lifetime in queries of paths and groups (IBA 15.2.5.16, 15.2.5.17). It does not
// depend on a subnet.
#pragma once
#include "rates.hpp"
#include "records.hpp"

namespace comad::transports::sim {

inline constexpr iba::MTU path_mtu = iba::MTU::m4096; // MTU of all ports

/// Returns whether the value `has` of a path satisfies the selector of a query.
constexpr bool satisfies(iba::Selector s, unsigned wanted, unsigned has) noexcept {
    switch (s) {
    case iba::Selector::GreaterThan: return has > wanted;
    case iba::Selector::LessThan: return has < wanted;
    case iba::Selector::Exactly: return has == wanted;
    case iba::Selector::Best: return true;
    }
    return false;
}

/// The components with selectors, which paths and groups have in common.
template <class R>
constexpr u64 limits =
    iba::mask_of<&R::MTUSelector> | iba::mask_of<&R::MTU> | iba::mask_of<&R::rateSelector> | iba::mask_of<&R::rate> |
    iba::mask_of<&R::packetLifeTimeSelector> | iba::mask_of<&R::packetLifeTime>;

/// Returns whether the record `has` is within the limits of the query `wanted`.
template <class R> bool is_within_limits(u64 mask, const R& wanted, const R& has) noexcept {
    const auto is_given = [&](u64 component) { return (mask & component) != 0; };
    const auto selector = [&](u64 component, iba::Selector s) {
        return is_given(component) ? s : iba::Selector::Exactly;
    };
    const auto MTU = selector(iba::mask_of<&R::MTUSelector>, wanted.MTUSelector);
    const auto rate = selector(iba::mask_of<&R::rateSelector>, wanted.rateSelector);
    const auto life = selector(iba::mask_of<&R::packetLifeTimeSelector>, wanted.packetLifeTimeSelector);
    return (!is_given(iba::mask_of<&R::MTU>) || satisfies(MTU, value(wanted.MTU), value(has.MTU))) &&
           (!is_given(iba::mask_of<&R::rate>) || satisfies(rate, tenths_of(wanted.rate), tenths_of(has.rate))) &&
           (!is_given(iba::mask_of<&R::packetLifeTime>) || satisfies(life, wanted.packetLifeTime, has.packetLifeTime));
}

/// Sets MTU, rate and packet lifetime of a record, with the selector Exactly.
template <class R> void set_limits(R& r, iba::Rate rate) noexcept {
    r.MTUSelector = r.rateSelector = r.packetLifeTimeSelector = iba::Selector::Exactly;
    r.MTU = path_mtu;
    r.rate = rate;
    r.packetLifeTime = attributes::packet_life_time;
}

/// Returns whether two P_Keys belong to one partition, with full or limited membership.
constexpr bool is_same_partition(u16 a, u16 b) noexcept { return ((a ^ b) & 0x7fff) == 0; }

} // namespace comad::transports::sim
