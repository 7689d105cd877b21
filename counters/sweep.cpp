// SPDX-License-Identifier: MIT
// sweep.cpp - who is asked, in which order, and what becomes of those who do not answer.
#include <comad/counters/sweep.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace comad::counters {

using coro::generator;
using coro::MADSchedule;
using coro::task;
using discovery::failure_kind;
using discovery::kind_of;
using discovery::port_ref;
using discovery::subnet;

namespace {

constexpr u8 most_timeouts = 2; // in a row, before a PMA is given up: one may be an accident

bool has_counters(const discovery::node& n, unsigned port) {
    if (port == all_ports) return false; // a PMA would tell the sum
    return port != 0 || (n.switch_info && n.switch_info->enhancedPort0);
}

} // namespace

sweeper::sweeper(MADSchedule& schedule, const subnet& s, sweep_options options)
    : schedule_(schedule), subnet_(s), options_(std::move(options)) {
    options_.per_agent = std::max(options_.per_agent, 1u);
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        for (unsigned p = 0; p < s.nodes[n].ports.size(); ++p) {
            const port_ref where{n, static_cast<u8>(p)};
            if (!has_counters(s.nodes[n], p)) continue;
            if (options_.wants ? options_.wants(s, where) : s.at(where).info.has_value()) add_target(where);
        }
    }
    order_.resize(agents_.size());
}

void sweeper::add_target(port_ref where) {
    const auto index = static_cast<u32>(targets_.size());
    if (targets_.empty() || targets_.back().where.node != where.node) agents_.emplace_back().first = index;
    targets_.push_back({where, {}});
    agents_.back().end = index + 1;
}

/// Of a switch all ports have the LID of port 0. Nothing: it has none.
std::optional<mad::IBPath> sweeper::path_to(port_ref where) const {
    const discovery::port& end = subnet_.end_port(where);
    if (!end.info || end.info->LID == iba::lid{}) return std::nullopt;
    mad::IBPath path;
    path.DLID = end.info->LID;
    if (!options_.complete_path) return path;
    const bool is_switch = subnet_.nodes[where.node].is_switch();
    return options_.complete_path(path, is_switch ? port_ref{where.node, 0} : where);
}

port_ref sweeper::place_of(const agent& a) const noexcept {
    const port_ref first = targets_[a.first].where;
    return a.end - a.first == 1 && !node_of(a).is_switch() ? first : port_ref{first.node, 0};
}

bool sweeper::has_all_ports(const agent& a) const noexcept {
    const unsigned ports = node_of(a).info.numPorts + (has_counters(node_of(a), 0) ? 1u : 0u);
    return a.end - a.first == ports;
}

// ---- a sweep -------------------------------------------------------------------------------------------------------

// Those with most to tell begin, so that they are not what is waited for in the end; the silent ones come last.
void sweeper::begin() {
    result_ = {};
    result_.begin = schedule_.now();
    result_.ports.reserve(targets_.size());
    if (options_.is_too_much) result_.sums.reserve(agents_.size()); // they stay where they are
    for (const target& t : targets_) result_.ports.push_back({t.where, false, {}, {}});
    for (agent& a : agents_) {
        a.next = a.first;
        a.readers = a.reading = 0;
        a.was_silent = a.is_silent;
        a.is_open = a.is_summed = a.has_ended = false;
        for (u32 i = a.first; i < a.end && !a.has_ended; ++i) {
            if (path_to(targets_[i].where)) continue;
            a.has_ended = node_of(a).is_switch();
            const port_ref where = a.has_ended ? place_of(a) : targets_[i].where;
            result_.failures.push_back({failure_kind::no_address, subnet_.location_of(where), "the port has no LID"});
        }
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
    const coro::mqueue_report report = co_await schedule_.mqueue(readers());
    result_.mads = sent() - before;
    result_.end = schedule_.now();
    result_.is_stopped |= report.stopped;
    if (result_.is_stopped) note_unread();
    const auto by_port = [](port_ref r) { return std::pair(r.node, r.port); };
    std::ranges::stable_sort(result_.failures, {},
                             [&](const discovery::failure& f) { return by_port(subnet_.find(f.where)); });
    std::ranges::sort(result_.sums, {}, [&](const reading& r) { return by_port(r.where); });
    co_return std::move(result_);
}

// One reader for each node; when all have theirs, further ones where there is still something to read.
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
            if (!a.is_open || a.is_silent) continue; // its first reader is not that far, or waits
            has_started = true;
            co_yield read(a);
        }
        if (!has_started && !more.empty()) co_yield task<void>{};
    }
    for (const u32 i : order_)
        if (agents_[i].was_silent && !agents_[i].has_ended) co_yield read(agents_[i]);
}

task<void> sweeper::read(agent& a) {
    if (a.has_ended || a.next == a.end) co_return;
    ++a.readers;
    ++a.reading;
    if (!a.can) co_await ask_capabilities(a);
    if (!a.is_open && a.can && options_.is_too_much && a.can->all_ports && a.end - a.first > 1 && has_all_ports(a))
        co_await read_sum(a);
    a.is_open = true;
    while (!a.has_ended && !result_.is_stopped && a.next < a.end) {
        reading& l = result_.ports[a.next++];
        if (const auto path = path_to(l.where)) co_await read_port(a, *path, l);
    }
    if (--a.reading == 0 && clears_at_once(a) && !result_.is_stopped) co_await clear_node(a);
}

// ---- what goes wrong -----------------------------------------------------------------------------------------------

void sweeper::failed(agent& a, port_ref where, const mad::mad_error& e) {
    if (e.code == mad::errc::cancelled) { // of that it is told once, at the end
        result_.is_stopped = true;
        return;
    }
    if (a.has_ended) return;
    const bool is_sum = where.port == all_ports; // then its ports are asked
    if (e.code != mad::errc::timed_out) {
        if (is_sum) a.can->all_ports = false;
        else result_.failures.push_back({kind_of(e), subnet_.location_of(where), to_string(e), cause_text(e)});
        return;
    }
    a.is_silent = true;
    const bool is_given_up = ++a.timeouts_in_a_row >= most_timeouts || a.was_silent;
    // The ports of a switch answer with one voice, those of another node each with its own.
    a.has_ended = is_given_up && node_of(a).is_switch();
    if (is_sum && !a.has_ended) return;
    const failure_kind kind = a.was_silent ? failure_kind::unresponsive : failure_kind::timeout;
    result_.failures.push_back(
        {kind, subnet_.location_of(a.has_ended ? place_of(a) : where), to_string(e), cause_text(e)});
}

void sweeper::not_cleared(const agent& a, port_ref where, u8 select, const mad::mad_error& e) {
    if (e.code == mad::errc::cancelled) result_.is_stopped = true;
    const port_ref place = select == all_ports ? place_of(a) : where;
    const failure_kind kind = e.code == mad::errc::cancelled ? failure_kind::not_cleared : kind_of(e);
    result_.failures.push_back(
        {kind, subnet_.location_of(place), "not cleared: " + to_string(e), "not cleared: " + cause_text(e)});
}

void sweeper::note_unread() {
    for (const agent& a : agents_) {
        if (a.has_ended) continue;
        const auto is_unread = [](const reading& l) { return !l.is_told; };
        const auto from = result_.ports.begin();
        if (std::any_of(from + a.first, from + a.end, is_unread))
            result_.failures.push_back(
                {failure_kind::cancelled, subnet_.location_of(place_of(a)), "stopped before all counters were read"});
    }
}

} // namespace comad::counters
