// SPDX-License-Identifier: MIT
// tables_test.cpp - reading forwarding tables, SL-to-VL tables and the SLs of paths, also of wide switches, from the
// switches and from the SA. Runs in virtual time.
#include "library/discovery_rig.hpp"
#include "wire/altering_transport.hpp"
#include <comad/discovery/routing/detail/forwarding.hpp>
#include <comad/discovery/routing/detail/read_lanes.hpp>
#include <comad/discovery/routing/routes.hpp>

#include <set>
#include <string>

using namespace comad;
using namespace comad::test;
namespace smp = iba::smp;
using discovery::forwarding_tables;
using discovery::port_ref;
using transports::sim::bring_up;
using transports::sim::fabric;
using transports::sim::sim_transport;

namespace {

constexpr transports::sim::link_codes EDR{2, 16};

/// A subnet that a program at its first host discovered and may configure.
struct managed_subnet {
    explicit managed_subnet(topology t) : net(std::move(t)), port(net, time_mode::virtual_), schedule(port, window()) {
        mad::IBPath to;
        to.DLID = net.graph().sm_lid;
        to.SLID = net.graph().nodes[port.node()].ports[port.port()].LID;
        schedule.set_sa_path(to);
        auto result = coro::sync_wait(schedule, discovery::discover(schedule));
        REQUIRE(result);
        found = std::move(result).value();
    }
    template <class T> void set(u32 node, u32 modifier, const T& value) {
        const mad::any_path path = found.nodes[node].route;
        const auto done = [&]() -> coro::task<bool> {
            const auto answer = co_await schedule.SubnSet(value, path, modifier);
            co_return answer.has_value();
        };
        REQUIRE(coro::sync_wait(schedule, done()));
    }
    forwarding_tables tables(bool by_sa, discovery::forwarding_options how = {}) {
        how.by_sa = by_sa;
        return coro::sync_wait(schedule, discovery::read_forwarding(schedule, found, how));
    }
    u32 at(std::string_view description) const {
        for (u32 n = 0; n < found.nodes.size(); ++n)
            if (found.nodes[n].description == description) return n;
        FAIL("no " << description);
        return 0;
    }
    unsigned lid_of(u32 node) const {
        return value(found.end_port({node, found.nodes[node].info.localPortNum}).info->LID);
    }

    fabric net;
    sim_transport port;
    coro::MADSchedule schedule;
    subnet found;
};

/// Returns a switch with a host at each of these ports, and with another switch at its last port that has one host.
topology wide(unsigned ports, const std::set<unsigned>& hosts) {
    topology t;
    const u32 sw = t.add_node(iba::NodeType::Switch, ports, iba::guid{0x1000}, "wide", EDR);
    const u32 other = t.add_node(iba::NodeType::Switch, 4, iba::guid{0x2000}, "other", EDR);
    for (const unsigned p : hosts) {
        const u32 host = t.add_node(iba::NodeType::CA, 1, iba::guid{0x10000u * p}, "host " + std::to_string(p), EDR);
        REQUIRE(t.link(sw, p, host, 1));
    }
    const u32 far = t.add_node(iba::NodeType::CA, 1, iba::guid{0x3000}, "far host", EDR);
    REQUIRE((t.link(other, 1, far, 1) && t.link(sw, ports, other, 4)));
    bring_up(t);
    return t;
}

/// Sets the ports through which a switch forwards a multicast LID. No other LID of its block is forwarded.
void set_group(managed_subnet& s, u32 sw, unsigned MLID, const std::set<unsigned>& ports) {
    const unsigned index = MLID - discovery::first_mlid;
    for (unsigned position = 0; position <= s.found.nodes[sw].info.numPorts / 16u; ++position) {
        smp::MulticastForwardingTable block;
        for (const unsigned p : ports)
            if (p / 16 == position) block.portMaskBlock[index % 32] |= static_cast<u16>(1u << p % 16);
        s.set(sw, index / 32 | position << 28, block);
    }
}

std::set<unsigned> ports_of(const discovery::switch_forwarding& t, unsigned MLID) {
    std::set<unsigned> all;
    for (unsigned p = 0; p < 256; ++p)
        if (t.forwards(MLID, p)) all.insert(p);
    return all;
}

} // namespace

