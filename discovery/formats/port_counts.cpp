// SPDX-License-Identifier: MIT
// port_counts.cpp - counts the ports of a subnet by state, width, speed and MTU.
#include <comad/discovery/formats/detail/port_counts.hpp>
#include <comad/discovery/formats/reports.hpp>
#include <comad/iba/detail/format.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>
#include <utility>

namespace comad::discovery {
namespace {

/// Counts values by their order, and then by their names.
class counted_values {
public:
    void add(double order, std::string name) { ++ports_[{order, std::move(name)}]; }
    std::vector<value_count> sorted() const {
        std::vector<value_count> all;
        for (const auto& [key, ports] : ports_) all.push_back({key.second, ports});
        return all;
    }

private:
    std::map<std::pair<double, std::string>, std::size_t> ports_;
};

constexpr double is_last = 1e18; // the order of unknown values

/// Counts ports one after the other.
class port_counter {
public:
    explicit port_counter(const subnet& s) : s_(s) {}

    void add_node() { ++counts_.nodes; }
    void add(port_ref r) {
        const iba::smp::PortInfo& info = *s_.at(r).info;
        ++counts_.ports;
        states_.add(value(info.portState), iba::name_or_number(info.portState));
        if (info.portPhysicalState == iba::PortPhysicalState::Disabled) counts_.disabled.push_back(r);
        if (info.portState == iba::PortState::Down) return;
        add_width(r, info);
        add_speed(r);
        if (s_.at(r).assumed) return;
        const unsigned code = value(info.neighborMTU);
        const bool is_known = !iba::find_name(iba::mtu_names, code).empty();
        mtus_.add(is_known ? code : is_last, is_known ? fmt::format("{}", 128u << code) : fmt::format("?? {}", code));
    }
    port_counts result() {
        counts_.states = states_.sorted();
        counts_.widths = widths_.sorted();
        counts_.speeds = speeds_.sorted();
        counts_.mtus = mtus_.sorted();
        return std::move(counts_);
    }

private:
    void add_width(port_ref r, const iba::smp::PortInfo& info) {
        const unsigned lanes = lanes_of(info.linkWidthActive);
        widths_.add(lanes ? lanes : is_last, std::string(iba::width_name(info.linkWidthActive)));
        if (s_.at(r).assumed) return;
        if (!(info.linkWidthEnabled & value(info.linkWidthActive))) counts_.unenabled_width.push_back(r);
        else if (lanes_of(widest(info.linkWidthEnabled)) > lanes) counts_.reduced_width.push_back(r);
    }

    void add_speed(port_ref r) {
        const link_speeds active = active_speed(s_, r);
        const double order = is_fdr10(s_, r) ? fdr10_bits_per_second : bits_per_second(active);
        speeds_.add(std::has_single_bit(active) ? order : is_last, std::string(format_link_speed(s_, r)));
        if (s_.at(r).assumed) return;
        const link_speeds enabled = enabled_speeds(s_, r);
        if (!(enabled & active)) counts_.unenabled_speed.push_back(r);
        else if (std::bit_floor(enabled) > active || could_be_fdr10(s_, r)) counts_.reduced_speed.push_back(r);
    }

    const subnet& s_;
    port_counts counts_;
    counted_values states_, widths_, speeds_, mtus_;
};

} // namespace

port_counts count_ports(const subnet& s, std::optional<iba::NodeType> only) {
    port_counter all(s);
    for (u32 n = 0; n < s.nodes.size(); ++n) {
        if (only && s.nodes[n].info.nodeType != *only) continue;
        all.add_node();
        for (unsigned p = 1; p < s.nodes[n].ports.size(); ++p)
            if (s.nodes[n].ports[p].info) all.add({n, static_cast<u8>(p)});
    }
    return all.result();
}

std::vector<link_ends> cables_of(const subnet& s, std::vector<port_ref> ports) {
    const auto key = [](port_ref r) { return std::tuple(r.node, r.port); };
    std::vector<link_ends> cables;
    for (const port_ref r : ports) {
        const port_ref peer = s.at(r).peer;
        const bool is_second = peer && key(peer) < key(r);
        cables.push_back(is_second ? link_ends{peer, r} : link_ends{r, peer});
    }
    std::ranges::sort(cables, {}, [&](const link_ends& c) { return key(c.from); });
    const auto same = std::ranges::unique(cables, {}, [&](const link_ends& c) { return key(c.from); });
    cables.erase(same.begin(), same.end());
    return cables;
}

} // namespace comad::discovery
