// SPDX-License-Identifier: MIT
// sim_sa_test.cpp - the simulator's SA and PMAs: records compared with the replies of the SMAs and with the topology
// graph, component masks, counters. Also programs that serve requests on a simulated subnet. Statuses and flags are
// those of the IBA (15.2, 16.1).
#include "support/catch.hpp"
#include "wire/sim_client.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba.hpp>
#include <comad/iba/detail/value_codes.hpp>
#include <comad/iba/fields.hpp>
#include <comad/mad/detail/record_table.hpp>
#include <comad/sa/client.hpp>
#include <comad/sa/transactor.hpp>
#include <comad/server/agent.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

namespace sim_sa_test {

using namespace comad;
using namespace comad::transports::sim;
using iba::Method;
using iba::MgmtClass;
using mad::errc;
namespace sa_records = iba::sa;
namespace smp = iba::smp;
using iba::sa::NodeRecord;

namespace {

constexpr u8 no_records = 3, too_many_records = 4, invalid = 2, insufficient = 6, denied = 7;

/// A subnet with a subnet manager, and a program that sends requests.
struct managed {
    explicit managed(const std::string& specification)
        : sim(make_sim(specification + ",sm=1", time_mode::virtual_)), umad(*sim.transport), by_sa(umad, here().LID) {
        mad::IBPath path;
        path.DLID = graph().sm_lid;
        path.SLID = here().LID;
        umad.schedule().set_sa_path(path);
    }
    const topology& graph() const { return sim.fabric->graph(); }
    const port& here() const { return graph().nodes[sim.place->node()].ports[sim.place->port()]; }
    template <class R> std::vector<R> table(const iba::query<R>& query = {}) {
        auto all = umad.SubnAdmGetTable<R>(query);
        REQUIRE(all);
        return std::move(all.value());
    }
    template <class R> u8 refused(const iba::query<R>& query) {
        auto one = umad.SubnAdmGet<R>(query);
        REQUIRE_FALSE(one);
        CHECK(one.error().code == errc::class_status);
        return static_cast<u8>(one.error().status >> 8);
    }

