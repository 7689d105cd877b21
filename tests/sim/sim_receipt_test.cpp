// SPDX-License-Identifier: MIT
// sim_receipt_test.cpp - what simulated ports check in the headers of a MAD before an agent gets it: keys, partitions
// and lanes (IBA 9.6.1, 10.9.3, 14.2.4, 14.2.5.6), with the counters and the traps (14.2.5.1). Expected values come
// from these sections. Where the IBA leaves the behavior of a port open, they follow Linux' drivers/infiniband/hw/qib.
#include "support/catch.hpp"
#include "wire/delivered_request.hpp"
#include "wire/sim_client.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba.hpp>

#include <string>

namespace sim_receipt_test {

using namespace comad;
using namespace comad::transports::sim;
using namespace std::chrono_literals;
using iba::smp::PKeyTable;
using iba::smp::PortInfo;
using PKeys = std::vector<u16>;

namespace {

constexpr u8 trap_method = 0x05;

/// Hosts h-0001 to h-0004 have LIDs 1 to 4; h-0001 and h-0002 are at the first leaf. The program is at h-0001, where
/// the manager was.
struct subnet {
    explicit subnet(const std::string& keys = "sm=1")
        : sim(make_sim("fattree2,radix=4," + keys, time_mode::virtual_)),
          umad(*sim.transport, {.timeout = 1ms, .retries = 0}) {}

    template <class T> T get(const mad::any_path& path, u32 modifier = 0) {
        auto got = umad.SubnGet<T>(path, modifier);
        REQUIRE(got);
        return got.value();
    }
    template <class T, class F> void change(const mad::any_path& path, u32 modifier, F&& f) {
        T value = get<T>(path, modifier);
        f(value);
        REQUIRE(umad.SubnSet(value, path, modifier));
    }
    void set_pkeys(const mad::any_path& port, const PKeys& pkeys) {
        change<PKeyTable>(port, 0, [&](PKeyTable& t) {
            t = {};
            std::copy(pkeys.begin(), pkeys.end(), t.PKeyBlock.begin());
        });
    }
    bool answers(const mad::any_path& path) {
        return umad.PerformanceGet<iba::ClassPortInfo>(std::get<mad::IBPath>(path)).has_value();
    }
    bool answers_smp(const mad::any_path& path) { return umad.SubnGet<iba::smp::NodeInfo>(path).has_value(); }
    void pass(mad::duration time) { sim.transport->set_now(sim.fabric->now() + time); }

