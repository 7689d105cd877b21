// SPDX-License-Identifier: MIT
// paths.cpp - paths along the ways that MADs take, and the broadcast group.
#include "paths.hpp"

#include "rates.hpp"

#include <algorithm>
#include <vector>

namespace comad::transports::sim {
namespace {

using iba::Selector;
using iba::sa::MCMemberRecord;
using iba::sa::PathRecord;

constexpr iba::MTU path_MTU = iba::MTU::m4096; // of all ports

struct end_port {
    router::place at;
    iba::lid LID;
    iba::gid GID;
};

iba::gid GID_of(iba::guid GUID) noexcept {
    iba::gid gid;
    iba::store_be<u64>(gid.bytes.data(), attributes::GIDPrefix);
    iba::store_be<u64>(gid.bytes.data() + 8, value(GUID));
    return gid;
}

/// The end ports that a query means: by LID, one of those that the LID mask gives, and GID; null: any.
std::vector<end_port> end_ports(const topology& t, const iba::lid* LID, const iba::gid* GID) {
    std::vector<end_port> all;
    for (u32 n = 0; n < t.nodes.size(); ++n) {
        const node& x = t.nodes[n];
        const unsigned last = x.is_switch() ? 0 : x.num_ports();
        for (unsigned p = x.first_port(); p <= last; ++p) {
            const port& end = x.ports[p];
            if (value(end.LID) == 0) continue;
            const unsigned offset = LID ? unsigned{value(*LID)} - value(end.LID) : 0;
            if (offset >= 1u << end.LMC) continue;
            const iba::gid own = GID_of(end.GUID);
            if (GID && *GID != own) continue;
            all.push_back({{n, static_cast<u8>(p)}, LID ? *LID : end.LID, own});
        }
    }
    return all;
}

/// Whether what a path has is what a query limits (IBA 15.2.5.16).
bool satisfies(Selector s, unsigned wanted, unsigned has) noexcept {
    switch (s) {
    case Selector::GreaterThan: return has > wanted;
    case Selector::LessThan: return has < wanted;
    case Selector::Exactly: return has == wanted;
    case Selector::Best: return true;
    }
    return false;
}

/// MTU, rate and life time, which a query limits rather than names: paths and groups have them alike.
template <class R>
constexpr u64 limits =
    iba::mask_of<&R::MTUSelector> | iba::mask_of<&R::MTU> | iba::mask_of<&R::rateSelector> | iba::mask_of<&R::rate> |
    iba::mask_of<&R::packetLifeTimeSelector> | iba::mask_of<&R::packetLifeTime>;
template <class R> bool is_within_limits(const collector& query, const R& wanted, const R& has) noexcept {
    const auto selector = [&](bool is_asked, Selector s) { return is_asked ? s : Selector::Exactly; };
    const Selector MTU = selector(query.asks_for<&R::MTUSelector>(), wanted.MTUSelector);
    const Selector rate = selector(query.asks_for<&R::rateSelector>(), wanted.rateSelector);
    const Selector life = selector(query.asks_for<&R::packetLifeTimeSelector>(), wanted.packetLifeTimeSelector);
    return (!query.asks_for<&R::MTU>() || satisfies(MTU, value(wanted.MTU), value(has.MTU))) &&
           (!query.asks_for<&R::rate>() || satisfies(rate, tenths_of(wanted.rate), tenths_of(has.rate))) &&
           (!query.asks_for<&R::packetLifeTime>() || satisfies(life, wanted.packetLifeTime, has.packetLifeTime));
}

template <class R> void set_limits(R& r, iba::Rate rate) noexcept {
    r.MTUSelector = r.rateSelector = r.packetLifeTimeSelector = Selector::Exactly;
    r.MTU = path_MTU;
    r.rate = rate;
    r.packetLifeTime = attributes::packet_life_time;
}

/// Full and limited members of a partition belong to it.
bool is_same_partition(u16 a, u16 b) noexcept { return ((a ^ b) & 0x7fff) == 0; }

} // namespace

bool has_an_end(const collector& query) noexcept {
    return query.asks_for<&PathRecord::SLID>() || query.asks_for<&PathRecord::SGID>() ||
           query.asks_for<&PathRecord::DLID>() || query.asks_for<&PathRecord::DGID>();
}

void path_records(attributes& of, collector& found) {
    const topology& t = of.graph();
    const auto wanted = found.wanted<PathRecord>();
    const auto named = [](bool is_asked, const auto& what) { return is_asked ? &what : nullptr; };
    const auto from = end_ports(t, named(found.asks_for<&PathRecord::SLID>(), wanted.SLID),
                                named(found.asks_for<&PathRecord::SGID>(), wanted.SGID));
    const auto to = end_ports(t, named(found.asks_for<&PathRecord::DLID>(), wanted.DLID),
                              named(found.asks_for<&PathRecord::DGID>(), wanted.DGID));
    if (found.asks_for<&PathRecord::PKey>() && !is_same_partition(wanted.PKey, attributes::default_PKey)) return;
    // Every path is fit for every service, and for those who can do without a way back.
    found.leave_out(iba::mask_of<&PathRecord::serviceID> | iba::mask_of<&PathRecord::numbPath> |
                    iba::mask_of<&PathRecord::reversible> | iba::mask_of<&PathRecord::PKey> | limits<PathRecord>);
    for (const end_port& a : from) {
        for (const end_port& b : to) {
            const auto way = of.tables().ways().by_lid(a.at, b.LID);
            if (!way) continue;
            const unsigned own = tenths_of_gbps(t.nodes[a.at.node].ports[a.at.port].active);
            PathRecord r;
            r.DGID = b.GID;
            r.SGID = a.GID;
            r.DLID = b.LID;
            r.SLID = a.LID;
            r.reversible = true;
            r.PKey = attributes::default_PKey;
            set_limits(r, rate_of(way->slowest == router::no_cable ? own : way->slowest));
            if (is_within_limits(found, wanted, r)) found.offer(r);
        }
    }
}

void member_records(attributes& of, collector& found) {
    const auto wanted = found.wanted<MCMemberRecord>();
    if (found.asks_for<&MCMemberRecord::PKey>() && !is_same_partition(wanted.PKey, attributes::default_PKey)) return;
    found.leave_out(iba::mask_of<&MCMemberRecord::PKey> | limits<MCMemberRecord>);
    MCMemberRecord r;
    r.MGID.bytes = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    r.QKey = 0x0b1b;
    r.MLID = forwarding::broadcast_MLID;
    r.PKey = attributes::default_PKey;
    r.scope = 2;
    r.joinState = 1;
    set_limits(r, iba::Rate::r10);
    if (!is_within_limits(found, wanted, r)) return;
    for (const end_port& member : end_ports(of.graph(), nullptr, nullptr)) {
        const port& p = of.graph().nodes[member.at.node].ports[member.at.port];
        if (of.graph().nodes[member.at.node].is_switch() || p.state != iba::PortState::Active) continue;
        r.portGID = member.GID;
        found.offer(r);
    }
}

} // namespace comad::transports::sim
