// SPDX-License-Identifier: MIT
// sim_sa_changes_test.cpp - what users of a simulated subnet create at its SA: multicast groups, GUIDs, subscriptions
// and the resulting Reports. Also paths between groups of ports. Statuses follow the IBA (15.4) and OpenSM.
#include "support/catch.hpp"
#include "wire/sim_client.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/coro/detail/virtual_time.hpp>
#include <comad/iba.hpp>
#include <comad/mad/detail/record_table.hpp>
#include <comad/sa/subscription.hpp>
#include <comad/server/agent.hpp>

#include <chrono>
#include <poll.h>
#include <set>
#include <string>

namespace sim_sa_changes_test {

using namespace comad;
using namespace comad::transports::sim;
using iba::InformInfo;
using iba::MgmtClass;
using iba::Selector;
using iba::TrapNumber;
using iba::sa::GUIDInfoRecord;
using iba::sa::InformInfoRecord;
using iba::sa::MCMemberRecord;
using iba::sa::MultiPathRecord;
using iba::sa::PathRecord;
using mad::errc;

namespace {

constexpr u8 invalid = 2, no_records = 3, invalid_gid = 5, insufficient = 6;
constexpr u8 full = 1, non_member = 2, send_only = 4;
constexpr u64 prefix = 0xfe80'0000'0000'0000;

iba::gid gid_of(u64 high, u64 low) {
    iba::gid gid;
    iba::store_be<u64>(gid.bytes.data(), high);
    iba::store_be<u64>(gid.bytes.data() + 8, low);
    return gid;
}
const iba::gid broadcast = gid_of(0xff12'401b'ffff'0000, 0x0000'0000'ffff'ffff);

struct managed {
    explicit managed(const std::string& specification = "fattree2,radix=4")
        : sim(make_sim(specification + ",sm=1", time_mode::virtual_)), umad(*sim.transport) {
        umad.schedule().set_sa_path(to_lid(value(graph().sm_lid)));
    }
    const topology& graph() const { return sim.fabric->graph(); }
    const port& port_of(const char* name) const { return graph().nodes[*graph().find(name)].ports[1]; }
    iba::gid gid(const char* name) const { return gid_of(prefix, value(port_of(name).GUID)); }
    template <class R> std::vector<R> table(const iba::query<R>& query = {}) {
        auto all = umad.SubnAdmGetTable<R>(query);
        REQUIRE(all);
        return std::move(all.value());
    }
    simulation sim;
    coro::blocking_transactor umad;
};

/// Returns the status of a rejected request, or 0 if the SA accepted it.
u8 refusal(const auto& result) {
    if (result) return 0;
    CHECK(result.error().code == errc::class_status);
    return static_cast<u8>(result.error().status >> 8);
}

iba::query<MCMemberRecord> join(const iba::gid& MGID, const iba::gid& port, u8 state) {
    return iba::query<MCMemberRecord>{}
        .where<&MCMemberRecord::MGID>(MGID)
        .where<&MCMemberRecord::portGID>(port)
        .where<&MCMemberRecord::joinState>(state);
}
iba::query<MCMemberRecord> create(const iba::gid& MGID, const iba::gid& port, u8 state = full) {
    return join(MGID, port, state)
        .where<&MCMemberRecord::QKey>(u32{0x1234})
        .where<&MCMemberRecord::TClass>(u8{0})
        .where<&MCMemberRecord::PKey>(u16{0xffff})
        .where<&MCMemberRecord::flowLabel>(u32{0})
        .where<&MCMemberRecord::SL>(u8{0});
}
iba::query<MCMemberRecord> group(const iba::gid& MGID) {
    return iba::query<MCMemberRecord>{}.where<&MCMemberRecord::MGID>(MGID);
}

const char* const host1 = "h-0001 HCA-1";
const char* const host2 = "h-0002 HCA-1";
const char* const host3 = "h-0003 HCA-1";

} // namespace

TEST_CASE("a multicast group is created by its first full member and ends with its last full member") {
    managed m;
    const iba::gid MGID = gid_of(0xff12'0000'0000'0000, 7);
    CHECK(refusal(m.umad.SubnAdmSet(join(MGID, m.gid(host1), full))) == insufficient); // there is no group to join
    CHECK(refusal(m.umad.SubnAdmSet(create(MGID, m.gid(host1), send_only))) == invalid);
    const auto made = m.umad.SubnAdmSet(create(MGID, m.gid(host1)));
    REQUIRE(made);
    CHECK(made.value().MGID == MGID);
    CHECK(made.value().portGID == m.gid(host1));
    CHECK(made.value().QKey == 0x1234);
    CHECK(value(made.value().MLID) == 0xc001); // the next one after the broadcast group's
    CHECK(made.value().joinState == full);
    CHECK(made.value().scope == 2);
    CHECK(made.value().rate == iba::Rate::r100); // of the port: 4x EDR
    CHECK(made.value().MTU == iba::MTU::m4096);

    const auto joined = m.umad.SubnAdmSet(join(MGID, m.gid(host2), non_member));
    REQUIRE(joined);
    CHECK(joined.value().MLID == made.value().MLID);
    CHECK(joined.value().QKey == 0x1234);
    CHECK(joined.value().joinState == non_member);
    CHECK(m.umad.SubnAdmSet(join(MGID, m.gid(host2), send_only)).value().joinState == (non_member | send_only));
    REQUIRE(m.umad.SubnAdmSet(join(MGID, m.gid(host3), full)));
    CHECK(m.table(group(MGID)).size() == 3);
    CHECK(value(m.umad.SubnAdmSet(create(gid_of(0xff12'0000'0000'0000, 8), m.gid(host1))).value().MLID) == 0xc002);

    CHECK(m.umad.SubnAdmDelete(join(MGID, m.gid(host2), send_only)).value().joinState == non_member);
    CHECK(refusal(m.umad.SubnAdmDelete(join(MGID, m.gid(host2), full))) == invalid); // not a full member
    CHECK(m.umad.SubnAdmDelete(join(MGID, m.gid(host1), full)).value().joinState == 0);
    CHECK(m.table(group(MGID)).size() == 2);
    CHECK(refusal(m.umad.SubnAdmDelete(join(MGID, m.gid(host1), full))) == invalid);
    CHECK(m.umad.SubnAdmDelete(join(MGID, m.gid(host3), full)));
    CHECK(m.table(group(MGID)).empty()); // although host 2 had not left
    CHECK(refusal(m.umad.SubnAdmDelete(join(MGID, m.gid(host2), non_member))) == invalid);
    CHECK(value(m.umad.SubnAdmSet(create(MGID, m.gid(host1))).value().MLID) == 0xc001); // its MLID was free again
}

TEST_CASE("a join that does not fit the group or is inconsistent is rejected") {
    managed m;
    const iba::gid MGID = gid_of(0xff12'0000'0000'0000, 7), port = m.gid(host1), other = m.gid(host2);
    REQUIRE(m.umad.SubnAdmSet(create(MGID, port)));
    const auto set = [&](const auto& query) { return refusal(m.umad.SubnAdmSet(query)); };
    CHECK(set(group(MGID)) == insufficient);
    CHECK(refusal(m.umad.SubnAdmDelete(group(MGID))) == insufficient);
    CHECK(set(join(MGID, other, 0)) == invalid);
    CHECK(set(join(MGID, gid_of(prefix, 99), full)) == invalid);
    CHECK(set(join(MGID, other, full).where<&MCMemberRecord::QKey>(u32{1})) == invalid);
    CHECK(set(join(MGID, other, full).where<&MCMemberRecord::PKey>(u16{0x8001})) == invalid);
    CHECK(set(join(MGID, other, full).where<&MCMemberRecord::rate>(iba::Rate::r200)) == invalid);
    CHECK(set(join(MGID, other, full)
                  .where<&MCMemberRecord::rateSelector>(Selector::GreaterThan)
                  .where<&MCMemberRecord::rate>(iba::Rate::r40)) == 0);
    CHECK(set(create(gid_of(prefix, 7), port)) == invalid); // not a multicast GID
    CHECK(set(create(gid_of(0xff10'0000'0000'0000, 7), port)) == invalid);
    auto incomplete = join(gid_of(0xff12'0000'0000'0000, 9), port, full);
    CHECK(set(incomplete.where<&MCMemberRecord::QKey>(u32{1})) == insufficient);

    auto limited = [&](auto&& limit) {
        auto query = create(iba::gid{}, port);
        limit(query);
        return m.umad.SubnAdmSet(query);
    };
    const auto slower = limited([](auto& q) {
        q.template where<&MCMemberRecord::rateSelector>(Selector::LessThan);
        q.template where<&MCMemberRecord::rate>(iba::Rate::r100);
        q.template where<&MCMemberRecord::MTUSelector>(Selector::LessThan);
        q.template where<&MCMemberRecord::MTU>(iba::MTU::m4096);
    });
    REQUIRE(slower);
    CHECK(slower.value().rate == iba::Rate::r80);
    CHECK(slower.value().MTU == iba::MTU::m2048);
    CHECK(slower.value().MGID.bytes[0] == 0xff); // the SA chose the name
    CHECK(slower.value().MGID.bytes[15] == (value(slower.value().MLID) & 0xff));
    const auto exact = limited([](auto& q) { q.template where<&MCMemberRecord::rate>(iba::Rate::r10); });
    CHECK(exact.value().rate == iba::Rate::r10);
    CHECK(exact.value().MGID != slower.value().MGID);
    const auto faster = limited([](auto& q) {
        q.template where<&MCMemberRecord::rateSelector>(Selector::GreaterThan);
        q.template where<&MCMemberRecord::rate>(iba::Rate::r100);
    });
    CHECK(refusal(faster) == invalid);
    CHECK(refusal(limited([](auto& q) { q.template where<&MCMemberRecord::rate>(iba::Rate::r200); })) == invalid);
}

TEST_CASE("the broadcast group persists without members") {
    managed m("single");
    CHECK(m.table(group(broadcast)).size() == 2);
    const node& far = m.graph().nodes[1];
    for (const iba::guid GUID : {m.graph().nodes[0].ports[1].GUID, far.ports[1].GUID})
        REQUIRE(m.umad.SubnAdmDelete(join(broadcast, gid_of(prefix, value(GUID)), full)));
    CHECK(m.table(group(broadcast)).empty());
    CHECK(m.umad.SubnAdmSet(join(broadcast, gid_of(prefix, value(far.ports[1].GUID)), full)));
    CHECK(m.table(group(broadcast)).size() == 1);
}

TEST_CASE("a port slower than the group cannot join, and a port that is down is not in the broadcast group") {
    managed m;
    const iba::gid MGID = gid_of(0xff12'0000'0000'0000, 7);
    REQUIRE(m.umad.SubnAdmSet(create(MGID, m.gid(host1)))); // at the 100 Gb/s of its port
    const std::size_t before = m.table(group(broadcast)).size();
    iba::smp::PortInfo slow;
    slow.portState = iba::PortState::Down;
    slow.linkSpeedEnabled = 1;
    slow.linkSpeedExtEnabled = 30; // no speed
    REQUIRE(m.umad.SubnSet(slow, route({1}), 2));
    CHECK(m.table(group(broadcast)).size() == before - 1);
    CHECK(refusal(m.umad.SubnAdmSet(join(MGID, m.gid(host2), full))) == invalid);
    CHECK(refusal(m.umad.SubnAdmSet(join(broadcast, m.gid(host2), full))) == 0);
}

TEST_CASE("a port can have additional GUIDs, and the SA finds the port by them") {
    managed m;
    const iba::lid LID = m.port_of(host2).LID;
    const auto block = [&](u8 number) {
        return iba::query<GUIDInfoRecord>{}.where<&GUIDInfoRecord::LID>(LID).where<&GUIDInfoRecord::blockNum>(number);
    };
    // Each GUID is a component, from bit 4 on (IBA 15.2.5.18).
    const auto request = [&](u8 number, unsigned slot, u64 GUID) {
        auto query = block(number);
        query.where<&GUIDInfoRecord::GUIDInfo, &iba::smp::GUIDInfo::GUIDBlock>(slot, iba::guid{GUID});
        return query;
    };
    CHECK((request(0, 3, 5).component_mask() & 1u << 7) != 0);
    const auto set = m.umad.SubnAdmSet(request(0, 3, 0x1234));
    REQUIRE(set);
    CHECK(set.value().GUIDInfo.GUIDBlock[0] == m.port_of(host2).GUID);
    CHECK(set.value().GUIDInfo.GUIDBlock[3] == iba::guid{0x1234});
    CHECK(m.umad.SubnAdmGet(block(0)).value() == set.value());
    CHECK(m.umad.SubnGet<iba::smp::GUIDInfo>(to_lid(value(LID))).value() == set.value().GUIDInfo);
    CHECK(m.umad.SubnAdmSet(request(3, 7, 0x5678)).value().GUIDInfo.GUIDBlock[7] == iba::guid{0x5678});

    // The GIDs of its GUIDs lead to the port.
    auto path = iba::query<PathRecord>{}.where<&PathRecord::SGID>(m.gid(host1));
    path.where<&PathRecord::DGID>(gid_of(prefix, 0x1234));
    CHECK(m.umad.SubnAdmGet(path).value().DLID == LID);
    CHECK(m.umad.SubnAdmGet(path).value().DGID == gid_of(prefix, 0x1234));
    CHECK(m.umad.SubnAdmSet(join(broadcast, gid_of(prefix, 0x5678), full)));

    CHECK(refusal(m.umad.SubnAdmSet(request(0, 0, 9))) == invalid);
    CHECK(refusal(m.umad.SubnAdmDelete(request(0, 0, 0))) == invalid);
    CHECK(refusal(m.umad.SubnAdmSet(request(4, 0, 9))) == no_records);
    const auto of_block = iba::query<GUIDInfoRecord>{}.where<&GUIDInfoRecord::LID>(LID);
    CHECK(refusal(m.umad.SubnAdmSet(of_block)) == insufficient);
    auto no_node = iba::query<GUIDInfoRecord>{}.where<&GUIDInfoRecord::LID>(iba::lid{99});
    CHECK(refusal(m.umad.SubnAdmSet(no_node.where<&GUIDInfoRecord::blockNum>(u8{0}))) == no_records);
    // No port gets a GUID that another port has.
    CHECK(m.umad.SubnAdmSet(request(0, 4, value(m.port_of(host1).GUID))).value().GUIDInfo.GUIDBlock[4] == iba::guid{});
    CHECK(m.umad.SubnAdmSet(request(0, 5, 0x1234)).value().GUIDInfo.GUIDBlock[5] == iba::guid{});

    const auto deleted = m.umad.SubnAdmDelete(request(0, 3, 0));
    REQUIRE(deleted);
    CHECK(deleted.value().GUIDInfo.GUIDBlock[3] == iba::guid{});
    CHECK(refusal(m.umad.SubnAdmGet(path)) == no_records);
}

TEST_CASE("paths between groups of ports are the paths of each pair") {
    managed m;
    const std::vector<iba::gid> from{m.gid(host1), m.gid(host2)}, to{m.gid(host3)};
    const auto send_query = [&](std::vector<iba::gid> gids, u8 sources, u64 mask, MultiPathRecord wanted = {}) {
        wanted.SGIDCount = sources;
        wanted.DGIDCount = static_cast<u8>(gids.size() - sources);
        const mad::rpc_kind kind{MgmtClass::SubnAdm, 2, iba::Method::GetMulti, 0x3a, true};
        const mad::any_path path = to_lid(value(m.graph().sm_lid));
        smp_bytes request;
        u8* const data = mad::write_request(request.data(), kind, path, 0, mask);
        iba::encode(wanted, data);
        for (std::size_t i = 0; i < gids.size(); ++i)
            std::copy(gids[i].bytes.begin(), gids[i].bytes.end(), data + 24 + i * 16);
        send_to(*m.sim.transport, path, request);
        const auto replies = drain(*m.sim.transport, 4096);
        REQUIRE(replies.size() == 1);
        return replies[0].bytes;
    };
    constexpr u64 counts = iba::mask_of<&MultiPathRecord::SGIDCount> | iba::mask_of<&MultiPathRecord::DGIDCount>;
    const auto paths = send_query({from[0], from[1], to[0]}, 2, counts);
    CHECK(paths[3] == 0x94);
    const auto table = mad::record_table::of(paths, 64);
    REQUIRE(table);
    REQUIRE(table.value().size() == 2);
    for (std::size_t i = 0; i < 2; ++i) {
        auto query = iba::query<PathRecord>{}.where<&PathRecord::SGID>(from[i]).where<&PathRecord::DGID>(to[0]);
        CHECK(iba::decode<PathRecord>(table.value()[i].first<64>()) == m.umad.SubnAdmGet(query).value());
    }
    const auto status = [&](const std::vector<u8>& reply) { return reply[4]; };
    CHECK(status(send_query({from[0], to[0]}, 1, 0)) == insufficient);
    CHECK(status(send_query({from[0]}, 1, counts)) == invalid);
    CHECK(status(send_query({from[0], gid_of(prefix, 99)}, 1, counts)) == invalid_gid);
    CHECK(status(send_query(std::vector<iba::gid>(11, from[0]), 5, counts)) == 0);
    MultiPathRecord slow;
    slow.rate = iba::Rate::r10;
    const auto none = send_query({from[0], to[0]}, 1, counts | iba::mask_of<&MultiPathRecord::rate>, slow);
    CHECK(mad::record_table::of(none, 64).value().size() == 0);
}

TEST_CASE("GetTraceTable returns the nodes of a path with ingress and egress ports") {
    managed m;
    const auto send_query = [&](const PathRecord& wanted, u64 mask) {
        const mad::rpc_kind kind{MgmtClass::SubnAdm, 2, iba::Method::GetTraceTable, 0x39, true};
        const mad::any_path path = to_lid(value(m.graph().sm_lid));
        smp_bytes request;
        iba::encode(wanted, mad::write_request(request.data(), kind, path, 0, mask));
        send_to(*m.sim.transport, path, request);
        const auto replies = drain(*m.sim.transport, 4096);
        REQUIRE(replies.size() == 1);
        CHECK(replies[0].bytes[3] == 0x92);
        return replies[0].bytes;
    };
    PathRecord wanted;
    wanted.SGID = m.gid(host1);
    wanted.DLID = m.port_of(host3).LID;
    constexpr u64 ends = iba::mask_of<&PathRecord::SGID> | iba::mask_of<&PathRecord::DLID>;
    const auto reply = send_query(wanted, ends);
    const auto table = mad::record_table::of(reply, 48);
    REQUIRE(table);
    REQUIRE(table.value().size() == 5); // host, leaf, spine, leaf, host
    u32 at = *m.graph().find(host1);
    std::set<u64> IDs;
    u8 entry = 0;
    for (std::size_t i = 0; i < 5; ++i) {
        const auto hop = iba::decode<iba::sa::TraceRecord>(table.value()[i].first<48>());
        const node& n = m.graph().nodes[at];
        IDs.insert(hop.nodeID);
        CHECK(hop.nodeType == n.type);
        CHECK(hop.entryPort == entry);
        CHECK((hop.entryPortID == 0) == (entry == 0));
        CHECK(hop.nodeID != value(n.nodeGUID));
        if (i == 4) {
            CHECK(hop.exitPort == 0);
            break;
        }
        REQUIRE(n.ports[hop.exitPort].linked());
        at = n.ports[hop.exitPort].peer_node;
        entry = n.ports[hop.exitPort].peer_port;
    }
    CHECK(at == *m.graph().find(host3));
    CHECK(IDs.size() == 5);
    auto query = iba::query<PathRecord>{}.where<&PathRecord::SGID>(wanted.SGID);
    const auto traced = m.umad.SubnAdmGetTraceTable(query.where<&PathRecord::DLID>(wanted.DLID));
    REQUIRE(traced);
    REQUIRE(traced.value().size() == 5);
    for (std::size_t i = 0; i < 5; ++i)
        CHECK(traced.value()[i] == iba::decode<iba::sa::TraceRecord>(table.value()[i].first<48>()));
    PathRecord own = wanted;
    own.DLID = m.port_of(host1).LID;
    CHECK(mad::record_table::of(send_query(own, ends), 48).value().size() == 1);
    CHECK(send_query(wanted, iba::mask_of<&PathRecord::SGID>)[4] == insufficient);
    wanted.DLID = iba::lid{99};
    CHECK(send_query(wanted, ends)[4] == no_records);
}

namespace {

/// A program at a port that subscribes and receives Reports.
struct subscriber {
    subscriber(managed& m, const char* name)
        : place(*m.sim.fabric, *m.graph().find(name), 1, time_mode::virtual_), umad(place) {
        answers.on_report(MgmtClass::SubnAdm, 2, [this](const server::request&, const iba::Notice& notice) {
            received.push_back(notice);
            return acknowledges;
        });
        agent.emplace(place, answers);
        umad.schedule().set_server(&*agent);
        umad.schedule().set_sa_path(to_lid(value(m.graph().sm_lid)));
    }
    static InformInfo about(TrapNumber trap, u8 subscribe = 1) {
        InformInfo i;
        i.LIDRangeBegin = iba::lid{0xffff};
        i.isGeneric = 1;
        i.subscribe = subscribe;
        i.type = 0xffff;
        i.trapNumber = value(trap);
        i.producerType = 0xffffff;
        i.QPN = 1;
        return i;
    }
    mad::result<InformInfo> set(const InformInfo& i) {
        iba::query<InformInfo> query;
        query.where<&InformInfo::LIDRangeBegin>(i.LIDRangeBegin).where<&InformInfo::LIDRangeEnd>(i.LIDRangeEnd);
        query.where<&InformInfo::isGeneric>(i.isGeneric).where<&InformInfo::subscribe>(i.subscribe);
        query.where<&InformInfo::type>(i.type).where<&InformInfo::trapNumber>(i.trapNumber);
        query.where<&InformInfo::producerType>(i.producerType).where<&InformInfo::QPN>(i.QPN);
        return umad.SubnAdmSet(query);
    }
    /// Advances time until this number of Reports has arrived.
    void wait(std::size_t count) {
        coro::run_until(umad.schedule(), [&] { return received.size() >= count; });
    }
    sim_transport place;
    coro::blocking_transactor umad;
    server::responder answers;
    std::optional<server::agent> agent;
    std::vector<iba::Notice> received;
    bool acknowledges = true;
};

} // namespace

TEST_CASE("subscribers receive one report for each created or deleted multicast group") {
    managed m;
    subscriber s(m, host2);
    REQUIRE(s.set(subscriber::about(TrapNumber::MulticastGroupCreated)));
    REQUIRE(s.set(subscriber::about(TrapNumber::MulticastGroupDeleted)));
    const iba::gid MGID = gid_of(0xff12'0000'0000'0000, 7);
    REQUIRE(m.umad.SubnAdmSet(create(MGID, m.gid(host1))));
    s.wait(1);
    const iba::Notice& notice = s.received[0];
    CHECK(notice.isGeneric);
    CHECK(notice.trapNumber == TrapNumber::MulticastGroupCreated);
    CHECK(notice.noticeType == iba::NoticeType::SubnetManagement);
    CHECK(notice.nodeType == iba::ProducerType::ClassManager);
    CHECK(notice.issuerLID == m.graph().sm_lid);
    CHECK(notice.issuerGID == m.gid(host1)); // the port of the subnet manager
    CHECK(iba::decode<iba::NoticeTrap64>(notice.dataDetails).gidAddr == MGID);
    REQUIRE(m.umad.SubnAdmSet(join(MGID, m.gid(host3), full))); // not a new group
    REQUIRE(m.umad.SubnAdmDelete(join(MGID, m.gid(host3), full)));
    REQUIRE(m.umad.SubnAdmDelete(join(MGID, m.gid(host1), full)));
    s.wait(2);
    CHECK(s.received[1].trapNumber == TrapNumber::MulticastGroupDeleted);
    CHECK_THROWS_AS(s.wait(3), std::logic_error); // acknowledged Reports are not repeated
    drain(*m.sim.transport);
    CHECK(s.received.size() == 2);
    CHECK_FALSE(m.sim.fabric->next_event());
}

TEST_CASE("a subscriber to all notices receives group reports until it unsubscribes") {
    managed m;
    subscriber s(m, host2);
    coro::MADSchedule& schedule = s.umad.schedule();
    REQUIRE(coro::sync_wait(schedule, sa::subscribe(schedule)));
    REQUIRE(m.umad.SubnAdmSet(create(gid_of(0xff12'0000'0000'0000, 7), m.gid(host1))));
    s.wait(1);
    REQUIRE(coro::sync_wait(schedule, sa::unsubscribe(schedule)));
    REQUIRE(m.umad.SubnAdmSet(create(gid_of(0xff12'0000'0000'0000, 8), m.gid(host1))));
    CHECK_THROWS_AS(s.wait(2), std::logic_error);
    CHECK(s.received.size() == 1);
}

TEST_CASE("an unacknowledged Report is repeated, four times in all") {
    managed m;
    subscriber s(m, host2);
    REQUIRE(s.set(subscriber::about(TrapNumber::MulticastGroupCreated)));
    s.acknowledges = false;
    REQUIRE(m.umad.SubnAdmSet(create(gid_of(0xff12'0000'0000'0000, 7), m.gid(host1))));
    CHECK_THROWS_AS(s.wait(5), std::logic_error);
    CHECK(s.received.size() == 4);
    // The SA also works if no program receives the Reports.
    s.umad.schedule().set_server(nullptr);
    m.sim.fabric->apply({topology_event::kind::kill, *m.graph().find(host2)});
    REQUIRE(m.umad.SubnAdmSet(create(gid_of(0xff12'0000'0000'0000, 8), m.gid(host1))));
    drain(*m.sim.transport);
    CHECK_FALSE(m.sim.fabric->next_event());
}

TEST_CASE("Reports arrive on a subnet that loses and duplicates MADs") {
    managed m("fattree2,radix=4,loss=0.2,duplicate=0.2,seed=7");
    subscriber s(m, host2);
    REQUIRE(s.set(subscriber::about(TrapNumber::MulticastGroupCreated)));
    coro::detail::virtual_time both; // the SA sends Reports while the other schedule still retries its request
    both.add(m.umad.schedule());
    both.add(s.umad.schedule());
    for (u64 i = 1; i <= 10; ++i) REQUIRE(m.umad.SubnAdmSet(create(gid_of(0xff12'0000'0000'0000, i), m.gid(host1))));
    CHECK_THROWS_AS(s.wait(1000), std::logic_error);
    std::vector<u64> groups;
    for (const iba::Notice& n : s.received)
        groups.push_back(iba::load_be<u64>(iba::decode<iba::NoticeTrap64>(n.dataDetails).gidAddr.bytes.data() + 8));
    for (u64 i = 1; i <= 10; ++i) CHECK(std::count(groups.begin(), groups.end(), i) >= 1);
}

TEST_CASE("subscribers receive reports of ports that go out of service and return") {
    managed m;
    subscriber s(m, host2);
    auto all = subscriber::about(TrapNumber{0xffff});
    REQUIRE(s.set(all));
    using iba::smp::PortInfo;
    const mad::IBPath leaf = to_lid(value(m.graph().nodes[*m.graph().find("leaf-0002")].ports[0].LID));
    PortInfo disabled;
    disabled.portPhysicalState = iba::PortPhysicalState::Disabled;
    REQUIRE(m.umad.SubnSet(disabled, leaf, 1));
    s.wait(1);
    CHECK(s.received[0].trapNumber == TrapNumber::GIDOutOfService);
    CHECK(iba::decode<iba::NoticeTrap64>(s.received[0].dataDetails).gidAddr == m.gid(host3));
    PortInfo enabled;
    enabled.portPhysicalState = iba::PortPhysicalState::Polling;
    REQUIRE(m.umad.SubnSet(enabled, leaf, 1));
    const auto far = route({1, 3, 2, 1});
    for (const auto state : {iba::PortState::Armed, iba::PortState::Active}) {
        PortInfo up;
        up.portState = state;
        REQUIRE(m.umad.SubnSet(up, leaf, 1));
        auto own = m.umad.SubnGet<PortInfo>(far, 0).value();
        own.portState = state;
        REQUIRE(m.umad.SubnSet(own, far, 0));
    }
    s.wait(2);
    CHECK(s.received[1].trapNumber == TrapNumber::GIDInService);
    CHECK(iba::decode<iba::NoticeTrap64>(s.received[1].dataDetails).gidAddr == m.gid(host3));
    m.sim.fabric->apply({topology_event::kind::cut, *m.graph().find(host3), 1});
    s.wait(3);
    CHECK(s.received[2].trapNumber == TrapNumber::GIDOutOfService);
}

TEST_CASE("a planned change is reported on time even without other traffic") {
    managed m("fattree2,radix=4,flap=leaf-0002/1@1500ms:1s:1000s");
    subscriber s(m, host2);
    REQUIRE(s.set(subscriber::about(TrapNumber{0xffff})));
    const auto start_of_change = mad::time_point(std::chrono::milliseconds(1500));
    CHECK(m.sim.fabric->next_change() == start_of_change);
    CHECK(m.sim.fabric->next_event() <= start_of_change);
    s.wait(1);
    CHECK(s.received[0].trapNumber == TrapNumber::GIDOutOfService);
    CHECK(iba::decode<iba::NoticeTrap64>(s.received[0].dataDetails).gidAddr == m.gid(host3));
    // The report crosses a few cables of 1 us each.
    CHECK(s.umad.schedule().now() >= start_of_change);
    CHECK(s.umad.schedule().now() < start_of_change + std::chrono::milliseconds(1));
    CHECK(m.sim.fabric->next_change() == start_of_change + std::chrono::seconds(1));
    const managed unplanned;
    CHECK_FALSE(unplanned.sim.fabric->next_change());
}

TEST_CASE("a planned change wakes no program without subscribers") {
    managed m("fattree2,radix=4,flap=leaf-0002/1@1500ms:1s:1000s");
    CHECK(m.sim.fabric->next_change());
    CHECK_FALSE(m.sim.fabric->next_event());
    subscriber s(m, host2);
    CHECK_THROWS_AS(s.wait(1), std::logic_error); // nothing will ever happen
}

TEST_CASE("the descriptor of a subscriber becomes readable in real time when a planned change is due") {
    const auto real = make_sim("fattree2,radix=4,sm=1", time_mode::real);
    coro::blocking_transactor umad(*real.transport);
    umad.schedule().set_sa_path(to_lid(value(real.fabric->graph().sm_lid)));
    REQUIRE(umad.SubnAdmSet(sa::all_notices(true)));
    pollfd descriptor{real.transport->native_handle(), POLLIN, 0};
    CHECK(::poll(&descriptor, 1, 0) == 0);
    real.fabric->apply_at(std::chrono::steady_clock::now() + std::chrono::milliseconds(10),
                          {topology_event::kind::cut, *real.fabric->graph().find("leaf-0002"), 1});
    CHECK(::poll(&descriptor, 1, 30'000) == 1);
}

TEST_CASE("subscriptions have records, can be ended and match only the requested notices") {
    managed m;
    subscriber s(m, host2);
    const auto wanted = subscriber::about(TrapNumber::GIDInService);
    CHECK(s.set(wanted).value() == wanted);
    CHECK(s.set(wanted)); // it had this value already
    auto other = subscriber::about(TrapNumber::MulticastGroupCreated);
    other.LIDRangeBegin = iba::lid{2};
    other.LIDRangeEnd = iba::lid{9};
    REQUIRE(s.set(other));
    auto records = m.table<InformInfoRecord>();
    REQUIRE(records.size() == 2);
    CHECK(records[0].subscriberGID == m.gid(host2));
    CHECK(records[0].informInfo == wanted);
    CHECK(records[0].enumeration != records[1].enumeration);
    auto by_gid = iba::query<InformInfoRecord>{}.where<&InformInfoRecord::subscriberGID>(m.gid(host1));
    CHECK(m.table(by_gid).empty());
    // The issuer, LID 1, is not in its range.
    REQUIRE(m.umad.SubnAdmSet(create(gid_of(0xff12'0000'0000'0000, 7), m.gid(host1))));
    drain(*m.sim.transport);
    CHECK_THROWS_AS(s.wait(1), std::logic_error);

    auto end = wanted;
    end.subscribe = 0;
    CHECK(s.set(end));
    CHECK(m.table<InformInfoRecord>().size() == 1);
    CHECK(refusal(s.set(end)) == invalid);
    auto nonsense = wanted;
    nonsense.subscribe = 2;
    CHECK(refusal(s.set(nonsense)) == invalid);
    nonsense = wanted;
    nonsense.LIDRangeBegin = iba::lid{0};
    CHECK(refusal(s.set(nonsense)) == invalid);
}

} // namespace sim_sa_changes_test
