// SPDX-License-Identifier: MIT
// link_use.cpp - calculates the use of links from counters: shares of the data rate, and of the time.
#include <comad/counters/sweep.hpp>
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/database/detail/vendors.hpp>

#include <algorithm>

namespace comad::counters {
namespace {

using discovery::port_ref;
using discovery::subnet;

constexpr double bits_of_byte = 8;

/// Returns whether the port has a link that carries data. Port 0 of a switch has none.
bool has_link(const subnet& s, port_ref r) noexcept {
    const auto& info = s.at(r).info;
    const bool is_port_of_link = r.port != 0 || !s.nodes[r.node].is_switch();
    return is_port_of_link && info && info->portState != iba::PortState::Down &&
           discovery::data_bits_per_second(s, r) > 0;
}

/// Returns the increase of a counter per second, times `scale`, if it is possible.
std::optional<link_share> share_of(counter c, const reading& before, const reading& after, double scale) noexcept {
    const counter_change change = change_of(c, before.counters, after.counters);
    const mad::duration between = after.counters.at - before.counters.at;
    if (change.what == counter_change::state::unknown || between.count() <= 0) return std::nullopt;
    return if_possible({rate_of(c, change, between) * scale, !change.is_exact()});
}

} // namespace

std::optional<double> tick_seconds(const subnet& s, const reading& r) noexcept {
    if (!r.tick || !has_link(s, r.where)) return std::nullopt;
    const double rate = discovery::is_tick_of_link(s.nodes[r.where.node].info)
                            ? discovery::data_bits_per_second(s, r.where)
                            : discovery::lane_data_bits_per_second(s, r.where);
    return (*r.tick + 1) * bits_of_byte / rate;
}

link_use use_of(const subnet& s, const reading& before, const reading& after) noexcept {
    link_use use;
    if (!before.valid || !after.valid || !has_link(s, after.where)) return use;
    const double of_byte = bits_of_byte / discovery::data_bits_per_second(s, after.where);
    use.xmit = share_of(counter::portXmitData, before, after, of_byte);
    use.rcv = share_of(counter::portRcvData, before, after, of_byte);
    if (const auto tick = tick_seconds(s, after))
        use.congestion = share_of(counter::portXmitWait, before, after, *tick);
    return use;
}

std::vector<link_use> uses_of(const subnet& s, const sweep& before, const sweep& after) {
    std::vector<link_use> uses(after.ports.size());
    const std::size_t both = std::min(before.ports.size(), after.ports.size());
    for (std::size_t i = 0; i < both; ++i) uses[i] = use_of(s, before.ports[i], after.ports[i]);
    return uses;
}

} // namespace comad::counters
