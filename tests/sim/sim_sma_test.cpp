// SPDX-License-Identifier: MIT
// sim_sma_test.cpp - the routes of the simulator and the replies of its SMAs, compared with the IBA and with a real
// ibsim.
#include "ibsim/ibsim_server.hpp"
#include "support/catch.hpp"
#include "wire/sim_client.hpp"
#include <comad/transports/ibsim.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <poll.h>
#include <set>
#include <sstream>
#include <string>

using namespace comad;
using namespace comad::transports::sim;
using iba::smp::NodeDescription;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using iba::smp::SwitchInfo;
using directed_header = iba::MADHeaderDirected;
using iba::smp::FormatDirected;

namespace {

simulation make(std::string_view specification) { return make_sim(specification, time_mode::virtual_); }

u8 return_port(const smp_bytes& reply, unsigned hop) {
    return reply[iba::offset_of<&FormatDirected::returnPath> + hop];
}

/// Returns the status in the reply to a SubnGet, or nothing without a reply.
std::optional<u16> status_of(mad::transport& t, const mad::any_path& path, const smp_bytes& request) {
    const auto reply = send_query(t, path, request);
    if (!reply) return std::nullopt;
    return mad::status_of(reply->data());
}

/// Returns a route to every node, the shortest first.
std::vector<mad::IBDRPath> routes_to_all(const topology& t, u32 start) {
    std::vector<mad::IBDRPath> routes{mad::IBDRPath{}};
    std::set<u32> seen{start};
    std::deque<std::pair<u32, mad::IBDRPath>> todo{{start, mad::IBDRPath{}}};
    for (; !todo.empty(); todo.pop_front()) {
        const auto [at, path] = todo.front();
        const node& n = t.nodes[at];
        if (!n.is_switch() && path.hopCount != 0) continue;
        for (unsigned p = 1; p <= n.num_ports(); ++p) {
            if (!n.ports[p].linked() || !seen.insert(n.ports[p].peer_node).second) continue;
            todo.emplace_back(n.ports[p].peer_node, path.extended(static_cast<u8>(p)));
            routes.push_back(todo.back().second);
        }
    }
    return routes;
}

/// Sends a request to a real ibsim. Returns nothing if ibsim returns the MAD as expired, which is how it drops MADs.
std::optional<smp_bytes> query_ibsim(transports::ibsim_transport& t, const mad::any_path& path,
                                     const smp_bytes& request) {
    REQUIRE(send_to(t, path, request).state == mad::send_state::sent);
    pollfd descriptor{t.native_handle(), POLLIN, 0};
    REQUIRE(::poll(&descriptor, 1, 30'000) == 1);
    std::array<u8, 1024> buffer{};
    const mad::received r = t.receive(buffer);
    REQUIRE(r.state == mad::receive_state::message);
    if (r.status != 0) return std::nullopt;
    REQUIRE(r.mad.size() == mad::mad_size);
    smp_bytes reply;
    std::copy(r.mad.begin(), r.mad.end(), reply.begin());
    return reply;
}

} // namespace

TEST_CASE("NodeInfo contains the port where the SMP arrived") {
    const auto s = make("fattree2,radix=4");
    const topology& t = s.fabric->graph();
    const auto self = get<NodeInfo>(*s.transport, route({}));
    REQUIRE(self);
    CHECK(self->nodeType == iba::NodeType::CA);
    CHECK(self->numPorts == 1);
    CHECK(self->localPortNum == 1);
    CHECK(self->nodeGUID == t.nodes[0].nodeGUID);
    CHECK(self->portGUID == t.nodes[0].ports[1].GUID);
    CHECK(self->portGUID != self->nodeGUID);
    CHECK(self->vendorID == 0x2c9);

    // h-0001 is at port 1 of its leaf. Port 3 of the leaf leads to the first spine, whose port 2 leads to the next
    // leaf.
    const auto leaf = get<NodeInfo>(*s.transport, route({1}));
    REQUIRE(leaf);
    CHECK(leaf->nodeType == iba::NodeType::Switch);
    CHECK(leaf->numPorts == 4);
    CHECK(leaf->localPortNum == 1);
    CHECK(leaf->portGUID == leaf->nodeGUID);
    CHECK(get<NodeInfo>(*s.transport, route({1, 3}))->localPortNum == 1);
    CHECK(get<NodeInfo>(*s.transport, route({1, 3, 2}))->localPortNum == 3);
    CHECK(get<NodeInfo>(*s.transport, route({1, 3, 2}))->nodeGUID != leaf->nodeGUID);
    // To the spine and back.
    CHECK(get<NodeInfo>(*s.transport, route({1, 3, 1}))->nodeGUID == leaf->nodeGUID);
    CHECK(get<NodeInfo>(*s.transport, route({1, 3, 1}))->localPortNum == 3);
    CHECK(get<NodeInfo>(*s.transport, route({1, 1}))->nodeGUID == self->nodeGUID);
}

TEST_CASE("a reply to a directed route has its return path, the D bit, hop pointer 0 and the request bytes") {
    const auto s = make("fattree2,radix=4");
    const auto path = route({1, 4, 3, 2});
    smp_bytes request = get_request(iba::attribute_id<NodeInfo>, path, 0x12345678);
    iba::put<&directed_header::transactionID>(request.data(), 0x0123'4567'89ab'cdef);
    const auto reply = send_query(*s.transport, path, request);
    REQUIRE(reply);
    const u8* r = reply->data();
    CHECK(iba::get<&directed_header::D>(r));
    CHECK(iba::get<&directed_header::status>(r) == 0);
    CHECK(iba::get<&directed_header::hopPointer>(r) == 0);
    CHECK(iba::get<&directed_header::hopCount>(r) == 4);
    CHECK(iba::get<&directed_header::method>(r) == iba::Method::GetResp);
    CHECK(iba::get<&directed_header::transactionID>(r) == 0x0123'4567'89ab'cdef);
    CHECK(iba::get<&directed_header::attributeModifier>(r) == 0x12345678);
    // The SMP enters the leaf by port 1, the second spine by 1, the third leaf by 4, and its second host by 1.
    CHECK(return_port(*reply, 1) == 1);
    CHECK(return_port(*reply, 2) == 1);
    CHECK(return_port(*reply, 3) == 4);
    CHECK(return_port(*reply, 4) == 1);
    const auto initial = iba::offset_of<&FormatDirected::initialPath>;
    CHECK(std::equal(request.begin() + initial, request.begin() + initial + 64, reply->begin() + initial));
}

TEST_CASE("a directed route that a subnet cannot follow is dropped") {
    auto s = make("fattree2,radix=4");
    auto& t = *s.transport;
    CHECK(get<NodeInfo>(t, route({1, 2})));
    CHECK_FALSE(get<NodeInfo>(t, route({1, 2, 1}))); // through a CA
    CHECK_FALSE(get<NodeInfo>(t, route({1, 5})));    // the switch has four ports
    CHECK_FALSE(get<NodeInfo>(t, route({1, 255})));
    CHECK_FALSE(get<NodeInfo>(t, route({1, 0}))); // port 0 leads nowhere
    CHECK_FALSE(get<NodeInfo>(t, route({2})));    // our CA has one port
    s.fabric->apply({topology_event::kind::cut, *s.fabric->graph().find("leaf-0001"), 2});
    CHECK_FALSE(get<NodeInfo>(t, route({1, 2}))); // the cable was removed
    CHECK(get<NodeInfo>(t, route({1, 3})));
    CHECK(s.fabric->counters().undelivered == 6);

    const auto path = route({1, 3});
    smp_bytes request = get_request(iba::attribute_id<NodeInfo>, path);
    SECTION("hop pointer not at the first hop") {
        iba::put<&directed_header::hopPointer>(request.data(), 1);
        CHECK_FALSE(send_query(t, path, request));
    }
    SECTION("D bit set in a request") {
        iba::put<&directed_header::D>(request.data(), true);
        CHECK_FALSE(send_query(t, path, request));
    }
    SECTION("DrSLID that is not permissive") {
        iba::put<&FormatDirected::drSLID>(request.data(), iba::lid{1});
        CHECK_FALSE(send_query(t, path, request));
    }
    SECTION("unchanged valid route") { CHECK(send_query(t, path, request)); }
}

TEST_CASE("a directed route has at most 63 hops") {
    const auto s = make("line,switches=70,hosts=1");
    std::vector<u8> ports{1};
    ports.resize(62, 1); // from host 1: port 1 of each switch leads to the next
    ports.push_back(3);  // to the host of the 62nd switch
    const mad::IBDRPath longest(ports);
    REQUIRE(longest.hopCount == 63);
    const auto description = get<NodeDescription>(*s.transport, longest);
    REQUIRE(description);
    CHECK(text(*description) == "h-0062 HCA-1");

    smp_bytes request = get_request(iba::attribute_id<NodeInfo>, longest);
    iba::put<&directed_header::hopCount>(request.data(), 64);
    CHECK_FALSE(send_query(*s.transport, longest, request));
}

TEST_CASE("PortInfo of port 0 is the switch port 0, and for a CA the port of arrival") {
    const auto s = make("fattree2,radix=4,sm=1");
    auto& t = *s.transport;
    const auto leaf = *s.fabric->graph().find("leaf-0001");

    const auto own = get<PortInfo>(t, route({1}), 0);
    REQUIRE(own);
    CHECK(own->LID == s.fabric->graph().nodes[leaf].ports[0].LID);
    CHECK(own->localPortNum == 1); // the port where the SMP entered
    CHECK(own->portState == iba::PortState::Active);
    CHECK(own->GIDPrefix == 0xfe80'0000'0000'0000);
    CHECK((own->capabilityMask & 0x4000) != 0);

    const auto uplink = get<PortInfo>(t, route({1}), 3);
    REQUIRE(uplink);
    CHECK(uplink->LID == iba::lid{0});
    CHECK(uplink->capabilityMask == 0);
    CHECK(uplink->portState == iba::PortState::Active);
    CHECK(uplink->portPhysicalState == iba::PortPhysicalState::LinkUp);
    CHECK(uplink->linkWidthActive == iba::LinkWidth::w4x);
    CHECK(uplink->linkSpeedExtActive == iba::LinkSpeedExt::EDR);
    CHECK(uplink->linkSpeedActive == iba::LinkSpeed::QDR);

    const auto arrival = get<PortInfo>(t, route({1, 2}), 0);
    REQUIRE(arrival);
    CHECK(arrival == get<PortInfo>(t, route({1, 2}), 1));
    CHECK(arrival->LID == iba::lid{2});
    CHECK(arrival->masterSMLID == iba::lid{1});
    CHECK(arrival->localPortNum == 1);
    CHECK((arrival->capabilityMask & 2) == 0);
    CHECK((get<PortInfo>(t, route({}), 0)->capabilityMask & 2) != 0); // the node of the subnet manager
    // The highest bit of the modifier only requests extended speeds.
    CHECK(get<PortInfo>(t, route({1}), 0x80000003) == uplink);
}

TEST_CASE("base port 0 has no LID mask, and enhanced port 0 has one") {
    std::istringstream in("Switch 4 \"S1\" # \"one\" base port 0 lid 4 lmc 2\n[1] \"S2\"[1]\n\n"
                          "Switch 4 \"S2\" # \"two\" enhanced port 0 lid 8 lmc 2\n");
    fabric net(read_topology(in, "text"));
    sim_transport t(net, time_mode::virtual_);
    CHECK(t.port() == 0);
    CHECK(get<SwitchInfo>(t, route({}))->enhancedPort0 == false);
    CHECK(get<PortInfo>(t, route({}), 0)->LMC == 0);
    CHECK(get<SwitchInfo>(t, route({1}))->enhancedPort0 == true);
    CHECK(get<PortInfo>(t, route({1}), 0)->LMC == 2);
    CHECK(get<NodeInfo>(t, route({}))->localPortNum == 0);
    for (unsigned lid : {8u, 11u}) CHECK(get<NodeInfo>(t, to_lid(lid))->nodeGUID == net.graph().nodes[1].nodeGUID);
    CHECK_FALSE(get<NodeInfo>(t, to_lid(12)));
}

TEST_CASE("a CA forwards no LID-routed packets, even with a cable at each port") {
    std::istringstream in("caguid=0xa000\nHca 1 \"A\"\n[1] \"S1\"[1]\n"
                          "caguid=0xb000\nHca 2 \"B\"\n[1] \"S2\"[1]\n[2] \"S1\"[2]\n"
                          "switchguid=0x1000\nSwitch 2 \"S1\"\n[1] \"A\"[1]\n[2] \"B\"[2]\n"
                          "switchguid=0x2000\nSwitch 2 \"S2\"\n[1] \"B\"[1]\n");
    topology t = read_topology(in, "text");
    bring_up(t);
    const auto lid_of = [&](u64 nodeGUID, unsigned port) {
        const auto n = std::ranges::find(t.nodes, iba::guid{nodeGUID}, &node::nodeGUID);
        return value(n->ports.at(port).LID);
    };
    const unsigned near_side = lid_of(0xb000, 2), behind = lid_of(0x2000, 0);
    REQUIRE(behind != 0);
    fabric net(t);
    sim_transport from_A(net, time_mode::virtual_);
    REQUIRE(get<NodeInfo>(from_A, route({}))->nodeGUID == iba::guid{0xa000});
    CHECK(get<NodeInfo>(from_A, to_lid(near_side))->nodeGUID == iba::guid{0xb000});
    CHECK_FALSE(get<NodeInfo>(from_A, to_lid(behind)));
}

TEST_CASE("a simulated SMA rejects unsupported requests with the status that the IBA defines") {
    const auto s = make("fattree2,radix=4");
    auto& t = *s.transport;
    const mad::any_path leaf = route({1}), host = route({1, 2});
    const auto changed = [](smp_bytes bytes, auto change) {
        change(bytes.data());
        return bytes;
    };
    CHECK(status_of(t, leaf, get_request(iba::attribute_id<PortInfo>, leaf, 4)) == 0);
    CHECK(status_of(t, leaf, get_request(iba::attribute_id<PortInfo>, leaf, 5)) == 0x1c);
    CHECK(status_of(t, leaf, get_request(iba::attribute_id<PortInfo>, leaf, 0x103)) == 0x1c);
    CHECK(status_of(t, host, get_request(iba::attribute_id<PortInfo>, host, 2)) == 0x1c);
    CHECK(status_of(t, leaf, get_request(iba::attribute_id<SwitchInfo>, leaf)) == 0);
    CHECK(status_of(t, host, get_request(iba::attribute_id<SwitchInfo>, host)) == 0x0c);
    CHECK(status_of(t, leaf, get_request(iba::attribute_id<iba::smp::MlnxExtPortInfo>, leaf, 4)) == 0);
    CHECK(status_of(t, leaf, get_request(iba::attribute_id<iba::smp::MlnxExtPortInfo>, leaf, 5)) == 0x1c);
    CHECK(status_of(t, leaf, get_request(0x7777, leaf)) == 0x0c);

    const smp_bytes good = get_request(iba::attribute_id<NodeInfo>, leaf);
    using header = iba::MADHeader;
    CHECK(status_of(t, leaf, changed(good, [](u8* m) { iba::put<&header::method>(m, iba::Method::Set); })) == 0x0c);
    CHECK(status_of(t, leaf, changed(good, [](u8* m) { iba::put<&header::method>(m, iba::Method::GetTable); })) ==
          0x08);
    CHECK(status_of(t, leaf, changed(good, [](u8* m) { iba::put<&header::method>(m, iba::Method{0x7f}); })) == 0x08);
    CHECK(status_of(t, leaf, changed(good, [](u8* m) { iba::put<&header::classVersion>(m, 2); })) == 0x04);

    // The node does not reply to these requests at all.
    CHECK_FALSE(send_query(t, leaf, changed(good, [](u8* m) { iba::put<&header::baseVersion>(m, 2); })));
    CHECK_FALSE(send_query(t, leaf, changed(good, [](u8* m) { iba::put<&header::method>(m, iba::Method::GetResp); })));
    CHECK_FALSE(
        send_query(t, leaf, changed(good, [](u8* m) { iba::put<&header::method>(m, iba::Method::TrapRepress); })));
    CHECK_FALSE(send_query(t, leaf,
                           changed(good, [](u8* m) { iba::put<&header::mgmtClass>(m, iba::MgmtClass::Performance); })));

    const auto error = send_query(t, leaf, get_request(iba::attribute_id<PortInfo>, leaf, 5));
    REQUIRE(error);
    CHECK(iba::get<&directed_header::D>(error->data()));
}

TEST_CASE("links are Initialize and have no LIDs until a subnet manager runs") {
    const auto before = make("torus,x=3,y=3,hosts=2");
    CHECK(get<PortInfo>(*before.transport, route({}), 0)->portState == iba::PortState::Initialize);
    CHECK(get<PortInfo>(*before.transport, route({}), 0)->LID == iba::lid{0});
    CHECK(get<SwitchInfo>(*before.transport, route({1}))->portStateChange);
    for (unsigned lid = 0; lid < 40; ++lid) CHECK_FALSE(get<NodeInfo>(*before.transport, to_lid(lid)));

    const auto after = make("torus,x=3,y=3,hosts=2,sm=1,at=h-0007 HCA-1");
    const topology& t = after.fabric->graph();
    CHECK_FALSE(get<SwitchInfo>(*after.transport, route({1}))->portStateChange);
    for (const node& n : t.nodes) {
        const port& end = n.ports[n.first_port()];
        const auto info = get<NodeInfo>(*after.transport, to_lid(value(end.LID)));
        REQUIRE(info);
        CHECK(info->nodeGUID == n.nodeGUID);
        // The port of arrival leads back.
        if (n.is_switch()) CHECK(n.ports[info->localPortNum].linked());
        const smp_bytes request = get_request(iba::attribute_id<PortInfo>, to_lid(value(end.LID)), 0);
        const auto reply = send_query(*after.transport, to_lid(value(end.LID)), request);
        CHECK(iba::get<&iba::MADHeader::status>(reply->data()) == 0); // a LID-routed SMP has no D bit
        CHECK(attribute<PortInfo>(*reply).LID == end.LID);
    }
    CHECK_FALSE(get<NodeInfo>(*after.transport, to_lid(static_cast<unsigned>(t.nodes.size()) + 1)));
    CHECK_FALSE(get<NodeInfo>(*after.transport, to_lid(0)));
    // The permissive LID addresses the local node.
    CHECK(get<NodeInfo>(*after.transport, to_lid(0xffff))->nodeGUID == t.nodes[6].nodeGUID);
}

TEST_CASE("LID routing uses neither cut cables nor links that are not Active again") {
    const auto s = make("ring,switches=4,hosts=1,sm=1");
    auto& t = *s.transport;
    const topology& g = s.fabric->graph();
    const u32 first = *g.find("sw-0001");
    const mad::any_path across = to_lid(value(g.nodes[*g.find("h-0003 HCA-1")].ports[1].LID));
    CHECK(get<NodeInfo>(t, across));
    s.fabric->apply({topology_event::kind::cut, first, 1});
    CHECK(get<NodeInfo>(t, across)); // in the other direction around the ring
    s.fabric->apply({topology_event::kind::cut, first, 2});
    CHECK_FALSE(get<NodeInfo>(t, across));
    CHECK(get<PortInfo>(t, route({1}), 1)->portState == iba::PortState::Down);
    CHECK(get<PortInfo>(t, route({1}), 1)->portPhysicalState == iba::PortPhysicalState::Polling);
    CHECK(get<SwitchInfo>(t, route({1}))->portStateChange);

    s.fabric->apply({topology_event::kind::restore, first, 1});
    CHECK(get<PortInfo>(t, route({1}), 1)->portState == iba::PortState::Initialize);
    CHECK(get<NodeInfo>(t, route({1, 1})));
    CHECK_FALSE(get<NodeInfo>(t, across));
}

TEST_CASE("a directed route can have LID-routed parts before and after its hops") {
    const auto s = make("line,switches=5,hosts=1,sm=1");
    const topology& g = s.fabric->graph();
    const auto lid_of = [&](std::string_view name) {
        const node& n = g.nodes[*g.find(name)];
        return n.ports[n.first_port()].LID;
    };
    mad::IBDRPath path = route({1, 3}); // from the third switch to the fourth, and to its host
    path.DLID = lid_of("sw-0003");
    path.drSLID = lid_of("h-0001 HCA-1");
    const auto there = send_query(*s.transport, path, get_request(iba::attribute_id<NodeDescription>, path));
    REQUIRE(there);
    CHECK(text(attribute<NodeDescription>(*there)) == "h-0004 HCA-1");
    CHECK(return_port(*there, 1) == 2);
    CHECK(return_port(*there, 2) == 1);

    // Leaves by one port, and continues by LID to the far end.
    mad::IBDRPath behind = route({1});
    behind.drDLID = lid_of("h-0005 HCA-1");
    const auto far = send_query(*s.transport, behind, get_request(iba::attribute_id<NodeDescription>, behind));
    REQUIRE(far);
    CHECK(text(attribute<NodeDescription>(*far)) == "h-0005 HCA-1");

    // The reply needs a destination LID after the ports.
    path.drSLID = iba::permissive_lid;
    CHECK_FALSE(send_query(*s.transport, path, get_request(iba::attribute_id<NodeDescription>, path)));
    path.drSLID = lid_of("h-0002 HCA-1");
    CHECK_FALSE(send_query(*s.transport, path, get_request(iba::attribute_id<NodeDescription>, path)));
}

TEST_CASE("long descriptions are truncated to the size of the attribute") {
    topology t = make_topology("single");
    t.nodes[1].description = std::string(70, 'x');
    fabric net(std::move(t));
    sim_transport transport(net, time_mode::virtual_);
    CHECK(text(*get<NodeDescription>(transport, route({1}))) == std::string(64, 'x'));
}

TEST_CASE("the simulator and ibsim reply equally wherever ibsim follows the IBA") {
    const auto* specification = GENERATE("fattree2,radix=6", "torus,x=3,y=3,speed=QDR,width=12x", "single,speed=DDR",
                                         "line,switches=3,hosts=2,speed=FDR");
    const bool managed = GENERATE(false, true);
    INFO(specification);
    topology t = make_topology(specification);
    t.nodes.back().enhanced_port0 = t.nodes.back().is_switch();
    if (managed) {
        bring_up(t);
        // ibsim reads the LIDs, but leaves the links to its own subnet manager.
        for (node& n : t.nodes) {
            for (port& p : n.ports) {
                if (p.linked()) p.state = iba::PortState::Initialize;
            }
        }
    }
    std::ostringstream file;
    write_topology(file, t);
    const ibsim_server server(file.str());
    transports::ibsim_options options;
    options.sockname = server.sockname();
    options.node.clear(); // the first node, like the simulator
    transports::ibsim_transport theirs(options);
    fabric net(std::move(t));
    sim_transport ours(net, time_mode::virtual_);

    unsigned compared = 0;
    const auto both = [&](const mad::any_path& path, const smp_bytes& request) {
        const auto a = send_query(ours, path, request), b = query_ibsim(theirs, path, request);
        REQUIRE(a.has_value() == b.has_value());
        if (!a) return std::pair{smp_bytes{}, smp_bytes{}};
        ++compared;
        CHECK(mad::status_of(a->data()) == mad::status_of(b->data()));
        CHECK(iba::get<&directed_header::D>(a->data()) == iba::get<&directed_header::D>(b->data()));
        CHECK(iba::get<&directed_header::method>(a->data()) == iba::get<&directed_header::method>(b->data()));
        CHECK(iba::get<&directed_header::hopPointer>(a->data()) == iba::get<&directed_header::hopPointer>(b->data()));
        CHECK(iba::get<&directed_header::hopCount>(a->data()) == iba::get<&directed_header::hopCount>(b->data()));
        for (unsigned hop = 1; hop <= iba::get<&directed_header::hopCount>(a->data()); ++hop) {
            CHECK(return_port(*a, hop) == return_port(*b, hop));
        }
        return std::pair{*a, *b};
    };
    const auto routes = routes_to_all(net.graph(), ours.node());
    REQUIRE(routes.size() == net.graph().nodes.size());
    for (const auto& path : routes) {
        INFO(mad::to_string(path));
        const auto [description_a, description_b] = both(path, get_request(iba::attribute_id<NodeDescription>, path));
        CHECK(attribute<NodeDescription>(description_a) == attribute<NodeDescription>(description_b));

        auto [info_a, info_b] = both(path, get_request(iba::attribute_id<NodeInfo>, path));
        auto node_a = attribute<NodeInfo>(info_a), node_b = attribute<NodeInfo>(info_b);
        node_a.partitionCap = node_b.partitionCap = 0; // ibsim has its own table size and revision
        node_a.revision = node_b.revision = 0;
        CHECK(node_a == node_b);

        const auto [switch_a, switch_b] = both(path, get_request(iba::attribute_id<SwitchInfo>, path));
        if (node_a.nodeType == iba::NodeType::Switch) {
            CHECK(attribute<SwitchInfo>(switch_a).enhancedPort0 == attribute<SwitchInfo>(switch_b).enhancedPort0);
        }
        for (u32 number = 0; number <= node_a.numPorts + 1u; ++number) {
            const auto [port_a, port_b] = both(path, get_request(iba::attribute_id<PortInfo>, path, number));
            if (number > node_a.numPorts) continue; // both rejected it with the same status
            const auto a = attribute<PortInfo>(port_a), b = attribute<PortInfo>(port_b);
            INFO("port " << number);
            CHECK(a.portState == b.portState);
            CHECK(a.portPhysicalState == b.portPhysicalState);
            CHECK(a.LID == b.LID);
            CHECK(a.LMC == b.LMC);
            // ibsim always returns 0 for a switch, where the IBA requires the port of arrival.
            if (node_a.nodeType != iba::NodeType::Switch) CHECK(a.localPortNum == b.localPortNum);
            if (a.portState == iba::PortState::Down || (number == 0 && node_a.nodeType == iba::NodeType::Switch))
                continue;
            CHECK(a.linkWidthActive == b.linkWidthActive);
            CHECK(a.linkWidthEnabled == b.linkWidthEnabled);
            CHECK(a.linkSpeedActive == b.linkSpeedActive);
            CHECK(a.linkSpeedEnabled == b.linkSpeedEnabled);
            CHECK(a.linkSpeedExtActive == b.linkSpeedExtActive);
            CHECK(a.linkSpeedExtEnabled == b.linkSpeedExtEnabled);
        }
    }
    CHECK(compared > 3 * routes.size());
    // Neither replies if the route leads nowhere.
    for (const auto& path : {route({1, 99}), route({1, 1, 1, 1})})
        both(path, get_request(iba::attribute_id<NodeInfo>, path));
    // Both reject a Set of a read-only attribute, with different statuses.
    const auto path = route({1});
    smp_bytes set = get_request(iba::attribute_id<NodeInfo>, path);
    iba::put<&iba::MADHeader::method>(set.data(), iba::Method::Set);
    const auto a = send_query(ours, path, set), b = query_ibsim(theirs, path, set);
    REQUIRE((a && b));
    CHECK(mad::status_of(a->data()) != 0);
    CHECK(mad::status_of(b->data()) != 0);
}
