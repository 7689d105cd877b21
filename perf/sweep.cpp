// SPDX-License-Identifier: MIT
// sweep.cpp - who is asked for what, and in which order.
#include <comad/perf/sweep.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace comad::perf {

using coro::generator;
using coro::MADSchedule;
using coro::task;
using discovery::port_ref;
using discovery::subnet;
using iba::pm::PortCounters;
using iba::pm::PortCountersExt;

namespace {

constexpr u8 most_timeouts = 2; // in a row, before a PMA is given up: one may be an accident

bool is_known(const subnet& s, port_ref where) { return s.at(where).info.has_value(); }

gap::kind kind_of(const mad::mad_error& e) {
    switch (e.code) {
    case mad::errc::timed_out: return gap::kind::no_answer;
    case mad::errc::cancelled: return gap::kind::cancelled;
    case mad::errc::send_failed:
    case mad::errc::transport_failed: return gap::kind::send_failed;
    default: return gap::kind::error_reply;
    }
}

} // namespace

sweeper::sweeper(MADSchedule& schedule, const subnet& s, sweep_options options)
    : schedule_(schedule), subnet_(s), options_(std::move(options)) {
    options_.per_agent = std::max(options_.per_agent, 1u);
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        for (unsigned p = 1; p < s.nodes[n].ports.size(); ++p) {
            const port_ref where{n, static_cast<u8>(p)};
            if (options_.wants ? options_.wants(s, where) : is_known(s, where)) add_target(where);
        }
    }
    order_.resize(agents_.size());
}

// A switch answers for all its ports, of another node each port for itself.
void sweeper::add_target(port_ref where) {
    const auto index = static_cast<u32>(targets_.size());
    const bool is_same_switch =
        !targets_.empty() && targets_.back().node == where.node && subnet_.nodes[where.node].is_switch();
    targets_.push_back(where);
    if (!is_same_switch) {
        agent& a = agents_.emplace_back();
        const discovery::port& end = subnet_.end_port(where);
        if (end.info) a.path.DLID = end.info->LID;
        a.first = index;
        a.details = options_.details;
    }
    agents_.back().end = index + 1;
}

port_ref sweeper::place_of(const agent& a) const noexcept {
    const port_ref first = targets_[a.first];
    return subnet_.nodes[first.node].is_switch() ? port_ref{first.node, 0} : first;
}

// ---- a sweep -------------------------------------------------------------------------------------------------------

// Those with most to tell begin, so that they are not what is waited for in the end; the silent ones come last.
void sweeper::begin() {
    result_ = {};
    result_.begin = schedule_.now();
    result_.ports.reserve(targets_.size());
    for (const port_ref where : targets_) result_.ports.push_back({where, false, {}, {}});
    for (agent& a : agents_) {
        a.next = a.first;
        a.readers = 0;
        a.timeouts_in_a_row = 0;
        a.was_silent = a.is_silent;
        a.has_ended = a.path.DLID == iba::lid{};
        if (a.has_ended) result_.gaps.push_back({gap::kind::no_address, place_of(a), "it has no LID"});
    }
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(), [&](u32 x, u32 y) {
        const agent &a = agents_[x], &b = agents_[y];
        return a.was_silent != b.was_silent ? b.was_silent : a.end - a.first > b.end - b.first;
    });
}

task<sweep> sweeper::run() {
    begin();
    const auto sent = [&] { return schedule_.counters().sent + schedule_.counters().retried; };
    const u64 before = sent();
    const coro::sweep_report report = co_await schedule_.mqueue(readers());
    result_.MADs = sent() - before;
    result_.end = schedule_.now();
    result_.is_stopped |= report.stopped;
    if (result_.is_stopped) note_unread();
    std::stable_sort(result_.gaps.begin(), result_.gaps.end(), [](const gap& a, const gap& b) {
        return std::pair(a.where.node, a.where.port) < std::pair(b.where.node, b.where.port);
    });
    co_return std::move(result_);
}

// One reader for each PMA; when all have theirs, further ones where there is still something to read.
generator<task<void>> sweeper::readers() {
    std::vector<u32> more;
    for (const u32 i : order_) {
        agent& a = agents_[i];
        if (a.was_silent || a.has_ended) continue;
        if (a.end - a.first > 1 && options_.per_agent > 1) more.push_back(i);
        co_yield read(a);
    }
    while (!more.empty()) {
        bool has_started = false;
        for (std::size_t at = 0; at < more.size();) {
            agent& a = agents_[more[at]];
            if (a.has_ended || a.next == a.end || a.readers == options_.per_agent) {
                more[at] = more.back();
                more.pop_back();
                continue;
            }
            ++at;
            if (!a.can) continue; // its first reader asks
            has_started = true;
            co_yield read(a);
        }
        if (!has_started && !more.empty()) co_yield task<void>{};
    }
    for (const u32 i : order_)
        if (agents_[i].was_silent && !agents_[i].has_ended) co_yield read(agents_[i]);
}

