// SPDX-License-Identifier: MIT
// sim_routes_test.cpp - the simulated subnet manager: routes spread over parallel paths, and sweeps that configure new links.
// The expected loads are counted by hand from the shape of the fat tree.
#include "support/catch.hpp"
#include "support/exception_message.hpp"
#include "wire/sim_client.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba.hpp>

#include <array>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace sim_routes_test {

using namespace comad;
using namespace comad::transports::sim;
using namespace std::chrono_literals;
namespace smp = iba::smp;
using iba::PortState;

namespace {

/// A subnet with a subnet manager at the first host, where the program runs.
struct managed {
    explicit managed(const std::string& specification)
        : sim(make_sim(specification + ",sm=1", time_mode::virtual_)), umad(*sim.transport) {}

    const topology& graph() const { return sim.fabric->graph(); }
    u32 find(const std::string& name) const { return graph().find(name).value(); }
    const port& at(const std::string& name, unsigned port) const { return graph().nodes[find(name)].ports[port]; }
    void set_time(mad::duration since_start) { sim.transport->set_now(mad::time_point(since_start)); }
    /// Reads the ports that a switch uses for LIDs 0 to 63.
    std::array<u8, 64> table_of(const std::string& name) {
        return umad.SubnGet<smp::LinearForwardingTable>(to_lid(value(at(name, 0).LID)), 0).value().portBlock;
    }
    /// Counts the LIDs of hosts that a switch forwards through each port.
    std::map<unsigned, unsigned> loads_of(const std::string& name) {
        const auto table = table_of(name);
        std::map<unsigned, unsigned> loads;
        for (const node& n : graph().nodes)
            if (!n.is_switch()) ++loads[table[value(n.ports[1].LID)]];
        return loads;
    }

    simulation sim;
    coro::blocking_transactor umad;
};

/// Follows the tables of a subnet with LIDs up to 63 from every switch to every LID. Returns how many LIDs did not arrive.
unsigned count_lost(managed& m) {
    std::map<u32, std::array<u8, 64>> tables;
    unsigned lost = 0;
    const topology& t = m.graph();
    for (u32 n = 0; n < t.nodes.size(); ++n)
        if (t.nodes[n].is_switch()) tables[n] = m.table_of(t.nodes[n].id);
    for (u32 target = 0; target < t.nodes.size(); ++target) {
        const u16 LID = value(t.nodes[target].ports[t.nodes[target].first_port()].LID);
        for (const auto& [start, table] : tables) {
            u32 here = start;
            for (unsigned hops = 0; here != target && t.nodes[here].is_switch() && hops < 5; ++hops) {
                const u8 out = tables[here][LID];
                if (out == 0 || out > t.nodes[here].num_ports() || !t.nodes[here].ports[out].linked()) break;
                here = t.nodes[here].ports[out].peer_node;
            }
            if (here != target) ++lost;
        }
    }
    return lost;
}

/// The ports of a switch on shortest paths to the LIDs of hosts, calculated from the cables only.
std::map<unsigned, std::set<unsigned>> shortest_of(const topology& t, u32 from) {
    std::map<unsigned, std::set<unsigned>> LIDs; // by port
    const auto hops_from = [&](u32 start) {
        std::vector<unsigned> hops(t.nodes.size(), 1000);
        std::vector<u32> order{start};
        hops[start] = 0;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const node& n = t.nodes[order[i]];
            for (unsigned p = 1; n.is_switch() && p <= n.num_ports(); ++p) {
                if (!n.ports[p].linked() || hops[n.ports[p].peer_node] != 1000) continue;
                hops[n.ports[p].peer_node] = hops[order[i]] + 1;
                order.push_back(n.ports[p].peer_node);
            }
        }
        return hops;
    };
    const std::vector<unsigned> own = hops_from(from);
    for (unsigned p = 1; p <= t.nodes[from].num_ports(); ++p) {
        const port& out = t.nodes[from].ports[p];
        if (!out.linked() || !t.nodes[out.peer_node].is_switch()) continue;
        const std::vector<unsigned> next = hops_from(out.peer_node);
        for (u32 h = 0; h < t.nodes.size(); ++h)
            if (!t.nodes[h].is_switch() && next[h] + 1 == own[h]) LIDs[p].insert(value(t.nodes[h].ports[1].LID));
    }
    return LIDs;
}

} // namespace

