// SPDX-License-Identifier: MIT
// sweep_port.cpp - what one node is asked: capabilities, counters, details, that it clears them.
#include <comad/coro/detail/uncancelled.hpp>
#include <comad/counters/detail/cleared.hpp>
#include <comad/counters/detail/read_counters.hpp>
#include <comad/counters/sweep.hpp>
#include <comad/iba/detail/bits.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/acted.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace comad::counters {

using coro::task;
using discovery::port_ref;
using iba::pm::PortCounters;
using iba::pm::PortCountersExt;
using iba::pm::PortExtendedSpeedsCounters;
using iba::pm::PortExtendedSpeedsCountersRSFEC;

namespace {

constexpr std::size_t detail_count = std::tuple_size_v<detail_types>;
/// How long a cancelled sweep takes to check what it has cleared.
constexpr mad::duration read_back_limit = std::chrono::milliseconds(500);

template <class T> T question_about(u8 port) {
    T request;
    request.portSelect = port;
    return request;
}

/// Of counters that were to be cleared, and could not be read after the Set or were not answered.
discovery::failure unknown_if_cleared(discovery::location where, const mad::mad_error& e) {
    const std::string unknown = "unknown whether the counters were cleared: ";
    return {failure_kind::not_cleared, std::move(where), unknown + to_string(e), unknown + cause_text(e)};
}

/// Fields that are not lower than they were, with their values.
std::string kept_fields(const iba::record_info& info, std::span<const u8> before, std::span<const u8> after) {
    std::string names;
    for (const iba::row_info& row : info.rows) {
        const std::string_view name = row.name;
        if (row.is_reserved || name == "opCode" || name.ends_with("Select") || name.ends_with("Select2")) continue;
        for (unsigned off = row.off; off < row.off + row.bits(); off += row.width) {
            const u64 was = iba::bits_at(before.data(), off, row.width),
                      is = iba::bits_at(after.data(), off, row.width);
            if (!is_lower(was, is))
                names += fmt::format("{}{} is {}, was {}", names.empty() ? "" : ", ", name, is, was);
        }
    }
    return names;
}

} // namespace

// ---- reading -------------------------------------------------------------------------------------------------------

// All PMAs of a node can do the same, so one is asked: the first that answers.
task<void> sweeper::ask_capabilities(agent& a) {
    while (!a.can && !a.has_ended && !result_.is_stopped && a.next < a.end) {
        const port_ref where = targets_[a.next].where;
        const auto path = path_to(where);
        if (!path) {
            ++a.next;
            continue;
        }
        const auto info = co_await schedule_.PerformanceGet<iba::ClassPortInfo>(*path, 0, hurry());
        if (info) {
            a.can = capabilities::of(info.value());
            a.is_silent = false;
            co_return;
        }
        const bool is_switch = node_of(a).is_switch();
        failed(a, is_switch ? place_of(a) : where, info.error());
        if (result_.is_stopped) co_return;
        a.has_ended = is_switch || ++a.next == a.end; // who does not even say what it can is not there
    }
}

// Nothing more is asked if there is nothing in it.
task<void> sweeper::read_sum(agent& a) {
    reading& sum = result_.sums.emplace_back();
    sum.where = {targets_[a.first].where.node, all_ports};
    const auto path = path_to(targets_[a.first].where);
    if (!path) co_return;
    co_await read_port(a, *path, sum);
    if (sum.is_told && !options_.is_too_much(sum)) a.is_summed = a.has_ended = true; // else failed() may have ended it
}

