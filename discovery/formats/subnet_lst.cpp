// SPDX-License-Identifier: MIT
// subnet_lst.cpp - writes the links of a subnet as OpenSM does in opensm-subnet.lst, for ibutils.
#include "topology_parts.hpp"
#include <comad/discovery/database/detail/link.hpp>
#include <comad/discovery/formats/exports.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace comad::discovery {
namespace {

std::string_view word_of_state(iba::PortState state) {
    switch (state) {
    case iba::PortState::Initialize: return "INI";
    case iba::PortState::Armed: return "ARM";
    case iba::PortState::Active: return "ACT";
    default: return "DWN";
    }
}

/// Returns the speed of a lane in Gb/s.
std::string_view word_of_speed(const subnet& s, port_ref r) {
    if (is_fdr10(s, r)) return "FDR10";
    constexpr std::array<std::string_view, 8> words{"2.5", "5", "10", "14", "25", "50", "100", "200"}; // SDR to XDR
    const auto speed = static_cast<unsigned>(std::countr_zero(active_speed(s, r)));
    return speed < words.size() ? words[speed] : "??";
}

/// Writes lines of links, with the quirks of OpenSM: it prints the neighbor's deviceID as the upper half of 32 bits.
class lst_writer {
public:
    lst_writer(const subnet& s, const node_names& names) : s_(s), names_(names) {
        if (s.nodes.empty() || !s.nodes[0].ports[s.start_port].info) return;
        const iba::lid manager = s.nodes[0].ports[s.start_port].info->masterSMLID;
        for (u32 n = 0; n < s.nodes.size(); ++n)
            for (const port& p : s.nodes[n].ports)
                if (p.info && value(manager) != 0 && p.info->LID == manager && is_own_lid(n, p)) manager_ = n;
    }

    std::string text() {
        std::vector<u32> order(s_.nodes.size());
        std::iota(order.begin(), order.end(), 0u);
        std::ranges::sort(order, {}, [this](u32 n) { return value(s_.nodes[n].info.nodeGUID); });
        for (const u32 n : order)
            for (unsigned number = 1; number < s_.nodes[n].ports.size(); ++number) add({n, static_cast<u8>(number)});
        return std::move(text_);
    }

private:
    bool is_own_lid(u32 n, const port& p) const { return !s_.nodes[n].is_switch() || &p == &s_.nodes[n].ports[0]; }

    void add(port_ref here) {
        const port& p = s_.at(here);
        if (!p.peer || !p.info) return;
        add_end(here, fmt::format("VenID:{:06X} DevID:{:04X}", vendor(here), device(here)));
        text_ += ' ';
        add_end(p.peer, fmt::format("VenID:{:08X} DevID:{:04X}", vendor(p.peer), device(p.peer) << 16));
        text_ += fmt::format(" PHY={} LOG={} SPD={}\n", iba::width_name(active_width(s_, here)),
                             word_of_state(p.info->portState), word_of_speed(s_, here));
    }

    void add_end(port_ref r, const std::string& kind) {
        const node& n = s_.nodes[r.node];
        const std::string_view type = n.is_switch() ? "SW" : n.info.nodeType == iba::NodeType::Router ? "Rt" : "CA";
        text_ += fmt::format("{{ {}{} Ports:{:02X} SystemGUID:{:016x} NodeGUID:{:016x} PortGUID:{:016x} {} Rev:{:08X} "
                             "{{{}}} LID:{:04X} PN:{:02X} }}",
                             type, r.node == manager_ ? "-SM" : "", n.info.numPorts, value(n.info.systemImageGUID),
                             value(n.info.nodeGUID), value(s_.at(r).portGUID), kind, n.info.revision, names_.of(n),
                             lid_of(s_.end_port(r)), r.port);
    }
    u32 vendor(port_ref r) const { return s_.nodes[r.node].info.vendorID; }
    u32 device(port_ref r) const { return s_.nodes[r.node].info.deviceID; }

    const subnet& s_;
    const node_names& names_;
    u32 manager_ = port_ref::npos;
    std::string text_;
};

} // namespace

std::string format_subnet_lst(const subnet& s, const node_names& names) { return lst_writer(s, names).text(); }

} // namespace comad::discovery
