// SPDX-License-Identifier: MIT
// groups.cpp - joins, creates and leaves multicast groups as OpenSM does (osm_sa_mcmember_record.c), with its statuses.
#include "groups.hpp"

#include "path_selectors.hpp"

#include <algorithm>

namespace comad::transports::sim {
namespace {

using group_record = groups::record;
using iba::SAStatus;
using iba::Selector;

constexpr u8 full_member = 1, usual_scope = 2; // link-local scope
constexpr u64 join_components =
    iba::mask_of<&group_record::MGID> | iba::mask_of<&group_record::portGID> | iba::mask_of<&group_record::joinState>;
constexpr u64 create_components = join_components | iba::mask_of<&group_record::QKey> |
                                  iba::mask_of<&group_record::TClass> | iba::mask_of<&group_record::PKey> |
                                  iba::mask_of<&group_record::flowLabel> | iba::mask_of<&group_record::SL>;

constexpr bool has_all(u64 mask, u64 components) noexcept { return (mask & components) == components; }

/// Returns whether a GID is a multicast GID, permanent or transient, with a scope (IBA 4.1.1).
bool is_group(const iba::gid& MGID) noexcept {
    return MGID.bytes[0] == 0xff && (MGID.bytes[1] >> 4) <= 1 && (MGID.bytes[1] & 0xf) != 0;
}

/// Returns the MGID of a group whose creator leaves the choice to the SA, with the signature of OpenSM.
iba::gid new_mgid(u8 scope, iba::lid MLID) noexcept {
    iba::gid gid;
    gid.bytes = {0xff, static_cast<u8>(0x10 | scope), 0xa0, 0x1c};
    iba::store_be<u64>(gid.bytes.data() + 4, attributes::GIDPrefix);
    iba::store_be<u16>(gid.bytes.data() + 14, value(MLID));
    return gid;
}

iba::Rate next_slower(iba::Rate rate) noexcept {
    for (unsigned tenths = tenths_of(rate); tenths > 25; tenths -= 5)
        if (tenths_of(rate_of(tenths - 5)) == tenths - 5) return rate_of(tenths - 5);
    return iba::Rate{};
}

/// Sets MTU, rate and packet lifetime of a new group: the largest values of the creator's port within the limits of
/// the request.
void choose(group_record& r, const group_record& wanted, u64 mask, const group_record& most) noexcept {
    const auto is_less = [&](u64 selector, Selector s) { return (mask & selector) != 0 && s == Selector::LessThan; };
    const auto is_exact = [&](u64 selector, Selector s) { return (mask & selector) == 0 || s == Selector::Exactly; };
    if ((mask & iba::mask_of<&group_record::MTU>) != 0) {
        if (is_exact(iba::mask_of<&group_record::MTUSelector>, wanted.MTUSelector)) r.MTU = wanted.MTU;
        else if (is_less(iba::mask_of<&group_record::MTUSelector>, wanted.MTUSelector) && most.MTU >= wanted.MTU)
            r.MTU = iba::MTU{static_cast<u8>(value(wanted.MTU) - 1)};
    }
    if ((mask & iba::mask_of<&group_record::rate>) != 0) {
        if (is_exact(iba::mask_of<&group_record::rateSelector>, wanted.rateSelector)) r.rate = wanted.rate;
        else if (is_less(iba::mask_of<&group_record::rateSelector>, wanted.rateSelector) &&
                 tenths_of(most.rate) >= tenths_of(wanted.rate))
            r.rate = next_slower(wanted.rate);
    }
    if ((mask & iba::mask_of<&group_record::packetLifeTime>) != 0) {
        const u64 selector = iba::mask_of<&group_record::packetLifeTimeSelector>;
        if (is_exact(selector, wanted.packetLifeTimeSelector)) r.packetLifeTime = wanted.packetLifeTime;
        else if (is_less(selector, wanted.packetLifeTimeSelector) && most.packetLifeTime >= wanted.packetLifeTime)
            r.packetLifeTime = static_cast<u8>(wanted.packetLifeTime - 1);
        else if (wanted.packetLifeTimeSelector == Selector::GreaterThan)
            r.packetLifeTime = std::max(most.packetLifeTime, static_cast<u8>(wanted.packetLifeTime + 1));
    }
}

} // namespace

bool groups::group::has_full_member() const noexcept {
    return std::any_of(members.begin(), members.end(),
                       [](const member& m) { return (m.join_state & full_member) != 0; });
}

groups::groups(attributes& of) : of_(of) {
    group broadcast{};
    group_record& r = broadcast.what;
    r.MGID.bytes = {0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
    r.QKey = 0x0b1b;
    r.MLID = forwarding::broadcast_mlid;
    r.PKey = attributes::default_pkey;
    r.scope = usual_scope;
    set_limits(r, iba::Rate::r10);
    broadcast.is_permanent = true;
    for (const addressed_port& end : addressed_ports(of, nullptr, nullptr))
        if (!of.graph().nodes[end.at.node].is_switch()) broadcast.members.push_back({end, full_member});
    groups_.push_back(std::move(broadcast));
}

std::list<groups::group>::iterator groups::find(const iba::gid& MGID) {
    return std::find_if(groups_.begin(), groups_.end(), [&](const group& g) { return g.what.MGID == MGID; });
}

iba::Rate groups::rate_of_port(const addressed_port& end) const noexcept {
    return rate_of(tenths_of_gbps(of_.graph().nodes[end.at.node].ports[end.at.port].active));
}

groups::outcome groups::join(group_record& r, u64 mask) {
    if (!has_all(mask, join_components)) return {SAStatus::ERR_REQ_INSUFFICIENT_COMPONENTS};
    const auto end = find_addressed_port(of_, r.portGID);
    if (!end || r.joinState == 0) return {SAStatus::ERR_REQ_INVALID};
    auto at = find(r.MGID);
    const bool is_new = at == groups_.end();
    const SAStatus refused = is_new ? create(r, mask, *end) : check_join(*at, r, mask, *end);
    if (refused != SAStatus::None) return {refused};
    if (is_new) at = std::prev(groups_.end());

    const bool had_full_member = at->has_full_member();
    const auto known =
        std::find_if(at->members.begin(), at->members.end(), [&](const member& m) { return m.port.GID == r.portGID; });
    member& own = known != at->members.end() ? *known : at->members.emplace_back(member{*end, 0});
    own.join_state = static_cast<u8>(own.join_state | r.joinState);
    r = at->what;
    r.portGID = own.port.GID;
    r.joinState = own.join_state;
    outcome joined{};
    if (!had_full_member && at->has_full_member()) joined.event = iba::TrapNumber::MulticastGroupCreated;
    return joined;
}

SAStatus groups::create(const group_record& wanted, u64 mask, const addressed_port& by) {
    if ((wanted.joinState & full_member) == 0) return SAStatus::ERR_REQ_INVALID;
    if (!has_all(mask, create_components)) return SAStatus::ERR_REQ_INSUFFICIENT_COMPONENTS;
    const bool is_named = wanted.MGID != iba::gid{};
    if ((is_named && !is_group(wanted.MGID)) || !is_same_partition(wanted.PKey, attributes::default_pkey))
        return SAStatus::ERR_REQ_INVALID;
    group g{};
    group_record& r = g.what;
    set_limits(r, rate_of_port(by));
    const group_record most = r;
    choose(r, wanted, mask, most);
    const bool is_possible = value(r.MTU) >= value(iba::MTU::m256) && r.MTU <= most.MTU && tenths_of(r.rate) != 0 &&
                             tenths_of(r.rate) <= tenths_of(most.rate);
    if (!is_possible || !is_within_limits(mask, wanted, r)) return SAStatus::ERR_REQ_INVALID;
    r.MLID = free_mlid();
    if (value(r.MLID) == 0) return SAStatus::ERR_NO_RESOURCES;
    r.scope = is_named ? wanted.MGID.bytes[1] & 0xf : wanted.scope != 0 ? wanted.scope : usual_scope;
    r.MGID = is_named ? wanted.MGID : new_mgid(r.scope, r.MLID);
    r.QKey = wanted.QKey;
    r.TClass = wanted.TClass;
    r.PKey = wanted.PKey;
    r.SL = wanted.SL;
    r.flowLabel = wanted.flowLabel;
    r.hopLimit = wanted.hopLimit;
    groups_.push_back(std::move(g));
    return SAStatus::None;
}

/// Returns whether a port may join: the components in the mask must match the group, and the port must be fast
/// enough.
SAStatus groups::check_join(const group& g, const group_record& wanted, u64 mask, const addressed_port& by) const {
    const group_record& is = g.what;
    const auto fits = [&](u64 component, bool is_same) { return (mask & component) == 0 || is_same; };
    const bool is_meant = fits(iba::mask_of<&group_record::QKey>, wanted.QKey == is.QKey) &&
                          fits(iba::mask_of<&group_record::MLID>, wanted.MLID == is.MLID) &&
                          fits(iba::mask_of<&group_record::TClass>, wanted.TClass == is.TClass) &&
                          fits(iba::mask_of<&group_record::PKey>, is_same_partition(wanted.PKey, is.PKey)) &&
                          fits(iba::mask_of<&group_record::SL>, wanted.SL == is.SL) &&
                          fits(iba::mask_of<&group_record::flowLabel>, wanted.flowLabel == is.flowLabel) &&
                          fits(iba::mask_of<&group_record::scope>, wanted.scope == is.scope);
    const bool is_fast_enough = tenths_of(rate_of_port(by)) >= tenths_of(is.rate);
    return is_meant && is_fast_enough && is_within_limits(mask, wanted, is) ? SAStatus::None
                                                                            : SAStatus::ERR_REQ_INVALID;
}

/// Returns an unused MLID; 0: the switches have no capacity for more.
iba::lid groups::free_mlid() const {
    const unsigned first = value(forwarding::broadcast_mlid);
    for (unsigned MLID = first; MLID < first + forwarding::multicast_capacity; ++MLID) {
        const auto has_it = [&](const group& g) { return value(g.what.MLID) == MLID; };
        if (std::none_of(groups_.begin(), groups_.end(), has_it)) return iba::lid{static_cast<u16>(MLID)};
    }
    return {};
}

groups::outcome groups::leave(group_record& r, u64 mask) {
    if (!has_all(mask, join_components)) return {SAStatus::ERR_REQ_INSUFFICIENT_COMPONENTS};
    const auto at = find(r.MGID);
    if (at == groups_.end()) return {SAStatus::ERR_REQ_INVALID};
    const auto own =
        std::find_if(at->members.begin(), at->members.end(), [&](const member& m) { return m.port.GID == r.portGID; });
    if (own == at->members.end() || (own->join_state & r.joinState) == 0) return {SAStatus::ERR_REQ_INVALID};
    const bool had_full_member = at->has_full_member();
    const u8 left = static_cast<u8>(own->join_state & ~r.joinState);
    own->join_state = left;
    if (left == 0) at->members.erase(own);
    r.joinState = left;
    outcome done{};
    if (had_full_member && !at->has_full_member()) {
        done.event = iba::TrapNumber::MulticastGroupDeleted;
        if (at->is_permanent) at->members.clear();
        else groups_.erase(at);
        r.joinState = 0;
    }
    return done;
}

void groups::find(collector& found) const {
    const auto wanted = found.wanted<group_record>();
    found.leave_out(iba::mask_of<&group_record::PKey> | limits<group_record>);
    for (const group& g : groups_) {
        const bool is_partition = !found.selects<&group_record::PKey>() || is_same_partition(wanted.PKey, g.what.PKey);
        if (!is_partition || !is_within_limits(found.mask(), wanted, g.what)) continue;
        for (const member& m : g.members) {
            const port& p = of_.graph().nodes[m.port.at.node].ports[m.port.at.port];
            if (p.state != iba::PortState::Active) continue;
            group_record r = g.what;
            r.portGID = m.port.GID;
            r.joinState = m.join_state;
            found.offer(r);
        }
    }
}

} // namespace comad::transports::sim
