// SPDX-License-Identifier: MIT
// sim_opensm_test.cpp - the same requests to the SA of a real OpenSM and to the simulated SA in the same subnet. Both
// must return the same records, or reject with the same status.
#include "program/ibtool_subnet.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/parse.hpp>
#include <comad/sa/client.hpp>
#include <comad/transports/sim/transport.hpp>

#include <fmt/format.h>

#include <sstream>

using namespace comad;
using namespace ibtool_rig;
using iba::InformInfo;
using iba::sa::GUIDInfoRecord;
using iba::sa::MCMemberRecord;
using iba::sa::ServiceRecord;

namespace {

const iba::gid group = *iba::parse_gid("ff12::7"), port_a = *iba::parse_gid("fe80::a001"),
               absent = *iba::parse_gid("fe80::dead");

/// The replies of an SA to a sequence of requests, one line each.
class dialogue {
public:
    dialogue(mad::transport& t, iba::lid here, const mad::IBPath& sa) : umad_(t), here_(here) {
        umad_.schedule().set_sa_path(sa);
    }
    std::vector<std::string> printed;
    /// OpenSM 3.3.23 sometimes refuses to end an existing subscription. Its log says "Differ by Address", although the
    /// address was the same.
    int unsubscribes_again = 0;

    void groups() {
        const auto join = [](const iba::gid& MGID, const iba::gid& port, u8 state) {
            return iba::query<MCMemberRecord>{}
                .where<&MCMemberRecord::MGID>(MGID)
                .where<&MCMemberRecord::portGID>(port)
                .where<&MCMemberRecord::joinState>(state);
        };
        const auto create = [&](u8 state) {
            return join(group, port_a, state)
                .where<&MCMemberRecord::QKey>(u32{0x1234})
                .where<&MCMemberRecord::TClass>(u8{0})
                .where<&MCMemberRecord::PKey>(u16{0xffff})
                .where<&MCMemberRecord::flowLabel>(u32{0})
                .where<&MCMemberRecord::SL>(u8{0})
                .where<&MCMemberRecord::rateSelector>(iba::Selector::Exactly)
                .where<&MCMemberRecord::rate>(iba::Rate::r10)
                .where<&MCMemberRecord::MTUSelector>(iba::Selector::Exactly)
                .where<&MCMemberRecord::MTU>(iba::MTU::m2048);
        };
        const auto set = [&](const char* what, const iba::query<MCMemberRecord>& q) {
            report(what, umad_.SubnAdmSet(q));
        };
        const auto leave = [&](const char* what, const iba::query<MCMemberRecord>& q) {
            report(what, umad_.SubnAdmDelete(q));
        };
        set("join none", join(group, port_a, 1));
        set("create as a sender", create(4));
        leave("leave none", join(group, port_a, 1));
        set("create", create(1));
        set("join as well", join(group, port_a, 2));
        set("join with another Q_Key", join(group, port_a, 1).where<&MCMemberRecord::QKey>(u32{1}));
        set("join with another rate", join(group, port_a, 1)
                                          .where<&MCMemberRecord::rateSelector>(iba::Selector::LessThan)
                                          .where<&MCMemberRecord::rate>(iba::Rate::r10));
        set("join nothing", join(group, port_a, 0));
        set("join of an absent port", join(group, absent, 1));
        set("join without a state", iba::query<MCMemberRecord>{}.where<&MCMemberRecord::MGID>(group));
        set("no group", join(absent, port_a, 1));
        leave("leave as a sender", join(group, port_a, 4));
        leave("leave in part", join(group, port_a, 2));
        leave("leave without a port", iba::query<MCMemberRecord>{}.where<&MCMemberRecord::MGID>(group));
        leave("leave", join(group, port_a, 1));
        leave("leave again", join(group, port_a, 1));
    }

    void services() {
        const auto service = [&](u64 id, u8 key) {
            ServiceRecord r;
            r.serviceKey.bytes[0] = key;
            r.serviceName = {'x'};
            return iba::query<ServiceRecord>{}
                .where<&ServiceRecord::serviceID>(id)
                .where<&ServiceRecord::serviceGID>(port_a)
                .where<&ServiceRecord::servicePKey>(u16{0xffff})
                .where<&ServiceRecord::serviceLease>(u32{0xffffffff})
                .where<&ServiceRecord::serviceKey>(r.serviceKey)
                .where<&ServiceRecord::serviceName>(r.serviceName);
        };
        report("set a service", umad_.SubnAdmSet(service(7, 0)));
        report("get it", umad_.SubnAdmGet(iba::query<ServiceRecord>{}.where<&ServiceRecord::serviceID>(u64{7})));
        report("delete it", umad_.SubnAdmDelete(service(7, 0)));
        report("delete it again", umad_.SubnAdmDelete(service(7, 0)));
        report("get none", umad_.SubnAdmGet(iba::query<ServiceRecord>{}.where<&ServiceRecord::serviceID>(u64{7})));
    }

