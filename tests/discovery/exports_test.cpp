// SPDX-License-Identifier: MIT
// exports_test.cpp - exports of hand-made subnets to other programs. The expected texts follow topology.conf(5) and
// topology.yaml(5). Numbers were counted by hand; tests/tools/export_test.cpp runs the other programs.
#include "support/catch.hpp"
#include <comad/discovery/formats/exports.hpp>

#include <algorithm>
#include <string>

namespace exports_test {

using namespace comad;
using namespace comad::discovery;
using iba::NodeType;

namespace {

struct fabric {
    subnet s;
    u32 add(NodeType type, u8 ports, std::string description) {
        const auto index = static_cast<u32>(s.nodes.size());
        node& n = s.nodes.emplace_back();
        n.info.nodeType = type;
        n.info.numPorts = ports;
        n.info.nodeGUID = n.info.systemImageGUID = iba::guid{0x1000 + index};
        n.description = std::move(description);
        n.ports.resize(ports + 1u);
        return index;
    }
    u32 add_switch(std::string description) { return add(NodeType::Switch, 8, std::move(description)); }
    /// Connects the first free ports of the two nodes.
    void cable(u32 a, u32 b) {
        const port_ref from = free_port(a);
        s.nodes[a].ports[from.port].peer = {b, 0}; // reserves the port, in case both ends are at the same node
        const port_ref to = free_port(b);
        s.nodes[a].ports[from.port].peer = to;
        s.nodes[b].ports[to.port].peer = from;
    }
    port_ref free_port(u32 n) const {
        u8 number = 1;
        while (s.nodes[n].ports[number].peer) ++number;
        return {n, number};
    }
    u32 host(u32 leaf, std::string description, u8 ports = 1) {
        const u32 n = add(NodeType::CA, ports, std::move(description));
        cable(n, leaf);
        return n;
    }
};

/// Two pods, each with two leaves and two switches above them, and two spines above both pods.
fabric two_pods() {
    fabric f;
    const u32 spine1 = f.add_switch("spine1"), spine2 = f.add_switch("spine2");
    unsigned number = 8;
    for (const std::string pod : {"a", "b"}) {
        const u32 upper1 = f.add_switch(pod + "-upper1"), upper2 = f.add_switch(pod + "-upper2");
        f.cable(upper1, spine1), f.cable(upper2, spine2);
        for (const std::string which : {"1", "2"}) {
            const u32 leaf = f.add_switch("MF0;" + pod + "-leaf" + which + ":SX6036/U1");
            f.cable(leaf, upper1), f.cable(leaf, upper2);
            for (int i = 0; i < 2; ++i) f.host(leaf, "n" + std::to_string(number++) + " mlx5_0");
        }
    }
    return f;
}

} // namespace

TEST_CASE("the level of a switch is its distance from the nearest host, without aggregation nodes") {
    fabric f = two_pods();
    f.host(0, "Mellanox Technologies Aggregation Node");
    const auto levels = levels_above_edge(f.s);
    CHECK(levels[0] == 3);
    CHECK(levels[1] == 3);
    CHECK(levels[2] == 2);
    CHECK(levels[4] == 1);
    CHECK(levels[5] == 0);
    const drawing d = draw(f.s);
    CHECK(d.spots[0].y < d.spots[2].y);
    CHECK(d.spots[2].y < d.spots[4].y);
    CHECK(d.spots[4].y < d.spots[5].y);
    CHECK(d.spots[0].y == 0);
    double lowest = 0;
    for (const drawing::spot& spot : d.spots) lowest = std::max(lowest, spot.y);
    CHECK(lowest == d.height);
    for (u32 a = 0; a < f.s.nodes.size(); ++a) {
        CHECK((d.spots[a].x >= 0 && d.spots[a].x <= d.width && d.spots[a].y >= 0 && d.spots[a].y <= d.height));
        for (u32 b = 0; b < a; ++b) CHECK((d.spots[a].x != d.spots[b].x || d.spots[a].y != d.spots[b].y));
    }
}

TEST_CASE("the state of a link comes from the first end with a known state") {
    fabric f;
    const u32 a = f.add_switch("a"), b = f.add_switch("b");
    f.cable(a, b);
    const link_ends link{{a, 1}, {b, 1}};
    auto &here = f.s.nodes[a].ports[1].info, &there = f.s.nodes[b].ports[1].info;
    CHECK(condition_of(f.s, link) == link_condition::unknown);
    there.emplace().portState = iba::PortState::Active;
    CHECK(condition_of(f.s, link) == link_condition::active);
    here.emplace().portState = iba::PortState{0}; // the value "no change" gives no state
    CHECK(condition_of(f.s, link) == link_condition::active);
    here->portState = iba::PortState::Down;
    CHECK(condition_of(f.s, link) == link_condition::not_active);
    there->portState = iba::PortState::Armed;
    here->portState = iba::PortState::Active;
    CHECK(condition_of(f.s, link) == link_condition::active);
}

TEST_CASE("a drawing centers switches above their descendants") {
    fabric f;
    const u32 first = f.add_switch("first"), right = f.add_switch("right"), left = f.add_switch("left");
    const u32 left_leaf = f.add_switch("left leaf"), right_leaf = f.add_switch("right leaf");
    f.cable(first, left_leaf), f.cable(left, left_leaf); // the leaf of the first switch is the leftmost one
    f.cable(right, right_leaf);
    f.host(left_leaf, "a"), f.host(right_leaf, "b");
    const drawing d = draw(f.s);
    CHECK(d.spots[left_leaf].x < d.spots[right_leaf].x);
    CHECK(d.spots[first].x < d.spots[left].x);
    CHECK(d.spots[left].x < d.spots[right].x);
}

TEST_CASE("the topology.conf of Slurm has leaves with hosts, a switch per pod and one root") {
    const export_text conf = format_slurm_conf(two_pods().s, {});
    CHECK(conf.notes.empty());
    CHECK(conf.text == "# Slurm topology of an InfiniBand subnet, for TopologyPlugin=topology/tree; Slurm ignores this "
                       "file if topology.yaml exists\n"
                       "SwitchName=a-leaf1 Nodes=n[8-9]\n"
                       "SwitchName=a-leaf2 Nodes=n[10-11]\n"
                       "SwitchName=b-leaf1 Nodes=n[12-13]\n"
                       "SwitchName=b-leaf2 Nodes=n[14-15]\n"
                       "# a-upper1 represents 2 switches\n"
                       "SwitchName=a-upper1 Switches=a-leaf[1-2]\n"
                       "# b-upper1 represents 2 switches\n"
                       "SwitchName=b-upper1 Switches=b-leaf[1-2]\n"
                       "# spine1 represents 2 switches\n"
                       "SwitchName=spine1 Switches=a-upper1,b-upper1\n");
    CHECK_THAT(format_slurm_yaml(two_pods().s, {}).text,
               Catch::Contains("---\n- topology: infiniband\n  cluster_default: true\n  tree:\n    switches:\n"
                               "      - switch: \"a-leaf1\"\n        nodes: \"n[8-9]\"\n") &&
                   Catch::Contains("      - switch: \"spine1\"\n        children: \"a-upper1,b-upper1\"\n"));
}

TEST_CASE("the Slurm export notes what it omits and gives separate fabrics separate roots") {
    fabric f;
    const u32 left = f.add_switch("sw"), right = f.add_switch("sw"); // same name: exported by their IDs
    f.host(left, "n009"), f.host(left, "n010"), f.host(left, "n10"), f.host(left, "n7 HCA-1"), f.host(left, "n7 HCA-2");
    const u32 two = f.host(left, "both mlx5_0", 2);
    f.cable(two, right);
    f.host(right, "bad[name]"), f.host(right, "x\ny");
    f.host(right, "same"), f.host(right, "same");
    const u32 apart = f.add_switch("other");
    f.host(apart, "far1");
    f.add(NodeType::CA, 1, "alone");
    const export_text conf = format_slurm_conf(f.s, {});
    CHECK_THAT(conf.text, Catch::Contains("SwitchName=S-0000000000001000 Nodes=both,n[7,009-010,10]\n") ||
                              Catch::Contains("SwitchName=S-0000000000001000 Nodes=both,n[7,009,10,010]\n"));
    CHECK_THAT(conf.text, Catch::Contains("\nSwitchName=S-0000000000001001 Nodes=same\n"));
    CHECK_THAT(conf.text, Catch::Contains("\nSwitchName=other Nodes=far1\n"));
    std::string notes;
    for (const std::string& note : conf.notes) {
        notes += note + '\n';
        CHECK_THAT(conf.text, Catch::Contains("# " + note + "\n"));
    }
    CHECK_THAT(notes, Catch::Contains("1 host is connected to several switches and exported only at the first one; to "
                                      "choose, select the adapters "
                                      "of one rail: both (S-0000000000001000, S-0000000000001001)\n"));
    CHECK_THAT(notes,
               Catch::Contains("2 adapters left out because schedulers do not accept their names: \"bad[name]\", "
                               "\"x\\x0ay\"\n"));
    CHECK_THAT(notes, Catch::Contains("1 host left out because another host at the same switch has the same name: same "
                                      "(S-0000000000001001)\n"));
    CHECK_THAT(notes, Catch::Contains("1 adapter left out because it is not connected to a switch: \"alone\"\n"));
    CHECK_THAT(notes, Catch::Contains("3 fabrics are not connected to each other: "));
    CHECK(conf.notes.size() == 5);
    CHECK(conf.hosts == 7);
}

TEST_CASE("the Slurm export omits adapters with factory descriptions and counts them in one note") {
    fabric f;
    const u32 leaf = f.add_switch("leaf");
    f.host(leaf, "n1 mlx5_0");
    // Descriptions before a host sets its own: from the firmware of adapters, and from rdma-ndd (rdma-core) before the
    // host name is known.
    for (const char* factory :
         {"MT4129 ConnectX7   Mellanox Technologies", "MT4123 ConnectX6 Mellanox Technologies",
          "MT25408 ConnectX Mellanox Technologies", "MT41692 BlueField3", "localhost mlx5_3", "LOCALHOST",
          "localhost.localdomain HCA-1", "(none) mlx5_0", "", " ", "mlx5_0", "HCA-2"})
        f.host(f.add_switch(std::string("leaf of ") + factory), factory);
    // Hosts whose names only resemble these descriptions.
    const u32 other = f.add_switch("other");
    for (const char* host : {"mt4129 mlx5_0", "mt1", "localhost2 mlx5_0", "mellanox-01", "hca1 HCA-1"})
        f.host(other, host);
    const export_text conf = format_slurm_conf(f.s, {});
    CHECK_THAT(conf.text, Catch::Contains("SwitchName=leaf Nodes=n1\n") &&
                              Catch::Contains("SwitchName=other Nodes=hca1,localhost2,mellanox-01,mt[1,4129]\n"));
    CHECK(conf.hosts == 6);
    REQUIRE(conf.notes.size() == 2); // the other note reports disconnected fabrics
    CHECK_THAT(conf.notes[0],
               Catch::StartsWith("12 adapters left out because their descriptions contain no host name: ") &&
                   Catch::EndsWith(", ..."));
}

TEST_CASE("the Slurm export uses readable names for the chips of a chassis and of a system") {
    fabric f;
    const u32 up = f.add_switch("MF0;core1:CS7520/S03/U1");
    for (const char* leaf :
         {"MF0;core1:CS7520/L01/U1", "MF0;core1:CS7520/L02:board/U2", "MF0;xdr:Q3400-RA/U1", "MF0;xdr:Q3400-RA/U4",
          "MF0;alone:MQM9700/U1", "MF0;same:MQM9700/U1", "MF0;same:MQM9700/U1"}) {
        const u32 n = f.add_switch(leaf);
        f.cable(n, up);
        f.host(n, "n" + std::to_string(n));
    }
    CHECK_THAT(format_slurm_conf(f.s, {}).text,
               Catch::Contains("SwitchName=S-000000000000100b Nodes=n11\n"
                               "SwitchName=S-000000000000100d Nodes=n13\n"
                               "SwitchName=alone Nodes=n9\n"
                               "SwitchName=core1-L01-U1 Nodes=n1\n"
                               "SwitchName=core1-L02-U2 Nodes=n3\n"
                               "SwitchName=xdr-U1 Nodes=n5\n"
                               "SwitchName=xdr-U4 Nodes=n7\n"
                               "SwitchName=core1-S03-U1 Switches=S-000000000000100b,S-000000000000100d,alone,"));
}

namespace {

/// A compute rail at two leaves and a spine; a storage rail at a third leaf, and at the spine itself.
fabric two_rails() {
    fabric f;
    const u32 spine = f.add_switch("MF0;sp1:MQM9700/U1");
    const u32 compute1 = f.add_switch("MF0;sw1:MQM9700/U1"), compute2 = f.add_switch("MF0;sw2:MQM9700/U1"),
              storage = f.add_switch("MF0;st1:MQM8700/U1");
    for (const u32 leaf : {compute1, compute2, storage}) f.cable(leaf, spine);
    f.host(storage, "nodea mlx5_4"), f.host(storage, "nodeb mlx5_4"), f.host(storage, "nodec mlx5_4");
    f.host(spine, "filer1 mlx5_4");
    f.host(compute1, "nodea mlx5_0"), f.host(compute1, "nodeb mlx5_0"), f.host(compute2, "nodec mlx5_0");
    return f;
}

node_selection selection(const char* only, const char* without) {
    const auto contains = [](const char* part) -> std::function<bool(const node&)> {
        if (!part) return {};
        return [part](const node& n) { return n.description.find(part) != std::string::npos; };
    };
    return {contains(only), contains(without)};
}

/// Returns the lines that are not comments.
std::string lines_of(const export_text& conf) { return conf.text.substr(conf.text.find("SwitchName=")); }

} // namespace

TEST_CASE("a node selection exports one rail by its adapters or its switches") {
    const fabric f = two_rails();
    const std::string compute = "SwitchName=sw1 Nodes=nodea,nodeb\nSwitchName=sw2 Nodes=nodec\n"
                                "SwitchName=sp1 Switches=sw[1-2]\n";
    const auto exported = [&](const char* only, const char* without) {
        return format_slurm_conf(f.s, {}, selection(only, without));
    };
    for (const auto& [only, without] :
         {std::pair<const char*, const char*>{"mlx5_0", nullptr}, {";sw", nullptr}, {nullptr, "mlx5_4"}}) {
        const export_text conf = exported(only, without);
        CHECK(lines_of(conf) == compute);
        CHECK(conf.notes.empty());
        CHECK(conf.hosts == 3);
    }
    CHECK(lines_of(exported("mlx5_4", "filer")) == "SwitchName=st1 Nodes=nodea,nodeb,nodec\n");
    CHECK(lines_of(exported("st1", nullptr)) == "SwitchName=st1 Nodes=nodea,nodeb,nodec\n");
    const export_text no_switch = exported(nullptr, "st1");
    CHECK(lines_of(no_switch).starts_with(
        "SwitchName=sp1 Nodes=filer1\nSwitchName=sw1 Nodes=nodea,nodeb\nSwitchName=sw2 Nodes=nodec\n"));
    CHECK(no_switch.notes.empty());
    // Without the spine, no switch connects the leaves.
    const export_text apart = exported("mlx5_0", "sp1");
    CHECK(lines_of(apart) == "SwitchName=sw1 Nodes=nodea,nodeb\nSwitchName=sw2 Nodes=nodec\n");
    CHECK(apart.notes ==
          std::vector<std::string>{
              "2 fabrics are not connected to each other: sw[1-2] are separate roots, and no job can span them"});
    CHECK(exported("nobody", nullptr).hosts == 0);
    // Without a selection, one line contains the hosts of both rails.
    const export_text all = exported(nullptr, nullptr);
    CHECK(all.notes ==
          std::vector<std::string>{
              "3 hosts are connected to several switches and exported only at the first one; to choose, select the "
              "adapters of one rail: nodea (sw1, st1), nodeb (sw1, st1), nodec (sw2, st1)"});
}

TEST_CASE("the Slurm export is independent of the start of the discovery") {
    fabric f = two_rails();
    for (node& n : f.s.nodes) f.s.by_guid[n.info.nodeGUID] = static_cast<u32>(&n - f.s.nodes.data());
    for (const bool selected : {false, true}) {
        const node_selection rail = selected ? selection("mlx5_0", nullptr) : node_selection{};
        const std::string first = format_slurm_conf(f.s, {}, rail).text;
        for (u32 start = 0; start < f.s.nodes.size(); ++start) {
            subnet from = f.s;
            put_in_order(from, start, 1);
            CHECK(format_slurm_conf(from, {}, rail).text == first);
        }
    }
}

TEST_CASE("each link is exported once, including loops, and inconsistent links from both ends") {
    fabric f;
    const u32 a = f.add_switch("a"), b = f.add_switch("b");
    f.cable(a, b), f.cable(a, b), f.cable(a, a);
    CHECK(links_of(f.s).size() == 3);
    f.s.nodes[a].ports[1].peer = {b, 2};
    CHECK(links_of(f.s).size() == 4);
}

} // namespace exports_test
