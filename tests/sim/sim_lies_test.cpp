// SPDX-License-Identifier: MIT
// sim_lies_test.cpp - replies that match a request by their header, but contain something else. An
// altering_transport changes the replies of a simulated subnet.
#include "support/catch.hpp"
#include "wire/altering_transport.hpp"
#include "wire/sim_client.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba.hpp>
#include <comad/transports/sim/transport.hpp>

#include <functional>
#include <string>
#include <vector>

namespace sim_lies_test {

using namespace comad;
using namespace comad::test;
using namespace comad::transports::sim;
using iba::pm::PortCounters;
using iba::sa::NodeRecord;
using iba::smp::NodeInfo;
using iba::smp::PortInfo;
using mad::errc;

namespace {

constexpr std::size_t class_version_byte = 2, status_byte = 5, rmpp_flags_byte = 26, PortSelect_byte = 65;

struct lying_subnet {
    explicit lying_subnet(altering_transport::lie lie = {})
        : sim(make_sim("fattree2,radix=4,sm=1", time_mode::virtual_)), between(*sim.transport, std::move(lie)),
          umad(between) {
        umad.schedule().set_sa_path(to_lid(value(sim.fabric->graph().sm_lid)));
    }
    iba::lid switch_lid() const {
        for (const node& n : sim.fabric->graph().nodes)
            if (n.type == iba::NodeType::Switch) return n.ports[0].LID;
        return {};
    }
    simulation sim;
    altering_transport between;
    coro::blocking_transactor umad;
};

PortCounters counters_of(u8 port) {
    PortCounters which;
    which.portSelect = port;
    return which;
}

/// Returns what was wrong with a malformed reply.
std::string invalid_value(const auto& result) {
    if (result) return "nothing";
    CHECK(result.error().code == errc::malformed_reply);
    return result.error().detail->invalid_value;
}

mad::source_address source_at(iba::lid SLID, u32 sqpn) {
    mad::source_address source;
    source.SLID = SLID;
    source.sqpn = sqpn;
    return source;
}

altering_transport::lie put(std::size_t byte, u8 number) {
    return [byte, number](std::span<u8> reply) { reply[byte] = number; };
}

} // namespace

TEST_CASE("a reply with another class version than its request is an error that names the class version") {
    lying_subnet s(put(class_version_byte, 7));
    const mad::IBPath leaf = to_lid(value(s.switch_lid()));
    CHECK(invalid_value(s.umad.SubnGet<NodeInfo>(route({1}))) == "its class version is 7, not 1 as in the request");
    CHECK(invalid_value(s.umad.SubnGet<NodeInfo>(leaf)) == "its class version is 7, not 1 as in the request");
    CHECK(invalid_value(s.umad.SubnSet<PortInfo>(PortInfo{}, route({1}), 1)) ==
          "its class version is 7, not 1 as in the request");
    CHECK(invalid_value(s.umad.PerformanceGet<PortCounters>(counters_of(1), leaf)) ==
          "its class version is 7, not 1 as in the request");
    CHECK(invalid_value(s.umad.SubnAdmGetTable<NodeRecord>()) == "its class version is 7, not 2 as in the request");
}

TEST_CASE("a reply with an error status is an error status, whatever its class version") {
    lying_subnet s([](std::span<u8> reply) {
        reply[class_version_byte] = 2;
        reply[status_byte] = 4; // bad version (IBA 13.4.7)
    });
    const auto reported = s.umad.PerformanceGet<PortCounters>(counters_of(1), to_lid(value(s.switch_lid())));
    REQUIRE_FALSE(reported);
    CHECK(reported.error().code == errc::status);
    CHECK(reported.error().status == 4);
}

TEST_CASE("counters of another port than requested are an error that names PortSelect") {
    lying_subnet s;
    const mad::IBPath leaf = to_lid(value(s.switch_lid()));
    REQUIRE(s.umad.PerformanceGet<PortCounters>(counters_of(1), leaf));
    for (const u8 other : {0, 2, 255}) {
        s.between.alter(put(PortSelect_byte, other));
        const std::string expected =
            "its PortSelect is " + std::to_string(unsigned{other}) + ", not 1 as in the request";
        CHECK(invalid_value(s.umad.PerformanceGet<PortCounters>(counters_of(1), leaf)) == expected);
        iba::pm::PortCountersExt wide;
        wide.portSelect = 1;
        CHECK(invalid_value(s.umad.PerformanceGet<iba::pm::PortCountersExt>(wide, leaf)) == expected);

        // As commands do that know the attribute only at run time.
        const mad::rpc_kind kind{iba::MgmtClass::Performance, 1, iba::Method::Get, 0x12, true, 0};
        const mad::any_path path = leaf;
        std::array<u8, mad::mad_size> request{};
        mad::write_request(request.data(), kind, path, 0)[1] = 1;
        const coro::rpc_request requested{kind, path};
        CHECK(invalid_value(coro::sync_wait(s.umad.schedule(), s.umad.schedule().call_raw(requested, request))) ==
              expected);
    }
    s.between.alter(put(PortSelect_byte, 2));
    CHECK(s.umad.PerformanceGet<PortCounters>(counters_of(2), leaf));
    CHECK(s.umad.PerformanceGet<iba::ClassPortInfo>(leaf)); // this attribute has no PortSelect there
}

TEST_CASE("a PMA can reply to a Set with an empty attribute but not with the attribute of another port") {
    lying_subnet s(put(PortSelect_byte, 0));
    CHECK(s.umad.PerformanceSet<PortCounters>(counters_of(1), to_lid(value(s.switch_lid()))));
    s.between.alter(put(PortSelect_byte, 2));
    CHECK(invalid_value(s.umad.PerformanceSet<PortCounters>(counters_of(1), to_lid(value(s.switch_lid())))) ==
          "its PortSelect is 2, not 1 as in the request");
}

TEST_CASE("a reply to SubnAdmGetTable without RMPP is an error, and a reply to SubnAdmGet does not need RMPP") {
    lying_subnet s(put(rmpp_flags_byte, 0));
    const std::size_t nodes = s.sim.fabric->graph().nodes.size();
    REQUIRE(nodes > 1);
    CHECK(invalid_value(s.umad.SubnAdmGetTable<NodeRecord>()) == "the table was not sent as an RMPP transfer");
    const auto leaf = iba::query<NodeRecord>{}.where<&NodeRecord::LID>(s.switch_lid());
    CHECK(invalid_value(s.umad.SubnAdmGetTable<NodeRecord>(leaf)) == "the table was not sent as an RMPP transfer");
    CHECK(s.umad.SubnAdmGet<NodeRecord>(leaf));
    s.between.alter({});
    CHECK(s.umad.SubnAdmGetTable<NodeRecord>().value().size() == nodes);
}

TEST_CASE("is_sa accepts only the LID and QP of the SA or of its redirection target") {
    lying_subnet s;
    coro::MADSchedule& schedule = s.umad.schedule();
    const iba::lid SA = schedule.sa_path().DLID;
    const mad::source_address source = source_at(SA, 1);
    CHECK(schedule.is_sa(source));
    for (const auto& other : {source_at(iba::lid{0}, 1), source_at(iba::lid{9}, 1), source_at(SA, 5)})
        CHECK_FALSE(schedule.is_sa(other));

    // The reply redirects to LID 9, QP 5. The replies from there do not reach the program: the request fails, and the
    // redirection stays.
    const mad::source_address elsewhere = source_at(iba::lid{9}, 5);
    CHECK_FALSE(schedule.is_sa(elsewhere));
    s.between.alter([](std::span<u8> reply) {
        reply[status_byte] = 2; // redirect (IBA 13.4.7)
        iba::ClassPortInfo info;
        info.redirectLID = iba::lid{9};
        info.redirectQP = 5;
        info.redirectQKey = 0x80010000;
        info.redirectPKey = 0xffff;
        iba::encode(info, reply.data() + 56);
    });
    CHECK_FALSE(s.umad.SubnAdmGet(iba::query<NodeRecord>{}));
    CHECK(schedule.is_sa(elsewhere));
    CHECK(schedule.is_sa(source));
    schedule.set_sa_path(to_lid(4)); // the subnet manager of another port took over
    CHECK_FALSE(schedule.is_sa(source));
    CHECK_FALSE(schedule.is_sa(elsewhere));
    CHECK(schedule.is_sa(source_at(iba::lid{4}, 1)));
}

} // namespace sim_lies_test