    simulation sim;
    coro::blocking_transactor umad;
};

const mad::any_path own = route({}), neighbor = route({1, 2}), leaf = route({1});
mad::IBPath lid(unsigned number) { return to_lid(number); }

/// A program at the manager's port that receives the traps.
struct trap_reader {
    explicit trap_reader(subnet& s) : at(*s.sim.fabric, 0, 1, time_mode::virtual_) {
        REQUIRE(at.serve({iba::MgmtClass::SubnLID, 1, mad::methods(iba::Method::Trap)}) == 0);
    }
    /// Returns the traps that have arrived.
    std::vector<smp_bytes> take() {
        std::vector<smp_bytes> all;
        for (const arrived& a : drain(at)) {
            REQUIRE(a.bytes.size() == mad::mad_size);
            std::copy(a.bytes.begin(), a.bytes.end(), all.emplace_back().begin());
        }
        return all;
    }
    sim_transport at;
};

iba::Notice notice_in(const smp_bytes& trap) { return iba::smp::notice_of(attribute<iba::smp::NoticeTrap>(trap)); }

} // namespace

TEST_CASE("a simulated port accepts a GMP if its P_Key table has the partition and one side is a full member") {
    struct row {
        PKeys sender, receiver;
        u16 path;
        bool is_answered, is_violation;
    };
    const auto r = GENERATE(values<row>({
        {{0xffff}, {0xffff}, 0xffff, true, false},
        {{0x7fff}, {0xffff}, 0xffff, true, false},
        {{0xffff}, {0x7fff}, 0xffff, true, false},
        {{0x7fff}, {0x7fff}, 0xffff, false, true},
        {{0xffff, 0x8001}, {0xffff, 0x0001}, 0x8001, true, false},
        {{0xffff, 0x0001}, {0xffff, 0x0001}, 0x0001, false, true},
        {{0xffff, 0x8001}, {0xffff}, 0x8001, false, true},
        {{0xffff, 0x8001}, {0xffff, 0, 0, 0x8001}, 0x8001, true, false},
        {{0xffff}, {0xffff, 0x8002}, 0x8002, false, false}, // a port sends no P_Key that its own table lacks
    }));
    CAPTURE(r.sender, r.receiver, r.path);
    subnet s;
    s.set_pkeys(own, r.sender);
    s.set_pkeys(neighbor, r.receiver);
    mad::IBPath path = lid(2);
    path.pkey = r.path;
    CHECK(s.answers(path) == r.is_answered);
    const auto info = s.get<PortInfo>(neighbor);
    CHECK(info.PKeyViolations == (r.is_violation ? 1 : 0));
    CHECK(info.QKeyViolations == 0);
    CHECK(s.answers_smp(lid(2))); // QP0 has no P_Key
    CHECK(s.sim.fabric->counters().refused == (r.is_violation ? 1 : 0));
}

TEST_CASE("a request on the simulator uses the P_Key at its explicit index, and partition 0 does not exist") {
    subnet s;
    s.set_pkeys(own, {0xffff, 0x8000, 0x8003});
    s.set_pkeys(neighbor, {0xffff, 0x8000, 0x0003});
    mad::IBPath path = lid(2);
    path.pkey_index = 2;
    CHECK(s.answers(path));
    path.pkey_index = 1;
    const mad::any_path with_zero = path;
    send_to(*s.sim.transport, with_zero, test::bytes_of(test::request_kind::of_other_port));
    CHECK(drain(*s.sim.transport).empty());
    CHECK(s.get<PortInfo>(neighbor).PKeyViolations == 1);
}

TEST_CASE("simulated switches and receivers of replies check P_Keys") {
    subnet s;
    const unsigned leaf_lid = value(s.get<PortInfo>(leaf, 0).LID);
    CHECK(s.answers(lid(leaf_lid)));
    s.set_pkeys(leaf, {0x7fff});
    CHECK(s.answers(lid(leaf_lid)));
    s.set_pkeys(own, {0x7fff});
    CHECK_FALSE(s.answers(lid(leaf_lid)));
    CHECK(s.get<PortInfo>(leaf, 0).PKeyViolations == 1);

    // The program at h-0002 replies with a P_Key that the program at h-0001 does not have.
    s.set_pkeys(own, {0xffff});
    s.set_pkeys(neighbor, {0xffff, 0x8001});
    sim_transport server(*s.sim.fabric, 1, 1, time_mode::virtual_);
    REQUIRE(server.serve({iba::MgmtClass::Performance, 1, mad::methods(iba::Method::Get)}) == 0);
    send_to(*s.sim.transport, lid(2), test::bytes_of(test::request_kind::of_other_port));
    std::array<u8, 320> buffer;
    while (!s.sim.fabric->has_message(1)) server.set_now(server.next_event().value());
    const mad::received request = server.receive(buffer);
    REQUIRE(request.state == mad::receive_state::message);
    std::array<u8, mad::headroom + mad::mad_size> answer{};
    std::copy(request.mad.begin(), request.mad.end(), answer.begin() + mad::headroom);
    answer[mad::headroom + 3] = 0x81;
    mad::IBPath back = mad::path_back(request.source);
    back.pkey_index = 1; // 0x8001
    const mad::any_path path = back;
    server.send({&path, answer.data() + mad::headroom, mad::mad_size, 0x04, 1, false, 1ms, 1ms, request.source.agent});
    CHECK(drain(*s.sim.transport).empty());
    CHECK(s.get<PortInfo>(own).PKeyViolations == 1);
}

TEST_CASE("a simulated port drops GMPs with a wrong Q_Key, queue pair or GID and counts Q_Key violations") {
    subnet s;
    mad::IBPath path = lid(2);
    path.qkey = 0x8001'0001;
    CHECK_FALSE(s.answers(path));
    CHECK(s.get<PortInfo>(neighbor).QKeyViolations == 1);
    path = lid(2);
    path.dqpn = 2;
    CHECK_FALSE(s.answers(path));

    // A global route header with the port's own GID, with a GID of the subnet's prefix, and with the GID of another
    // port.
    path = lid(2);
    path.has_grh = true;
    const u64 GUID = value(s.sim.fabric->graph().nodes[1].ports[1].GUID);
    iba::store_be<u64>(path.DGID.bytes.data(), iba::link_local_prefix);
    iba::store_be<u64>(path.DGID.bytes.data() + 8, GUID);
    CHECK(s.answers(path));
    s.change<PortInfo>(neighbor, 0, [](PortInfo& i) { i.GIDPrefix = 0x1234; });
    CHECK(s.answers(path)); // the default prefix stays valid (IBA 4.1.1)
    iba::store_be<u64>(path.DGID.bytes.data(), 0x1234);
    CHECK(s.answers(path));
    iba::store_be<u64>(path.DGID.bytes.data() + 8, GUID + 1);
    CHECK_FALSE(s.answers(path));

    const auto info = s.get<PortInfo>(neighbor);
    CHECK(info.QKeyViolations == 1);
    CHECK(info.PKeyViolations == 0);
}

TEST_CASE("the simulated SA returns paths between ports with a common partition and the P_Key of the source") {
    struct row {
        PKeys source, destination;
        u16 wanted, P_Key; // 0: none
    };
    const auto r = GENERATE(values<row>({
        {{0xffff}, {0xffff}, 0, 0xffff},
        {{0x7fff}, {0xffff}, 0, 0x7fff},
        {{0x7fff, 0x8001}, {0x7fff, 0x8001}, 0, 0x8001},
        {{0x8001, 0xffff}, {0xffff, 0x8001}, 0, 0xffff},
        {{0x8001, 0xffff}, {0xffff, 0x8001}, 0x0001, 0x8001},
        {{0xffff}, {0xffff}, 0x8001, 0},
        {{0x7fff, 0x8001}, {0x7fff, 0x8002}, 0, 0},
    }));
    CAPTURE(r.source, r.destination, r.wanted);
    subnet s;
    using iba::sa::PathRecord;
    s.set_pkeys(route({1, 3, 2, 1}), r.source); // h-0003
    s.set_pkeys(neighbor, r.destination);
    s.umad.schedule().set_sa_path(lid(1));
    iba::query<PathRecord> query;
    query.where<&PathRecord::SLID>(iba::lid{3}).where<&PathRecord::DLID>(iba::lid{2});
    if (r.wanted != 0) query.where<&PathRecord::PKey>(r.wanted);
    const auto paths = s.umad.SubnAdmGetTable(query);
    REQUIRE(paths);
    REQUIRE(paths.value().size() == (r.P_Key == 0 ? 0 : 1));
    if (r.P_Key != 0) CHECK(paths.value()[0].PKey == r.P_Key);
}

TEST_CASE("violation counters of a simulated port saturate at 65535, and a manager can set them to 0") {
    subnet s;
    mad::IBPath path = lid(2);
    path.qkey = 1;
    for (int i = 0; i < 65540; ++i) send_to(*s.sim.transport, path, test::bytes_of(test::request_kind::of_other_port));
    CHECK(drain(*s.sim.transport).empty());
    CHECK(s.get<PortInfo>(neighbor).QKeyViolations == 65535);
    s.change<PortInfo>(neighbor, 0, [](PortInfo& i) { i.QKeyViolations = 0; });
    CHECK(s.get<PortInfo>(neighbor).QKeyViolations == 0);
}

TEST_CASE("traps 257 and 258 contain the headers of the packet and are limited by PortInfo:SubnetTimeOut") {
    subnet s;
    trap_reader manager(s);
    s.set_pkeys(neighbor, {0xffff, 0x8005});
    sim_transport other(*s.sim.fabric, 1, 1, time_mode::virtual_); // h-0002
    mad::IBPath path = lid(3);
    path.pkey = 0x8005;
    path.SL = 4;
    send_to(other, path, test::bytes_of(test::request_kind::of_other_port));
    auto traps = manager.take();
    REQUIRE(traps.size() == 1);
    const smp_bytes& trap = traps[0];
    CHECK(trap[1] == 0x01); // by LID
    CHECK(trap[3] == trap_method);
    CHECK(iba::get<&iba::smp::Format::MKey>(trap.data()) == 0); // o14-1
    CHECK(iba::get<&iba::MADHeader::attributeID>(trap.data()) == 2);
    iba::Notice notice = notice_in(trap);
    CHECK(notice.isGeneric);
    CHECK(notice.noticeType == iba::NoticeType::Security);
    CHECK(notice.nodeType == iba::ProducerType::CA);
    CHECK(notice.trapNumber == iba::TrapNumber::BadPKey);
    CHECK(value(notice.issuerLID) == 3);
    auto details = iba::decode<iba::NoticeTrap257>(notice.dataDetails);
    CHECK(value(details.lidAddr1) == 2);
    CHECK(value(details.lidAddr2) == 3);
    CHECK(details.key == 0x8005);
    CHECK(details.SL == 4);
    CHECK(details.qp1 == 1);
    CHECK(details.qp2 == 1);
    CHECK(details.gidAddr1 == iba::gid{});

    // The next one is due 4.096 us * 2^18 after the first.
    path = lid(3);
    path.qkey = 0xbad;
    send_to(other, path, test::bytes_of(test::request_kind::of_other_port));
    CHECK(manager.take().empty());
    s.pass(1074ms);
    send_to(other, path, test::bytes_of(test::request_kind::of_other_port));
    traps = manager.take();
    REQUIRE(traps.size() == 1);
    notice = notice_in(traps[0]);
    CHECK(notice.trapNumber == iba::TrapNumber::BadQKey);
    CHECK(iba::decode<iba::NoticeTrap257>(notice.dataDetails).key == 0xbad);
    const auto info = s.get<PortInfo>(lid(3));
    CHECK(info.PKeyViolations == 1);
    CHECK(info.QKeyViolations == 2);
}

TEST_CASE("trap 256 names the SMP with the wrong M_Key and the route back to its sender") {
    subnet s;
    trap_reader manager(s);
    s.change<PortInfo>(neighbor, 0, [](PortInfo& i) { i.MKey = 5, i.MKeyProtectBits = 2; });
    mad::IBDRPath path = route({1, 2});
    path.MKey = 0xbad;
    send_to(*s.sim.transport, path, get_request(iba::attribute_id<PKeyTable>, path, 3));
    auto traps = manager.take();
    REQUIRE(traps.size() == 1);
    const iba::Notice notice = notice_in(traps[0]);
    CHECK(notice.trapNumber == iba::TrapNumber::BadMKey);
    CHECK(value(notice.issuerLID) == 2);
    auto details = iba::decode<iba::NoticeTrap256>(notice.dataDetails);
    CHECK(details.lidAddr == iba::permissive_lid);
    CHECK(details.drSLID == iba::permissive_lid);
    CHECK(details.method == 1);
    CHECK(details.attributeID == 0x16);
    CHECK(details.attributeModifier == 3);
    CHECK(details.MKey == 0xbad);
    CHECK(details.drNotice);
    CHECK_FALSE(details.drPathTruncated);
    CHECK(details.drHopCount == 2);
    CHECK(details.drNoticeReturnPath0 == 1); // port of the leaf where the SMP entered
    CHECK(details.drNoticeReturnPath1 == 1); // port of h-0002

    s.pass(1074ms);
    const mad::IBPath by_lid = lid(2);
    send_to(*s.sim.transport, by_lid, get_request(iba::attribute_id<PortInfo>, by_lid));
    traps = manager.take();
    REQUIRE(traps.size() == 1);
    details = iba::decode<iba::NoticeTrap256>(notice_in(traps[0]).dataDetails);
    CHECK(value(details.lidAddr) == 1);
    CHECK_FALSE(details.drNotice);
    CHECK(details.drHopCount == 0);
}

TEST_CASE("M_Key protection of a simulated port ends with its lease, and the correct key renews the lease") {
    subnet s;
    const auto with_key = [](u64 key) {
        mad::IBDRPath path = route({1, 2});
        path.MKey = key;
        return path;
    };
    s.change<PortInfo>(neighbor, 0, [](PortInfo& i) { i.MKey = 5, i.MKeyProtectBits = 2, i.MKeyLeasePeriod = 2; });
    s.pass(10s);
    CHECK_FALSE(s.answers_smp(with_key(0))); // the first violation: the lease starts only here
    s.pass(1900ms);
    CHECK(s.get<PortInfo>(with_key(5)).MKeyViolations == 1); // the correct key stops the lease
    s.pass(1900ms);
    CHECK_FALSE(s.answers_smp(with_key(0)));
    s.pass(1900ms);
    CHECK_FALSE(s.answers_smp(with_key(0))); // the lease continues from the first violation
    s.pass(200ms);
    CHECK(s.answers_smp(with_key(0)));
    const auto info = s.get<PortInfo>(with_key(0));
    CHECK(info.MKeyProtectBits == 0);
    CHECK(info.MKey == 5);
    CHECK(info.MKeyViolations == 3);
}

TEST_CASE("an M_Key without a lease protects forever, and traps and replies need no M_Key") {
    subnet s;
    s.change<PortInfo>(neighbor, 0, [](PortInfo& i) { i.MKey = 5, i.MKeyProtectBits = 2; });
    CHECK_FALSE(s.answers_smp(neighbor));
    s.pass(100'000s);
    CHECK_FALSE(s.answers_smp(neighbor));
    mad::IBDRPath path = route({1, 2});
    smp_bytes other = get_request(iba::attribute_id<iba::smp::NodeInfo>, path);
    for (const u8 method : {0x05, 0x81}) {
        other[3] = method;
        send_to(*s.sim.transport, path, other);
    }
    CHECK(drain(*s.sim.transport).empty());
    path.MKey = 5;
    CHECK(s.get<PortInfo>(path).MKeyViolations == 2);
    // TrapRepress needs the key (IBA 14.2.4.1).
    other[3] = 0x07;
    send_to(*s.sim.transport, route({1, 2}), other);
    CHECK(drain(*s.sim.transport).empty());
    CHECK(s.get<PortInfo>(path).MKeyViolations == 3);
}

TEST_CASE("the simulated manager forwards key violation traps to subscribers") {
    subnet s;
    sim_transport subscriber(*s.sim.fabric, 1, 1, time_mode::virtual_);
    coro::blocking_transactor transactor(subscriber, {.timeout = 1ms});
    transactor.schedule().set_sa_path(lid(1));
    iba::query<iba::InformInfo> what;
    what.where<&iba::InformInfo::LIDRangeBegin>(iba::lid{0xffff}).where<&iba::InformInfo::isGeneric>(u8{1});
    what.where<&iba::InformInfo::subscribe>(u8{1}).where<&iba::InformInfo::type>(u16{0xffff});
    what.where<&iba::InformInfo::trapNumber>(u16{257}).where<&iba::InformInfo::producerType>(u32{0xffffff});
    REQUIRE(transactor.SubnAdmSet(what.where<&iba::InformInfo::QPN>(u32{1})));
    REQUIRE(subscriber.serve({iba::MgmtClass::SubnAdm, 2, mad::methods(iba::Method::Report)}) == 0);

    s.set_pkeys(neighbor, {0xffff, 0x8005});
    mad::IBPath path = lid(3);
    path.pkey = 0x8005;
    send_to(subscriber, path, test::bytes_of(test::request_kind::of_other_port));
    const auto came = drain(subscriber);
    REQUIRE_FALSE(came.empty()); // repeated, because no manager acknowledges it
    const auto notice = iba::decode<iba::Notice>(std::span(came[0].bytes).subspan<56, 80>());
    CHECK(notice.trapNumber == iba::TrapNumber::BadPKey);
    CHECK(value(notice.issuerLID) == 3);
    CHECK(iba::load_be<u64>(notice.issuerGID.bytes.data() + 8) == value(s.sim.fabric->graph().nodes[2].ports[1].GUID));
}

TEST_CASE("GMPs on a service level without a virtual lane are dropped after forwarding tables were written") {
    subnet s;
    using iba::smp::SLToVLMappingTable;
    s.change<iba::smp::SwitchInfo>(leaf, 0, [](auto&) {});
    mad::IBPath path = lid(2);
    path.SL = 3;
    CHECK(s.answers(path));
    const u32 from_1_to_2 = 1 << 8 | 2;
    const auto set = [&](const mad::any_path& at, u32 modifier, u8 VL) {
        s.change<SLToVLMappingTable>(at, modifier, [&](SLToVLMappingTable& t) { t.SLtoVL[3] = VL; });
    };
    set(leaf, from_1_to_2, 15); // no data packet uses VL 15
    CHECK_FALSE(s.answers(path));
    CHECK(s.answers(lid(2))); // SL 0
    set(leaf, from_1_to_2, 4);
    CHECK(s.answers(path));
    s.change<PortInfo>(leaf, 2, [](PortInfo& i) { i.operationalVLs = iba::VLCap::VL0_3; });
    CHECK_FALSE(s.answers(path));
    set(leaf, from_1_to_2, 3);
    CHECK(s.answers(path));
    set(neighbor, 0, 15); // the response has the same SL
    CHECK_FALSE(s.answers(path));
}

TEST_CASE("a server on the simulator receives the headers that Linux delivers") {
    const auto what =
        GENERATE(test::request_kind::by_ports, test::request_kind::by_lid, test::request_kind::of_other_port);
    simulation s = make_sim("single,sm=1,at=h-0002 HCA-1", time_mode::virtual_);
    sim_transport server(*s.fabric, 0, 1, time_mode::virtual_);
    REQUIRE(server.serve({iba::MgmtClass::SubnDirected, 1, mad::methods(iba::Method::Get)}) == 0);
    REQUIRE(server.serve({iba::MgmtClass::SubnLID, 1, mad::methods(iba::Method::Get)}) == 0);
    REQUIRE(server.serve({iba::MgmtClass::Performance, 1, mad::methods(iba::Method::Get)}) == 0);
    const iba::lid here = s.fabric->graph().nodes[0].ports[1].LID, there = s.fabric->graph().nodes[1].ports[1].LID;
    send_to(*s.transport, test::path_of(what, here), test::bytes_of(what));
    while (!s.fabric->has_message(1)) server.set_now(server.next_event().value());
    std::array<u8, 320> buffer;
    const mad::received r = server.receive(buffer);
    CHECK(test::differences(test::fields_of(r.source, r.mad), test::expected_of(what, there)) == "");
}

TEST_CASE("a server on the simulator receives path bits, P_Key index and global route header") {
    subnet s;
    s.change<PortInfo>(neighbor, 0, [](PortInfo& i) { i.LID = iba::lid{0x40}, i.LMC = 3; });
    s.change<PortInfo>(own, 0, [](PortInfo& i) { i.LID = iba::lid{0x80}, i.LMC = 2; });
    s.set_pkeys(neighbor, {0xffff, 0x0001, 0x8002});
    s.set_pkeys(own, {0xffff, 0x8001});
    sim_transport server(*s.sim.fabric, 1, 1, time_mode::virtual_);
    REQUIRE(server.serve({iba::MgmtClass::Performance, 1, mad::methods(iba::Method::Get)}) == 0);
    mad::IBPath path = lid(0x45);
    path.SLID = iba::lid{0x83};
    path.pkey = 0x8001;
    path.has_grh = true;
    path.hop_limit = 1;
    path.traffic_class = 7;
    path.flow_label = 0x12345;
    iba::store_be<u64>(path.DGID.bytes.data(), iba::link_local_prefix);
    iba::store_be<u64>(path.DGID.bytes.data() + 8, value(s.sim.fabric->graph().nodes[1].ports[1].GUID));
    send_to(*s.sim.transport, path, test::bytes_of(test::request_kind::of_other_port));
    while (!s.sim.fabric->has_message(1)) server.set_now(server.next_event().value());
    std::array<u8, 320> buffer;
    const mad::received r = server.receive(buffer);
    CHECK(value(r.source.SLID) == 0x83);
    CHECK(r.source.path_bits == 5);
    CHECK(r.source.pkey_index == 1);
    CHECK(r.source.has_grh);
    CHECK(r.source.SGID_index == 0);
    CHECK(r.source.hop_limit == 1);
    CHECK(r.source.traffic_class == 7);
    CHECK(r.source.flow_label == 0x12345);
    CHECK(iba::load_be<u64>(r.source.SGID.bytes.data() + 8) == value(s.sim.fabric->graph().nodes[0].ports[1].GUID));
}

} // namespace sim_receipt_test