TEST_CASE("tables of switches with more than 144 ports are read to the last port, from switches and the SA") {
    const unsigned ports = GENERATE(145u, 160u, 254u);
    const bool by_sa = GENERATE(false, true);
    CAPTURE(ports, by_sa);
    const std::set<unsigned> hosts{1, 15, 16, 143, 144, ports - 2};
    managed_subnet s(wide(ports, hosts));
    const u32 sw = s.at("wide"), other = s.at("other"), far = s.at("far host");
    const std::set<unsigned> members{1, 16, 144, ports};
    set_group(s, sw, 0xc000, members);
    set_group(s, other, 0xc000, {1, 4});
    set_group(s, sw, 0xc021, {ports - 2});
    set_group(s, other, 0xc021, {});

    const forwarding_tables tables = s.tables(by_sa, {.multicast = true});
    CHECK(tables.complete());
    for (const unsigned p : hosts) {
        const unsigned LID = s.lid_of(s.at("host " + std::to_string(p)));
        CHECK(tables.of_node[sw].out_port(LID) == p);
        CHECK(tables.of_node[other].out_port(LID) == 4);
    }
    CHECK(tables.of_node[sw].out_port(s.lid_of(far)) == ports);
    CHECK(ports_of(tables.of_node[sw], 0xc000) == members);
    CHECK(ports_of(tables.of_node[other], 0xc000) == std::set<unsigned>{1, 4});
    CHECK(ports_of(tables.of_node[sw], 0xc021) == std::set{ports - 2});
    CHECK(ports_of(tables.of_node[sw], 0xc001).empty());

    const discovery::route_check routes = check_routes(s.found, discovery::lid_index(s.found), tables);
    CHECK(routes.is_good());
    CHECK(routes.pairs == (hosts.size() + 1) * hosts.size());
    CHECK(routes.loads[sw][ports].lids == 1);
    CHECK(routes.loads[sw][ports].routes == hosts.size());
    CHECK(routes.loads[sw][ports - 2].routes == hosts.size());
    const discovery::group_check groups = check_groups(s.found, tables);
    CHECK(groups.groups == 2);
    CHECK(groups.faults.empty());

    // The switch at the last port receives the packets of a group, and drops them.
    set_group(s, other, 0xc000, {});
    const discovery::group_check broken = check_groups(s.found, s.tables(by_sa, {.multicast = true}));
    REQUIRE(broken.faults.size() == 1);
    CHECK(broken.faults[0].what == discovery::group_fault::kind::dropped);
    CHECK(broken.faults[0].where == port_ref{sw, static_cast<u8>(ports)});
}

TEST_CASE("only the requested part of the forwarding tables is read") {
    managed_subnet s(wide(40, {1, 2}));
    const u32 sw = s.at("wide");
    set_group(s, sw, 0xc000, {1});
    set_group(s, sw, 0xc021, {2, 39});
    const u64 before = s.schedule.counters().sent;
    const forwarding_tables tables =
        s.tables(false, {.unicast = false, .multicast = true, .first_group = 0xc020, .last_group = 0xc022});
    CHECK(s.schedule.counters().sent - before == 3 + 1); // positions of 40 and of 4 ports
    CHECK(tables.of_node[sw].unicast.empty());
    CHECK(ports_of(tables.of_node[sw], 0xc021) == std::set<unsigned>{2, 39});
    CHECK(ports_of(tables.of_node[sw], 0xc000).empty());
}

TEST_CASE("a multicast table that ends before the first LID is not read") {
    managed_subnet s(wide(40, {1, 2}));
    for (discovery::node& n : s.found.nodes)
        if (n.switch_info) n.switch_info->multicastFDBTop = discovery::first_mlid - 1; // IBA 14.2.5.4
    const u64 before = s.schedule.counters().sent;
    CHECK(s.tables(false, {.unicast = false, .multicast = true}).complete());
    CHECK(s.schedule.counters().sent == before);
}