TEST_CASE("equivalent ports of a switch differ by at most one LID of a host if routes are spread") {
    for (const char* specification :
         {"fattree2,radix=4", "fattree2,radix=6", "fattree2,radix=12", "fattree2,radix=8,cut=leaf-0002/5@1ms",
          "fattree3,radix=4", "fattree3,radix=6", "fattree3,radix=8", "fattree3,radix=8,pods=3",
          "torus,x=4,y=4,hosts=2", "torus,x=5,y=3", "torus,x=3,y=3,z=3"}) {
        CAPTURE(specification);
        managed m(std::string(specification) + ",routes=spread");
        m.set_time(1s);
        const topology& t = m.graph();
        unsigned equivalent = 0;
        for (u32 s = 0; s < t.nodes.size(); ++s) {
            if (!t.nodes[s].is_switch()) continue;
            const auto ports = shortest_of(t, s);
            std::map<unsigned, unsigned> loads;
            std::map<unsigned, std::array<u8, 64>> blocks;
            for (const node& host : t.nodes) {
                if (host.is_switch()) continue;
                const unsigned LID = value(host.ports[1].LID), block = LID / 64;
                if (!blocks.contains(block))
                    blocks[block] =
                        m.umad.SubnGet<smp::LinearForwardingTable>(to_lid(value(t.nodes[s].ports[0].LID)), block)
                            .value()
                            .portBlock;
                const unsigned out = blocks[block][LID % 64];
                if (t.nodes[s].ports[out].peer_node == t.find(host.id).value()) continue; // attached to this switch
                CHECK((ports.contains(out) && ports.at(out).contains(LID)));
                ++loads[out];
            }
            for (const auto& [a, lids_of_a] : ports)
                for (const auto& [b, lids_of_b] : ports) {
                    if (a == b || lids_of_a != lids_of_b) continue;
                    ++equivalent;
                    CAPTURE(t.nodes[s].id, a, b);
                    CHECK(loads[a] <= loads[b] + 1);
                }
        }
        // In these tori, no two ports lead to the same LIDs.
        CHECK((equivalent > 0) == std::string(specification).starts_with("fattree"));
    }
}

TEST_CASE("spread routes use all parallel paths equally, and arrive") {
    // 8 leaves with 4 hosts each, 4 spines
    managed m("fattree2,radix=8,routes=spread");
    CHECK(count_lost(m) == 0);
    for (const char* leaf : {"leaf-0001", "leaf-0005", "leaf-0008"}) // ports 5 to 8 lead to the spines
        CHECK(m.loads_of(leaf) ==
              std::map<unsigned, unsigned>{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 7}, {6, 7}, {7, 7}, {8, 7}});
    CHECK(m.loads_of("spine-0003") ==
          std::map<unsigned, unsigned>{{1, 4}, {2, 4}, {3, 4}, {4, 4}, {5, 4}, {6, 4}, {7, 4}, {8, 4}});
    // The 4 spines are reached by one path each from a leaf, and the 7 other leaves over all spines.
    const auto table = m.table_of("leaf-0001");
    std::map<unsigned, unsigned> to_leaves;
    for (unsigned leaf = 2; leaf <= 8; ++leaf)
        ++to_leaves[table[value(m.at("leaf-000" + std::to_string(leaf), 0).LID)]];
    CHECK(to_leaves.size() == 4);
    for (const auto& [port, LIDs] : to_leaves) CHECK(LIDs <= 2);

    managed shortest("fattree2,radix=8");
    CHECK(shortest.loads_of("leaf-0001") == std::map<unsigned, unsigned>{{1, 1}, {2, 1}, {3, 1}, {4, 1}, {5, 28}});
}

