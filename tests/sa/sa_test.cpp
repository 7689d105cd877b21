// SPDX-License-Identifier: MIT
// sa_test.cpp - SubnGet requests that the SA answers, and paths from the SA. The SA of these tests is a table of
// replies. Tests with ibsim cover the replies of real SAs.
#include "library/coro_rig.hpp"
#include <comad/iba.hpp>
#include <comad/sa/client.hpp>
#include <comad/sa/subscription.hpp>
#include <comad/sa/transactor.hpp>

#include <map>
#include <tuple>
#include <vector>

using namespace comad;
using namespace comad::test;
using iba::MgmtClass;
using iba::sa::NodeRecord;
using iba::sa::PathRecord;
using iba::sa::PortInfoRecord;

namespace {

constexpr u8 no_records = 0x03;

/// An SA that finds records by attribute and by the bits of the component mask.
class table_sa {
public:
    template <class R> void add(const R& record) {
        const auto bytes = iba::encode(record);
        records_[iba::attribute_id<R>].push_back({&iba::info_of<R>, {bytes.begin(), bytes.end()}});
    }
    fate operator()(const packet& p) {
        requested.push_back(p);
        std::vector<u8> reply(p.bytes.begin(), p.bytes.end());
        reply[3] |= 0x80;
        if (p.bytes[1] != 0x03) return answered(p); // a request to a node, not to the SA
        const u64 mask = iba::load_be<u64>(p.bytes.data() + 48);
        const u16 id = iba::load_be<u16>(p.bytes.data() + 16);
        for (const stored& r : records_[id]) {
            if (!matches(r, p.bytes.data() + 56, mask)) continue;
            std::copy(r.bytes.begin(), r.bytes.end(), reply.begin() + 56);
            return {{}, {arrival{round_trip, reply}}};
        }
        reply[4] = no_records;
        return {{}, {arrival{round_trip, reply}}};
    }
    unsigned smps() const {
        return static_cast<unsigned>(std::count_if(requested.begin(), requested.end(), [](const packet& p) {
            return p.bytes[1] == 0x01 || p.bytes[1] == 0x81;
        }));
    }
    std::vector<packet> requested;

private:
    struct stored {
        const iba::record_info* info;
        std::vector<u8> bytes;
    };
    static bool matches(const stored& r, const u8* wanted, u64 mask) {
        for (const iba::field_info& f : iba::fields_of(*r.info)) {
            const auto bits = iba::component_mask(*r.info, f.name);
            if (!bits || (bits.value() & mask) == 0) continue;
            for (unsigned bit = f.row.off; bit < f.row.off + f.row.bits(); bit += 8) {
                const unsigned width = std::min(8u, f.row.off + f.row.bits() - bit);
                if (iba::bits_at(r.bytes.data(), bit, width) != iba::bits_at(wanted, bit, width)) return false;
            }
        }
        return true;
    }
    std::map<u16, std::vector<stored>> records_;
};

constexpr iba::lid switch_lid{5}, CA_LID{9}, local_lid{2};

template <class T> T patterned(unsigned seed) {
    std::array<u8, iba::wire_size<T>> bytes;
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<u8>(seed * 31 + i * 7 + 1);
    T value;
    iba::decode(value, bytes.data());
    return value;
}

NodeRecord node(iba::lid LID, iba::NodeType type) {
    NodeRecord r;
    r.LID = LID;
    r.nodeInfo = patterned<smp::NodeInfo>(value(LID));
    r.nodeInfo.nodeType = type;
    r.nodeDescription = patterned<smp::NodeDescription>(value(LID));
    return r;
}

struct sa_rig {
    sa_rig() : r([this](const packet& p) { return fabric(p); }), transactor(r.schedule, local_lid) {
        mad::IBPath to_sa;
        to_sa.DLID = iba::lid{1};
        r.schedule.set_sa_path(to_sa);
        fabric.add(node(switch_lid, iba::NodeType::Switch));
        fabric.add(node(CA_LID, iba::NodeType::CA));
    }
    template <class T> auto get(const mad::any_path& path, u32 modifier = 0) {
        return sync_wait(r.schedule, transactor.SubnGet<T>(path, modifier));
    }
    table_sa fabric;
    rig r;
    sa::SATransactor<coro::MADSchedule> transactor;
};

mad::any_path to(iba::lid LID) {
    mad::IBPath path;
    path.DLID = LID;
    return path;
}

} // namespace

