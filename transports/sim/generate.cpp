// SPDX-License-Identifier: MIT
// generate.cpp - generates regular subnets: fat trees, tori, rings, lines.
#include "generate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace comad::transports::sim {
namespace {

// Recent hardware whose device IDs do not make infiniband-diags query vendor attributes (libibnetdisc,
// is_mlnx_ext_port_info_supported).
constexpr u32 vendor = 0x0002c9;
constexpr u16 ca_device = 0x1021;
constexpr u16 switch_device = 0xd2f2;
// ConnectX-3 and SwitchX, which support FDR10 and are queried for it.
constexpr u16 fdr10_ca_device = 0x1003;
constexpr u16 fdr10_switch_device = 0xc738;

constexpr u64 most_nodes = 1'000'000;
constexpr u64 most_ports = 254; // largest number of ports with a port number

/// Adds nodes with increasing names and GUIDs, and records where each kind starts.
class builder {
public:
    explicit builder(link_codes link) : link_(link) {}

    /// Adds `how_many` hosts with one port each, and returns the index of the first.
    u32 add_hosts(u64 how_many) {
        const u32 first = next_index();
        for (u64 i = 1; i <= how_many; ++i) {
            add(iba::NodeType::CA, 1, fmt::format("h-{:04} HCA-1", i), link_.has_fdr10() ? fdr10_ca_device : ca_device);
        }
        return first;
    }
    u32 add_switches(u64 how_many, unsigned ports, std::string_view name) {
        const u32 first = next_index();
        for (u64 i = 1; i <= how_many; ++i) add_switch(ports, fmt::format("{}-{:04}", name, i));
        return first;
    }
    void add_switch(unsigned ports, std::string name) {
        add(iba::NodeType::Switch, ports, std::move(name), link_.has_fdr10() ? fdr10_switch_device : switch_device);
    }
    void link(u64 a, u64 port_a, u64 b, u64 port_b) noexcept {
        topology_.link(static_cast<u32>(a), static_cast<unsigned>(port_a), static_cast<u32>(b),
                       static_cast<unsigned>(port_b));
    }
    u32 next_index() const noexcept { return static_cast<u32>(topology_.nodes.size()); }
    topology finish() { return std::move(topology_); }

private:
    void add(iba::NodeType type, unsigned ports, std::string name, u16 device) {
        // 256 GUIDs per node leave space for those of its ports.
        const iba::guid guid{0x0002c903'00000000 + ((u64{next_index()} + 1) << 8)};
        node& n = topology_.nodes[topology_.add_node(type, ports, guid, std::move(name), link_)];
        n.vendorID = vendor;
        n.deviceID = device;
    }

    link_codes link_;
    topology topology_;
};

link_codes take_link(spec& s) {
    const auto speed = s.take_choice("speed", "EDR", {"SDR", "DDR", "QDR", "FDR10", "FDR", "EDR", "HDR", "NDR", "XDR"});
    const auto width = s.take_choice("width", "4x", {"1x", "2x", "4x", "8x", "12x"});
    return capable_of({*width_code(width), *speed_code(speed)});
}

u64 take_even_radix(spec& s, u64 most) {
    const u64 radix = s.take_number("radix", 16, 2, most);
    if (radix % 2 != 0) s.fail(fmt::format("radix={} is odd; must be an even number, 2..{}", radix, most));
    return radix;
}

void check_size(const spec& s, u64 nodes) {
    if (nodes > most_nodes) s.fail(fmt::format("too many nodes: {}; the maximum is {}", nodes, most_nodes));
}

topology make_single(spec& s) {
    builder b(take_link(s));
    s.finish();
    b.add_hosts(2);
    b.link(0, 1, 1, 1);
    return b.finish();
}

// Builds a fat tree of two levels. Half of a leaf's ports connect hosts; the other half connects one spine each.
topology make_fattree2(spec& s) {
    builder b(take_link(s));
    const u64 radix = take_even_radix(s, most_ports);
    s.finish();
    const u64 half = radix / 2;
    const u64 hosts = b.add_hosts(radix * half);
    const u64 leaves = b.add_switches(radix, static_cast<unsigned>(radix), "leaf");
    const u64 spines = b.add_switches(half, static_cast<unsigned>(radix), "spine");
    for (u64 leaf = 0; leaf < radix; ++leaf) {
        for (u64 i = 0; i < half; ++i) {
            b.link(leaves + leaf, 1 + i, hosts + leaf * half + i, 1);
            b.link(leaves + leaf, half + 1 + i, spines + i, 1 + leaf);
        }
    }
    return b.finish();
}

// Builds the k-ary fat tree of Al-Fares et al.: k pods of k/2 leaves and k/2 spines, with (k/2)^2 cores above them. With fewer pods, each
// core uses only as many ports as there are pods.
topology make_fattree3(spec& s) {
    builder b(take_link(s));
    const u64 radix = take_even_radix(s, 64);
    const u64 pods = s.take_number("pods", radix, 1, radix);
    s.finish();
    const u64 half = radix / 2;
    const auto ports = static_cast<unsigned>(radix);
    const u64 hosts = b.add_hosts(pods * half * half);
    const u64 leaves = b.add_switches(pods * half, ports, "leaf");
    const u64 spines = b.add_switches(pods * half, ports, "spine");
    const u64 cores = b.add_switches(half * half, ports, "core");
    for (u64 pod = 0; pod < pods; ++pod) {
        for (u64 leaf = 0; leaf < half; ++leaf) {
            const u64 l = pod * half + leaf;
            for (u64 i = 0; i < half; ++i) {
                b.link(leaves + l, 1 + i, hosts + l * half + i, 1);
                b.link(leaves + l, half + 1 + i, spines + pod * half + i, 1 + leaf);
            }
        }
        for (u64 spine = 0; spine < half; ++spine) {
            for (u64 i = 0; i < half; ++i) {
                b.link(spines + pod * half + spine, half + 1 + i, cores + spine * half + i, 1 + pod);
            }
        }
    }
    return b.finish();
}

// Builds a torus. Each dimension uses two ports, hosts use the rest. Port 2d+1 leads up in dimension d, port 2d+2 down.
topology make_torus(spec& s) {
    builder b(take_link(s));
    const std::array<u64, 3> side{s.take_number("x", 4, 2, 1000), s.take_number("y", 4, 2, 1000),
                                  s.take_number("z", 1, 2, 1000)};
    const u64 dimensions = side[2] == 1 ? 2 : 3;
    const u64 per_switch = s.take_number("hosts", 1, 0, most_ports - 2 * dimensions);
    s.finish();
    const u64 places = side[0] * side[1] * side[2];
    check_size(s, places * (1 + per_switch));
    const u64 hosts = b.add_hosts(places * per_switch);
    const u64 switches = b.next_index();
    const auto ports = static_cast<unsigned>(2 * dimensions + per_switch);
    for (u64 i = 0; i < places; ++i) {
        const u64 x = i % side[0], y = i / side[0] % side[1], z = i / side[0] / side[1];
        b.add_switch(ports, dimensions == 2 ? fmt::format("sw-{}-{}", x, y) : fmt::format("sw-{}-{}-{}", x, y, z));
    }
    for (u64 i = 0; i < places; ++i) {
        u64 stride = 1;
        for (u64 d = 0; d < dimensions; stride *= side[d], ++d) {
            const u64 at = i / stride % side[d];
            if (side[d] == 2 && at == 1) continue; // both directions would be one cable
            const u64 next = at + 1 == side[d] ? i - at * stride : i + stride;
            b.link(switches + i, 2 * d + 1, switches + next, 2 * d + 2);
        }
        for (u64 h = 0; h < per_switch; ++h)
            b.link(switches + i, 2 * dimensions + 1 + h, hosts + i * per_switch + h, 1);
    }
    return b.finish();
}

// Builds a ring (`closed`) or a line. Port 1 connects the next switch, port 2 the previous one; hosts use the rest.
topology make_chain(spec& s, bool closed) {
    builder b(take_link(s));
    const u64 count = s.take_number("switches", closed ? 8 : 4, closed ? 3 : 1, most_nodes);
    const u64 per_switch = s.take_number("hosts", 1, 0, most_ports - 2);
    s.finish();
    check_size(s, count * (1 + per_switch));
    const u64 hosts = b.add_hosts(count * per_switch);
    const u64 switches = b.add_switches(count, static_cast<unsigned>(2 + per_switch), "sw");
    for (u64 i = 0; i < count; ++i) {
        if (closed || i + 1 < count) b.link(switches + i, 1, switches + (i + 1) % count, 2);
        for (u64 h = 0; h < per_switch; ++h) b.link(switches + i, 3 + h, hosts + i * per_switch + h, 1);
    }
    return b.finish();
}

/// A type of generated topology.
struct generator {
    std::string_view name;
    topology (*make)(spec&);
};
constexpr std::array<generator, 6> generators{{{"single", make_single},
                                               {"fattree2", make_fattree2},
                                               {"fattree3", make_fattree3},
                                               {"torus", make_torus},
                                               {"ring", [](spec& s) { return make_chain(s, true); }},
                                               {"line", [](spec& s) { return make_chain(s, false); }}}};

} // namespace

topology generate(spec& s) {
    const auto k =
        std::find_if(generators.begin(), generators.end(), [&](const generator& x) { return x.name == s.head(); });
    if (k == generators.end()) s.fail(fmt::format("unknown kind of subnet; expected one of {}", topology_kinds()));
    return k->make(s);
}

topology make_topology(std::string_view specification) {
    spec s(specification);
    return generate(s);
}

std::string_view topology_kinds() noexcept { return "single, fattree2, fattree3, torus, ring, line"; }

bool is_topology_kind(std::string_view name) noexcept {
    return std::any_of(generators.begin(), generators.end(), [&](const generator& x) { return x.name == name; });
}

} // namespace comad::transports::sim
