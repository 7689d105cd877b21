// SPDX-License-Identifier: MIT
// sweep.cpp - schedules the nodes of a sweep, and reports failures.
#include "sweeper_impl.hpp"

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

constexpr u8 most_timeouts = 2; // consecutive timeouts before a PMA is given up: a single one may be accidental

bool has_counters(const discovery::node& n, unsigned port) {
    if (port == all_ports) return false; // a PMA would return the sum
    return port != 0 || (n.switch_info && n.switch_info->enhancedPort0);
}

} // namespace

sweeper::impl::impl(MADSchedule& schedule, const subnet& s, sweep_options options)
    : schedule_(schedule), subnet_(s), options_(std::move(options)) {
    options_.per_agent = std::max(options_.per_agent, 1u);
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        for (unsigned p = 0; p < s.nodes[n].ports.size(); ++p) {
            const port_ref where{n, static_cast<u8>(p)};
            if (!has_counters(s.nodes[n], p)) continue;
            if (options_.wants ? options_.wants(s, where) : s.at(where).info.has_value()) add_target(where);
        }
    }
    if (options_.only_clears) {
        options_.counters = options_.clears;
        narrow_.resize(targets_.size());
    }
    order_.resize(agents_.size());
}

void sweeper::impl::add_target(port_ref where) {
    const auto index = static_cast<u32>(targets_.size());
    if (targets_.empty() || targets_.back().where.node != where.node) agents_.emplace_back().first = index;
    targets_.push_back({where, {}});
    agents_.back().end = index + 1;
}

/// Returns the path to the PMA of a port; nullopt if the port has no LID. All ports of a switch have the LID of port 0.
std::optional<mad::IBPath> sweeper::impl::path_to(port_ref where) const {
    const discovery::port& end = subnet_.end_port(where);
    if (!end.info || end.info->LID == iba::lid{}) return std::nullopt;
    mad::IBPath path;
    path.DLID = end.info->LID;
    if (!options_.complete_path) return path;
    const bool is_switch = subnet_.nodes[where.node].is_switch();
    return options_.complete_path(path, is_switch ? port_ref{where.node, 0} : where);
}

port_ref sweeper::impl::place_of(const agent& a) const noexcept {
    const port_ref first = targets_[a.first].where;
    return a.end - a.first == 1 && !node_of(a).is_switch() ? first : port_ref{first.node, 0};
}

bool sweeper::impl::has_all_ports(const agent& a) const noexcept {
    const unsigned ports = node_of(a).info.numPorts + (has_counters(node_of(a), 0) ? 1u : 0u);
    return a.end - a.first == ports;
}

bool sweeper::impl::takes_all_ports(const agent& a) const noexcept {
    if (!a.can || !a.can->all_ports) return false;
    if (options_.at_once == all_ports_rule::of_switches) return node_of(a).is_switch();
    return a.end - a.first > 1 && has_all_ports(a);
}

const iba::ClassPortInfo* sweeper::impl::class_port_info(u32 node) const noexcept {
    const auto of_node = [&](const agent& a) { return targets_[a.first].where.node; };
    const auto a = std::ranges::lower_bound(agents_, node, {}, of_node);
    return a != agents_.end() && of_node(*a) == node && a->info ? &*a->info : nullptr;
}

// ---- a sweep -------------------------------------------------------------------------------------------------------

// Starts a sweep. Nodes with many ports come first, because they take longest; unresponsive nodes come last.
void sweeper::impl::begin() {
    result_ = {};
    result_.begin = schedule_.now();
    result_.ports.reserve(targets_.size());
    if (options_.is_too_much) result_.sums.reserve(agents_.size()); // no reallocation, so that references stay valid
    for (const target& t : targets_) result_.ports.push_back({t.where, false, {}, {}});
    for (agent& a : agents_) {
        a.next = a.first;
        a.readers = a.reading = 0;
        a.cleared = 0;
        a.was_silent = a.is_silent;
        a.is_open = a.is_summed = a.has_ended = false;
        const bool is_switch = node_of(a).is_switch(); // one path for all its ports
        for (u32 i = a.first; i < (is_switch ? a.first + 1 : a.end); ++i) {
            if (path_to(targets_[i].where)) continue;
            a.has_ended = is_switch;
            const port_ref where = a.has_ended ? place_of(a) : targets_[i].where;
            add_failure(failure_kind::no_address, where, "the port has no LID");
        }
    }
    std::iota(order_.begin(), order_.end(), 0u);
    std::stable_sort(order_.begin(), order_.end(), [&](u32 x, u32 y) {
        const agent &a = agents_[x], &b = agents_[y];
        return a.was_silent != b.was_silent ? b.was_silent : a.end - a.first > b.end - b.first;
    });
}