TEST_CASE("SATransactor reads node attributes from SA records and sends no SMP") {
    sa_rig s;
    auto info = s.get<smp::NodeInfo>(to(CA_LID));
    REQUIRE(info);
    CHECK(info.value() == node(CA_LID, iba::NodeType::CA).nodeInfo);
    auto description = s.get<smp::NodeDescription>(to(switch_lid));
    REQUIRE(description);
    CHECK(description.value() == node(switch_lid, iba::NodeType::Switch).nodeDescription);
    CHECK(s.fabric.smps() == 0);
    auto none = s.get<smp::NodeInfo>(to(iba::lid{77}));
    REQUIRE(!none);
    CHECK(none.error().code == errc::class_status);
}

TEST_CASE("SATransactor queries the node type once per node") {
    sa_rig s;
    REQUIRE(s.get<smp::NodeInfo>(to(CA_LID)));
    CHECK_FALSE(s.get<smp::PortInfo>(to(CA_LID), 1)); // the record does not exist
    REQUIRE(s.fabric.requested.size() == 2);
    CHECK(iba::load_be<u16>(s.fabric.requested[1].bytes.data() + 16) == iba::attribute_id<PortInfoRecord>);
}

TEST_CASE("port 0 selects the switch port 0, and for a CA the queried port") {
    sa_rig s;
    for (const u8 port : {u8{0}, u8{1}, u8{4}}) {
        PortInfoRecord r;
        r.endportLID = switch_lid;
        r.portNum = port;
        r.portInfo = patterned<smp::PortInfo>(100 + port);
        s.fabric.add(r);
    }
    PortInfoRecord r;
    r.endportLID = CA_LID;
    r.portNum = 2; // the LID belongs to the second port
    r.portInfo = patterned<smp::PortInfo>(200);
    s.fabric.add(r);
    for (const u8 port : {u8{0}, u8{1}, u8{4}}) {
        auto info = s.get<smp::PortInfo>(to(switch_lid), port);
        REQUIRE(info);
        CHECK(info.value() == patterned<smp::PortInfo>(100 + port));
    }
    const std::size_t before = s.fabric.requested.size();
    for (const u32 port : {0, 2}) {
        auto info = s.get<smp::PortInfo>(to(CA_LID), port);
        REQUIRE(info);
        CHECK(info.value() == patterned<smp::PortInfo>(200));
    }
    CHECK(s.fabric.requested.size() == before + 3); // the type of the node is queried once
    CHECK(!s.get<smp::PortInfo>(to(CA_LID), 1));
    CHECK(s.fabric.smps() == 0);
}

TEST_CASE("SATransactor converts an attribute modifier to record fields") {
    sa_rig s;
    iba::sa::MulticastForwardingTableRecord mft;
    mft.LID = switch_lid;
    mft.position = 3;
    mft.blockNum = 0x105;
    mft.multicastForwardingTable = patterned<smp::MulticastForwardingTable>(1);
    s.fabric.add(mft);
    auto groups = s.get<smp::MulticastForwardingTable>(to(switch_lid), 0x30000105);
    REQUIRE(groups);
    CHECK(groups.value() == mft.multicastForwardingTable);

    iba::sa::VLArbitrationTableRecord vl;
    vl.LID = switch_lid;
    vl.blockNum = 4;
    vl.outputPortNum = 7;
    vl.VLArbitrationTable = patterned<smp::VLArbitrationTable>(2);
    s.fabric.add(vl);
    auto arbitration = s.get<smp::VLArbitrationTable>(to(switch_lid), 4 << 16 | 7);
    REQUIRE(arbitration);
    CHECK(arbitration.value() == vl.VLArbitrationTable);

    iba::sa::SLToVLMappingTableRecord sl;
    sl.LID = switch_lid;
    sl.inputPortNum = 6;
    sl.outputPortNum = 7;
    sl.SLToVLMappingTable = patterned<smp::SLToVLMappingTable>(3);
    s.fabric.add(sl);
    auto mapping = s.get<smp::SLToVLMappingTable>(to(switch_lid), 6 << 8 | 7);
    REQUIRE(mapping);
    CHECK(mapping.value() == sl.SLToVLMappingTable);

    iba::sa::PKeyTableRecord keys;
    keys.LID = CA_LID;
    keys.blockNum = 1;
    keys.portNum = 2;
    keys.PKeyTable = patterned<smp::PKeyTable>(4);
    s.fabric.add(keys);
    auto pkeys = s.get<smp::PKeyTable>(to(CA_LID), 1);
    REQUIRE(pkeys);
    CHECK(pkeys.value() == keys.PKeyTable);

    iba::sa::LinearForwardingTableRecord lft;
    lft.LID = switch_lid;
    lft.blockNum = 0x2ff;
    lft.linearForwardingTable = patterned<smp::LinearForwardingTable>(5);
    s.fabric.add(lft);
    auto ports = s.get<smp::LinearForwardingTable>(to(switch_lid), 0x2ff);
    REQUIRE(ports);
    CHECK(ports.value() == lft.linearForwardingTable);

    iba::sa::GUIDInfoRecord guids;
    guids.LID = CA_LID;
    guids.blockNum = 3;
    guids.GUIDInfo = patterned<smp::GUIDInfo>(6);
    s.fabric.add(guids);
    auto info = s.get<smp::GUIDInfo>(to(CA_LID), 3);
    REQUIRE(info);
    CHECK(info.value() == guids.GUIDInfo);
    CHECK(s.fabric.smps() == 0);
}

