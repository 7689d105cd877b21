// SPDX-License-Identifier: MIT
// sweep_clear.cpp - clears the counters that a sweep has read, and reads them again.
#include "detail_request.hpp"
#include "sweeper_impl.hpp"
#include <comad/coro/detail/uncancelled.hpp>
#include <comad/counters/detail/counter_fields.hpp>
#include <comad/counters/detail/kept_counters.hpp>
#include <comad/iba/detail/bits.hpp>
#include <comad/mad/detail/may_have_acted.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace comad::counters {

using coro::task;
using discovery::failure_kind;
using discovery::port_ref;
using iba::pm::PortCounters;
using iba::pm::PortCountersExt;

namespace {

/// The longest time in which a cancelled sweep checks what it has cleared.
constexpr mad::duration read_back_limit = std::chrono::milliseconds(500);

/// Returns the failure for counters that could not be read after the Set, or whose Set had no reply.
discovery::failure unknown_if_cleared(discovery::location where, const mad::mad_error& e) {
    const std::string unknown = "unknown whether the counters were cleared: ";
    return {failure_kind::not_cleared, std::move(where), unknown + to_string(e), unknown + cause_text(e)};
}

/// Returns the names and values of an attribute's counters that are not lower than before.
std::string kept_fields(const iba::record_info& info, std::span<const u8> before, std::span<const u8> after) {
    std::string text;
    for_each_counter_field(info, [&](const counter_field& f) {
        const u64 was = iba::bits_at(before.data(), f.offset(), f.width()),
                  is = iba::bits_at(after.data(), f.offset(), f.width());
        if (!was_cleared(was, is)) text += (text.empty() ? "" : ", ") + kept_text(f.name(), {0, was, is});
    });
    return text;
}

} // namespace

bool sweeper::impl::clears_at_once(const agent& a) const noexcept { return has_to_clear() && takes_all_ports(a); }

// Returns the attributes to read. A sweep that only clears needs each attribute that it clears, to compare it later.
attributes_to_read sweeper::impl::attributes_of(const agent& a, counter_set wanted) const noexcept {
    attributes_to_read which = attributes_with(wanted, *a.can);
    if (options_.only_clears && wanted.meets(narrow_counters(*a.can))) which.narrow = true;
    return which;
}

// Clears the counters of a PMA. If some of its ports could not be read, clears only the others.
task<void> sweeper::impl::clear_node(agent& a) {
    const port_ref first = targets_[a.first].where;
    const auto begin = result_.ports.begin() + a.first, end = result_.ports.begin() + a.end;
    if (a.is_summed || std::all_of(begin, end, [](const reading& l) { return l.valid; })) {
        co_await clear(a, first, all_ports);
        co_return;
    }
    for (auto l = begin; l != end && !a.has_ended; ++l)
        if (l->valid) co_await clear(a, l->where, l->where.port);
}

task<void> sweeper::impl::clear(agent& a, port_ref where, u8 select) {
    a.cleared = select == all_ports ? a.end - a.first : a.cleared + 1;
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
    if (failure && !mad::may_have_acted(*failure)) not_cleared(a, where, select, *failure);
    else co_await check_all_cleared(a, where, select, failure);
    using clearer = task<void> (impl::*)(agent&, port_ref, const mad::IBPath&, u8);
    static constexpr auto detail_clearers = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<clearer, sizeof...(I)>{&impl::clear_detail<I>...};
    }(std::make_index_sequence<detail_count>{});
    for (unsigned i = 0; i < detail_clearers.size(); ++i)
        if (options_.clears_details.has(i) && !a.lacks.has(i))
            co_await (this->*detail_clearers[i])(a, where, *path, select);
}