TEST_CASE("MADs follow spread routes in both directions, and a cut cable is avoided at once") {
    managed m("fattree2,radix=8,routes=spread,cut=leaf-0002/5@1s");
    const auto reads_all = [&] {
        for (const node& n : m.graph().nodes) {
            const auto info = m.umad.SubnGet<smp::NodeInfo>(to_lid(value(n.ports[n.first_port()].LID)), 0);
            CHECK(info);
            if (info) CHECK(info.value().nodeGUID == n.nodeGUID);
        }
    };
    reads_all();
    m.set_time(2s);
    CHECK(count_lost(m) == 0);
    reads_all();
    // The 28 hosts of other leaves over 3 spines.
    const auto loads = m.loads_of("leaf-0002");
    CHECK(!loads.contains(5));
    for (unsigned port = 6; port <= 8; ++port) {
        CHECK(loads.at(port) >= 9);
        CHECK(loads.at(port) <= 10);
    }
}

TEST_CASE("a restored link stays Initialize until the simulated subnet manager sweeps") {
    const std::string fault = "fattree2,radix=4,cut=leaf-0001/3@1s,restore=leaf-0001/3@2s";
    managed never(fault), every(fault + ",sweep=5s");
    for (managed* m : {&never, &every}) {
        m->set_time(4s);
        CHECK(m->at("leaf-0001", 3).state == PortState::Initialize);
        CHECK(m->at("spine-0001", 1).state == PortState::Initialize);
        m->set_time(6s);
    }
    CHECK(never.at("leaf-0001", 3).state == PortState::Initialize);
    CHECK(every.at("leaf-0001", 3).state == PortState::Active);
    CHECK(every.at("spine-0001", 1).state == PortState::Active);
    CHECK(every.loads_of("leaf-0001").contains(3)); // the path over the first spine again
    CHECK_FALSE(never.loads_of("leaf-0001").contains(3));
}

TEST_CASE("a sweep configures only what the master subnet manager reaches") {
    // The only cable of leaf-0002's second host is restored while the leaf does not respond.
    const std::string fault = "fattree2,radix=4,cut=leaf-0002/2@1s,restore=leaf-0002/2@2s,kill=leaf-0002@3s";
    managed m(fault + ",revive=leaf-0002@7s,sweep=5s");
    m.set_time(6s);
    CHECK(m.at("leaf-0002", 2).state == PortState::Initialize);
    m.set_time(11s);
    CHECK(m.at("leaf-0002", 2).state == PortState::Active);
    managed standby(
        "fattree2,radix=4,cut=leaf-0002/2@1s,restore=leaf-0002/2@2s,sweep=5s,manager=h-0001 HCA-1:standby:1");
    standby.set_time(11s);
    CHECK(standby.at("leaf-0002", 2).state == PortState::Initialize);
}

TEST_CASE("a sweep gives each port without a LID a free one") {
    topology t = make_topology("fattree2,radix=4");
    bring_up(t);
    std::set<unsigned> before, after;
    for (const node& n : t.nodes) before.insert(value(n.ports[n.first_port()].LID));
    for (const char* host : {"h-0003 HCA-1", "h-0006 HCA-1"}) {
        port& p = t.nodes[t.find(host).value()].ports[1];
        p.LID = iba::lid{};
        p.state = PortState::Initialize;
    }
    fabric net(std::move(t));
    net.apply({topology_event::kind::sweep, 0});
    for (const node& n : net.graph().nodes) {
        after.insert(value(n.ports[n.first_port()].LID));
        CHECK(n.ports[1].state == PortState::Active);
    }
    CHECK(after == before); // the freed LIDs are the lowest free ones
}

TEST_CASE("routes= and sweep= need a subnet manager and valid values") {
    const auto refused = [](const std::string& keys) {
        return message_of([&] { make_sim("fattree2,radix=4," + keys, time_mode::virtual_); });
    };
    CHECK(refused("routes=spread") == "fattree2: routes needs a subnet manager; add sm=1");
    CHECK(refused("sweep=1s") == "fattree2: sweep needs a subnet manager; add sm=1");
    CHECK(refused("sm=1,routes=all") == "fattree2: routes=all is unknown; expected one of shortest, spread");
    CHECK(refused("sm=1,sweep=1").ends_with("at most 3600s"));
}

} // namespace sim_routes_test