task<sweep> sweeper::impl::run() {
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
    std::ranges::sort(result_.cleared, {}, [](port_ref r) { return std::pair(r.node, r.port); });
    co_return std::move(result_);
}

// Starts one reader for each node. When all nodes have one, starts further readers for nodes with ports left to read.
generator<task<void>> sweeper::impl::readers() {
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
            // Its first reader has not opened the ports yet, or waits for a reply.
            if (!a.is_open || a.is_silent) continue;
            has_started = true;
            co_yield read(a);
        }
        if (!has_started && !more.empty()) co_yield task<void>{};
    }
    for (const u32 i : order_)
        if (agents_[i].was_silent && !agents_[i].has_ended) co_yield read(agents_[i]);
}

task<void> sweeper::impl::read(agent& a) {
    if (a.has_ended || a.next == a.end) co_return;
    ++a.readers;
    ++a.reading;
    if (!a.can) co_await query_capabilities(a);
    if (options_.reads_ticks && !a.is_open) co_await query_tick(a);
    if (!a.is_open && options_.is_too_much && takes_all_ports(a)) co_await read_sum(a);
    a.is_open = true;
    std::optional<mad::IBPath> path;
    while (!a.has_ended && !result_.is_stopped && a.next < a.end) {
        reading& l = result_.ports[a.next++];
        if (!path || !node_of(a).is_switch()) path = path_to(l.where);
        if (path) co_await read_port(a, *path, l);
    }
    if (--a.reading == 0 && clears_at_once(a) && !result_.is_stopped) co_await clear_node(a);
}

// ---- failures ------------------------------------------------------------------------------------------------------

/// Adds a failure. If the sweep only clears, every failure has the kind not_cleared.
void sweeper::impl::add_failure(discovery::failure_kind kind, port_ref where, std::string text, std::string cause) {
    const std::string_view failure = options_.only_clears ? "not cleared: " : "";
    text.insert(0, failure);
    if (!cause.empty()) cause.insert(0, failure);
    result_.failures.push_back({kind, subnet_.location_of(where), std::move(text), std::move(cause)});
}

void sweeper::impl::failed(agent& a, port_ref where, const mad::mad_error& e) {
    if (e.code == mad::errc::cancelled) { // reported once, at the end
        result_.is_stopped = true;
        return;
    }
    if (a.has_ended) return;
    const bool is_sum = where.port == all_ports; // the ports are read instead
    if (e.code != mad::errc::timed_out) {
        if (is_sum) a.can->all_ports = false;
        else add_failure(kind_of(e), where, to_string(e), cause_text(e));
        return;
    }
    a.is_silent = true;
    const bool is_given_up = ++a.timeouts_in_a_row >= most_timeouts || a.was_silent;
    // A switch has one PMA for all its ports, another node has one at each port.
    a.has_ended = is_given_up && node_of(a).is_switch();
    if (is_sum && !a.has_ended) return;
    const failure_kind kind = a.was_silent ? failure_kind::unresponsive : failure_kind::timeout;
    add_failure(kind, a.has_ended ? place_of(a) : where, to_string(e), cause_text(e));
}

void sweeper::impl::not_cleared(const agent& a, port_ref where, u8 select, const mad::mad_error& e) {
    if (e.code == mad::errc::cancelled) result_.is_stopped = true;
    const port_ref place = select == all_ports ? place_of(a) : where;
    const failure_kind kind = e.code == mad::errc::cancelled ? failure_kind::not_cleared : kind_of(e);
    result_.failures.push_back(
        {kind, subnet_.location_of(place), "not cleared: " + to_string(e), "not cleared: " + cause_text(e)});
}

void sweeper::impl::note_unread() {
    for (const agent& a : agents_) {
        if (a.has_ended) continue;
        const auto from = result_.ports.begin() + a.first, to = result_.ports.begin() + a.end;
        const auto valid = static_cast<u32>(std::count_if(from, to, [](const reading& l) { return l.valid; }));
        if (valid < a.end - a.first)
            add_failure(failure_kind::cancelled, place_of(a), "stopped before all counters were read");
        else if (options_.only_clears && a.cleared < valid)
            add_failure(failure_kind::cancelled, place_of(a), "stopped before the write");
    }
}

// ---- public functions ----------------------------------------------------------------------------------------------

sweeper::sweeper(MADSchedule& schedule, const subnet& s, sweep_options options)
    : impl_(std::make_unique<impl>(schedule, s, std::move(options))) {}
sweeper::~sweeper() = default;
sweeper::sweeper(sweeper&&) noexcept = default;
sweeper& sweeper::operator=(sweeper&&) noexcept = default;

task<sweep> sweeper::run() { return impl_->run(); }
std::size_t sweeper::ports() const noexcept { return impl_->ports(); }
const iba::ClassPortInfo* sweeper::class_port_info(u32 node) const noexcept { return impl_->class_port_info(node); }

} // namespace comad::counters
