// SPDX-License-Identifier: MIT
// comparison.cpp - compares a sweep with a sweep of an earlier run.
#include <comad/counters/detail/comparison.hpp>
#include <comad/iba/detail/text.hpp>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <utility>

namespace comad::counters {
namespace {

using discovery::port_ref;

constexpr bool is_traffic(counter c) { return c < counter::symbolErrorCounter; }

/// The counters of a group that differ between two samples. Counters that were 0 before are left out: they cannot become lower.
struct group_changes {
    unsigned lower = 0, higher = 0, equal = 0;

    bool is_cleared() const { return lower > higher; }
};

template <class F> group_changes changes_of(F&& is_in, const sample& before, const sample& after) {
    group_changes all;
    for_each_counter([&](counter c) {
        if (!is_in(c) || before.counters[c] == 0) return;
        const counter_change change = change_of(c, before, after);
        if (change.what == counter_change::state::unknown) return;
        if (change.what == counter_change::state::reset) ++all.lower;
        else ++(change.value == 0 ? all.equal : all.higher);
    });
    return all;
}

/// Removes the counters of a group that are higher than before.
template <class F> void forget_group(F&& is_in, sample& before, const sample& after) {
    for_each_counter([&](counter c) {
        if (!is_in(c) || before.counters[c] == 0) return;
        const counter_change change = change_of(c, before, after);
        if (change.what != counter_change::state::reset && change.value > 0) before.counters.remove(c);
    });
}

/// Returns whether a discovery found the port. A port of a switch exists even if its PortInfo could not be read; of other nodes, the subnet
/// contains only the ports with a link to it.
bool has_port(const discovery::node& n, u8 port) {
    if (port >= n.ports.size()) return false;
    return n.is_switch() || n.ports[port].info || n.ports[port].peer;
}

std::string time_text(double unix_time) {
    const auto at = std::chrono::sys_seconds(std::chrono::seconds(static_cast<std::int64_t>(unix_time)));
    return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", at);
}

std::string interval_text(double seconds) {
    constexpr double minute = 60, hour = 60 * minute, day = 24 * hour;
    if (seconds < 2 * minute) return fmt::format("{:.1f} s", seconds);
    if (seconds < 2 * hour) return fmt::format("{:.1f} min", seconds / minute);
    if (seconds < 2 * day) return fmt::format("{:.1f} h", seconds / hour);
    return fmt::format("{:.1f} days", seconds / day);
}

} // namespace

bool is_same_fabric(const discovery::subnet& a, const discovery::subnet& b) {
    const auto in_both = static_cast<std::size_t>(std::ranges::count_if(a.nodes, [&](const discovery::node& n) {
        const discovery::node* const other = b.find(n.info.nodeGUID);
        return other && other->info.nodeType == n.info.nodeType;
    }));
    return 2 * in_both >= std::min(a.nodes.size(), b.nodes.size());
}

port_history history_of(const sample& before, const sample& after) noexcept {
    const group_changes traffic = changes_of(is_traffic, before, after), errors = changes_of(is_error, before, after),
                        all = changes_of([](counter) { return true; }, before, after);
    const bool errors_started_again = errors.is_cleared() || errors.lower + errors.higher + errors.equal == 0;
    if (traffic.is_cleared() && errors_started_again && errors.equal == 0) return port_history::restarted;
    return all.lower ? port_history::cleared : port_history::counted;
}

void prepare_comparison(const sweep& now, sweep& before, earlier_sweep& about) {
    about.cleared_ports = about.restarted_ports = 0;
    for (std::size_t i = 0; i < now.ports.size(); ++i) {
        if (!now.ports[i].valid || !before.ports[i].valid) continue;
        sample& then = before.ports[i].counters;
        const sample& after = now.ports[i].counters;
        switch (history_of(then, after)) {
        case port_history::counted: continue;
        case port_history::cleared: ++about.cleared_ports; break;
        case port_history::restarted: ++about.restarted_ports; break;
        }
        const bool traffic = changes_of(is_traffic, then, after).is_cleared(),
                   errors = changes_of(is_error, then, after).is_cleared();
        if (traffic) forget_group(is_traffic, then, after);
        if (errors) forget_group(is_error, then, after);
    }
}

std::size_t new_ports(const sweep& now, const discovery::subnet& subnet_now, const sweep& then,
                      const discovery::subnet& subnet_then) {
    std::set<std::pair<iba::guid, u8>> known;
    const auto place = [](const discovery::subnet& s, port_ref r) {
        return std::pair(s.nodes[r.node].info.nodeGUID, r.port);
    };
    for (const reading& r : then.ports) known.insert(place(subnet_then, r.where));
    return static_cast<std::size_t>(std::ranges::count_if(
        now.ports, [&](const reading& r) { return r.valid && !known.contains(place(subnet_now, r.where)); }));
}

std::size_t gone_ports(const discovery::subnet& now, const sweep& then, const discovery::subnet& subnet_then,
                       const std::function<bool(const discovery::node&)>& wants) {
    return static_cast<std::size_t>(std::ranges::count_if(then.ports, [&](const reading& r) {
        if (!r.valid) return false;
        const discovery::node& before = subnet_then.nodes[r.where.node];
        const discovery::node* const after = now.find(before.info.nodeGUID);
        if (after && has_port(*after, r.where.port)) return false;
        return !wants || wants(after ? *after : before);
    }));
}

sweep increases_of(const sweep& now, const sweep& before) {
    sweep grown = now;
    grown.sums.clear();
    for (std::size_t i = 0; i < grown.ports.size(); ++i) {
        reading& r = grown.ports[i];
        r.valid = r.valid && before.ports[i].valid;
        if (!r.valid) continue;
        for_each_counter([&](counter c) {
            const counter_change change = change_of(c, before.ports[i].counters, now.ports[i].counters);
            if (change.what == counter_change::state::unknown) r.counters.counters.remove(c);
            else r.counters.counters.set(c, change.value, r.counters.counters.width(c) == 64);
        });
    }
    return grown;
}

std::string earlier_text(const earlier_sweep& e) {
    return fmt::format("sweep {} of '{}', {}, {} before: {} port{} new, {} gone, {} cleared, {} restarted", e.number,
                       iba::escaped(e.file), time_text(e.unix_time), interval_text(e.seconds), e.new_ports,
                       e.new_ports == 1 ? "" : "s", e.gone_ports, e.cleared_ports, e.restarted_ports);
}

} // namespace comad::counters
