// SPDX-License-Identifier: MIT
// discovery_lies_test.cpp - discoveries with peers whose replies are false, and of endless subnets. A discovery ends,
// keeps a consistent result, and reports what is impossible and where it stopped.
#include "library/discovery_rig.hpp"
#include "wire/altering_transport.hpp"
#include <comad/coro/detail/rpcs.hpp>
#include <comad/iba/sa.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <set>
#include <string>
#include <vector>

using namespace comad;
using namespace comad::test;
using namespace std::chrono_literals;
using discovery::failure;
using discovery::failure_kind;
using iba::smp::NodeDescription;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;

namespace discovery_lies_test {
namespace {

/// A subnet in which an altering_transport can change every reply.
struct lying_world {
    explicit lying_world(topology t, altering_transport::lie lie, coro::schedule_options options = {})
        : net(std::move(t)), port(net, time_mode::virtual_), between(port, std::move(lie)), schedule(between, options) {
    }

    mad::result<subnet> try_to_discover(const discovery::discover_options& options = {}) {
        return coro::sync_wait(schedule, discovery::discover(schedule, options));
    }
    subnet discover(const discovery::discover_options& options = {}) {
        auto found = try_to_discover(options);
        REQUIRE(found);
        return std::move(found).value();
    }

    transports::sim::fabric net;
    transports::sim::sim_transport port;
    altering_transport between;
    coro::MADSchedule schedule;
};

using directed = iba::smp::FormatDirected;
constexpr std::size_t hop_count_at = iba::offset_of<&iba::MADHeaderDirected::hopCount>;

std::span<const u8> route_of(std::span<const u8> reply) {
    return reply.subspan(iba::offset_of<&directed::initialPath>, 1u + reply[hop_count_at]);
}

/// Gives the node at the end of each route its own unique GUID.
void new_guid_for_each_route(std::span<u8> reply) {
    const auto info = attribute_in<NodeInfo>(reply);
    if (info.empty()) return;
    u64 hash = 14695981039346656037u;
    for (const u8 hop : route_of(reply)) hash = (hash ^ hop) * 1099511628211u;
    put_number(iba::find_field(iba::info_of<NodeInfo>, "nodeGUID").value(), info, hash);
}

/// Returns a lie that changes only replies from the end of that route.
altering_transport::lie at(std::vector<u8> route, altering_transport::lie what) {
    route.insert(route.begin(), 0);
    return [route, what](std::span<u8> reply) {
        const bool is_smp = reply[1] == value(iba::MgmtClass::SubnDirected);
        if (is_smp && std::ranges::equal(route_of(reply), route)) what(reply);
    };
}

std::vector<std::string> problems_of(const subnet& s) {
    std::vector<std::string> all;
    for (const failure& p : s.failures) all.push_back(describe(s, p));
    return all;
}

topology line_of_two() { return managed("line,switches=2"); } // two hosts at two switches

} // namespace

// ---- impossible replies --------------------------------------------------------------------------------------------

TEST_CASE("an impossible neighbor is a failure at the port before it, and the rest is found") {
    const auto [field, number, words] = GENERATE(table<const char*, u64, const char*>(
        {{"nodeGUID", 0, "the neighbor reports node GUID 0"},
         {"nodeType", 0, "the neighbor reports unknown node type 0"},
         {"nodeType", 4, "the neighbor reports unknown node type 4"},
         {"nodeType", 255, "the neighbor reports unknown node type 255"},
         {"numPorts", 0, "the neighbor reports that it has no ports"},
         {"localPortNum", 0, "the neighbor reports local port 0, but its ports are 1..1"},
         {"localPortNum", 255, "the neighbor reports local port 255, but its ports are 1..1"}}));
    CAPTURE(field, number);
    const topology t = line_of_two();
    // The routes from the first host: its switch, the other switch, and from there the other host.
    world honest(t);
    const subnet truth = honest.discover();
    const auto other = std::ranges::find_if(
        truth.nodes, [&](const discovery::node& n) { return !n.is_switch() && &n != &truth.nodes[0]; });
    REQUIRE(other != truth.nodes.end());
    const auto hops = other->route.hops();
    lying_world w(t, at({hops.begin(), hops.end()}, always<NodeInfo>(field, number)));
    const subnet found = w.discover();
    CHECK(found.nodes.size() == truth.nodes.size() - 1);
    CHECK(inconsistencies(found).empty());
    REQUIRE(found.failures.size() == 1);
    CHECK(found.failures[0].kind == failure_kind::contradiction);
    CHECK(found.failures[0].text == words);
    CHECK(found.failures[0].where.nodeGUID != iba::guid{});
}

TEST_CASE("an impossible local node is a failure, and the nodes connected to it are found") {
    const auto [field, number, words] = GENERATE(table<const char*, u64, const char*>(
        {{"nodeGUID", 0, "the local node reports node GUID 0"},
         {"nodeType", 77, "the local node reports unknown node type 77"},
         {"numPorts", 0, "the local node reports that it has no ports"},
         {"localPortNum", 9, "the local node reports local port 9, but its ports are 1..1"},
         {"portGUID", 0, "reports port GUID 0"}}));
    CAPTURE(field, number);
    lying_world w(line_of_two(), at({}, always<NodeInfo>(field, number)));
    const subnet found = w.discover();
    REQUIRE_FALSE(found.failures.empty());
    CHECK(found.failures[0].kind == failure_kind::contradiction);
    CHECK(found.failures[0].text == words);
    CHECK_FALSE(text_of(found).empty());
    const bool has_its_port = std::string_view(field) != "localPortNum";
    if (has_its_port) CHECK(found.nodes.size() == 4);
}

TEST_CASE("replies to another request or over another route are ignored") {
    const auto byte = [](std::size_t offset) {
        return [offset](std::span<u8> reply) {
            if (reply.size() == mad::mad_size) reply[offset] ^= 1;
        };
    };
    const auto [what, offset] = GENERATE(table<const char*, std::size_t>({
        {"attributeModifier", 23}, // the last byte of the field
        {"attributeID", 17},
        {"hopCount", hop_count_at},
        {"initialPath", iba::offset_of<&directed::initialPath> + 1},
        {"D bit", 4},
    }));
    CAPTURE(what);
    const std::size_t at_byte = offset;
    const bool is_D = at_byte == 4;
    lying_world w(line_of_two(), [&, lie = byte(at_byte)](std::span<u8> reply) {
        if (reply[hop_count_at] != 1) return; // only replies of the first switch
        if (is_D) reply[4] ^= 0x80;
        else lie(reply);
    });
    const subnet found = w.discover();
    CHECK(found.nodes.size() == 1);
    REQUIRE(found.failures.size() == 1);
    CHECK(found.failures[0].kind == failure_kind::timeout);
    CHECK(w.schedule.counters().mismatched > 0);
}

TEST_CASE("a table reply with an invalid AttributeOffset is rejected") {
    const u64 offset = GENERATE(u64{0}, u64{65535}, u64{20}); // in units of 8 bytes; the right value is 14
    CAPTURE(offset);
    lying_world w(line_of_two(), {});
    const auto of_header = [&](std::span<u8> reply) {
        const std::size_t place = iba::offset_of<&iba::sa::Header::attributeOffset>;
        if (reply[1] != value(iba::MgmtClass::SubnAdm) || reply.size() < place + 2) return;
        reply[place] = static_cast<u8>(offset >> 8);
        reply[place + 1] = static_cast<u8>(offset);
    };
    mad::IBPath to_sa;
    to_sa.DLID = w.net.graph().sm_lid;
    w.schedule.set_sa_path(to_sa);
    const auto send_query = [&]() -> coro::task<mad::result<std::vector<iba::sa::NodeRecord>>> {
        co_return co_await w.schedule.SubnAdmGetTable<iba::sa::NodeRecord>();
    };
    auto honest = coro::sync_wait(w.schedule, send_query());
    REQUIRE(honest);
    CHECK(honest.value().size() == 4);
    w.between.alter(of_header);
    auto lied = coro::sync_wait(w.schedule, send_query());
    REQUIRE_FALSE(lied);
    CHECK(lied.error().code == mad::errc::malformed_reply);
}

TEST_CASE("any value in any field of any reply leads to a consistent result of the discovery") {
    const topology t = line_of_two();
    const std::vector<const iba::record_info*> attributes{&iba::info_of<NodeInfo>, &iba::info_of<PortInfo>,
                                                          &iba::info_of<SwitchInfo>, &iba::info_of<NodeDescription>,
                                                          &iba::info_of<directed>};
    std::size_t altered_replies = 0;
    for (const iba::record_info* info : attributes) {
        for (const iba::field_info& f : iba::fields_of(*info)) {
            if (f.row.nested) continue;
            for (const bool is_local : {true, false}) {
                for (const u64 number : {u64{0}, ~u64{0}, u64{1}, u64{2}}) {
                    CAPTURE(info->name, f.name, is_local, number);
                    ++altered_replies;
                    lying_world w(t, [&](std::span<u8> reply) {
                        const iba::mad_tables tables = iba::tables_of(reply);
                        if ((route_of(reply).size() == 1) != is_local) return;
                        if (tables.format == info) put_number(f.row, reply, number);
                        else if (tables.attribute == info) put_number(f.row, reply.subspan(tables.data_begin), number);
                    });
                    const auto found = w.try_to_discover({.max_nodes = 64});
                    if (!found) continue; // the local port, whose reply was not understood
                    const subnet& s = found.value();
                    CHECK(s.nodes.size() <= 64);
                    const bool is_reported = std::ranges::any_of(s.failures, [](const failure& p) {
                        return p.kind == failure_kind::contradiction && p.where.route.hopCount == 0 &&
                               p.where.port == 0;
                    });
                    if (!is_reported) CHECK(inconsistencies(s).empty());
                    CHECK_FALSE(text_of(s).empty());
                    static_cast<void>(ports_report(s, {})); // it may have no port
                }
            }
        }
    }
    CHECK(altered_replies > 500);
}

// ---- endless subnets -----------------------------------------------------------------------------------------------

TEST_CASE("discovery of an endless subnet stops at max_nodes") {
    lying_world w(managed("torus,x=3,y=3"), new_guid_for_each_route);
    const subnet found = w.discover({.max_nodes = 500});
    CHECK(found.nodes.size() == 500);
    CHECK(inconsistencies(found).empty());
    REQUIRE(found.failures.size() == 1);
    CHECK(found.failures[0].kind == failure_kind::limit);
    CHECK(describe(found, found.failures[0]) == "not all nodes were discovered: the limit is 500 nodes");
    CHECK_FALSE(found.complete());
    CHECK_THAT(text_of(found), Catch::Contains("\"kind\": \"limit\""));
    // At most one PortInfo and one NodeInfo for each port, and two more attributes for each node.
    CHECK(w.schedule.counters().sent < 500 * (2 * 6 + 3));
}

TEST_CASE("discovery of an endless subnet stops at max_ports") {
    lying_world w(managed("torus,x=3,y=3"), new_guid_for_each_route);
    const subnet found = w.discover({.max_ports = 300});
    std::size_t ports = 0;
    for (const discovery::node& n : found.nodes) ports += n.ports.size();
    CHECK(ports >= 300);
    CHECK(ports < 300 + 6); // and the ports of the last node
    REQUIRE(found.failures.size() == 1);
    CHECK(found.failures[0].kind == failure_kind::limit);
    CHECK_THAT(found.failures[0].text, Catch::Contains("the limit is 300 ports"));
}

TEST_CASE("a subnet of exactly max_nodes is complete, and one node less keeps the links between known nodes") {
    const topology t = managed("fattree2,radix=4"); // 8 hosts, 6 switches
    world w(t);
    CHECK(w.discover({.max_nodes = 14}).complete());
    world less(t);
    const subnet found = less.discover({.max_nodes = 13});
    CHECK(found.nodes.size() == 13);
    REQUIRE(found.failures.size() == 1);
    CHECK(found.failures[0].kind == failure_kind::limit);
    // One host is missing. It has one of the 16 links.
    CHECK(found.link_count() == 15);
}

TEST_CASE("a discovery ends at its time limit with a partial result") {
    timing slow;
    slow.hop_delay = 1ms;
    world w(managed("line,switches=20"), {}, slow, {}, {});
    const subnet found = w.discover({.max_time = 30ms});
    CHECK(found.nodes.size() > 1);
    CHECK(found.nodes.size() < 40);
    CHECK(inconsistencies(found).empty());
    CHECK(w.elapsed() >= 30ms);
    CHECK(w.elapsed() < 32ms);
    REQUIRE(found.failures.size() == 1);
    CHECK(found.failures[0].kind == failure_kind::limit);
    CHECK(found.failures[0].text == "stopped at the time limit of 0.03 s");

    world enough(managed("line,switches=20"), {}, slow, {}, {});
    CHECK(enough.discover({.max_time = 100s}).complete());
    CHECK(enough.elapsed() < 10s); // it does not wait for the remaining replies
}

TEST_CASE("a discovery ends when the memory_is_short flag is set") {
    std::atomic<bool> enough = false;
    unsigned replies = 0;
    lying_world w(managed("torus,x=3,y=3"), [&](std::span<u8> reply) {
        new_guid_for_each_route(reply);
        enough = ++replies > 100;
    });
    const subnet found = w.discover({.memory_is_short = &enough});
    CHECK(found.nodes.size() > 5);
    CHECK(replies < 100 + 70); // requests that were in flight
    CHECK(inconsistencies(found).empty());
    REQUIRE(found.failures.size() == 1);
    CHECK(found.failures[0].kind == failure_kind::limit);
    CHECK_THAT(found.failures[0].text, Catch::Contains("memory is low"));
}

// ---- nodes with the maximum number of ports ---------------------------------------------------------------------------

TEST_CASE("discovery finds and reports all ports of nodes with 254 and 255 ports") {
    const unsigned ports = GENERATE(254u, 255u);
    constexpr transports::sim::link_codes edr{2, 16};
    topology t;
    const u32 sw = t.add_node(iba::NodeType::Switch, ports, iba::guid{0x1000}, "wide switch", edr);
    const u32 wide = t.add_node(iba::NodeType::CA, ports, iba::guid{0x20000}, "wide host", edr);
    const u32 host = t.add_node(iba::NodeType::CA, 1, iba::guid{0x3000}, "host", edr);
    t.link(host, 1, sw, 1);
    t.link(wide, ports, sw, ports);
    t.link(wide, 7, sw, 200);
    bring_up(t);
    world w(t, host, 1);
    const subnet found = w.discover();
    CHECK(differences(found, t, host, 1).empty());
    CHECK(inconsistencies(found).empty());
    CHECK(found.link_count() == 3);
    std::set<std::string> reported;
    for (const std::string& line : problems_of(found)) reported.insert(line);
    if (ports == 254) CHECK(reported.empty());
    else
        CHECK(reported ==
              std::set<std::string>{"S-0000000000001000 \"wide switch\": reports 255 ports, but the maximum is 254",
                                    "H-0000000000020000 \"wide host\": reports 255 ports, but the maximum is 254"});
    const std::string text = text_of(found);
    CHECK_THAT(text, Catch::Contains(fmt::format("[{}]\t\"H-0000000000020000\"[{}]", ports, ports)));
    CHECK_THAT(ports_report(found, {}), Catch::Contains(fmt::format("SW     2 {} ", ports)) ||
                                            Catch::Contains(fmt::format("SW     1 {} ", ports)));
}

} // namespace discovery_lies_test