    void guids() {
        const auto block = [&](u8 number) {
            return iba::query<GUIDInfoRecord>{}.where<&GUIDInfoRecord::LID>(here_).where<&GUIDInfoRecord::blockNum>(
                number);
        };
        const auto with = [&](u8 number, unsigned slot, u64 GUID) {
            return block(number).where<&GUIDInfoRecord::GUIDInfo, &iba::smp::GUIDInfo::GUIDBlock>(slot,
                                                                                                  iba::guid{GUID});
        };
        report("set a GUID", umad_.SubnAdmSet(with(0, 3, 0x1234)));
        report("set another", umad_.SubnAdmSet(with(0, 4, 0x5678)));
        report("set it twice", umad_.SubnAdmSet(with(0, 5, 0x5678)));
        report("set the port's own", umad_.SubnAdmSet(with(0, 0, 1)));
        report("set beyond the table", umad_.SubnAdmSet(with(200, 0, 1)));
        report("set without a block",
               umad_.SubnAdmSet(iba::query<GUIDInfoRecord>{}.where<&GUIDInfoRecord::LID>(here_)));
        report("set of an absent port", umad_.SubnAdmSet(iba::query<GUIDInfoRecord>{}
                                                             .where<&GUIDInfoRecord::LID>(iba::lid{0x1000})
                                                             .where<&GUIDInfoRecord::blockNum>(u8{0})));
        report("delete a GUID", umad_.SubnAdmDelete(with(0, 3, 0)));
        report("delete the port's own", umad_.SubnAdmDelete(with(0, 0, 0)));
    }

    void subscriptions() {
        const auto inform = [&](u16 LID, u8 subscribe) {
            iba::query<InformInfo> query;
            query.where<&InformInfo::LIDRangeBegin>(iba::lid{LID}).where<&InformInfo::isGeneric>(u8{1});
            query.where<&InformInfo::subscribe>(subscribe).where<&InformInfo::type>(u16{0xffff});
            query.where<&InformInfo::trapNumber>(u16{64}).where<&InformInfo::producerType>(u32{4});
            return query.where<&InformInfo::QPN>(u32{1});
        };
        report("subscribe", umad_.SubnAdmSet(inform(0xffff, 1)));
        report("subscribe again", umad_.SubnAdmSet(inform(0xffff, 1)));
        report("subscribe neither nor", umad_.SubnAdmSet(inform(0xffff, 2)));
        auto ended = umad_.SubnAdmSet(inform(0xffff, 0));
        for (int again = 0; !ended && again < unsubscribes_again; ++again) ended = umad_.SubnAdmSet(inform(0xffff, 0));
        report("unsubscribe", ended);
        report("unsubscribe again", umad_.SubnAdmSet(inform(0xffff, 0)));
    }

private:
    template <class T> void report(const char* what, const mad::result<T>& result) {
        printed.push_back(fmt::format("{}: {}", what, result ? text_of(result.value()) : status_of(result.error())));
    }
    static std::string status_of(const mad::mad_error& e) { return fmt::format("status 0x{:04x}", e.status); }
    // Without MLIDs and lifetimes, which each SA chooses, and without the scope: OpenSM keeps the requested scope, the
    // simulator uses the scope of the MGID.
    static std::string text_of(const MCMemberRecord& r) {
        return fmt::format("{} {} {:#x} {} {} {:#x} {} {} {}", r.MGID, r.portGID, r.QKey, value(r.MTU), r.TClass,
                           r.PKey, value(r.rate), r.SL, r.joinState);
    }
    static std::string text_of(const ServiceRecord& r) {
        return fmt::format("{} {} {:#x} {} {}", r.serviceID, r.serviceGID, r.servicePKey, r.serviceLease,
                           r.serviceName[0]);
    }
    static std::string text_of(const GUIDInfoRecord& r) {
        return fmt::format("{} {} {} {}", r.blockNum, r.GUIDInfo.GUIDBlock[3], r.GUIDInfo.GUIDBlock[4],
                           r.GUIDInfo.GUIDBlock[5]);
    }
    static std::string text_of(const InformInfo& i) { return fmt::format("{} {}", i.subscribe, i.trapNumber); }

    coro::blocking_transactor umad_;
    iba::lid here_;
};

} // namespace

TEST_CASE("the simulated SA changes its records like OpenSM") {
    const subnet s;
    transports::ibsim_transport beside(s.at("A"));
    iba::smp::PortInfo info;
    iba::decode(info, beside.port_info().data());
    dialogue theirs(beside, info.LID, sa::sa_path_of(info));
    theirs.unsubscribes_again = 20;

    using namespace comad::transports::sim;
    std::istringstream text{std::string(ibtool_rig::topology)};
    auto graph = read_topology(text, "topology");
    bring_up(graph);
    fabric net(std::move(graph));
    const u32 a = net.graph().find("host A").value();
    sim_transport within(net, a, 1, time_mode::virtual_);
    mad::IBPath to_sa;
    to_sa.DLID = net.graph().sm_lid;
    dialogue ours(within, net.graph().nodes[a].ports[1].LID, to_sa);
    REQUIRE(net.graph().nodes[a].ports[1].GUID == iba::guid{0xa001});

    for (dialogue* d : {&theirs, &ours}) {
        d->groups();
        d->services();
        d->guids();
        d->subscriptions();
    }
    INFO(s.manager_log());
    REQUIRE(ours.printed.size() == theirs.printed.size());
    for (std::size_t i = 0; i < ours.printed.size(); ++i) CHECK(ours.printed[i] == theirs.printed[i]);
}