TEST_CASE("an unresponsive switch is not queried for all its blocks and is reported as a failure") {
    managed_subnet s(wide(254, {1}));
    const u32 other = s.at("other");
    const u32 dead = *s.net.graph().find("wide");
    s.net.apply({transports::sim::topology_event::kind::kill, dead});
    const u64 before = s.schedule.counters().sent;
    const forwarding_tables tables = s.tables(false, {.multicast = true, .whole_multicast = true});
    CHECK_FALSE(tables.complete());
    CHECK(s.schedule.counters().sent - before == 2); // instead of 546 blocks; the other switch cannot be reached
    REQUIRE(tables.failures.size() == 2);
    CHECK(s.found.find(tables.failures[0].where).node == s.at("wide"));
    CHECK(tables.failures[0].text.starts_with("513 blocks of the forwarding tables not read: "));
    CHECK_FALSE(tables.of_node[other].complete());
}

TEST_CASE("an unresponsive node is not queried for all port tables, and each block is reported as missing") {
    managed_subnet s(wide(40, {1, 2}));
    s.net.apply({transports::sim::topology_event::kind::kill, *s.net.graph().find("wide")});
    const u64 before = s.schedule.counters().sent;
    constexpr discovery::table_kinds wanted{.SLToVL = true};
    const auto facts = coro::sync_wait(s.schedule, read_subnet_tables(s.schedule, s.found, wanted));
    // One query of the local host, and failed queries of both switches and of the two hosts that only the dead switch
    // connects.
    CHECK(s.schedule.counters().sent - before == 5);
    CHECK(facts.SLToVL.values.size() == 1);
    CHECK(facts.SLToVL.wanted == 3 * 3 + 2 * 2 + 3);
    CHECK(facts.failures.size() == facts.SLToVL.wanted - 1);
    CHECK_FALSE(facts.SLToVL.complete());
}

TEST_CASE("tables that the SA does not return are failures with a cause") {
    managed_subnet s(wide(8, {1}));
    s.schedule.set_sa_path({}); // there is no SA at this path
    for (const bool is_unicast : {true, false}) {
        CAPTURE(is_unicast);
        const forwarding_tables tables =
            s.tables(true, {.unicast = is_unicast, .multicast = !is_unicast, .whole_multicast = true});
        CHECK_FALSE(tables.complete());
        REQUIRE(tables.failures.size() == 2);
        for (const auto& gap : tables.failures)
            CHECK_THAT(gap.text,
                       Catch::Contains("of the forwarding tables not read: ") && !Catch::Contains("not queried"));
    }
}

// ---- virtual lanes ----------------------------------------------------------------------------------------------------

TEST_CASE("the SL to VL table of a hop is selected by ingress port and egress port") {
    const bool by_sa = GENERATE(false, true);
    managed_subnet s(wide(8, {1, 2}));
    const u32 sw = s.at("wide");
    smp::SLToVLMappingTable table;
    table.SLtoVL.fill(3);
    table.SLtoVL[5] = 6;
    s.set(sw, 1 << 8 | 8, table); // from port 1 to port 8
    constexpr discovery::table_kinds wanted{.SLToVL = true};
    const auto facts = coro::sync_wait(s.schedule, by_sa ? read_subnet_tables_by_sa(s.schedule, s.found, wanted)
                                                         : read_subnet_tables(s.schedule, s.found, wanted));
    CHECK(facts.failures.empty());
    discovery::virtual_lanes lanes;
    CHECK(lanes.is_single());
    add_sl_to_vl(s.found, facts.SLToVL, lanes);
    CHECK_FALSE(lanes.is_single());
    CHECK(lanes.VL(sw, 1, 8, 0) == 3);
    CHECK(lanes.VL(sw, 1, 8, 5) == 6);
    CHECK(lanes.VL(sw, 2, 8, 5) == 5);
    CHECK(lanes.VL(sw, 8, 1, 5) == 5);

    // A port with only VL 0 has no table.
    auto& info = s.found.nodes[sw].ports[8].info;
    info->VLCap = static_cast<decltype(info->VLCap)>(1);
    discovery::virtual_lanes one;
    add_sl_to_vl(s.found, {}, one);
    CHECK(one.VL(sw, 2, 8, 5) == 0);
    CHECK(one.VL(sw, 2, 1, 5) == 5);
}