TEST_CASE("a missing record means an empty P_Key block, but is an error for a forwarding table") {
    sa_rig s;
    auto keys = s.get<smp::PKeyTable>(to(CA_LID), 1);
    REQUIRE(keys);
    CHECK(keys.value() == smp::PKeyTable{});
    CHECK(s.get<smp::SLToVLMappingTable>(to(switch_lid), 0x0102));
    CHECK(s.get<smp::VLArbitrationTable>(to(switch_lid), 0x10001));
    for (auto forwarding : {s.get<smp::LinearForwardingTable>(to(switch_lid), 1).has_value(),
                            s.get<smp::MulticastForwardingTable>(to(switch_lid), 1).has_value()})
        CHECK_FALSE(forwarding);
}

TEST_CASE("the SA client finds the LID at the end of a directed route and sends no SMP") {
    sa_rig s;
    sa::local_port local;
    local.LID = local_lid;
    local.sa_path = s.r.schedule.sa_path();
    sa::client client(s.r.schedule, local);
    for (const auto& [from, port, at] :
         {std::tuple(local_lid, u8{1}, switch_lid), std::tuple(switch_lid, u8{4}, CA_LID)}) {
        iba::sa::LinkRecord r;
        r.fromLID = from;
        r.fromPort = port;
        r.toLID = at;
        s.fabric.add(r);
    }
    const auto lid_of = [&](const mad::any_path& path) { return sync_wait(s.r.schedule, client.get_path_lid(path)); };
    CHECK(lid_of(route(1, 4)).value() == CA_LID);
    CHECK(s.fabric.requested.size() == 2);
    CHECK(lid_of(route(1)).value() == switch_lid); // the reply is cached
    CHECK(lid_of(mad::IBDRPath{}).value() == local_lid);
    CHECK(lid_of(to(CA_LID)).value() == CA_LID);
    CHECK(lid_of(mad::IBDRPath::from_lid(switch_lid, 4, local_lid)).value() == CA_LID);
    CHECK(s.fabric.requested.size() == 3); // the route that starts at a LID has its own entry in the cache
    CHECK(s.fabric.smps() == 0);
    const auto nowhere = lid_of(route(1, 9));
    REQUIRE_FALSE(nowhere);
    CHECK(nowhere.error().code == errc::class_status);
    CHECK(to_string(nowhere.error()).starts_with("cannot read the link at LID 5 port 9 from the SA"));
}

TEST_CASE("a directed route is converted to a LID through link records, each queried once") {
    sa_rig s;
    const auto link = [&](iba::lid from, u8 port, iba::lid at) {
        iba::sa::LinkRecord r;
        r.fromLID = from;
        r.fromPort = port;
        r.toLID = at;
        r.toPort = 1;
        s.fabric.add(r);
    };
    link(local_lid, 1, switch_lid);
    link(switch_lid, 4, CA_LID);
    auto info = s.get<smp::NodeInfo>(route(1, 4));
    REQUIRE(info);
    CHECK(info.value() == node(CA_LID, iba::NodeType::CA).nodeInfo);
    CHECK(s.fabric.requested.size() == 3);
    REQUIRE(s.get<smp::NodeInfo>(route(1, 4)));
    CHECK(s.fabric.requested.size() == 4);
    REQUIRE(s.get<smp::NodeInfo>(route(1)));
    CHECK(s.fabric.requested.size() == 5);
    auto nowhere = s.get<smp::NodeInfo>(route(1, 9));
    REQUIRE(!nowhere);
    CHECK(to_string(nowhere.error()).starts_with("cannot read the link at LID 5 port 9 from the SA [RPC "));
    CHECK(s.fabric.smps() == 0);
}