    simulation sim;
    coro::blocking_transactor umad;
    sa::SATransactor<coro::blocking_transactor> by_sa;
};

/// Compares the decoded reply to an SMP with the record of the SA.
template <class T> void check_same(managed& m, iba::lid LID, u32 modifier) {
    INFO(iba::info_of<T>.name << " modifier " << modifier << " of LID " << value(LID));
    const mad::IBPath path = to_lid(value(LID));
    const auto by_smp = m.umad.SubnGet<T>(path, modifier);
    const auto by_sa = m.by_sa.template SubnGet<T>(path, modifier);
    REQUIRE(by_smp.has_value() == by_sa.has_value());
    if (by_smp) CHECK(by_smp.value() == by_sa.value());
    else CHECK(by_smp.error().code == errc::status);
}

smp_bytes sa_request(Method method, u16 attribute, const mad::IBPath& path, u64 mask) {
    const mad::rpc_kind kind{MgmtClass::SubnAdm, 2, method, attribute, true};
    smp_bytes bytes;
    mad::write_request(bytes.data(), kind, path, 0, mask);
    return bytes;
}

unsigned ends(const topology& t) {
    unsigned count = 0;
    for (const node& n : t.nodes) count += n.is_switch() ? 1 : n.num_ports();
    return count;
}

/// For every component by name: a query with the value of a record must return exactly the records with this value.
template <class R> void check_components(managed& m) {
    const std::vector<R> all = m.table<R>();
    REQUIRE(all.size() > 1);
    unsigned request_count = 0;
    for (const iba::field_info& field : iba::fields_of(iba::info_of<R>)) {
        if (field.row.is_reserved || field.row.nested) continue;
        if (!iba::component_mask(iba::info_of<R>, field.name)) continue;
        for (const std::size_t which : {std::size_t{0}, all.size() / 2, all.size() - 1}) {
            const auto text = iba::get_field(all[which], field.name);
            REQUIRE(text);
            iba::query<R> query;
            REQUIRE(query.set(field.name, text.value()));
            const auto is_meant = [&](const R& r) { return iba::get_field(r, field.name).value() == text.value(); };
            std::vector<R> wanted;
            std::copy_if(all.begin(), all.end(), std::back_inserter(wanted), is_meant);
            INFO(iba::info_of<R>.name << '.' << field.name << '=' << text.value());
            CHECK(m.table(query) == wanted);
            ++request_count;
        }
    }
    CHECK(request_count > 3);
}

} // namespace

TEST_CASE("an SA query for every attribute that the SA knows returns what the SMP returns") {
    const auto* specification = GENERATE("fattree2,radix=4", "torus,x=3,y=3,hosts=2,speed=HDR", "line,switches=3");
    INFO(specification);
    managed m(specification);
    const topology& t = m.graph();
    for (const node& n : t.nodes) {
        const iba::lid LID = n.ports[n.first_port()].LID;
        const u32 ports = n.is_switch() ? n.num_ports() : 0;
        check_same<smp::NodeInfo>(m, LID, 0);
        check_same<smp::NodeDescription>(m, LID, 0);
        for (u32 p = 0; p <= ports; ++p) check_same<smp::PortInfo>(m, LID, p);
        for (u32 block = 0; block < 4; ++block) check_same<smp::GUIDInfo>(m, LID, block);
        for (u32 p = 0; p <= ports; ++p) check_same<smp::PKeyTable>(m, LID, p << 16);
        for (u32 in = 0; in <= ports; ++in)
            for (u32 out = 0; out <= ports; ++out) check_same<smp::SLToVLMappingTable>(m, LID, in << 8 | out);
        for (u32 part = 1; part <= 4; ++part)
            for (u32 p = 0; p <= ports; ++p) check_same<smp::VLArbitrationTable>(m, LID, part << 16 | p);
        check_same<smp::SMInfo>(m, LID, 0);
        if (!n.is_switch()) continue;
        check_same<smp::SwitchInfo>(m, LID, 0);
        const u32 top = m.umad.SubnGet<smp::SwitchInfo>(to_lid(value(LID))).value().linearFDBTop;
        CHECK(top == ends(t));
        for (u32 block = 0; block <= top / 64; ++block) check_same<smp::LinearForwardingTable>(m, LID, block);
        for (u32 position = 0; position * 16 <= n.num_ports(); ++position)
            check_same<smp::MulticastForwardingTable>(m, LID, position << 28);
    }
    CHECK(m.umad.SubnGet<smp::SMInfo>(to_lid(value(t.sm_lid))).value().SMState == iba::SMState::Master);
}

TEST_CASE("an SA query sends no SMP") {
    managed m("fattree2,radix=4");
    struct sink final : mad::trace_sink {
        unsigned smps = 0, GMPs = 0;
        void on_event(const mad::trace_event& e) noexcept override {
            if (e.what != mad::trace_event::kind::send) return;
            ++((e.request[1] & 0x7f) == 1 ? smps : GMPs);
        }
    } seen;
    m.umad.schedule().set_trace(&seen);
    CHECK(m.by_sa.SubnGet<smp::NodeInfo>(route({1, 3})).value().nodeType == iba::NodeType::Switch);
    CHECK(m.by_sa.SubnGet<smp::PortInfo>(route({1, 3}), 2));
    CHECK(seen.smps == 0);
    CHECK(seen.GMPs >= 4);
    m.umad.schedule().set_trace(nullptr);
}

TEST_CASE("SA tables contain the records of the whole fabric") {
    struct counts {
        const char* specification;
        std::size_t hosts, switches, radix, links;
    };
    // k^3/4 hosts, 5k^2/4 switches, 3k^3/4 links.
    const auto c =
        GENERATE(counts{"fattree3,radix=8", 128, 80, 8, 384}, counts{"fattree3,radix=16", 1024, 320, 16, 3072});
    INFO(c.specification);
    managed m(c.specification);
    const auto nodes = m.table<NodeRecord>();
    CHECK(nodes.size() == c.hosts + c.switches);
    std::set<std::pair<u16, u64>> reported, built;
    for (const NodeRecord& r : nodes) reported.emplace(value(r.LID), value(r.nodeInfo.nodeGUID));
    for (const node& n : m.graph().nodes) built.emplace(value(n.ports[n.first_port()].LID), value(n.nodeGUID));
    CHECK(reported == built);

    CHECK(m.table<sa_records::PortInfoRecord>().size() == c.hosts + c.switches * (c.radix + 1));
    CHECK(m.table<sa_records::SwitchInfoRecord>().size() == c.switches);
    CHECK(m.table<sa_records::SMInfoRecord>().size() == 1);
    CHECK(m.table<sa_records::GUIDInfoRecord>().size() == 4 * (c.hosts + c.switches));
    CHECK(m.table<sa_records::PKeyTableRecord>().size() == c.hosts + c.switches);
    CHECK(m.table<sa_records::VLArbitrationTableRecord>().size() == 2 * (c.hosts + c.switches * c.radix));
    CHECK(m.table<sa_records::LinearForwardingTableRecord>().size() == c.switches * ((c.hosts + c.switches) / 64 + 1));
    CHECK(m.table<sa_records::RandomForwardingTableRecord>().empty());
    CHECK(m.table<sa_records::MulticastForwardingTableRecord>().size() >= c.switches);
    CHECK(m.table<sa_records::SLToVLMappingTableRecord>().size() ==
          c.hosts + c.switches * (c.radix + 1) * (c.radix + 1));
    CHECK(m.table<sa_records::MCMemberRecord>().size() == c.hosts);
    CHECK(m.table<sa_records::ServiceRecord>().empty());

    const auto links = m.table<sa_records::LinkRecord>();
    CHECK(links.size() == 2 * c.links);
    std::map<u16, const node*> by_lid;
    for (const node& n : m.graph().nodes) by_lid[value(n.ports[n.first_port()].LID)] = &n;
    for (const auto& link : links) {
        const port& from = by_lid.at(value(link.fromLID))->ports[link.fromPort];
        REQUIRE(&m.graph().nodes[from.peer_node] == by_lid.at(value(link.toLID)));
        REQUIRE(from.peer_port == link.toPort);
    }
}

TEST_CASE("every component of every record is compared exactly if its mask bit is set") {
    managed m("fattree2,radix=4");
    check_components<NodeRecord>(m);
    check_components<sa_records::PortInfoRecord>(m);
    check_components<sa_records::SwitchInfoRecord>(m);
    check_components<sa_records::SLToVLMappingTableRecord>(m);
    check_components<sa_records::LinearForwardingTableRecord>(m);
    check_components<sa_records::MulticastForwardingTableRecord>(m);
    check_components<sa_records::LinkRecord>(m);
    check_components<sa_records::GUIDInfoRecord>(m);
    check_components<sa_records::VLArbitrationTableRecord>(m);
    check_components<sa_records::MCMemberRecord>(m);

    // Two components. The bits outside the range of the components have no effect.
    using iba::smp::NodeInfo;
    auto q = iba::query<NodeRecord>{}.where<&NodeRecord::nodeInfo, &NodeInfo::nodeType>(iba::NodeType::Switch);
    const auto switches = m.table(q);
    CHECK(switches.size() == m.graph().count(iba::NodeType::Switch));
    q.where<&NodeRecord::LID>(switches[1].LID);
    CHECK(m.table(q) == std::vector{switches[1]});
    CHECK(m.umad.SubnAdmGet(q).value() == switches[1]);
    q.where<&NodeRecord::nodeInfo, &NodeInfo::nodeType>(iba::NodeType::CA);
    CHECK(m.table(q).empty());
}

TEST_CASE("a component mask with an undefined bit is an invalid request") {
    managed m("single");
    const mad::IBPath path = to_lid(value(m.graph().sm_lid));
    struct record {
        u16 attribute;
        unsigned
            components; // highest bit of OpenSM's IB_*_COMPMASK_*, and the reserved bits up to the end of the record
    };
    // NodeRecord, LinkRecord, PathRecord, ServiceRecord, MCMemberRecord
    const auto r =
        GENERATE(record{0x0011, 15}, record{0x0020, 5}, record{0x0035, 26}, record{0x0031, 37}, record{0x0038, 19});
    const Method method = GENERATE(false, true) ? Method::GetTable : Method::Get;
    CAPTURE(r.attribute, r.components);
    const auto class_status_with = [&](u64 mask) {
        send_to(*m.sim.transport, path, sa_request(method, r.attribute, path, mask));
        const auto all = drain(*m.sim.transport, 4096);
        REQUIRE(all.size() == 1);
        return all[0].bytes[4];
    };
    CHECK(class_status_with((u64{1} << r.components) - 1) != invalid);
    for (unsigned beyond = r.components; beyond < 64; ++beyond) CHECK(class_status_with(u64{1} << beyond) == invalid);
    CHECK(class_status_with(~u64{0}) == invalid);
}

TEST_CASE("SubnAdmGet needs exactly one record, and none or several are SA errors") {
    managed m("fattree2,radix=4");
    CHECK(m.refused(iba::query<NodeRecord>{}) == too_many_records);
    CHECK(m.refused(iba::query<NodeRecord>{}.where<&NodeRecord::LID>(iba::lid{0xbeef})) == no_records);
    CHECK(m.table(iba::query<NodeRecord>{}.where<&NodeRecord::LID>(iba::lid{0xbeef})).empty());
    CHECK(m.umad.SubnAdmGet<sa_records::SMInfoRecord>());
}

TEST_CASE("the simulated SA rejects unsupported requests with the status that the IBA defines") {
    managed m("single");
    auto& t = *m.sim.transport;
    const mad::IBPath path = to_lid(value(m.graph().sm_lid));
    const auto status_of = [&](Method method, u16 attribute, u8 version = 2) -> std::optional<u16> {
        smp_bytes request = sa_request(method, attribute, path, 0);
        request[2] = version;
        const auto reply = send_query(t, path, request);
        if (!reply) return std::nullopt;
        return mad::status_of(reply->data());
    };
    CHECK(status_of(Method::Get, 0x0001) == 0);
    CHECK(status_of(Method::Get, 0x0001, 1) == 0x04);
    CHECK(status_of(Method::GetTable, 0x0001) == 0x0c);
    CHECK(status_of(Method::Get, 0x7777) == 0x0c);
    CHECK(status_of(Method::Set, 0x0011) == 0x0c);
    CHECK(status_of(Method{0x16}, 0x0011) == 0x08);
    CHECK(status_of(Method::GetTable, 0x003b) == 0x0c); // ServiceAssociationRecord
    CHECK_FALSE(status_of(Method::GetResp, 0x0011));
    CHECK_FALSE(status_of(Method::Send, 0x0011));
    const auto info = m.umad.SubnAdmGet<iba::ClassPortInfo>();
    REQUIRE(info);
    CHECK(info.value().classVersion == 2);

    // There is only one SA: other nodes reject its class, and a GMP to an unused LID is dropped.
    const mad::IBPath other = to_lid(2);
    const auto reply = send_query(t, other, sa_request(Method::Get, 0x0011, other, 0));
    REQUIRE(reply);
    CHECK(mad::status_of(reply->data()) == 0x08);
    CHECK_FALSE(send_query(t, to_lid(0xffff), sa_request(Method::Get, 0x0001, path, 0)));
    CHECK_FALSE(send_query(t, to_lid(77), sa_request(Method::Get, 0x0001, path, 0)));
}

TEST_CASE("the subnet manager runs at the node in the specification") {
    auto s = make_sim("fattree2,radix=4,sm=spine-0001", time_mode::virtual_);
    const topology& t = s.fabric->graph();
    const node& spine = t.nodes[*t.find("spine-0001")];
    CHECK(t.sm_lid == spine.ports[0].LID);
    CHECK(get<smp::PortInfo>(*s.transport, route({}), 0)->masterSMLID == spine.ports[0].LID);
    coro::blocking_transactor umad(*s.transport);
    CHECK(umad.SubnAdmGetTable<NodeRecord>({}, to_lid(value(t.sm_lid))).value().size() == t.nodes.size());
    auto at = make_sim("fattree2,radix=4,sm=1,at=h-0003 HCA-1", time_mode::virtual_);
    const topology& there = at.fabric->graph();
    CHECK(there.sm_lid == there.nodes[*there.find("h-0003 HCA-1")].ports[1].LID);
    CHECK_THROWS_WITH(make_sim("single,sm=nobody", time_mode::virtual_), Catch::Contains("sm=nobody: unknown node"));
    // Without a subnet manager there is no SA.
    auto before = make_sim("single", time_mode::virtual_);
    CHECK_FALSE(send_query(*before.transport, to_lid(1), sa_request(Method::Get, 0x0001, to_lid(1), 0)));
}

TEST_CASE("forwarding tables deliver every LID to its port and the broadcast group to every host once") {
    const auto* specification = GENERATE("fattree2,radix=4", "torus,x=4,y=3,hosts=2", "ring,switches=7,hosts=1");
    INFO(specification);
    managed m(specification);
    const topology& t = m.graph();
    std::map<u32, smp::LinearForwardingTable> linear;
    std::map<u32, smp::MulticastForwardingTable> multicast;
    for (u32 n = 0; n < t.nodes.size(); ++n) {
        if (!t.nodes[n].is_switch()) continue;
        linear[n] = m.umad.SubnGet<smp::LinearForwardingTable>(to_lid(value(t.nodes[n].ports[0].LID)), 0).value();
        multicast[n] = m.umad.SubnGet<smp::MulticastForwardingTable>(to_lid(value(t.nodes[n].ports[0].LID)), 0).value();
    }
    for (u32 target = 0; target < t.nodes.size(); ++target) {
        const u16 LID = value(t.nodes[target].ports[t.nodes[target].first_port()].LID);
        for (auto [at, table] : linear) {
            unsigned hops = 0;
            u32 here = at;
            while (here != target && t.nodes[here].is_switch() && ++hops < 20) {
                const u8 out = linear[here].portBlock[LID];
                REQUIRE(out != 0);
                REQUIRE(out != 255);
                here = t.nodes[here].ports[out].peer_node;
            }
            REQUIRE(here == target);
            if (at == target) CHECK(table.portBlock[LID] == 0);
        }
    }
    for (auto& [n, table] : linear) CHECK(table.portBlock[0] == 255);

    for (u32 source = 0; source < t.nodes.size(); ++source) {
        if (t.nodes[source].is_switch()) continue;
        std::map<u32, unsigned> copies;
        std::vector<std::pair<u32, u8>> todo{{t.nodes[source].ports[1].peer_node, t.nodes[source].ports[1].peer_port}};
        for (std::size_t i = 0; i < todo.size() && i < 1000; ++i) {
            const auto [at, in] = todo[i];
            for (unsigned p = 1; p <= t.nodes[at].num_ports(); ++p) {
                if (p == in || (multicast[at].portMaskBlock[0] >> p & 1) == 0) continue;
                const port& out = t.nodes[at].ports[p];
                ++copies[out.peer_node];
                if (t.nodes[out.peer_node].is_switch()) todo.push_back({out.peer_node, out.peer_port});
            }
        }
        for (u32 n = 0; n < t.nodes.size(); ++n)
            if (!t.nodes[n].is_switch()) CHECK(copies[n] == (n == source ? 0 : 1));
    }
}

TEST_CASE("simulated SMAs return tables and reject blocks and ports that they do not have") {
    managed m("fattree2,radix=4");
    auto& t = *m.sim.transport;
    const auto status = [&](const mad::any_path& path, u16 attribute, u32 modifier) {
        return mad::status_of(send_query(t, path, get_request(attribute, path, modifier)).value().data());
    };
    const auto leaf = route({1}), host = route({1, 2});
    CHECK(get<smp::GUIDInfo>(t, leaf)->GUIDBlock[0] == m.graph().nodes[*m.graph().find("leaf-0001")].nodeGUID);
    CHECK(get<smp::GUIDInfo>(t, host)->GUIDBlock[0] == m.graph().nodes[1].ports[1].GUID);
    CHECK(status(host, 0x14, 4) == 0x1c);
    CHECK(get<smp::PKeyTable>(t, host)->PKeyBlock[0] == 0xffff);
    CHECK(status(host, 0x16, 4) == 0x1c);
    CHECK(status(leaf, 0x16, 1) == 0x1c);
    CHECK(status(leaf, 0x16, 5 << 16) == 0x1c);
    CHECK(get<smp::SLToVLMappingTable>(t, leaf, 0x0104)->SLtoVL[9] == 1);
    CHECK(status(leaf, 0x17, 0x0105) == 0x1c);
    CHECK(status(leaf, 0x17, 0x0501) == 0x1c);
    const auto low = get<smp::VLArbitrationTable>(t, leaf, 0x00010004)->VLWeightBlock; // VL, weight
    const auto high = get<smp::VLArbitrationTable>(t, leaf, 0x00030004)->VLWeightBlock;
    for (unsigned VL = 0; VL < 8; ++VL) {
        CHECK(low[VL] == (VL << 8 | 4));
        CHECK(high[VL] == (VL << 8 | (VL == 0 ? 1 : 0)));
    }
    CHECK(get<smp::VLArbitrationTable>(t, leaf, 0x00010001)->VLWeightBlock == low);
    CHECK(status(leaf, 0x18, 4) == 0x1c);
    CHECK(status(leaf, 0x18, 0x00050001) == 0x1c);
    CHECK(status(leaf, 0x18, 0x00010005) == 0x1c);
    CHECK(status(leaf, 0x19, 767) == 0);
    CHECK(status(leaf, 0x19, 768) == 0x1c);
    CHECK(status(host, 0x19, 0) == 0x0c);
    CHECK(status(leaf, 0x1b, 31) == 0);
    CHECK(status(leaf, 0x1b, 32) == 0x1c);
    CHECK(status(leaf, 0x1b, 0x10000000) == 0x1c); // ports from 16 on
    CHECK(status(host, 0x1b, 0) == 0x0c);
    CHECK(status(leaf, 0x1a, 0) == 0x0c); // not supported: random forwarding table
    CHECK(status(leaf, 0x20, 0) == 0x0c); // not supported: no subnet manager on this node
    CHECK(status(route({}), 0x20, 0) == 0);
}

TEST_CASE("after a cable is cut, records and tables describe the remaining fabric") {
    managed m("ring,switches=4,hosts=1");
    using sa_records::LinkRecord;
    const u32 first = *m.graph().find("sw-0001");
    CHECK(m.table<LinkRecord>().size() == 16);
    m.sim.fabric->apply({topology_event::kind::cut, first, 1});
    CHECK(m.table<LinkRecord>().size() == 14);
    const iba::lid LID = m.graph().nodes[first].ports[0].LID;
    for (u32 p = 0; p <= 3; ++p) check_same<smp::PortInfo>(m, LID, p);
    check_same<smp::SwitchInfo>(m, LID, 0);
    check_same<smp::LinearForwardingTable>(m, LID, 0);
    CHECK(m.umad.SubnGet<smp::SwitchInfo>(to_lid(value(LID))).value().portStateChange);
    const auto table = m.umad.SubnGet<smp::LinearForwardingTable>(to_lid(value(LID))).value();
    for (const u8 out : table.portBlock) CHECK(out != 1);
}

TEST_CASE("path records are the paths that MADs take") {
    using iba::sa::PathRecord;
    managed m("fattree2,radix=4,speed=HDR");
    const topology& t = m.graph();
    const port& far = t.nodes[*t.find("h-0008 HCA-1")].ports[1];
    auto query = iba::query<PathRecord>{}.where<&PathRecord::SLID>(m.here().LID).where<&PathRecord::DLID>(far.LID);
    const auto path = m.umad.SubnAdmGet(query);
    REQUIRE(path);
    CHECK(path.value().DLID == far.LID);
    CHECK(iba::load_be<u64>(path.value().DGID.bytes.data()) == 0xfe80'0000'0000'0000);
    CHECK(iba::load_be<u64>(path.value().DGID.bytes.data() + 8) == value(far.GUID));
    CHECK(path.value().rate == iba::Rate::r200); // 4x HDR
    CHECK(path.value().MTU == iba::MTU::m4096);
    CHECK(path.value().PKey == 0xffff);
    CHECK(path.value().reversible);

    CHECK(m.table(iba::query<PathRecord>{}.where<&PathRecord::SLID>(m.here().LID)).size() == t.nodes.size());
    CHECK(m.table(iba::query<PathRecord>{}.where<&PathRecord::DGID>(path.value().DGID)).size() == t.nodes.size());
    CHECK(m.refused(iba::query<PathRecord>{}) == insufficient);
    CHECK(m.refused(iba::query<PathRecord>{}.where<&PathRecord::PKey>(u16{0xffff})) == insufficient);

    // Components that other programs set: reversible, any service, at most one path per pair. All paths match.
    auto usual = query;
    usual.where<&PathRecord::reversible>(true).where<&PathRecord::numbPath>(u8{1}).where<&PathRecord::serviceID>(
        u64{7});
    usual.where<&PathRecord::PKey>(u16{0x7fff});
    CHECK(m.umad.SubnAdmGet(usual).value() == path.value());
    auto with_rate = [&](iba::Selector s, iba::Rate rate) {
        auto q = query;
        q.where<&PathRecord::rateSelector>(s).where<&PathRecord::rate>(rate);
        return m.table(q).size();
    };
    CHECK(with_rate(iba::Selector::Exactly, iba::Rate::r200) == 1);
    CHECK(with_rate(iba::Selector::Exactly, iba::Rate::r100) == 0);
    CHECK(with_rate(iba::Selector::GreaterThan, iba::Rate::r100) == 1);
    CHECK(with_rate(iba::Selector::GreaterThan, iba::Rate::r28) == 1); // its code is greater, but its rate is not
    CHECK(with_rate(iba::Selector::LessThan, iba::Rate::r28) == 0);
    CHECK(with_rate(iba::Selector::LessThan, iba::Rate::r300) == 1);
    CHECK(with_rate(iba::Selector::Best, iba::Rate::r2_5) == 1);
    auto other_partition = query;
    other_partition.where<&PathRecord::PKey>(u16{0x8001});
    CHECK(m.refused(other_partition) == no_records);
    auto other_lane = query;
    other_lane.where<&PathRecord::SL>(u8{3});
    CHECK(m.refused(other_lane) == no_records);

    sa::client client(m.umad.schedule(), {m.here().LID, path.value().SGID, m.umad.sa_path()});
    mad::IBPath to;
    to.DGID = path.value().DGID;
    const auto resolved = coro::sync_wait(m.umad.schedule(), client.resolve_path(to));
    REQUIRE(resolved);
    CHECK(resolved.value().DLID == far.LID);
}

TEST_CASE("the rate of a path is the rate of its slowest cable") {
    topology t;
    const link_codes fast = capable_of({2, 16}), slow = capable_of({2, 4}); // 4x EDR, 4x QDR
    const u32 a = t.add_node(iba::NodeType::CA, 1, iba::guid{0x10}, "a", fast);
    const u32 s1 = t.add_node(iba::NodeType::Switch, 2, iba::guid{0x20}, "s1", fast);
    const u32 s2 = t.add_node(iba::NodeType::Switch, 2, iba::guid{0x30}, "s2", slow);
    const u32 s3 = t.add_node(iba::NodeType::Switch, 2, iba::guid{0x40}, "s3", fast);
    const u32 s4 = t.add_node(iba::NodeType::Switch, 2, iba::guid{0x50}, "s4", fast);
    const u32 b = t.add_node(iba::NodeType::CA, 1, iba::guid{0x60}, "b", fast);
    REQUIRE((t.link(a, 1, s1, 1) && t.link(s1, 2, s2, 1) && t.link(s2, 2, s3, 1)));
    REQUIRE((t.link(s3, 2, s4, 1) && t.link(s4, 2, b, 1)));
    bring_up(t);
    fabric net(std::move(t));
    sim_transport transport(net, time_mode::virtual_);
    coro::blocking_transactor umad(transport);
    using iba::sa::PathRecord;
    const auto rate_to = [&](u32 n) {
        const node& x = net.graph().nodes[n];
        auto q = iba::query<PathRecord>{}.where<&PathRecord::SLID>(iba::lid{1});
        q.where<&PathRecord::DLID>(x.ports[x.first_port()].LID);
        return umad.SubnAdmGet(q, to_lid(1)).value().rate;
    };
    CHECK(rate_to(a) == iba::Rate::r100);
    CHECK(rate_to(s1) == iba::Rate::r100);
    CHECK(rate_to(s2) == iba::Rate::r40);
    CHECK(rate_to(s4) == iba::Rate::r40);
    CHECK(rate_to(b) == iba::Rate::r40);
}

// Lanes times the rate of a lane, as named by the IBA (15.2.5.16, 14.2.5.6). FDR10 has no code; OpenSM gives it the
// code of QDR.
TEST_CASE("the path between two hosts has the rate of their cable, at every width and speed") {
    const std::pair<const char*, unsigned> widths[] = {{"1x", 1}, {"2x", 2}, {"4x", 4}, {"8x", 8}, {"12x", 12}};
    const std::pair<const char*, double> speeds[] = {{"SDR", 2.5},  {"DDR", 5},   {"QDR", 10},
                                                     {"FDR10", 10}, {"FDR", 14},  {"EDR", 25},
                                                     {"HDR", 50},   {"NDR", 100}, {"XDR", 200}};
    for (const auto& [width, lanes] : widths) {
        for (const auto& [speed, gigabits] : speeds) {
            CAPTURE(width, speed);
            managed m(fmt::format("single,width={},speed={}", width, speed));
            auto q = iba::query<iba::sa::PathRecord>{}.where<&iba::sa::PathRecord::SLID>(iba::lid{1});
            q.where<&iba::sa::PathRecord::DLID>(iba::lid{2});
            const auto path = m.umad.SubnAdmGet(q);
            REQUIRE(path);
            // There is no code for 12 lanes of XDR; 1600 Gb/s is the fastest.
            const double expected = std::min(lanes * gigabits, 1600.0);
            CHECK(static_cast<double>(iba::bits_per_second(path.value().rate)) == expected * 1e9);
        }
    }
}

TEST_CASE("services are registered, found, changed with their key and removed") {
    using iba::sa::ServiceRecord;
    managed m("single");
    const auto service = [](u64 id, u32 lease, u8 key) {
        ServiceRecord r;
        r.serviceID = id;
        r.serviceGID.bytes[15] = 1;
        r.serviceLease = lease;
        r.serviceKey.bytes[0] = key;
        r.serviceName = {'x', static_cast<u8>('0' + id)};
        return r;
    };
    const auto query_for = [](const ServiceRecord& r) {
        auto q = iba::query<ServiceRecord>{}.where<&ServiceRecord::serviceID>(r.serviceID);
        q.where<&ServiceRecord::serviceGID>(r.serviceGID).where<&ServiceRecord::serviceLease>(r.serviceLease);
        return q.where<&ServiceRecord::serviceKey>(r.serviceKey).where<&ServiceRecord::serviceName>(r.serviceName);
    };
    REQUIRE(m.umad.SubnAdmSet(query_for(service(1, ~u32{0}, 5))).value() == service(1, ~u32{0}, 5));
    REQUIRE(m.umad.SubnAdmSet(query_for(service(2, 10, 5))));
    auto reported = m.table<ServiceRecord>();
    REQUIRE(reported.size() == 2);
    CHECK(reported[0] == service(1, ~u32{0}, 0)); // the SA does not return the key
    auto by_name = iba::query<ServiceRecord>{}.where<&ServiceRecord::serviceName>(service(2, 0, 0).serviceName);
    CHECK(m.table(by_name) == std::vector{service(2, 10, 0)});

    CHECK(m.umad.SubnAdmSet(query_for(service(1, 20, 6))).error().status == denied << 8);
    CHECK(m.umad.SubnAdmDelete(query_for(service(1, 20, 6))).error().status == denied << 8);
    CHECK(m.umad.SubnAdmSet(query_for(service(1, 20, 5))));
    CHECK(m.table<ServiceRecord>().size() == 2);
    CHECK(m.umad.SubnAdmDelete(query_for(service(1, 20, 5))).value().serviceLease == 20);
    CHECK(m.umad.SubnAdmDelete(query_for(service(1, 20, 5))).error().status == no_records << 8);
    CHECK(m.table<ServiceRecord>() == std::vector{service(2, 10, 0)});
    const mad::time_point later = m.umad.schedule().now() + std::chrono::seconds(11);
    m.umad.schedule().set_now(later);
    m.sim.transport->set_now(later);
    CHECK(m.table<ServiceRecord>().empty()); // its lease has expired
}

TEST_CASE("a simulated PMA counts the MADs of its port and starts at zero after a clear") {
    using iba::pm::PortCounters;
    using iba::pm::PortCountersExt;
    managed m("single");
    const mad::IBPath far = to_lid(2);
    const auto counters = [&](const mad::IBPath& path) {
        PortCounters wanted;
        wanted.portSelect = 1;
        return m.umad.PerformanceGet(wanted, path).value();
    };
    const auto before = counters(far);
    CHECK(before.portSelect == 1);
    CHECK(before.portRcvPkts == 1); // the request itself
    CHECK(before.portRcvData == 72);
    CHECK(before.portXmitPkts == 0);
    for (int i = 0; i < 5; ++i) REQUIRE(m.umad.SubnGet<smp::NodeInfo>(route({1})));
    const auto after = counters(far);
    CHECK(after.portRcvPkts == 7);
    CHECK(after.portXmitPkts == 6);
    CHECK(after.portXmitData == 6 * 72);
    CHECK(counters(to_lid(1)).portXmitPkts == 7); // our own port: requests to itself crossed no cable

    // A Set changes only the selected counters.
    PortCounters reset;
    reset.portSelect = 1;
    reset.counterSelect = 1 << 15; // portRcvPkts
    REQUIRE(m.umad.PerformanceSet(reset, far));
    auto now = counters(far);
    CHECK(now.portRcvPkts == 1);
    CHECK(now.portXmitPkts == 8);
    reset.counterSelect = 0xffff;
    reset.symbolErrorCounter = 7;
    REQUIRE(m.umad.PerformanceSet(reset, far));
    now = counters(far);
    CHECK(now.symbolErrorCounter == 7);
    CHECK(now.portRcvData == 72);
    CHECK(now.portXmitPkts == 1); // the response to the Set

    PortCountersExt wide;
    wide.portSelect = 1;
    wide.counterSelect = 1 << 5; // portUnicastRcvPkts
    wide.counterSelect2 = 1;     // symbolErrorCounter
    wide.symbolErrorCounter = 0x1'0000'0001;
    wide.portUnicastRcvPkts = 1000;
    REQUIRE(m.umad.PerformanceSet(wide, far));
    CHECK(counters(far).symbolErrorCounter == 0xffff); // saturates at its maximum
    PortCountersExt query_wide;
    query_wide.portSelect = 1;
    const auto reported = m.umad.PerformanceGet(query_wide, far).value();
    CHECK(reported.symbolErrorCounter == 0x1'0000'0001);
    CHECK(reported.portUnicastRcvPkts == 1002);
}

TEST_CASE("a simulated PMA supports each port, AllPortSelect and ClassPortInfo") {
    using iba::pm::PortCounters;
    managed m("fattree2,radix=4,counters=3");
    const topology& t = m.graph();
    const node& leaf = t.nodes[*t.find("leaf-0001")];
    const mad::IBPath path = to_lid(value(leaf.ports[0].LID));
    const auto of = [&](u8 port) {
        PortCounters wanted;
        wanted.portSelect = port;
        return m.umad.PerformanceGet(wanted, path);
    };
    CHECK(of(0).error().status == 0x1c);
    CHECK(of(5).error().status == 0x1c);
    u64 waited = 0;
    for (u8 p = 1; p <= 4; ++p) {
        REQUIRE(of(p));
        CHECK(of(p).value().portXmitPkts != 0);
        waited += of(p).value().portXmitWait;
    }
    CHECK(of(255).value().portXmitWait == waited);
    CHECK(of(255).value().portSelect == 255);

    // Both ends of a cable count the same traffic: port 3 leads to a spine, the target of our request.
    const port& up = leaf.ports[3];
    const mad::IBPath spine = to_lid(value(t.nodes[up.peer_node].ports[0].LID));
    PortCounters there;
    there.portSelect = up.peer_port;
    const auto far = m.umad.PerformanceGet(there, spine).value();
    CHECK(far.portRcvPkts == of(3).value().portXmitPkts + 1);

    PortCounters reset;
    reset.portSelect = 255;
    reset.counterSelect = 0xffff;
    reset.counterSelect2 = 1;
    REQUIRE(m.umad.PerformanceSet(reset, path));
    CHECK(of(255).value().portXmitWait == 0);
    CHECK(of(2).value().portXmitPkts == 0);
    const auto info = m.umad.PerformanceGet<iba::ClassPortInfo>(path);
    REQUIRE(info);
    CHECK(info.value().classVersion == 1);
    CHECK((info.value().capabilityMask & 0x1300) == 0x1300); // all ports, extended width, XmitWait
    CHECK(m.umad.PerformanceSet(iba::pm::PortSamplesResExt{}, path).error().status == 0x0c); // only Get
    // The same seed gives the same counters.
    managed again("fattree2,radix=4,counters=3");
    PortCounters two;
    two.portSelect = 4;
    managed other("fattree2,radix=4,counters=4");
    CHECK(again.umad.PerformanceGet(two, path).value().portXmitWait !=
          other.umad.PerformanceGet(two, path).value().portXmitWait);
}

TEST_CASE("a long SA reply is one message that waits until it is read completely") {
    managed m("fattree2,radix=4");
    auto& t = *m.sim.transport;
    const mad::IBPath path = to_lid(value(m.graph().sm_lid));
    send_to(t, path, sa_request(Method::GetTable, 0x0011, path, 0));
    while (!m.sim.fabric->has_message(0)) t.set_now(t.next_event().value());
    std::vector<u8> buffer(320);
    const std::size_t whole = 56 + 112 * m.graph().nodes.size();
    for (int i = 0; i < 2; ++i) {
        const mad::received part = t.receive(buffer);
        CHECK(part.full_size == whole);
        CHECK(part.mad.size() == 320);
    }
    buffer.resize(whole);
    const mad::received all = t.receive(buffer);
    CHECK(all.mad.size() == whole);
    CHECK(all.source.SLID == m.graph().sm_lid);
    CHECK(mad::record_table::of(all.mad, 108).value().size() == m.graph().nodes.size());
    CHECK(t.receive(buffer).state == mad::receive_state::would_block);
}

TEST_CASE("simulated faults also affect the SA and PMAs") {
    auto s = make_sim("fattree2,radix=4,sm=1,loss=0.2,duplicate=0.2,reorder=0.1,busy=0.1,seed=5", time_mode::virtual_);
    coro::schedule_options patient;
    patient.retries = 20;
    patient.busy_retries = 20;
    coro::blocking_transactor umad(*s.transport, patient);
    const mad::IBPath path = to_lid(value(s.fabric->graph().sm_lid));
    for (int i = 0; i < 50; ++i)
        REQUIRE(umad.SubnAdmGetTable<NodeRecord>({}, path).value().size() == s.fabric->graph().nodes.size());
    s.fabric->apply({topology_event::kind::kill, s.fabric->graph().default_node()});
    CHECK(umad.SubnAdmGetTable<NodeRecord>({}, path).error().code == errc::timed_out);
}

TEST_CASE("a program can serve requests on a simulated subnet in addition to the built-in agents") {
    auto s = make_sim("fattree2,radix=4,sm=1", time_mode::virtual_);
    const topology& t = s.fabric->graph();
    const u32 far = *t.find("h-0008 HCA-1");
    sim_transport place(*s.fabric, far, 1, time_mode::virtual_);
    sim_transport neighbour(*s.fabric, far, 1, time_mode::virtual_);
    server::responder answers;
    constexpr u32 OUI = 0x001405;
    answers.add(
        {MgmtClass{0x32}, 1, mad::methods(Method::Get), OUI, true},
        [](const server::request& r) {
            CHECK(r.source.SLID == iba::lid{1});
            return server::response::echo();
        },
        server::unknown_attributes::passed);
    answers.add({MgmtClass::SubnAdm, 2, mad::methods(Method::GetTable), 0, true},
                [](const server::request&) { return server::response::table(std::vector<u8>(108 * 10, u8{7}), 108); });
    server::agent agent(place, answers);
    CHECK_THROWS_AS(server::agent(neighbour, answers), std::system_error); // the requests are taken already
    coro::MADSchedule serving(place);
    serving.set_server(&agent);

    const mad::IBPath path = to_lid(value(t.nodes[far].ports[1].LID));
    const auto query_server = [&](const smp_bytes& request) {
        send_to(*s.transport, path, request);
        for (int i = 0; i < 3 && s.fabric->next_event(); ++i) {
            s.transport->set_now(*s.fabric->next_event());
            serving.receive(16);
            serving.settle();
        }
        return drain(*s.transport, 4096);
    };
    smp_bytes ping{};
    const u8 header[] = {1, 0x32, 1, 1};
    std::copy(std::begin(header), std::end(header), ping.begin());
    ping[15] = 9;
    ping[38] = 0x14;
    ping[39] = 0x05;
    ping[40] = 'p';
    const auto pong = query_server(ping);
    REQUIRE(pong.size() == 1);
    REQUIRE(pong[0].bytes.size() == 256);
    CHECK(pong[0].bytes[3] == 0x81);
    CHECK(pong[0].bytes[15] == 9);
    CHECK(pong[0].bytes[40] == 'p');

    const auto table = query_server(sa_request(Method::GetTable, 0x0011, path, 0));
    REQUIRE(table.size() == 1);
    CHECK(mad::record_table::of(table[0].bytes, 108).value().size() == 10);
    // The node itself serves what the program does not serve.
    CHECK(query_server(get_request(iba::attribute_id<smp::NodeInfo>, path)).size() == 1);
    CHECK(agent.counters().requests == 2);
    CHECK(agent.counters().replies == 2);
}

TEST_CASE("a program replies to directed-route requests to its port over the reverse route") {
    auto s = make_sim("fattree2,radix=4", time_mode::virtual_);
    const topology& t = s.fabric->graph();
    const u32 far = *t.find("h-0003 HCA-1");
    sim_transport place(*s.fabric, far, 1, time_mode::virtual_);
    server::responder answers;
    answers.add({MgmtClass::SubnDirected, 1, mad::methods(Method::Get)}, [](const server::request& r) {
        CHECK(r.source.SLID == iba::permissive_lid);
        if (r.header.attributeID != iba::attribute_id<smp::NodeDescription>)
            return server::response::error(server::status::unsupported_attribute);
        smp::NodeDescription d;
        d.nodeString[0] = 'x';
        return server::response::of(d);
    });
    server::agent agent(place, answers);
    coro::MADSchedule serving(place);
    serving.set_server(&agent);
    const auto query_server = [&](const mad::IBDRPath& path, const smp_bytes& request) {
        send_to(*s.transport, path, request);
        for (int i = 0; i < 3 && s.fabric->next_event(); ++i) {
            s.transport->set_now(*s.fabric->next_event());
            serving.receive(16);
            serving.settle();
        }
        return drain(*s.transport);
    };
    const auto path = route({1, 3, 2, 1}); // leaf, spine, the other leaf, host
    const auto replies = query_server(path, get_request(iba::attribute_id<smp::NodeDescription>, path));
    REQUIRE(replies.size() == 1);
    const u8* r = replies[0].bytes.data();
    using header = iba::MADHeaderDirected;
    CHECK(iba::get<&header::D>(r));
    CHECK(iba::get<&header::hopPointer>(r) == 0);
    CHECK(iba::get<&header::hopCount>(r) == 4);
    CHECK(iba::get<&header::status>(r) == 0);
    CHECK(r[64] == 'x');
    // The reply of the host's own SMA would be the same MAD, except for the description.
    auto other = make_sim("fattree2,radix=4", time_mode::virtual_);
    const auto own = send_query(*other.transport, path, get_request(iba::attribute_id<smp::NodeDescription>, path));
    REQUIRE(own);
    CHECK(std::equal(own->begin(), own->begin() + 64, r));
    CHECK(std::equal(own->begin() + 128, own->end(), r + 128));
    CHECK(replies[0].when == mad::time_point{} + 8 * timing{}.hop_delay + timing{}.service_time);

    const auto refused = query_server(path, get_request(iba::attribute_id<smp::NodeInfo>, path));
    REQUIRE(refused.size() == 1);
    CHECK(mad::status_of(refused[0].bytes.data()) == 0x0c);
    // The node itself answers other requests: by LID, to other nodes, and with another method.
    const auto near = route({1, 2});
    CHECK(query_server(near, get_request(iba::attribute_id<smp::NodeInfo>, near)).size() == 1);
    smp_bytes set = get_request(iba::attribute_id<smp::NodeInfo>, path);
    iba::put<&header::method>(set.data(), Method::Set);
    CHECK(query_server(path, set).size() == 1);
    CHECK(agent.counters().requests == 2);

    // The response takes the return path that it contains.
    s.fabric->apply({topology_event::kind::cut, *t.find("leaf-0001"), 3});
    CHECK(query_server(path, get_request(iba::attribute_id<smp::NodeDescription>, path)).empty());
    sim_transport neighbour(*s.fabric, far, 1, time_mode::virtual_);
    CHECK(neighbour.serve({MgmtClass::SubnDirected, 1, mad::methods(Method::Get)}) == EINVAL);
}

} // namespace sim_sa_test
