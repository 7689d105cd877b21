// SPDX-License-Identifier: MIT
// umad_pkey_test.cpp - the indices of the port's P_Key and GID tables in the header of the MAD device (pkey_index at
// byte 56, gid_index at 33: rdma/ib_user_mad.h) for every kind of sender. Traces and captures show the same P_Key.
#include "kernel/fake_kernel.hpp"
#include "support/catch.hpp"
#include <comad/coro/detail/rpcs.hpp>
#include <comad/coro/driver.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/iba/detail/class_port_info.hpp>
#include <comad/iba/detail/sa/records.hpp>
#include <comad/iba/pm.hpp>
#include <comad/mad/trace.hpp>
#include <comad/server/agent.hpp>
#include <comad/transports/capture.hpp>
#include <comad/transports/rmpp.hpp>
#include <comad/transports/striped.hpp>

#include <fmt/format.h>

namespace umad_pkey_test {

using namespace comad;
using namespace comad::test;
using Catch::Contains;
using transports::umad_transport;

namespace {

u16 pkey_index_of(std::span<const u8> packet) { return host_at<u16>(packet, 56); }

const iba::gid pkey_first_gid{iba::link_local_prefix, iba::guid{1}},
    pkey_second_gid{0xfec0'0000'0000'0001, iba::guid{1}};

/// A MAD device whose port has the P_Keys 0x7fff and 0x8001. Every request gets a reply at once. A trace and a capture
/// observe it.
struct tenant_port {
    fake_kernel kernel;
    std::vector<std::vector<u8>> sent;
    bool answers = true;
    std::function<void(std::span<u8> mad)> change_reply; ///< before it is delivered
    umad_transport device{kernel.device(), options()};
    std::vector<u16> captured;
    transports::capture_transport capture{device, [this](const auto& m) { captured.push_back(m.address.PKey); }};
    std::vector<std::string> lines;
    mad::simple_tracer tracer{[this](const std::string& line) { lines.push_back(line); }};
    coro::MADSchedule schedule{capture};

    tenant_port() {
        device.tables()->update({0x7fff, 0x8001, 0}, {pkey_first_gid, pkey_second_gid});
        schedule.set_trace(&tracer);
    }
    transports::umad_options options() {
        transports::umad_options o = kernel.options();
        o.write = [this](int, const void* packet, std::size_t size) {
            const auto* bytes = static_cast<const u8*>(packet);
            sent.emplace_back(bytes, bytes + size);
            if (!answers) return static_cast<ssize_t>(size);
            std::vector<u8> reply = sent.back();
            reply[64 + 3] |= iba::response_bit;
            if (change_reply) change_reply(std::span(reply).subspan(64));
            kernel.deliver(reply);
            return static_cast<ssize_t>(size);
        };
        return o;
    }
    mad::result<iba::ClassPortInfo> send_query(const mad::IBPath& path) {
        return coro::sync_wait(schedule, query_counters(schedule, path));
    }

private:
    static coro::task<mad::result<iba::ClassPortInfo>> query_counters(coro::MADSchedule& on, mad::IBPath path) {
        co_return co_await on.PerformanceGet<iba::ClassPortInfo>(path);
    }
};

mad::IBPath to_lid_7(u16 pkey = 0xffff) {
    mad::IBPath path;
    path.DLID = iba::lid{7};
    path.pkey = pkey;
    return path;
}

} // namespace

TEST_CASE("a GMP uses the index of the P_Key of its path, and trace and capture show that P_Key") {
    tenant_port port;
    struct expected {
        u16 pkey;
        u16 index;
        const char* shown;
    };
    for (const expected& e : {expected{0xffff, 0, "0x7fff"}, expected{0x7fff, 0, "0x7fff"},
                              expected{0x8001, 1, "0x8001"}, expected{0x0001, 1, "0x8001"}}) {
        CAPTURE(e.pkey);
        port.sent.clear();
        port.captured.clear();
        port.lines.clear();
        REQUIRE(port.send_query(to_lid_7(e.pkey)));
        REQUIRE(port.sent.size() == 1);
        CHECK(pkey_index_of(port.sent[0]) == e.index);
        REQUIRE(port.captured.size() == 2); // request and reply
        for (const u16 PKey : port.captured) CHECK(fmt::format("{:#06x}", PKey) == e.shown);
        REQUIRE(port.lines.size() == 1);
        CHECK_THAT(port.lines[0], Contains(fmt::format("PKey={} ", e.shown)));
    }
}

TEST_CASE("an explicit P_Key index overrides the P_Key of the path, also in trace and capture") {
    tenant_port port;
    mad::IBPath path = to_lid_7(0x8001);
    path.pkey_index = 0;
    REQUIRE(port.send_query(path));
    CHECK(pkey_index_of(port.sent.at(0)) == 0);
    CHECK(port.captured == std::vector<u16>{0x7fff, 0x7fff});
    CHECK_THAT(port.lines.at(0), Contains("PKey=0x7fff "));
}

TEST_CASE("a P_Key, P_Key index or GID that the port does not have is rejected before the send") {
    tenant_port port;
    const auto refused = [&](const mad::IBPath& path) {
        const auto info = port.send_query(path);
        REQUIRE_FALSE(info);
        CHECK(info.error().code == mad::errc::not_in_port_table);
        CHECK(info.error().attempts == 0);
        return plain_text(info.error());
    };
    CHECK(refused(to_lid_7(0x8002)) ==
          "ClassPortInfo was not sent to LID 7: the local port does not have P_Key 0x8002; its P_Keys: "
          "0x7fff (index 0), 0x8001 (index 1)");
    mad::IBPath path = to_lid_7();
    path.pkey_index = 2;
    CHECK_THAT(refused(path), Contains("no P_Key at index 2; its P_Keys: 0x7fff (index 0), 0x8001 (index 1)"));
    path = to_lid_7();
    path.has_grh = true;
    path.SGID = iba::gid{iba::link_local_prefix, iba::guid{2}};
    path.DGID = pkey_second_gid;
    CHECK_THAT(refused(path),
               Contains("does not have GID fe80::2; its GIDs: fe80::1 (index 0), fec0:0:0:1::1 (index 1)"));
    CHECK(port.sent.empty());

    // Without a schedule, the device rejects the request, too.
    request r;
    r.mgmt_class = class_Performance;
    r.path = path;
    CHECK(port.device.send(r()).error == EADDRNOTAVAIL);
    CHECK_THAT(std::string(port.device.advice(mad::transport_call::send, EADDRNOTAVAIL)),
               Contains("does not have GID fe80::2"));
}

TEST_CASE("a path with a GRH uses the index of its SGID") {
    tenant_port port;
    mad::IBPath path = to_lid_7(0x8001);
    path.has_grh = true;
    path.DGID = pkey_first_gid;
    for (const auto& [SGID, index] :
         {std::pair(pkey_first_gid, 0), std::pair(pkey_second_gid, 1), std::pair(iba::gid{}, 0)}) {
        path.SGID = SGID;
        REQUIRE(port.send_query(path));
        CHECK(port.sent.back()[33] == index);
        CHECK(pkey_index_of(port.sent.back()) == 1);
    }
    path.SGID_index = 1;
    REQUIRE(port.send_query(path));
    CHECK(port.sent.back()[33] == 1);
    CHECK_THAT(port.lines.back(), Contains("fec0:0:0:1::1 "));
}

TEST_CASE("updated port tables apply to the next MAD") {
    tenant_port port;
    REQUIRE(port.send_query(to_lid_7(0x8001)));
    port.device.tables()->update({0x8001, 0x7fff}, {pkey_first_gid});
    REQUIRE(port.send_query(to_lid_7(0x8001)));
    REQUIRE(port.send_query(to_lid_7()));
    std::vector<u16> indices;
    for (const auto& packet : port.sent) indices.push_back(pkey_index_of(packet));
    CHECK(indices == std::vector<u16>{1, 0, 1});
}

TEST_CASE("a redirected request uses the P_Key of the redirection") {
    tenant_port port;
    iba::ClassPortInfo elsewhere;
    elsewhere.redirectLID = iba::lid{9};
    elsewhere.redirectQP = 1;
    elsewhere.redirectQKey = 0x80010000;
    port.change_reply = [&](std::span<u8> mad) {
        if (port.sent.size() > 1) return;
        iba::put<&iba::MADHeader::status>(mad.data(), iba::status_redirect);
        iba::encode(elsewhere, mad.data() + 64);
    };
    SECTION("P_Key that the port has") {
        elsewhere.redirectPKey = 0x8001;
        REQUIRE(port.send_query(to_lid_7()));
        CHECK(pkey_index_of(port.sent.at(1)) == 1);
    }
    SECTION("P_Key 0: the P_Key of the request") {
        REQUIRE(port.send_query(to_lid_7()));
        CHECK(pkey_index_of(port.sent.at(1)) == 0);
    }
    SECTION("P_Key that the port does not have: an error") {
        elsewhere.redirectPKey = 0x8005;
        const auto info = port.send_query(to_lid_7());
        REQUIRE_FALSE(info);
        CHECK_THAT(plain_text(info.error()), Contains("not sent to LID 9: the local port does not have P_Key 0x8005"));
        CHECK(port.sent.size() == 1);
    }
}

TEST_CASE("SMPs have P_Key index 0 whatever the rule for GMPs is") {
    tenant_port port;
    port.device.tables()->use_pkey_index(1);
    request r;
    r.path = mad::IBDRPath{};
    REQUIRE(port.device.send(r()).state == mad::send_state::sent);
    CHECK(pkey_index_of(port.sent.back()) == 0);
    r.mgmt_class = class_lid_routed;
    r.path = to_lid_7(0x8005);
    REQUIRE(port.device.send(r()).state == mad::send_state::sent);
    CHECK(pkey_index_of(port.sent.back()) == 0);
    REQUIRE(port.send_query(to_lid_7()));
    CHECK(pkey_index_of(port.sent.back()) == 1);
}

TEST_CASE("a reply of a server uses the P_Key index of its request, and its trace shows that P_Key") {
    tenant_port port;
    server::responder answers;
    answers.add({iba::MgmtClass::Performance, 1, mad::methods(iba::Method::Get)},
                [](const server::request&) { return server::response::of(iba::ClassPortInfo{}); });
    answers.set_trace(&port.tracer);
    server::agent agent(port.capture, answers);
    port.schedule.set_server(&agent);
    std::vector<u8> requested = delivery(0, Get, 256);
    std::fill(requested.begin() + 64, requested.end(), u8{0});
    requested[64] = requested[64 + 2] = requested[64 + 3] = 1;
    requested[64 + 1] = class_Performance;
    requested[64 + 17] = 1; // ClassPortInfo
    const u16 index = 1;
    std::memcpy(requested.data() + 56, &index, sizeof index);
    port.kernel.deliver(requested);
    port.answers = false;
    while (port.sent.empty()) port.schedule.turn();
    CHECK(pkey_index_of(port.sent.at(0)) == 1);
    CHECK(port.captured.at(0) == 0x8001);
    CHECK(port.captured.at(1) == 0x8001);
    CHECK_THAT(port.lines.back(), Contains("PKey=0x8001 "));
    port.schedule.set_server(nullptr);
}

TEST_CASE("segments of a long request use the index of the P_Key of its path") {
    fake_kernel kernel;
    transports::umad_options options = kernel.options();
    options.user_rmpp = true;
    options.tables = std::make_shared<mad::port_tables>(std::vector<u16>{0x7fff, 0x8001}, std::vector<iba::gid>{});
    umad_transport device(kernel.device(), options);
    transports::rmpp_transport whole(device);
    CHECK(whole.tables() == options.tables.get());
    std::vector<u8> message(mad::headroom + 600);
    u8* const bytes = message.data() + mad::headroom;
    bytes[0] = 1;
    bytes[1] = class_SubnAdm;
    bytes[2] = 2;
    bytes[3] = value(iba::Method::GetMulti);
    const mad::any_path path = to_lid_7(0x8001);
    const mad::send_request r{.path = &path,
                              .mad = bytes,
                              .size = 600,
                              .mgmt_class = class_SubnAdm,
                              .class_version = 2,
                              .expects_reply = true,
                              .attempt_timeout = 1s,
                              .operation_timeout = 3s};
    REQUIRE(whole.send(r).state == mad::send_state::sent);
    CHECK(pkey_index_of(kernel.written()) == 1);
}

TEST_CASE("descriptors of one port share its tables, and descriptors of several ports each use their own") {
    fake_kernel kernels[2];
    const auto opened = [&](std::size_t which, std::shared_ptr<mad::port_tables> tables) {
        transports::umad_options options = kernels[which].options();
        options.tables = std::move(tables);
        return std::make_unique<umad_transport>(kernels[which].device(), options);
    };
    const auto a = std::make_shared<mad::port_tables>(std::vector<u16>{0x7fff, 0x8001}, std::vector<iba::gid>{});
    const auto b = std::make_shared<mad::port_tables>(std::vector<u16>{0x8001}, std::vector<iba::gid>{});
    const bool are_of_one_port = GENERATE(true, false);
    CAPTURE(are_of_one_port);
    std::vector<std::unique_ptr<mad::transport>> members;
    members.push_back(opened(0, a));
    members.push_back(opened(1, are_of_one_port ? a : b));
    transports::striped_transport both(std::move(members));
    CHECK(both.tables() == (are_of_one_port ? a.get() : nullptr));
    request r;
    r.mgmt_class = class_Performance;
    r.path = to_lid_7(0x8001);
    REQUIRE(both.send(r()).state == mad::send_state::sent);
    REQUIRE(both.send(r()).state == mad::send_state::sent);
    CHECK(pkey_index_of(kernels[0].written()) == 1);
    CHECK(pkey_index_of(kernels[1].written()) == (are_of_one_port ? 1 : 0));
}

} // namespace umad_pkey_test