// Reads each port that was read before the Set, or their sum.
task<void> sweeper::impl::check_all_cleared(agent& a, port_ref where, u8 select, const mad::mad_error* set_error) {
    // A Set without a reply may have cleared the counters at any time since they were read.
    const std::optional<mad::time_point> replied = set_error ? std::nullopt : std::optional(schedule_.now());
    std::vector<const reading*> before;
    if (select == all_ports && a.is_summed) {
        const auto sum = std::ranges::find(result_.sums, where.node, [](const reading& l) { return l.where.node; });
        if (sum != result_.sums.end()) before.push_back(&*sum);
    } else {
        for (u32 i = a.first; i < a.end; ++i)
            if (select == all_ports || targets_[i].where == where) before.push_back(&result_.ports[i]);
    }
    std::vector<port_ref> done;
    for (const reading* const l : before) {
        const port_ref place = l->where.port == all_ports ? place_of(a) : l->where;
        const cleared found = co_await check_cleared(a, *l, place, set_error, replied.value_or(l->counters.at));
        if (found == cleared::yes) done.push_back(l->where);
        if (found == cleared::unknown) break; // the others cannot be read either
    }
    if (options_.clears.empty()) co_return;
    if (select == all_ports && done.size() == before.size()) done.assign(1, port_ref{where.node, all_ports});
    result_.cleared.insert(result_.cleared.end(), done.begin(), done.end());
}

std::vector<u64> sweeper::impl::values_to_clear(const counter_values& values, const counter_values& narrow) const {
    std::vector<u64> all;
    for_each_counter([&](counter c) { all.push_back(options_.clears.has(c) ? values[c] : 0); });
    if (!options_.only_clears) return all;
    for_each_counter([&](counter c) {
        // The value in PortCounters is a second value of this counter.
        const bool is_another = values.has(c) && values.width(c) == 64;
        all.push_back(options_.clears.has(c) && is_another ? narrow[c] : 0);
    });
    return all;
}

task<mad::result<std::vector<u64>>> sweeper::impl::read_again(const agent& a, const reading& l, mad::IBPath path) {
    const attributes_to_read which = attributes_of(a, options_.clears);
    BOOST_OUTCOME_CO_TRY(const auto replies,
                         co_await read_attributes(schedule_, path, l.where.port, which, short_timeout()));
    const counter_values narrow = values_of({.narrow = replies.narrow, .wide = {}}, *a.can);
    co_return values_to_clear(values_of(replies, *a.can), narrow);
}

// `kept` contains indices of values_to_clear().
std::string sweeper::impl::text_of(const reading& l, const std::vector<kept_counter>& kept) const {
    std::string text;
    std::string_view attribute;
    for (const kept_counter& k : kept) {
        const auto c = static_cast<counter>(k.index % counter_count);
        const bool is_wide = k.index < counter_count && l.counters.counters.width(c) == 64;
        const std::string_view here = is_wide ? "PortCountersExtended" : "PortCounters";
        if (!text.empty()) text += ", ";
        if (options_.only_clears && here != std::exchange(attribute, here)) text += fmt::format("{} ", here);
        text += kept_text(name_of(c), k);
    }
    return text;
}