TEST_CASE("the SA is queried for the paths of each host, and missing paths are counted") {
    managed_subnet s(wide(8, {1, 2}));
    const discovery::lid_index lids(s.found);
    discovery::virtual_lanes lanes;
    const u64 before = s.schedule.counters().sent;
    const auto reported = coro::sync_wait(s.schedule, read_path_sls(s.schedule, s.found, lids, lanes));
    CHECK(reported.paths == 3 * 2);
    CHECK(reported.missing == 0);
    CHECK_FALSE(reported.error);
    CHECK(s.schedule.counters().sent - before == 3);
    CHECK_FALSE(lanes.is_single());

    s.schedule.set_sa_path({}); // there is no SA at this path
    discovery::virtual_lanes none;
    const auto path_sls = coro::sync_wait(s.schedule, read_path_sls(s.schedule, s.found, lids, none));
    CHECK(path_sls.missing == 3 * 2);
    REQUIRE(path_sls.error);
    CHECK(path_sls.error->code == mad::errc::incomplete_path);
    CHECK(none.is_single());
}

TEST_CASE("each LID of an LMC is a path, and an unresponsive SA is not queried again") {
    managed_subnet s(wide(8, {1, 2}));
    const u32 far = s.at("far host");
    s.found.nodes[far].ports[1].info->LMC = 2; // the SA knows only the base LID
    const discovery::lid_index lids(s.found);
    discovery::virtual_lanes lanes;
    const u64 before = s.schedule.counters().sent;
    const auto reported = coro::sync_wait(s.schedule, read_path_sls(s.schedule, s.found, lids, lanes));
    CHECK(reported.paths == 2 + 2 + 2 * 4);
    CHECK(s.schedule.counters().sent - before == 3);
    CHECK(reported.missing == 2 * 3);
    CHECK_FALSE(reported.error);

    coro::MADSchedule one_by_one(s.port, window(1, 0));
    mad::IBPath no_node;
    no_node.DLID = iba::lid{100};
    one_by_one.set_sa_path(no_node);
    const auto path_sls = coro::sync_wait(one_by_one, read_path_sls(one_by_one, s.found, lids, lanes));
    CHECK(path_sls.missing == path_sls.paths);
    CHECK(one_by_one.counters().sent == 1);
    REQUIRE(path_sls.error);
    CHECK(path_sls.error->code == mad::errc::timed_out);
}

TEST_CASE("a path that the SA returns twice counts once") {
    managed_subnet s(wide(8, {1, 2}));
    const discovery::lid_index lids(s.found);
    // The SA replaces every path by the last one. The paths lead from a host to itself, to the switch and to two other
    // hosts.
    altering_transport sa(s.port, [](std::span<u8> reply) {
        constexpr std::size_t before = 56, record = 64;
        for (std::size_t at = before; at + record <= reply.size(); at += record)
            std::ranges::copy(reply.last(record), reply.begin() + static_cast<std::ptrdiff_t>(at));
    });
    coro::MADSchedule schedule(sa, window());
    schedule.set_sa_path(s.schedule.sa_path());
    discovery::virtual_lanes lanes;
    const auto reported = coro::sync_wait(schedule, read_path_sls(schedule, s.found, lids, lanes));
    CHECK(reported.paths == 6);
    CHECK(reported.missing >= 3);
    CHECK(reported.missing < 6);
    CHECK_FALSE(reported.error);
}
