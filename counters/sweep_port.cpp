// SPDX-License-Identifier: MIT
// sweep_port.cpp - the queries of a sweep to one node: capabilities, counters and details.
#include "detail_request.hpp"
#include "sweeper_impl.hpp"
#include <comad/iba/smp.hpp>

#include <array>
#include <optional>
#include <utility>

namespace comad::counters {

using coro::task;
using discovery::port_ref;
using iba::pm::PortExtendedSpeedsCounters;
using iba::pm::PortExtendedSpeedsCountersRSFEC;

// Queries the capabilities of a node's PMAs. All PMAs of a node support the same attributes, so the first reply is enough.
task<void> sweeper::impl::query_capabilities(agent& a) {
    while (!a.can && !a.has_ended && !result_.is_stopped && a.next < a.end) {
        const port_ref where = targets_[a.next].where;
        const auto path = path_to(where);
        if (!path) {
            ++a.next;
            continue;
        }
        const auto info = co_await schedule_.PerformanceGet<iba::ClassPortInfo>(*path, 0, short_timeout());
        if (info) {
            a.info = info.value();
            a.can = capabilities::of(info.value());
            a.is_silent = false;
            co_return;
        }
        const bool is_switch = node_of(a).is_switch();
        failed(a, is_switch ? place_of(a) : where, info.error());
        if (result_.is_stopped) co_return;
        a.has_ended = is_switch || ++a.next == a.end; // queried no further if this query gets no reply
    }
}

// Queries the tick of a node's PMAs, once. Some devices do not reply to attributes that they do not support, so a PMA without a reply is not
// unresponsive.
task<void> sweeper::impl::query_tick(agent& a) {
    if (a.has_queried_tick || !a.can || !a.can->xmit_wait || a.has_ended || a.next == a.end) co_return;
    const port_ref where = targets_[a.next].where;
    const auto path = path_to(where);
    if (!path) co_return;
    a.has_queried_tick = true;
    const iba::guid nodeGUID = node_of(a).info.nodeGUID;
    if (const auto* known = options_.known_ticks.get()) {
        const auto found = known->find(nodeGUID);
        if (found != known->end()) {
            a.tick = found->second;
            co_return;
        }
    }
    const auto request = request_for<iba::pm::PortSamplesCtl>(where.port);
    const auto control = co_await schedule_.PerformanceGet<iba::pm::PortSamplesCtl>(request, *path, 0, short_timeout());
    if (control) a.tick = control.value().tick;
    else if (control.error().code == mad::errc::cancelled) result_.is_stopped = true;
    if (options_.known_ticks && !result_.is_stopped) options_.known_ticks->insert_or_assign(nodeGUID, a.tick);
}

// Reads the sum of all ports. The ports are not queried if the sum is low enough.
task<void> sweeper::impl::read_sum(agent& a) {
    reading& sum = result_.sums.emplace_back();
    sum.where = {targets_[a.first].where.node, all_ports};
    const auto path = path_to(targets_[a.first].where);
    if (!path) co_return;
    co_await read_port(a, *path, sum);
    // Otherwise failed() may have set has_ended.
    if (sum.valid && !options_.is_too_much(sum)) a.is_summed = a.has_ended = true;
}

// Returns false if the counters could not be read.
task<bool> sweeper::impl::read_values(agent& a, const mad::IBPath& path, reading& l) {
    const auto replies =
        co_await read_attributes(schedule_, path, l.where.port, attributes_of(a, options_.counters), short_timeout());
    if (!replies) {
        failed(a, l.where, replies.error());
        co_return false;
    }
    a.timeouts_in_a_row = 0;
    a.is_silent = false;
    l.counters.counters = values_of(replies.value(), *a.can);
    l.counters.at = schedule_.now();
    l.valid = true;
    l.tick = a.tick;
    const bool is_sum = l.where.port == all_ports; // a sum is not one of the ports
    if (options_.only_clears && !is_sum)
        narrow_[index_of(l)] = values_of({.narrow = replies.value().narrow, .wide = {}}, *a.can);
    co_return true;
}

task<void> sweeper::impl::read_port(agent& a, const mad::IBPath& path, reading& l) {
    const bool is_read = co_await read_values(a, path, l);
    if (!is_read) co_return;
    using reader = task<bool> (impl::*)(agent&, const mad::IBPath&, reading&);
    static constexpr auto detail_readers = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<reader, sizeof...(I)>{&impl::read_detail<I>...};
    }(std::make_index_sequence<detail_count>{});
    const port_detail_set chosen = options_.choose_details ? options_.choose_details(l) : options_.details;
    for (unsigned i = 0; i < detail_readers.size(); ++i) {
        if (!chosen.has(i) || a.lacks.has(i)) continue;
        const bool goes_on = co_await (this->*detail_readers[i])(a, path, l);
        if (!goes_on) break;
    }
    if (l.where.port == all_ports) co_return;
    if (has_to_clear() && !clears_at_once(a)) co_await clear(a, l.where, l.where.port);
    if (options_.on_port) options_.on_port(l);
}

