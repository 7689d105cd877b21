// SPDX-License-Identifier: MIT
// topology.cpp - builds and searches the graph of a simulated subnet: nodes, cables, names and LIDs.
#include <comad/transports/sim/detail/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace comad::transports::sim {
namespace {

/// Returns the largest width and the highest speed of a set; 0 for an empty set.
link_codes best_of(link_codes set) noexcept {
    namespace lane_speed = iba::lane_speed;
    link_codes best{static_cast<u8>(set.width & 1), 0};
    for (u8 width : {u8{16}, u8{2}, u8{4}, u8{8}}) { // the bit of 2x was defined last
        if (set.width & width) best.width = width;
    }
    // FDR10 is faster than QDR and slower than FDR, although its bit is the highest.
    const u16 usual = set.speed & static_cast<u16>(~lane_speed::FDR10);
    const bool is_at_fdr10 = set.has_fdr10() && usual < lane_speed::FDR;
    best.speed = is_at_fdr10 ? u16{lane_speed::FDR10} : std::bit_floor(usual);
    return best;
}

} // namespace

std::optional<u8> width_code(std::string_view text) noexcept {
    const auto width = iba::width_of_name(text);
    return width ? std::optional(value(*width)) : std::nullopt;
}
std::optional<u16> speed_code(std::string_view text) noexcept {
    const auto speed = iba::speed_of_name(text);
    return speed ? std::optional(static_cast<u16>(*speed)) : std::nullopt;
}
std::string_view width_name(u8 code) noexcept { return iba::width_name(iba::LinkWidth{code}); }
std::string_view speed_name(u16 code) noexcept { return iba::speed_name(code); }

link_codes capable_of(link_codes active) noexcept {
    link_codes all;
    const bool beyond_4x = active.width == 4 || active.width == 8;
    all.width = static_cast<u8>(active.width | (beyond_4x ? 1 | 2 : 1));
    const u16 usual = active.has_fdr10() ? u16{iba::lane_speed::QDR} : active.speed;
    all.speed = static_cast<u16>(active.speed | usual | (usual != 0 ? usual - 1 : 0));
    return all;
}

u32 topology::add_node(iba::NodeType type, unsigned num_ports, iba::guid nodeGUID, std::string description,
                       link_codes link) {
    assert(num_ports >= 1 && num_ports <= max_ports);
    node n;
    n.type = type;
    n.nodeGUID = n.systemImageGUID = nodeGUID;
    const char letter = type == iba::NodeType::Switch ? 'S' : type == iba::NodeType::CA ? 'H' : 'R';
    n.id = fmt::format("{}-{:016x}", letter, value(nodeGUID));
    n.description = std::move(description);
    n.ports.resize(num_ports + 1);
    for (unsigned p = 0; p <= num_ports; ++p) {
        port& x = n.ports[p];
        x.GUID = n.is_switch() ? nodeGUID : iba::guid{value(nodeGUID) + p};
        x.enabled = x.supported = link;
    }
    if (n.is_switch()) { // it reaches its port 0 without a cable
        n.ports[0].state = iba::PortState::Active;
        n.ports[0].active = best_of(link);
    }
    nodes.push_back(std::move(n));
    return static_cast<u32>(nodes.size() - 1);
}

bool topology::link(u32 a, unsigned port_a, u32 b, unsigned port_b) noexcept {
    port& x = nodes[a].ports[port_a];
    port& y = nodes[b].ports[port_b];
    assert(port_a != 0 && port_b != 0 && &x != &y && !x.linked() && !y.linked());
    x.peer_node = b;
    x.peer_port = static_cast<u8>(port_b);
    y.peer_node = a;
    y.peer_port = static_cast<u8>(port_a);
    if (train(a, port_a)) return true;
    unlink(a, port_a);
    return false;
}