TEST_CASE("SATransactor sends Sets and attributes unknown to the SA to the node") {
    sa_rig s;
    CHECK(s.get<smp::LedInfo>(to(CA_LID)));
    CHECK(s.fabric.smps() == 1);
    CHECK(sync_wait(s.r.schedule, s.transactor.SubnSet(smp::PortInfo{}, to(CA_LID))));
    CHECK(s.fabric.smps() == 2);
}

TEST_CASE("SATransactor works over a blocking transactor") {
    table_sa fabric;
    fabric.add(node(CA_LID, iba::NodeType::CA));
    scripted_transport net([&](const packet& p) { return fabric(p); });
    coro::blocking_transactor umad(net);
    lead_to_sa(umad.schedule());
    sa::SATransactor transactor(umad, local_lid);
    auto info = transactor.SubnGet<smp::NodeInfo>(to(CA_LID));
    REQUIRE(info);
    CHECK(info.value() == node(CA_LID, iba::NodeType::CA).nodeInfo);
    CHECK(fabric.smps() == 0);
}

// ---- paths ---------------------------------------------------------------------------------------------------------

TEST_CASE("a GID is resolved to a path by one query, and the path is cached") {
    sa_rig s;
    sa::local_port local{local_lid, iba::gid(0xfe80000000000000, iba::guid{0x11}), s.r.schedule.sa_path()};
    sa::client client(s.r.schedule, local);
    PathRecord r;
    r.SGID = local.GID;
    r.DGID = iba::gid(0xfe80000000000000, iba::guid{0x22});
    r.SLID = local_lid;
    r.DLID = CA_LID;
    r.SL = 3;
    r.PKey = 0x8001;
    r.packetLifeTime = 14;
    r.reversible = true;
    r.numbPath = 1;
    s.fabric.add(r);
    mad::IBPath target;
    target.DGID = r.DGID;
    for (int i = 0; i < 2; ++i) {
        auto path = sync_wait(s.r.schedule, client.resolve_path(target));
        REQUIRE(path);
        CHECK(path.value().DLID == CA_LID);
        CHECK(path.value().SLID == local_lid);
        CHECK(path.value().SL == 3);
        CHECK(path.value().pkey == 0x8001);
        CHECK(path.value().packet_life_time == 14);
        CHECK_FALSE(path.value().has_grh);
    }
    CHECK(s.fabric.requested.size() == 1);

    target.DGID = iba::gid(0xfe80000000000000, iba::guid{0x33});
    auto none = sync_wait(s.r.schedule, client.resolve_path(target));
    REQUIRE(!none);
    CHECK(none.error().code == errc::path_not_found);
    CHECK(to_string(none.error()).starts_with("Failed getting path record for path "));

    sa::local_port without_gid = client.local();
    without_gid.GID = {};
    sa::client by_lid(s.r.schedule, without_gid);
    target.DGID = r.DGID;
    auto from_lid = sync_wait(s.r.schedule, by_lid.resolve_path(target));
    REQUIRE(from_lid);
    CHECK(from_lid.value().DLID == CA_LID);
    // The bits of IB_PR_COMPMASK_* in OpenSM: DGID, SLID, reversible, numbPath.
    CHECK(iba::load_be<u64>(s.fabric.requested.back().bytes.data() + 48) == (1u << 2 | 1u << 5 | 1u << 11 | 1u << 12));

    auto as_it_is = sync_wait(s.r.schedule, client.get_mad_path(to(CA_LID)));
    REQUIRE(as_it_is);
    CHECK(as_it_is.value() == to(CA_LID));
    CHECK(s.fabric.requested.size() == 3);
}

