// SPDX-License-Identifier: MIT
// umad_agents_guest_test.cpp - agents that the kernel registers with both ioctls, agents that it rejects, and
// permissions for opening a device.
#include "guest_rig.hpp"
#include "support/exception_message.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/server/detail/reply.hpp>
#include <comad/server/diags.hpp>
#include <comad/transports/detail/issm.hpp>
#include <comad/transports/rmpp.hpp>

#include <unistd.h>

namespace umad_agents_guest_test {

using namespace comad;
using namespace comad::test;
using iba::Method;
using iba::MgmtClass;

namespace {

constexpr auto sent = mad::send_state::sent;
constexpr auto failed = mad::send_state::failed;

/// A class with its registration, and an attribute to which only an agent replies. (For communication management, the
/// kernel forwards only the Get of ClassPortInfo.)
struct exchange_kind {
    MgmtClass mgmt_class;
    u8 class_version;
    u16 attribute = 0x0011;
};
constexpr exchange_kind general_classes[] = {
    {MgmtClass::SubnAdm, 2},
    {MgmtClass::Performance, 1},
    {MgmtClass::BM, 1},
    {MgmtClass::DevMgt, 1},
    {MgmtClass::CommMgt, 2, 0x0001},
    {MgmtClass::SNMP, 1},
    {MgmtClass::Vend, 1},
    {MgmtClass{0x0f}, 1},
    {MgmtClass::DevAdm, 1},
    {MgmtClass::CongestionControl, 2},
    {MgmtClass::BIS, 1},
    {MgmtClass::BootMgt, 1},
    {MgmtClass::VendOUI, 1},
    {MgmtClass{0x4f}, 1},
    {MgmtClass::SubnAdm, 1},
};
constexpr u16 SMInfo = 0x0020; // the driver leaves it to agents
constexpr exchange_kind subnet_classes[] = {{MgmtClass::SubnLID, 1, SMInfo}, {MgmtClass::SubnDirected, 1, SMInfo}};

/// Checks that a request arrives, and that its reply returns.
void check_exchange(umad_transport& requester, mad::any_path to, umad_transport& answering, const exchange_kind& k) {
    CAPTURE(value(k.mgmt_class), k.class_version);
    outgoing_mad request(std::move(to), k.mgmt_class, k.class_version, Method::Get, k.attribute, 0x1234);
    if (iba::is_vendor_oui(k.mgmt_class)) request.mad()[39] = 7;
    if (const auto* route = mad::directed(request.path)) {
        request.mad()[7] = route->hopCount;
        std::fill_n(request.mad() + 32, 4, u8{0xff}); // no LID-routed part
        std::copy_n(route->drPath.begin(), 64, request.mad() + 128);
    }
    REQUIRE(request.send(requester).state == sent);
    const auto got = await_message(answering);
    REQUIRE(got);
    CHECK(got->mad[1] == value(k.mgmt_class));
    CHECK(got->tid() == 0x1234);

    const mad::any_path back = server::reply_path(got->mad, got->source);
    outgoing_mad reply(back, k.mgmt_class, k.class_version, Method::Get, k.attribute, 0);
    std::copy(got->mad.begin(), got->mad.end(), reply.mad());
    REQUIRE(server::turn_into_reply(std::span<u8, mad::mad_size>(reply.mad(), mad::mad_size)));
    mad::send_request r{};
    r.path = &reply.path;
    r.mad = reply.mad();
    r.size = mad::mad_size;
    r.mgmt_class = value(k.mgmt_class);
    r.class_version = k.class_version;
    r.agent = got->source.agent;
    REQUIRE(answering.send(r).state == sent);
    const auto answered = await_message(requester);
    REQUIRE(answered);
    CHECK(answered->is_reply());
    CHECK(answered->tid() == 0x1234);
    CHECK(requester.held() == 0);
}

mad::registration serving(const exchange_kind& k) {
    return {k.mgmt_class, k.class_version, mad::methods(Method::Get),
            iba::is_vendor_oui(k.mgmt_class) ? u32{7} : u32{0}, mad::has_rmpp(k.mgmt_class)};
}

} // namespace

TEST_CASE("the kernel registers agents of all classes for clients and servers and carries their MADs") {
    use_fakeib();
    umad_options options;
    options.user_rmpp = GENERATE(false, true); // with the first and the second ioctl
    CAPTURE(options.user_rmpp);
    umad_transport requester(port_of("fib0/1"), options), answering(port_of("fib1/1"), options);
    for (const exchange_kind& k : general_classes) {
        REQUIRE(answering.serve(serving(k)) == 0);
        check_exchange(requester, to_lid(2), answering, k);
    }
    const std::array<u8, 1> out{1};
    for (const exchange_kind& k : subnet_classes) {
        REQUIRE(answering.serve(serving(k)) == 0);
        const bool is_directed = k.mgmt_class == MgmtClass::SubnDirected;
        const mad::any_path to = is_directed ? mad::any_path(mad::IBDRPath(out)) : mad::any_path(to_lid(2));
        check_exchange(requester, to, answering, k);
    }
}

TEST_CASE("soft RoCE has agents for GMPs between GIDs and none for SMPs") {
    const end_port here = port_of("rxe0/1"), there = port_of("rxe1/1");
    umad_transport requester(here), answering(there);
    for (const exchange_kind& k : {exchange_kind{MgmtClass::Performance, 1}, exchange_kind{MgmtClass::SubnAdm, 2},
                                   exchange_kind{MgmtClass::VendOUI, 1}}) {
        REQUIRE(answering.serve(serving(k)) == 0);
        check_exchange(requester, to_gid(there), answering, k);
    }
    coro::blocking_transactor rpcs(requester);
    const auto info = rpcs.SubnGet<iba::smp::NodeInfo>(mad::IBDRPath{});
    REQUIRE_FALSE(info);
    CHECK(info.error().sys_errno == EPROTONOSUPPORT);
    CHECK_THAT(
        plain_text(info.error()),
        Catch::StartsWith("rxe0/1 (" + here.umad + ") rejected the request (this port has no QP0; SMPs need a port"));
    CHECK(answering.serve({MgmtClass::SubnLID, 1, mad::methods(Method::Get)}) == EPROTONOSUPPORT);
}

TEST_CASE("a class that is served at a port cannot be registered again, and the error explains it") {
    use_fakeib();
    umad_transport first(port_of("fib1/1")), second(port_of("fib1/1")), elsewhere(port_of("fib0/1"));
    server::responder answers;
    server::add_ping(answers, {"first", {}});
    const server::agent agent(first, answers);
    CHECK_THAT(message_of([&] { server::agent refused(second, answers); }),
               Catch::Contains("cannot serve management class 0x32") &&
                   Catch::Contains("another program at this port already serves this management class"));
    const server::agent allowed(elsewhere, answers);
    // Another version of the class, and a method without a server, are free.
    CHECK(second.serve({server::ping_class, 2, mad::methods(Method::Get), server::openfabrics_oui}) == 0);
    CHECK(second.serve({server::ping_class, 1, mad::methods(Method::Send), server::openfabrics_oui}) == 0);
}

TEST_CASE("each open device of a port has 32 agents of its own") {
    use_fakeib();
    umad_transport device(port_of("fib0/1")), other(port_of("fib0/1"));
    for (u8 version = 1; version <= 33; ++version) {
        outgoing_mad request(to_lid(2), MgmtClass::Performance, 1, Method::Get, 0x12, version);
        const auto result = request.send(device, version);
        CHECK(result.state == (version <= 32 ? sent : failed));
        if (version <= 32) continue;
        CHECK(result.error == ENOMEM);
        CHECK_THAT(std::string(device.advice(mad::transport_call::send, ENOMEM)), Catch::Contains("32 agents"));
        CHECK(request.send(other, version).state == sent);
    }
    CHECK(device.serve({MgmtClass::DevMgt, 1, mad::methods(Method::Get)}) == ENOMEM);
}

TEST_CASE("a user without access to a device gets an error with the device and a possible fix") {
    const end_port port = port_of("rxe0/1");
    std::string refused;
    REQUIRE(::geteuid() == 0);
    REQUIRE(::seteuid(65534) == 0);
    refused = message_of([&] { umad_transport device(port); });
    REQUIRE(::seteuid(0) == 0);
    CHECK_THAT(refused,
               Catch::StartsWith("cannot open /dev/infiniband/" + port.umad + ": Permission denied; run as root") &&
                   Catch::Contains("udev rule"));
    end_port nowhere = port;
    nowhere.umad = "umad99";
    CHECK_THAT(
        message_of([&] { umad_transport device(nowhere); }),
        Catch::StartsWith("cannot open /dev/infiniband/umad99: No such file or directory; load the module ib_umad"));
}

TEST_CASE("an open issm device sets IsSM of the port and cannot be opened twice") {
    use_fakeib();
    const end_port port = port_of("fib1/1");
    umad_transport device(port_of("fib0/1"));
    coro::blocking_transactor rpcs(device);
    const auto reports_sm = [&] {
        const auto info = rpcs.SubnGet<iba::smp::PortInfo>(to_lid(2), 1);
        REQUIRE(info);
        return (info.value().capabilityMask & static_cast<u32>(iba::CapabilityMask::IsSM)) != 0;
    };
    CHECK_FALSE(reports_sm());
    {
        const mad::unique_fd issm = transports::open_issm(port);
        CHECK(reports_sm());
        CHECK_THAT(message_of([&] { transports::open_issm(port); }),
                   Catch::StartsWith("cannot open /dev/infiniband/issm") &&
                       Catch::EndsWith("another subnet manager runs on this port; stop it first"));
    }
    CHECK_FALSE(reports_sm());
    end_port none = port;
    none.device = "mlx5_0";
    CHECK_THAT(message_of([&] { transports::open_issm(none); }), Catch::StartsWith("mlx5_0/1 has no issm device"));
}

} // namespace umad_agents_guest_test