bool topology::train(u32 a, unsigned port_a) noexcept {
    port& x = nodes[a].ports[port_a];
    port& y = nodes[x.peer_node].ports[x.peer_port];
    take_down(a, port_a);
    const link_codes best = best_of(
        {static_cast<u8>(x.enabled.width & y.enabled.width), static_cast<u16>(x.enabled.speed & y.enabled.speed)});
    if (best.width == 0 || best.speed == 0) return false;
    x.state = y.state = iba::PortState::Initialize;
    x.active = y.active = best;
    return true;
}

void topology::take_down(u32 a, unsigned port_a) noexcept {
    port& x = nodes[a].ports[port_a];
    for (port* end : {&nodes[x.peer_node].ports[x.peer_port], &x}) {
        end->state = iba::PortState::Down;
        end->active = {};
    }
}

void topology::unlink(u32 a, unsigned port_a) noexcept {
    port& x = nodes[a].ports[port_a];
    if (!x.linked()) return;
    take_down(a, port_a);
    for (port* end : {&nodes[x.peer_node].ports[x.peer_port], &x}) {
        end->peer_node = no_node;
        end->peer_port = 0;
    }
}

std::optional<u32> topology::find(std::string_view name) const {
    const auto index_if = [&](auto&& matches) -> std::optional<u32> {
        const auto it = std::find_if(nodes.begin(), nodes.end(), matches);
        if (it == nodes.end()) return std::nullopt;
        return static_cast<u32>(it - nodes.begin());
    };
    if (const auto by_id = index_if([&](const node& n) { return n.id == name; })) return by_id;
    if (const auto by_name = index_if([&](const node& n) { return n.description == name; })) return by_name;
    if (!name.starts_with("0x")) return std::nullopt;
    u64 number = 0;
    const auto [end, error] = std::from_chars(name.data() + 2, name.data() + name.size(), number, 16);
    if (error != std::errc{} || end != name.data() + name.size()) return std::nullopt;
    const iba::guid wanted{number};
    return index_if([&](const node& n) {
        const auto has_it = [&](const port& p) { return p.GUID == wanted; };
        return n.nodeGUID == wanted || std::any_of(n.ports.begin() + n.first_port(), n.ports.end(), has_it);
    });
}

u32 topology::default_node() const noexcept {
    assert(!nodes.empty());
    const auto ca = std::find_if(nodes.begin(), nodes.end(), [](const node& n) { return n.type == iba::NodeType::CA; });
    return ca == nodes.end() ? 0 : static_cast<u32>(ca - nodes.begin());
}

std::size_t topology::link_count() const noexcept {
    std::ptrdiff_t ends = 0;
    for (const node& n : nodes)
        ends += std::count_if(n.ports.begin(), n.ports.end(), [](auto& p) { return p.linked(); });
    return static_cast<std::size_t>(ends) / 2;
}

std::size_t topology::count(iba::NodeType type) const noexcept {
    return static_cast<std::size_t>(
        std::count_if(nodes.begin(), nodes.end(), [&](const node& n) { return n.type == type; }));
}

void bring_up(topology& t, std::optional<u32> manager_node) {
    constexpr unsigned last_unicast = 0xbfff;
    unsigned next = 1;
    const auto give_lid = [&](port& p) {
        if (next > last_unicast) {
            throw std::runtime_error(fmt::format(
                "the subnet needs more than the maximum of {} unicast LIDs; make the subnet smaller", last_unicast));
        }
        p.LID = iba::lid{static_cast<u16>(next++)};
    };
    for (node& n : t.nodes) {
        if (n.is_switch()) give_lid(n.ports[0]);
        for (unsigned i = 1; i <= n.num_ports(); ++i) {
            port& p = n.ports[i];
            if (!p.linked()) continue;
            p.state = iba::PortState::Active;
            if (!n.is_switch()) give_lid(p);
        }
    }
    if (t.nodes.empty()) return;
    const node& manager = t.nodes[manager_node.value_or(t.default_node())];
    const auto managed = std::find_if(manager.ports.begin(), manager.ports.end(), [](auto& p) { return p.has_lid(); });
    if (managed != manager.ports.end()) t.sm_lid = managed->LID;
}

} // namespace comad::transports::sim