TEST_CASE("a target with a P_Key gets a path in that partition") {
    sa_rig s;
    sa::client client(s.r.schedule,
                      {local_lid, iba::gid(iba::link_local_prefix, iba::guid{0x11}), s.r.schedule.sa_path()});
    PathRecord r;
    r.SGID = client.local().GID;
    r.DGID = iba::gid(iba::link_local_prefix, iba::guid{0x22});
    r.reversible = true;
    r.numbPath = 1;
    for (const auto& [pkey, SL] : {std::pair(0x8001, 1), std::pair(0x8002, 2)}) {
        r.PKey = static_cast<u16>(pkey);
        r.SL = static_cast<u8>(SL);
        s.fabric.add(r);
    }
    mad::IBPath target;
    target.DGID = r.DGID;
    target.pkey = 0x8002;
    const auto path = sync_wait(s.r.schedule, client.resolve_path(target));
    REQUIRE(path);
    CHECK(path.value().SL == 2);
    CHECK(path.value().pkey == 0x8002);
    target.pkey = 0x8003;
    const auto none = sync_wait(s.r.schedule, client.resolve_path(target));
    REQUIRE_FALSE(none);
    CHECK(none.error().code == errc::path_not_found);
}

TEST_CASE("a path query asks for a reversible path unless the program sets the field") {
    sa_rig s;
    sa::client client(s.r.schedule,
                      {local_lid, iba::gid(iba::link_local_prefix, iba::guid{0x11}), s.r.schedule.sa_path()});
    mad::IBPath target;
    target.DGID = iba::gid(iba::link_local_prefix, iba::guid{0x22});
    for (const bool reversible : {true, false}) {
        iba::query<PathRecord> properties;
        if (!reversible) properties.where<&PathRecord::reversible>(false);
        static_cast<void>(sync_wait(s.r.schedule, client.resolve_path(target, properties)));
        const packet& last = s.fabric.requested.back();
        CHECK((iba::load_be<u64>(last.bytes.data() + 48) & 1u << 11) != 0);
        PathRecord requested;
        iba::decode(requested, last.bytes.data() + 56);
        CHECK(requested.reversible == reversible);
    }
}

TEST_CASE("a resolved path keeps the requested SGID and has a GRH if it leaves the subnet") {
    sa_rig s;
    sa::local_port local{local_lid, iba::gid(iba::link_local_prefix, iba::guid{0x11}), s.r.schedule.sa_path()};
    sa::client client(s.r.schedule, local);
    PathRecord r;
    r.SGID = iba::gid(iba::link_local_prefix, iba::guid{0x12}); // not the GID of the local port
    r.DGID = iba::gid(iba::link_local_prefix, iba::guid{0x22});
    r.SLID = local_lid;
    r.DLID = CA_LID;
    r.reversible = true;
    r.numbPath = 1;
    mad::IBPath target;
    target.SGID = r.SGID;
    for (const u8 hops : {0, 1, 2, 64}) {
        r.hopLimit = hops;
        r.DGID = iba::gid(iba::link_local_prefix, iba::guid{0x22u + hops});
        s.fabric.add(r);
        target.DGID = r.DGID;
        auto path = sync_wait(s.r.schedule, client.resolve_path(target));
        REQUIRE(path);
        CHECK(path.value().SGID == r.SGID);
        CHECK(path.value().has_grh == (hops > 1)); // IBA 8.3.6
    }
}

// ---- keys ----------------------------------------------------------------------------------------------------------

namespace {

/// A client with keys of single ports: the key of the CA, of the SA, and a default for all others.
struct keys_rig : sa_rig {
    keys_rig() {
        NodeRecord at_sa = node(iba::lid{1}, iba::NodeType::CA);
        fabric.add(at_sa);
        keys.set(mad::key_kind::MKey, node(CA_LID, iba::NodeType::CA).nodeInfo.portGUID, 0xca);
        keys.set(mad::key_kind::MKey, local.GID.interface_id(), 0x10);
        keys.set_default(mad::key_kind::MKey, 0xdef);
        client.set_keys(&keys);
    }
    u64 MKey(const mad::any_path& path) {
        auto keyed = sync_wait(r.schedule, client.with_keys(path));
        REQUIRE(keyed);
        return mad::headers_of(keyed.value()).MKey;
    }
    mad::port_keys keys;
    sa::local_port local{local_lid, iba::gid(iba::link_local_prefix, iba::guid{0x11}), r.schedule.sa_path()};
    sa::client client{r.schedule, local};
};

} // namespace