task<void> sweeper::read(agent& a) {
    ++a.readers;
    if (!a.can) {
        const auto info = co_await schedule_.PerformanceGet<iba::ClassPortInfo>(a.path, 0, hurry());
        if (!info) {
            a.timeouts_in_a_row = most_timeouts; // who does not even say what it can is not there
            failed(a, {place_of(a), false, {}, {}}, info.error());
            if (!result_.is_stopped) a.has_ended = true;
            co_return;
        }
        a.can = abilities::of(info.value());
        a.is_silent = false;
    }
    while (!a.has_ended && !result_.is_stopped && a.next < a.end) {
        look& l = result_.ports[a.next++];
        co_await read_port(a, l);
    }
}

// ---- a port --------------------------------------------------------------------------------------------------------

namespace {

template <class T> T question_about(u8 port) {
    T request;
    request.portSelect = port;
    return request;
}

} // namespace

template <class T> task<std::optional<T>> sweeper::get(agent& a, look& l) {
    const T request = question_about<T>(l.where.port);
    auto reply = co_await schedule_.PerformanceGet<T>(request, a.path, 0, hurry());
    if (!reply) {
        failed(a, l, reply.error());
        co_return std::nullopt;
    }
    a.timeouts_in_a_row = 0;
    a.is_silent = false;
    co_return reply.value();
}

task<void> sweeper::read_port(agent& a, look& l) {
    if (a.can->extended) {
        const auto wide = co_await get<PortCountersExt>(a, l);
        if (!wide) co_return;
        l.counters.counters.take(*wide, *a.can);
    }
    if (!a.can->additional) {
        const auto narrow = co_await get<PortCounters>(a, l);
        if (!narrow) co_return;
        l.counters.counters.take(*narrow, *a.can);
    }
    l.counters.at = schedule_.now();
    l.is_told = true;
    using reader = task<void> (sweeper::*)(agent&, look&);
    static constexpr auto detail_readers = []<std::size_t... I>(std::index_sequence<I...>) {
        return std::array<reader, sizeof...(I)>{&sweeper::read_detail<I>...};
    }(std::make_index_sequence<std::tuple_size_v<detail_types>>{});
    for (unsigned i = 0; i < detail_readers.size(); ++i)
        if (a.details.has(i) && !a.has_ended) co_await (this->*detail_readers[i])(a, l);
    if (options_.on_port) options_.on_port(l);
}

// Which of them a PMA has it says nowhere but in the status of its reply: then that one is not asked for again.
template <std::size_t Index> task<void> sweeper::read_detail(agent& a, look& l) {
    using T = std::tuple_element_t<Index, detail_types>;
    const T request = question_about<T>(l.where.port);
    auto reply = co_await schedule_.PerformanceGet<T>(request, a.path, 0, hurry());
    if (reply) {
        l.details.emplace_back(reply.value());
        co_return;
    }
    if (reply.error().code == mad::errc::status) a.details.remove(Index);
    else failed(a, l, reply.error());
}

// ---- what goes wrong -----------------------------------------------------------------------------------------------

void sweeper::failed(agent& a, const look& l, const mad::mad_error& e) {
    if (e.code == mad::errc::cancelled) { // of that it is told once, at the end
        result_.is_stopped = true;
        return;
    }
    if (a.has_ended) return;
    if (e.code != mad::errc::timed_out) {
        result_.gaps.push_back({kind_of(e), l.where, to_string(e)});
        return;
    }
    a.is_silent = true;
    if (++a.timeouts_in_a_row < most_timeouts && !a.was_silent) {
        result_.gaps.push_back({gap::kind::no_answer, l.where, to_string(e)});
        return;
    }
    a.has_ended = true;
    result_.gaps.push_back({a.was_silent ? gap::kind::was_silent : gap::kind::no_answer, place_of(a), to_string(e)});
}

void sweeper::note_unread() {
    for (const agent& a : agents_) {
        if (a.has_ended) continue;
        const auto is_unread = [](const look& l) { return !l.is_told; };
        const auto from = result_.ports.begin();
        if (std::any_of(from + a.first, from + a.end, is_unread))
            result_.gaps.push_back({gap::kind::cancelled, place_of(a), "stopped before all was read"});
    }
}

} // namespace comad::perf