// Checks whether counters are lower after the Set. If all counters were 0 before, their values after a Set with a reply prove nothing and
// are not read.
task<sweeper::impl::cleared> sweeper::impl::check_cleared(agent& a, const reading& l, port_ref place,
                                                          const mad::mad_error* set_error, mad::time_point cleared_at) {
    if (set_error && set_error->code == mad::errc::cancelled) result_.is_stopped = true;
    const bool is_sum = l.where.port == all_ports;
    const auto path = path_to(is_sum ? targets_[a.first].where : l.where);
    if (!l.valid || !path) co_return cleared::no;
    const counter_values narrow = is_sum || narrow_.empty() ? counter_values() : narrow_[index_of(l)];
    const std::vector<u64> before = values_to_clear(l.counters.counters, narrow);
    const bool has_counted = std::ranges::any_of(before, [](u64 v) { return v != 0; });
    if (!has_counted && !set_error) {
        note_cleared(l, {}, cleared_at);
        co_return cleared::yes;
    }
    const counters_reader reads = [&] { return read_again(a, l, *path); };
    const std::function<task<mad::result<std::vector<kept_counter>>>()> finds = [&] {
        return find_kept(before, reads);
    };
    auto finding = coro::uncancelled<std::vector<kept_counter>>(schedule_, read_back_limit, finds);
    const auto kept = co_await std::move(finding);
    if (!kept) {
        const port_ref all = a.end - a.first > 1 && node_of(a).is_switch() && clears_at_once(a) ? place_of(a) : place;
        result_.failures.push_back(unknown_if_cleared(subnet_.location_of(all), set_error ? *set_error : kept.error()));
        co_return cleared::unknown;
    }
    note_cleared(l, kept.value(), cleared_at);
    if (kept.value().empty()) co_return cleared::yes;
    std::string text = text_of(l, kept.value());
    // After a Set without a reply, traffic counters may have counted as much again.
    const bool is_traffic = std::ranges::none_of(
        kept.value(), [](const kept_counter& k) { return is_error(static_cast<counter>(k.index % counter_count)); });
    if (set_error) text += "; " + cause_text(*set_error);
    const std::string what = set_error && is_traffic ? "unknown whether the counters were cleared" : "not cleared";
    result_.failures.push_back({failure_kind::not_cleared, subnet_.location_of(place), what + ": " + text});
    co_return cleared::no;
}

// Stores what the counters of a port hold after a Set. The Set wrote 0, and not what the read after it returned: a later sweep must also
// count what the port has counted between the two. `kept` contains indices of values_to_clear().
void sweeper::impl::note_cleared(const reading& l, const std::vector<kept_counter>& kept, mad::time_point cleared_at) {
    if (options_.only_clears || l.where.port == all_ports) return; // no later sweep is compared with it
    const counter_values& was = l.counters.counters;
    sample after = l.counters;
    counter_set zeros;
    for_each_counter([&](counter c) {
        const auto is_it = [c](const kept_counter& k) { return k.index == static_cast<std::size_t>(c); };
        if (!options_.clears.has(c) || !was.has(c) || std::ranges::any_of(kept, is_it)) return;
        after.counters.set(c, 0, was.width(c) == 64);
        zeros.add(c);
    });
    if (zeros.empty()) return;
    if (zeros.meets(counters_that(is_data))) after.at = cleared_at;
    // When the counter has its old value again, the link was down in between.
    if (zeros.has(counter::linkDownedCounter) && was[counter::linkDownedCounter] != 0)
        targets_[index_of(l)].FEC.reset();
    result_.after_clear.push_back({index_of(l), after});
}

template <std::size_t Index>
task<void> sweeper::impl::clear_detail(agent& a, port_ref where, const mad::IBPath& path, u8 select) {
    using T = std::tuple_element_t<Index, detail_types>;
    T zeros = request_for<T>(select);
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
        if (before == l.details.end()) continue; // not read before the Set, so it cannot be compared
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
            break; // the others cannot be read either
        } else if (!kept.empty()) {
            result_.failures.push_back({failure_kind::not_cleared, subnet_.location_of(l.where),
                                        fmt::format("not cleared: {} {}", info.name, kept)});
        }
    }
    if (failure && !is_compared) result_.failures.push_back(unknown_if_cleared(subnet_.location_of(written), *failure));
}

template <class T> task<mad::result<T>> sweeper::impl::read_detail_again(port_ref where) {
    const auto path = path_to(where);
    const T request = request_for<T>(where.port);
    co_return co_await schedule_.PerformanceGet<T>(request, *path, 0, short_timeout());
}

sweep after_clears(sweep s) {
    for (const port_after_clear& p : s.after_clear) s.ports[p.port].counters = p.counters;
    s.after_clear.clear();
    return s;
}

} // namespace comad::counters
