// SPDX-License-Identifier: MIT
// verbs_test.cpp - GMPs over a UD queue pair of a fake device: what is sent, what is accepted as a reply, and the
// effect of device events.
#include "kernel/fake_kernel.hpp"
#include "kernel/made_verbs.hpp"
#include "kernel/sysfs_tree.hpp"
#include "support/exception_message.hpp"
#include <comad/coro/asio.hpp>
#include <comad/coro/driver.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/iba/pm.hpp>
#include <comad/iba/sa.hpp>
#include <comad/iba/smp.hpp>
#include <comad/server/agent.hpp>
#include <comad/transports/gmp.hpp>
#include <comad/transports/rmpp.hpp>
#include <comad/transports/smi_gsi.hpp>
#include <comad/transports/verbs.hpp>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <poll.h>

namespace verbs_test {

using namespace comad;
using namespace comad::test;
using Catch::Matchers::Contains;
using transports::verbs_options;
using transports::verbs_transport;

namespace {

transports::end_port made_port(std::vector<u16> PKeys = {0xffff, 0x8001, 0}) {
    transports::end_port port;
    port.device = "made0";
    port.port = 1;
    port.LID = iba::lid{3};
    port.PKeys = std::move(PKeys);
    port.gids = {iba::gid(iba::link_local_prefix, iba::guid{0x10})};
    return port;
}

mad::IBPath to_lid(u16 LID) {
    mad::IBPath path;
    path.DLID = iba::lid{LID};
    return path;
}

request for_class(u8 mgmt_class) {
    request r;
    r.mgmt_class = mgmt_class;
    r.path = to_lid(7);
    r.bytes[mad::headroom + 1] = mgmt_class;
    r.bytes[mad::headroom + 3] = 1; // Get
    return r;
}

std::vector<u8> answer_to(std::vector<u8> requested) {
    requested[3] |= 0x80;
    return requested;
}

/// A transport whose requests get replies from their target node by default.
struct answered {
    explicit answered(verbs_options options = {}, const transports::end_port& port = made_port())
        : transport(port, std::move(options)) {
        made.on_send = [this](const made_datagram& d) {
            if (answers) made.deliver(d.sqpn, answer_to(d.bytes), {}, 1, d.to.dlid);
        };
    }
    mad::received receive() { return transport.receive(buffer); }
    bool readable() const {
        pollfd waiting{transport.native_handle(), POLLIN, 0};
        return ::poll(&waiting, 1, 0) == 1;
    }
    made_device made;
    bool answers = true;
    verbs_transport transport;
    std::array<u8, 1024> buffer{};
};

using iba::pm::PortCounters;

coro::task<mad::result<PortCounters>> send_query(coro::MADSchedule& schedule, u16 LID) {
    const mad::IBPath path = to_lid(LID);
    auto counters = co_await schedule.PerformanceGet<PortCounters>(path);
    co_return counters;
}

} // namespace

TEST_CASE("a GMP leaves as a datagram to QP1 with the address and Q_Key of its path") {
    answered port;
    port.answers = false;
    request r = for_class(class_Performance);
    auto path = to_lid(7);
    path.SL = 2;
    path.dqpn = 1;
    r.path = path;
    REQUIRE(port.transport.send(r()).state == mad::send_state::sent);
    REQUIRE(port.made.sent.size() == 1);
    const made_datagram& d = port.made.sent[0];
    CHECK(d.to.dlid == 7);
    CHECK(d.to.sl == 2);
    CHECK(d.dqpn == 1);
    CHECK(d.qkey == 0x80010000);
    CHECK(d.sqpn == port.transport.qp_number());
    CHECK(d.bytes.size() == 256);
    CHECK(d.bytes[100] == r.bytes[mad::headroom + 100]);
    CHECK(port.made.modifications.front().attributes.qkey == 0x80010000); // the Q_Key of QP1's replies
    CHECK(port.transport.name() == "made0/1 (verbs)");
    CHECK(port.made.misuses.empty());
}

TEST_CASE("RPCs over verbs work under the blocking driver and under Asio, one or many at a time") {
    answered port;
    coro::MADSchedule schedule(port.transport);
    for (int i = 0; i < 3; ++i) CHECK(coro::sync_wait(schedule, send_query(schedule, 7)));
    const auto query_many = [&]() -> coro::task<unsigned> {
        coro::scope scope(schedule.root());
        unsigned there = 0;
        const auto one = [&](u16 LID) -> coro::task<void> {
            auto counters = co_await send_query(schedule, LID);
            there += counters.has_value();
        };
        for (u16 LID = 1; LID <= 600; ++LID) scope.spawn(one(LID)); // more than the number of posted receives
        co_await scope.join();
        co_return there;
    };
    CHECK(coro::sync_wait(schedule, query_many()) == 600);
    boost::asio::io_context io;
    coro::asio_driver driver(io, schedule);
    unsigned there = 0;
    coro::async_run(driver, query_many(), [&](unsigned n) { there = n; });
    io.run();
    CHECK(there == 600);
    CHECK(port.made.receives_posted(port.transport.qp_number()) == 512);
    CHECK(port.made.misuses.empty());
}

TEST_CASE("a verbs transport drops replies whose upper transaction ID half is not its own") {
    verbs_options options;
    options.session = 0x12345678;
    answered port(options);
    port.answers = false;
    request r = for_class(class_Performance);
    REQUIRE(port.transport.send(r()).state == mad::send_state::sent);
    std::vector<u8> requested = port.made.sent[0].bytes;
    CHECK(iba::load_be<u32>(requested.data() + 8) == 0x12345678);
    CHECK(std::equal(requested.begin() + 12, requested.begin() + 16, r.bytes.begin() + mad::headroom + 12));

    std::vector<u8> late = answer_to(requested);
    late[8] ^= 1;
    REQUIRE(port.made.deliver(port.transport.qp_number(), late));
    REQUIRE(port.made.deliver(port.transport.qp_number(), answer_to(requested)));
    const mad::received got = port.receive();
    REQUIRE(got.state == mad::receive_state::message);
    CHECK(iba::load_be<u32>(got.mad.data() + 8) == 0);
    CHECK(got.mad.size() == 256);
    CHECK(port.receive().state == mad::receive_state::would_block);
    CHECK(port.transport.foreign() == 1);

    // A response, or an RMPP ACK, to the request of a peer keeps its transaction ID.
    r.bytes[mad::headroom + 3] = 0x81;
    REQUIRE(port.transport.send(r()).state == mad::send_state::sent);
    CHECK(std::equal(port.made.sent[1].bytes.begin(), port.made.sent[1].bytes.end(), r.bytes.begin() + mad::headroom));
}

TEST_CASE("a received datagram has its source address") {
    answered port;
    port.answers = false;
    request r = for_class(class_Performance);
    REQUIRE(port.transport.send(r()).state == mad::send_state::sent);
    std::vector<u8> grh(40);
    grh[0] = 0x60;
    grh[7] = 64;
    grh[8] = grh[24] = 0xfe;
    grh[9] = grh[25] = 0x80;
    grh[23] = 0x77;
    grh[39] = 0x10;
    REQUIRE(port.made.deliver(port.transport.qp_number(), answer_to(port.made.sent[0].bytes), grh, 5, 9));
    const mad::received got = port.receive();
    REQUIRE(got.state == mad::receive_state::message);
    CHECK(got.source.SLID == iba::lid{9});
    CHECK(got.source.sqpn == 5);
    CHECK(got.source.has_grh);
    CHECK(got.source.SGID == iba::gid(iba::link_local_prefix, iba::guid{0x77}));
    CHECK(got.source.SGID_index == 0);
    CHECK(got.source.hop_limit == 64);
}

TEST_CASE("SMPs, other P_Keys and packets that are not GMPs are rejected with a cause") {
    answered port;
    CHECK(port.transport.send(for_class(class_lid_routed)()).error == EPROTONOSUPPORT);
    CHECK_FALSE(port.transport.limits().smi);
    CHECK(port.transport.serve({iba::MgmtClass::SubnDirected, 1, 2}) == EPROTONOSUPPORT);
    request r = for_class(class_Performance);
    auto path = to_lid(7);
    path.pkey_index = 1;
    r.path = path;
    CHECK(port.transport.send(r()).error == EADDRNOTAVAIL);
    r.path = mad::IBDRPath{};
    CHECK(port.transport.send(r()).error == EINVAL);

    coro::MADSchedule schedule(port.transport);
    const auto info = coro::sync_wait(schedule, schedule.SubnGet<iba::smp::NodeInfo>(mad::IBDRPath{}));
    REQUIRE_FALSE(info);
    CHECK_THAT(plain_text(info.error()),
               Contains("made0/1 (verbs) rejected the request (SMPs cannot be sent over verbs; use a umad device"));
}

TEST_CASE("requests from peers arrive only for served classes") {
    answered port;
    const u32 ours = port.transport.qp_number();
    std::vector<u8> requested(256);
    requested[0] = 1;
    requested[1] = class_Performance;
    requested[2] = 1;
    requested[3] = 1;
    REQUIRE(port.made.deliver(ours, requested, {}, 0x99, 5));
    CHECK(port.receive().state == mad::receive_state::would_block);
    CHECK(port.transport.serve({iba::MgmtClass::Performance, 1, mad::methods(iba::Method::Get)}) == 0);
    REQUIRE(port.made.deliver(ours, requested, {}, 0x99, 5));
    requested[3] = 2;
    REQUIRE(port.made.deliver(ours, requested, {}, 0x99, 5));
    const mad::received got = port.receive();
    REQUIRE(got.state == mad::receive_state::message);
    CHECK(mad::path_back(got.source).dqpn == 0x99);
    CHECK(port.receive().state == mad::receive_state::would_block);
    CHECK(port.made.receives_posted(ours) == 512);
}

TEST_CASE("the number of MADs being sent never exceeds the number of send buffers") {
    verbs_options options;
    options.sends = 2;
    answered port(options);
    port.answers = false;
    port.made.holds_sends = true;
    request r = for_class(class_Performance);
    port.transport.set_now(mad::time_point(1s));
    CHECK(port.receive().state == mad::receive_state::would_block);
    CHECK_FALSE(port.transport.next_event());
    CHECK(port.transport.send(r()).state == mad::send_state::sent);
    CHECK(port.transport.send(r()).state == mad::send_state::sent);
    CHECK(port.transport.send(r()).state == mad::send_state::would_block);
    REQUIRE(port.transport.next_event());
    CHECK(*port.transport.next_event() > mad::time_point(1s));
    port.made.complete_sends();
    CHECK(port.receive().state == mad::receive_state::would_block);
    CHECK_FALSE(port.transport.next_event());
    CHECK(port.transport.send(r()).state == mad::send_state::sent);
    CHECK(port.made.alive["ah"] == 1);
}

TEST_CASE("the descriptor is readable only for a datagram or an event") {
    answered port;
    CHECK(port.receive().state == mad::receive_state::would_block);
    CHECK_FALSE(port.readable());
    for (int i = 0; i < 3; ++i) {
        REQUIRE(port.transport.send(for_class(class_Performance)()).state == mad::send_state::sent);
        CHECK(port.readable());
        CHECK(port.receive().state == mad::receive_state::message);
        CHECK(port.receive().state == mad::receive_state::would_block);
        CHECK_FALSE(port.readable());
    }
    port.made.raise(IBV_EVENT_PORT_ACTIVE);
    CHECK(port.readable());
    CHECK(port.receive().state == mad::receive_state::would_block);
    CHECK_FALSE(port.readable());
}

TEST_CASE("events report what they changed, and address handles are created again") {
    std::vector<std::string> noticed;
    verbs_options options;
    options.on_event = [&](const verbs::event& e, const transports::end_port& now) {
        noticed.push_back(fmt::format("{} LID {} SM {} PKeys {} GIDs {}", e.name(), value(now.LID),
                                      value(now.masterSMLID), now.PKeys.size(), now.gids.size()));
    };
    answered port(options);
    CHECK(port.receive().state == mad::receive_state::would_block);
    REQUIRE(port.transport.send(for_class(class_Performance)()).state == mad::send_state::sent);
    REQUIRE(port.transport.send(for_class(class_Performance)()).state == mad::send_state::sent);
    CHECK(port.made.addresses.size() == 1);
    port.made.port.lid = 30;
    port.made.port.sm_lid = 2;
    port.made.gids.resize(2);
    const bool injected = GENERATE(false, true);
    const verbs::event lid_change{IBV_EVENT_LID_CHANGE, 1};
    if (injected) port.transport.inject(lid_change);
    else port.made.raise(IBV_EVENT_LID_CHANGE);
    while (port.receive().state == mad::receive_state::message) {}
    CHECK(port.receive().state == mad::receive_state::would_block);
    CHECK(noticed == std::vector<std::string>{"LID changed LID 30 SM 2 PKeys 3 GIDs 2"});
    CHECK(port.transport.port().LID == iba::lid{30});
    REQUIRE(port.transport.send(for_class(class_Performance)()).state == mad::send_state::sent);
    CHECK(port.made.addresses.size() == 2);
    port.made.raise(IBV_EVENT_LID_CHANGE, 2); // of another port
    while (port.receive().state == mad::receive_state::message) {}
    CHECK(port.receive().state == mad::receive_state::would_block);
    CHECK(noticed.size() == 1);
}

TEST_CASE("the transport follows a P_Key that moves in its table") {
    answered port;
    coro::MADSchedule schedule(port.transport);
    CHECK(coro::sync_wait(schedule, send_query(schedule, 7)));
    CHECK(port.made.sent.back().pkey_index == 0);
    port.made.PKeys = {0x8001, 0, 0xffff};
    port.made.raise(IBV_EVENT_PKEY_CHANGE);
    CHECK(port.receive().state == mad::receive_state::would_block);
    CHECK(port.receive().state == mad::receive_state::would_block);
    CHECK(coro::sync_wait(schedule, send_query(schedule, 7)));
    CHECK(port.made.sent.back().pkey_index == 2);
    CHECK(port.transport.replaced() == 1);
    CHECK(port.made.alive["qp"] == 1);
}

TEST_CASE("the queue pair uses one P_Key, and paths that need another P_Key are rejected") {
    const auto [opened, pkey, index] =
        GENERATE(std::tuple(mad::path_headers::look_up, 0x7fff, 1), std::tuple(u16{2}, 0x8002, 2));
    CAPTURE(opened);
    verbs_options options;
    options.pkey_index = opened;
    answered port(options, made_port({0x8001, 0x7fff, 0x8002}));
    coro::MADSchedule schedule(port.transport);
    CHECK(coro::sync_wait(schedule, send_query(schedule, 7)));
    CHECK(port.made.sent.back().pkey_index == index);
    CHECK(port.transport.tables()->find(mad::IBPath{}).pkey == pkey);

    request r = for_class(class_Performance);
    auto path = to_lid(7);
    path.pkey = static_cast<u16>(pkey);
    r.path = path;
    CHECK(port.transport.send(r()).state == mad::send_state::sent);
    path.pkey = 0x8001;
    r.path = path;
    CHECK(port.transport.send(r()).error == EADDRNOTAVAIL);
    CHECK(port.transport.advice(mad::transport_call::send, EADDRNOTAVAIL) ==
          fmt::format("the local queue pair can use only P_Key {:#06x} (index {}), not 0x8001", pkey, index));
}

TEST_CASE("a failed queue pair is replaced, and requests in flight are sent again") {
    answered port;
    coro::MADSchedule schedule(port.transport, [] {
        coro::schedule_options options;
        options.timeout = 20ms;
        options.retries = 3;
        return options;
    }());
    unsigned failed = 0;
    const u32 first = port.transport.qp_number();
    port.made.on_send = [&](const made_datagram& d) {
        if (failed++ == 0) port.made.fail(d.sqpn);
        else port.made.deliver(d.sqpn, answer_to(d.bytes), {}, 1, d.to.dlid);
    };
    CHECK(coro::sync_wait(schedule, send_query(schedule, 7)));
    CHECK(port.transport.replaced() == 1);
    CHECK(port.transport.qp_number() != first);
    CHECK(port.made.alive["qp"] == 1);
    CHECK(port.made.misuses.empty());
}

TEST_CASE("a queue pair that fails repeatedly ends the transport") {
    answered port;
    mad::received got;
    for (unsigned i = 0; i < 20 && got.state != mad::receive_state::failed; ++i) {
        port.made.fail(port.transport.qp_number());
        got = port.receive();
    }
    CHECK(got.state == mad::receive_state::failed);
    CHECK(got.error == EIO);
    CHECK(port.transport.replaced() == 9);
    CHECK(port.transport.send(for_class(class_Performance)()).error == EIO);
    CHECK(port.transport.next_event()); // a driver must call at once, regardless of which call failed
}

TEST_CASE("requests in flight fail with the name of the device when the device fails") {
    answered port;
    port.answers = false;
    coro::MADSchedule schedule(port.transport);
    port.made.on_send = [&](const made_datagram&) { port.made.raise(IBV_EVENT_DEVICE_FATAL); };
    const auto counters = coro::sync_wait(schedule, send_query(schedule, 7));
    REQUIRE_FALSE(counters);
    CHECK(counters.error().code == mad::errc::transport_failed);
    CHECK(counters.error().sys_errno == ENODEV);
    CHECK_THAT(plain_text(counters.error()),
               Contains("made0/1 (verbs) was disconnected (the device was removed or failed"));
    CHECK(port.transport.send(for_class(class_Performance)()).error == ENODEV);
}

TEST_CASE("multi-segment tables and requests use user-space RMPP") {
    // Two ends of one device: a MAD that one end sends to the QP of the other arrives there.
    made_device made;
    made.on_send = [&](const made_datagram& d) { made.deliver(d.dqpn, d.bytes, {}, d.sqpn, d.to.dlid); };
    transports::verbs_transport serving_end(made_port());
    transports::rmpp_transport serving_port(serving_end);
    const auto client = transports::open_verbs_port(made_port());
    mad::IBPath to_server = to_lid(3);
    to_server.dqpn = serving_end.qp_number();

    constexpr std::size_t records = 1000;
    server::responder answers;
    answers.add({iba::MgmtClass::SubnAdm, 2, mad::methods(iba::Method::GetTable), 0, true},
                [&](const server::request&) {
                    std::vector<u8> bytes;
                    for (std::size_t i = 0; i < records; ++i) {
                        iba::sa::NodeRecord record;
                        record.LID = iba::lid{static_cast<u16>(i)};
                        const auto one = iba::encode(record);
                        bytes.insert(bytes.end(), one.begin(), one.end());
                    }
                    return server::response::table(std::move(bytes), iba::wire_size<iba::sa::NodeRecord>);
                });
    server::agent agent(serving_port, answers);
    coro::MADSchedule serving(serving_port);
    serving.set_server(&agent);
    coro::MADSchedule schedule(*client);

    boost::asio::io_context io;
    coro::asio_driver serving_driver(io, serving), driver(io, schedule);
    std::size_t got = 0;
    const auto query_table = [&]() -> coro::task<void> {
        iba::query<iba::sa::NodeRecord> all;
        auto table = co_await schedule.SubnAdmGetTable(all, to_server);
        if (table) got = table.value().size();
        io.stop();
    };
    const auto serve = [&]() -> coro::task<void> { co_await serving.pause(30s); };
    coro::async_run(serving_driver, serve(), [] {});
    coro::async_run(driver, query_table(), [] {});
    io.run();
    CHECK(got == records);
    CHECK(made.misuses.empty());
}

TEST_CASE("SMPs over umad and GMPs over verbs form one transport") {
    made_device made;
    made.on_send = [&](const made_datagram& d) { made.deliver(d.sqpn, answer_to(d.bytes), {}, 1, d.to.dlid); };
    fake_kernel kernel;
    transports::smi_gsi_transport both(std::make_unique<transports::umad_transport>(kernel.device(), kernel.options()),
                                       transports::open_verbs_port(made_port()));
    CHECK(both.limits().smi);
    coro::MADSchedule schedule(both);
    CHECK(coro::sync_wait(schedule, send_query(schedule, 7)));
    CHECK(kernel.nothing_written());
    request smp;
    REQUIRE(both.send(smp()).state == mad::send_state::sent);
    CHECK(kernel.written().size() == 64 + 256);
}

TEST_CASE("a GMP transport reports events if a handler is set") {
    sysfs_tree tree;
    const bool is_heard = GENERATE(true, false);
    std::string noticed;
    transports::gmp_options options;
    options.sys_class = tree.root();
    if (is_heard) options.on_event = [&](std::string_view event, const transports::end_port&) { noticed += event; };
    made_device made;
    const auto port = transports::open_gmp_port(made_port(), options);
    made.raise(IBV_EVENT_LID_CHANGE);
    std::array<u8, 512> buffer{};
    for (int i = 0; i < 2; ++i) CHECK(port->receive(buffer).state == mad::receive_state::would_block);
    CHECK(noticed == (is_heard ? "LID changed" : ""));
}

TEST_CASE("a GMP transport uses verbs, else umad, and reports which") {
    sysfs_tree tree;
    transports::gmp_options options;
    options.sys_class = tree.root();
    {
        made_device made;
        const auto over = transports::get_gmp_mad(made_port(), options);
        CHECK(over.transport->name() == "made0/1 (verbs)");
        CHECK(over.refusal.empty());
        CHECK(over.transport->limits().kernel_rmpp);
        made.failures["ibv_modify_qp"] = {EPERM};
        CHECK_THAT(message_of([&] { transports::get_gmp_mad(made_port(), options); }),
                   Contains("made0/1 has no umad device") && Contains("CAP_NET_RAW"));
    }
    // There is no verbs device, and the umad device cannot be opened: the error names both causes.
    auto port = made_port();
    port.umad = "umad_that_is_not_there";
    CHECK_THAT(message_of([&] { transports::get_gmp_mad(port, options); }),
               Contains("umad_that_is_not_there") && Contains("libibverbs cannot list devices"));
}

TEST_CASE("a failed step of opening a device ends with one line and releases everything") {
    made_device made;
    for (const char* step : {"ibv_open_device", "ibv_alloc_pd", "ibv_create_comp_channel", "ibv_create_cq",
                             "ibv_reg_mr", "ibv_create_qp", "ibv_modify_qp", "ibv_post_recv"}) {
        INFO(step);
        made.failures[step] = {ENOMEM};
        CHECK_THAT(message_of([&] { (void)verbs_transport{made_port()}; }), Contains("Cannot allocate memory"));
        for (const auto& [kind, count] : made.alive) CHECK(count == 0);
    }
    CHECK(made.misuses.empty());
}

} // namespace verbs_test