template <std::size_t Index> task<bool> sweeper::impl::read_detail(agent& a, const mad::IBPath& path, reading& l) {
    using T = std::tuple_element_t<Index, detail_types>;
    if constexpr (std::is_same_v<T, PortExtendedSpeedsCounters>) {
        if (l.where.port == all_ports && a.can->RS_FEC) co_return true; // ports with different attributes have no sum
        const auto is_rs = co_await has_rs_fec(a, path, l);
        if (!is_rs) co_return false;
        if (*is_rs) co_return co_await read_as<PortExtendedSpeedsCountersRSFEC, T>(a, path, l);
    }
    co_return co_await read_as<T, T>(a, path, l);
}

// Reads a detail. Only the status of a reply shows whether a PMA supports it. An unsupported detail is not queried again.
template <class T, class Asked> task<bool> sweeper::impl::read_as(agent& a, const mad::IBPath& path, reading& l) {
    const T request = request_for<T>(l.where.port);
    auto reply = co_await schedule_.PerformanceGet<T>(request, path, 0, short_timeout());
    if (reply) {
        l.details.emplace_back(reply.value());
        co_return true;
    }
    if (reply.error().code == mad::errc::status) {
        a.lacks.template add<Asked>();
        co_return true;
    }
    failed(a, l.where, reply.error());
    co_return false;
}

// Returns whether RS-FEC is active; nullopt if the query failed. Stores the FEC mode in the reading. It is negotiated when a link comes up.
// Some devices do not reply to an unknown attribute at all, so only ports that announce PortInfoExtended are queried. Port 0 of a switch
// announces it for all ports.
task<std::optional<bool>> sweeper::impl::has_rs_fec(agent& a, const mad::IBPath& path, reading& l) {
    const auto& end = subnet_.end_port(l.where).info;
    const bool is_known = a.can->RS_FEC && end &&
                          end->capabilityMask & value(iba::CapabilityMask::IsCapabilityMask2Supported) &&
                          end->capabilityMask2 & value(iba::CapabilityMask2::IsPortInfoExtendedSupported);
    if (!is_known) co_return false;
    target& t = targets_[index_of(l)];
    const u64 downs = l.counters.counters[counter::linkDownedCounter];
    if (!t.FEC || t.FEC->linkDownedCounter != downs) {
        const auto reply = co_await schedule_.SubnGet<iba::smp::PortInfoExtended>(path, l.where.port, short_timeout());
        if (!reply && is_unsupported(reply.error())) co_return false; // although it announces PortInfoExtended
        if (!reply) {
            failed(a, l.where, reply.error());
            co_return std::nullopt;
        }
        constexpr u32 has_modes = 1; // the bit of its capabilityMask
        t.FEC = {downs, {}};
        if (reply.value().capabilityMask & has_modes) t.FEC->mode = reply.value().FECModeActive;
    }
    l.FEC = t.FEC->mode;
    co_return l.FEC == iba::FECMode::RS || l.FEC == iba::FECMode::RS2;
}

} // namespace comad::counters