task<void> sweeper::read_port(agent& a, const mad::IBPath& path, reading& l) {
    const auto told = co_await read_counters(schedule_, path, *a.can, l.where.port, options_.counters, hurry());
    if (!told) {
        failed(a, l.where, told.error());
        co_return;
    }
    a.timeouts_in_a_row = 0;
    a.is_silent = false;
    l.counters.counters = told.value();
    l.counters.at = schedule_.now();
    l.is_told = true;
    using reader = task<bool> (sweeper::*)(agent&, const mad::IBPath&, reading&);
    static constexpr auto detail_readers = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<reader, sizeof...(I)>{&sweeper::read_detail<I>...};
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

template <std::size_t Index> task<bool> sweeper::read_detail(agent& a, const mad::IBPath& path, reading& l) {
    using T = std::tuple_element_t<Index, detail_types>;
    if constexpr (std::is_same_v<T, PortExtendedSpeedsCounters>) {
        if (l.where.port == all_ports && a.can->RS_FEC) co_return true; // ports that count other things have no sum
        const auto is_rs = co_await has_rs_fec(a, path, l);
        if (!is_rs) co_return false;
        if (*is_rs) co_return co_await read_as<PortExtendedSpeedsCountersRSFEC, T>(a, path, l);
    }
    co_return co_await read_as<T, T>(a, path, l);
}

// Which details a PMA has it says nowhere but in the status of its reply: then that one is not asked for again.
template <class T, class Asked> task<bool> sweeper::read_as(agent& a, const mad::IBPath& path, reading& l) {
    const T request = question_about<T>(l.where.port);
    auto reply = co_await schedule_.PerformanceGet<T>(request, path, 0, hurry());
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

// The mode is agreed upon when a link comes up. Some devices would not even refuse a question that they do not know, so
// it is for those that promise to know it; of a switch port 0 promises for all.
task<std::optional<bool>> sweeper::has_rs_fec(agent& a, const mad::IBPath& path, const reading& l) {
    const auto& end = subnet_.end_port(l.where).info;
    const bool is_known = a.can->RS_FEC && end &&
                          end->capabilityMask & value(iba::CapabilityMask::IsCapabilityMask2Supported) &&
                          end->capabilityMask2 & value(iba::CapabilityMask2::IsPortInfoExtendedSupported);
    if (!is_known) co_return false;
    target& t = targets_[static_cast<std::size_t>(&l - result_.ports.data())];
    const u64 downs = l.counters.counters[counter::linkDownedCounter];
    if (!t.FEC || t.FEC->linkDownedCounter != downs) {
        const auto told = co_await schedule_.SubnGet<iba::smp::PortInfoExtended>(path, l.where.port, hurry());
        if (!told && is_unsupported(told.error())) co_return false; // it promised too much
        if (!told) {
            failed(a, l.where, told.error());
            co_return std::nullopt;
        }
        constexpr u32 has_modes = 1; // in its capabilityMask
        const iba::FECMode mode = told.value().FECModeActive;
        const bool is_told = told.value().capabilityMask & has_modes;
        t.FEC = {downs, is_told && (mode == iba::FECMode::RS || mode == iba::FECMode::RS2)};
    }
    co_return t.FEC->is_rs;
}

// ---- clearing ------------------------------------------------------------------------------------------------------

bool sweeper::clears_at_once(const agent& a) const noexcept {
    return has_to_clear() && a.can && a.can->all_ports && a.end - a.first > 1 && has_all_ports(a);
}

// What was not read is not lost: then those ports are cleared that were.
task<void> sweeper::clear_node(agent& a) {
    const port_ref first = targets_[a.first].where;
    const auto begin = result_.ports.begin() + a.first, end = result_.ports.begin() + a.end;
    if (a.is_summed || std::all_of(begin, end, [](const reading& l) { return l.is_told; })) {
        co_await clear(a, first, all_ports);
        co_return;
    }
    for (auto l = begin; l != end && !a.has_ended; ++l)
        if (l->is_told) co_await clear(a, l->where, l->where.port);
}

task<void> sweeper::clear(agent& a, port_ref where, u8 select) {
    const auto path = path_to(where);
    if (!path) co_return;
    const clearing zeros = clearing_of(options_.clears, *a.can, select);
    std::optional<mad::mad_error> set_error;
    if (zeros.narrow) {
        auto reply = co_await schedule_.PerformanceSet<PortCounters>(*zeros.narrow, *path);
        if (!reply) set_error = std::move(reply.error());
    }
    if (zeros.wide) {
        auto reply = co_await schedule_.PerformanceSet<PortCountersExt>(*zeros.wide, *path);
        if (!reply && (!set_error || mad::may_have_acted(reply.error()))) set_error = std::move(reply.error());
    }
    const mad::mad_error* const failure = set_error ? &*set_error : nullptr;
    if (failure && !mad::may_have_acted(*failure)) {
        not_cleared(a, where, select, *failure);
    } else if (select != all_ports) {
        const auto is_it = [&](const reading& l) { return l.where == where; };
        const auto l = std::find_if(result_.ports.begin() + a.first, result_.ports.begin() + a.end, is_it);
        (void)co_await check_cleared(a, *l, where, failure);
    } else {
        const auto is_sum = [&](const reading& l) { return l.where.node == where.node; };
        const auto sum = std::find_if(result_.sums.begin(), result_.sums.end(), is_sum);
        bool goes_on = true;
        if (a.is_summed && sum != result_.sums.end()) goes_on = co_await check_cleared(a, *sum, place_of(a), failure);
        for (u32 i = a.first; i < a.end && goes_on && !a.is_summed; ++i)
            goes_on = co_await check_cleared(a, result_.ports[i], result_.ports[i].where, failure);
    }
    using clearer = task<void> (sweeper::*)(agent&, port_ref, const mad::IBPath&, u8);
    static constexpr auto detail_clearers = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<clearer, sizeof...(I)>{&sweeper::clear_detail<I>...};
    }(std::make_index_sequence<detail_count>{});
    for (unsigned i = 0; i < detail_clearers.size(); ++i)
        if (options_.clears_details.has(i) && !a.lacks.has(i))
            co_await (this->*detail_clearers[i])(a, where, *path, select);
}

// Where nothing was counted a Set that was answered shows nothing. False: it could not be read, and others there cannot either.
task<bool> sweeper::check_cleared(agent& a, const reading& l, port_ref place, const mad::mad_error* set_error) {
    if (set_error && set_error->code == mad::errc::cancelled) result_.is_stopped = true;
    bool has_counted = false;
    for_each_counter([&](counter c) { has_counted |= options_.clears.has(c) && l.counters.counters[c] != 0; });
    const bool is_sum = l.where.port == all_ports;
    const auto path = path_to(is_sum ? targets_[a.first].where : l.where);
    if (!l.is_told || !path || (!has_counted && !set_error)) co_return true;
    const std::function<task<mad::result<kept_counters>>()> reads = [&] {
        return read_kept_counters(schedule_, *path, *a.can, l.where.port, options_.clears, l.counters.counters,
                                  hurry());
    };
    auto reading_again = coro::uncancelled<kept_counters>(schedule_, read_back_limit, reads);
    const auto kept = co_await std::move(reading_again);
    if (!kept) {
        const port_ref all = a.end - a.first > 1 && node_of(a).is_switch() && clears_at_once(a) ? place_of(a) : place;
        result_.failures.push_back(unknown_if_cleared(subnet_.location_of(all), set_error ? *set_error : kept.error()));
        co_return false;
    }
    const auto& [which, now] = kept.value();
    std::string names;
    bool is_traffic = true; // after a Set without an answer it may have counted as much again
    for_each_counter([&](counter c) {
        if (!which.has(c)) return;
        is_traffic &= !is_error(c);
        names +=
            fmt::format("{}{} is {}, was {}", names.empty() ? "" : ", ", name_of(c), now[c], l.counters.counters[c]);
    });
    if (names.empty()) co_return true;
    if (set_error) names += "; " + cause_text(*set_error);
    const std::string what = set_error && is_traffic ? "unknown whether the counters were cleared" : "not cleared";
    result_.failures.push_back({failure_kind::not_cleared, subnet_.location_of(place), what + ": " + names});
    co_return true;
}

template <std::size_t Index>
task<void> sweeper::clear_detail(agent& a, port_ref where, const mad::IBPath& path, u8 select) {
    using T = std::tuple_element_t<Index, detail_types>;
    T zeros = question_about<T>(select);
    zeros.counterSelect = static_cast<decltype(zeros.counterSelect)>(~u64{0});
    const auto reply = co_await schedule_.PerformanceSet<T>(zeros, path);
    const mad::mad_error* const failure = reply ? nullptr : &reply.error();
    if (failure && !mad::may_have_acted(*failure)) {
        if (failure->code == mad::errc::status) a.lacks.template add<T>();
        else not_cleared(a, where, select, *failure);
        co_return;
    }
    const port_ref written = select == all_ports ? place_of(a) : where;
    if (failure && failure->code == mad::errc::cancelled) result_.is_stopped = true;
    bool is_compared = false;
    for (u32 i = a.first; i < a.end; ++i) {
        const reading& l = result_.ports[i];
        if (select != all_ports && l.where != where) continue;
        const auto is_it = [](const port_detail& d) { return std::holds_alternative<T>(d); };
        const auto before = std::find_if(l.details.begin(), l.details.end(), is_it);
        if (before == l.details.end()) continue; // it was not read: nothing can be compared
        is_compared = true;
        const std::function<task<mad::result<T>>()> reads = [&] { return read_detail_again<T>(l.where); };
        auto reading_again = coro::uncancelled<T>(schedule_, read_back_limit, reads);
        const auto after = co_await std::move(reading_again);
        const iba::record_info& info = iba::info_of<T>;
        const std::string kept =
            after ? kept_fields(info, iba::encode(std::get<T>(*before)), iba::encode(after.value())) : std::string();
        if (!after) {
            result_.failures.push_back(
                unknown_if_cleared(subnet_.location_of(written), failure ? *failure : after.error()));
            break; // others there cannot be read either
        } else if (!kept.empty()) {
            result_.failures.push_back({failure_kind::not_cleared, subnet_.location_of(l.where),
                                        fmt::format("not cleared: {} {}", info.name, kept)});
        }
    }
    if (failure && !is_compared) result_.failures.push_back(unknown_if_cleared(subnet_.location_of(written), *failure));
}

template <class T> task<mad::result<T>> sweeper::read_detail_again(port_ref where) {
    const auto path = path_to(where);
    const T request = question_about<T>(where.port);
    co_return co_await schedule_.PerformanceGet<T>(request, *path, 0, hurry());
}

} // namespace comad::counters