TEST_CASE("a path gets the M_Key of its destination port") {
    keys_rig s;
    iba::sa::LinkRecord link;
    link.fromLID = local_lid;
    link.fromPort = 1;
    link.toLID = CA_LID;
    s.fabric.add(link);

    CHECK(s.MKey(to(local_lid)) == 0x10); // known without a query
    CHECK(s.MKey(mad::IBDRPath{}) == 0x10);
    CHECK(s.fabric.requested.empty());
    CHECK(s.MKey(to(CA_LID)) == 0xca);
    CHECK(s.MKey(to(switch_lid)) == 0xdef);
    CHECK(s.fabric.requested.size() == 2);
    CHECK(s.MKey(to(CA_LID)) == 0xca);
    CHECK(s.fabric.requested.size() == 2); // one query
    CHECK(s.MKey(route(1)) == 0xca);
    CHECK(s.fabric.requested.size() == 3); // the query for the link
    mad::IBPath by_gid;
    by_gid.DLID = switch_lid; // the node's own information takes precedence
    by_gid.DGID = iba::gid(iba::link_local_prefix, node(CA_LID, iba::NodeType::CA).nodeInfo.portGUID);
    CHECK(s.MKey(by_gid) == 0xca);
    mad::IBPath with_key = std::get<mad::IBPath>(to(CA_LID));
    with_key.MKey = 0x77;
    CHECK(s.MKey(with_key) == 0x77);
    CHECK(s.fabric.requested.size() == 3);
    CHECK(s.fabric.smps() == 0);

    auto unknown = sync_wait(s.r.schedule, s.client.with_keys(to(iba::lid{77})));
    REQUIRE(!unknown);
    CHECK(to_string(unknown.error()).starts_with("cannot select the key for Path "));
}

TEST_CASE("the port of a path is not queried if its key is already determined") {
    keys_rig s;
    SECTION("one key for all ports") {
        mad::port_keys one;
        one.set_default(mad::key_kind::MKey, 0xdef);
        s.client.set_keys(&one);
        CHECK(s.MKey(to(CA_LID)) == 0xdef);
    }
    SECTION("no SA") {
        s.r.schedule.set_sa_path({});
        CHECK(s.MKey(to(CA_LID)) == 0xdef);
    }
    SECTION("no keys") {
        s.client.set_keys(nullptr);
        CHECK(s.MKey(to(CA_LID)) == 0);
    }
    CHECK(s.fabric.requested.empty());
}

TEST_CASE("SA requests carry the SM_Key of the SA port") {
    keys_rig s;
    SECTION("key of the SA port") {
        s.keys.set(mad::key_kind::SMKey, node(iba::lid{1}, iba::NodeType::CA).nodeInfo.portGUID, 0x5a);
        s.keys.set_default(mad::key_kind::SMKey, 1);
    }
    SECTION("default key") { s.keys.set_default(mad::key_kind::SMKey, 0x5a); }
    REQUIRE(sync_wait(s.r.schedule, s.client.take_sm_key()));
    CHECK(s.r.schedule.sa_path().SMKey == 0x5a);
    REQUIRE(s.get<smp::NodeInfo>(to(CA_LID)));
    CHECK(iba::load_be<u64>(s.fabric.requested.back().bytes.data() + 36) == 0x5a);
}

TEST_CASE("an explicit SM_Key in the SA path is kept") {
    keys_rig s;
    s.keys.set_default(mad::key_kind::SMKey, 0x5a);
    mad::IBPath to_sa = s.r.schedule.sa_path();
    to_sa.SMKey = 7;
    s.r.schedule.set_sa_path(to_sa);
    REQUIRE(sync_wait(s.r.schedule, s.client.take_sm_key()));
    CHECK(s.r.schedule.sa_path().SMKey == 7);
}

TEST_CASE("sa::subscribe requests all generic notices for QP1 of the local port") {
    // IBA 13.4.8.3: all ones match any value. Without a GID, the range of LIDs is the permissive LID.
    sa_rig s;
    for (const u8 subscribe : {1, 0}) {
        const auto query = sa::all_notices(subscribe == 1);
        s.fabric.requested.clear();
        (void)sync_wait(s.r.schedule, s.r.schedule.SubnAdmSet(query));
        REQUIRE_FALSE(s.fabric.requested.empty());
        iba::InformInfo i;
        iba::decode(i, s.fabric.requested[0].bytes.data() + 56);
        CHECK(i.GID == iba::gid{});
        CHECK(value(i.LIDRangeBegin) == 0xffff);
        CHECK(i.isGeneric == 1);
        CHECK(i.subscribe == subscribe);
        CHECK(i.type == 0xffff);
        CHECK(i.trapNumber == 0xffff);
        CHECK(i.QPN == 1);
        CHECK(i.producerType == 0xffffff);
    }
}
