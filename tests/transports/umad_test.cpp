// SPDX-License-Identifier: MIT
// umad_test.cpp - the umad transport with a socket that simulates the kernel. Offsets are those of rdma/ib_user_mad.h.
// The behavior of the kernel was observed on Linux 6.1 and 6.12.
#include "kernel/fake_kernel.hpp"
#include "library/diags_mads.hpp"
#include "support/exception_message.hpp"
#include <comad/coro/schedule.hpp>
#include <comad/server/agent.hpp>
#include <comad/server/diags.hpp>

#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <poll.h>
#include <rdma/ib_user_mad.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

using namespace comad;
using namespace comad::test;
using namespace std::chrono_literals;
using mad::unique_fd;
using test::diags_mad;
using transports::umad_options;
using transports::umad_transport;

namespace {

constexpr auto sent = mad::send_state::sent;
constexpr auto would_block = mad::send_state::would_block;
constexpr auto failed = mad::send_state::failed;

using packet_buffer = std::array<u8, 1024>;

} // namespace

TEST_CASE("a directed-route SMP is written in one piece after a header of 64 bytes") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    request r;
    REQUIRE(transport.send(r()).state == sent);

    const std::vector<u8> packet = kernel.written();
    REQUIRE(packet.size() == 64 + 256);
    CHECK(host_at<u32>(packet, 0) == 5);                                       // id: the agent
    CHECK(host_at<u32>(packet, 4) == 0);                                       // status
    CHECK(host_at<u32>(packet, 8) == 3000);                                    // timeout_ms: of the whole operation
    CHECK(host_at<u32>(packet, 12) == 0);                                      // retries: by comad, not by the kernel
    CHECK(host_at<u32>(packet, 16) == 256);                                    // length
    CHECK(bytes_at(packet, 20, 4) == std::vector<u8>{0, 0, 0, 0});             // qpn
    CHECK(bytes_at(packet, 24, 4) == std::vector<u8>{0x00, 0x00, 0x00, 0x00}); // qkey: 0 for QP0
    CHECK(bytes_at(packet, 28, 2) == std::vector<u8>{0xff, 0xff});             // lid
    CHECK(bytes_at(packet, 30, 34) == std::vector<u8>(34, 0)); // sl, path_bits, grh_present, GRH, pkey_index, reserved
    CHECK(bytes_at(packet, 64, 256) == bytes_at(request::filled(), mad::headroom, 256));
    CHECK(kernel.nothing_written());
}

TEST_CASE("a LID-routed GMP carries LID, SL, path bits, queue pair, Q_Key and P_Key index of its path") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    mad::IBPath path;
    path.DLID = iba::lid{0x1234};
    path.SLID = iba::lid{0x0183};
    path.SL = 5;
    path.pkey_index = 0x0102;
    path.dqpn = 0x00abcdef;
    path.qkey = 0x11223344;
    request r;
    r.path = path;
    r.mgmt_class = class_Performance;
    REQUIRE(transport.send(r()).state == sent);

    const std::vector<u8> packet = kernel.written();
    CHECK(bytes_at(packet, 20, 4) == std::vector<u8>{0x00, 0xab, 0xcd, 0xef});
    CHECK(bytes_at(packet, 24, 4) == std::vector<u8>{0x11, 0x22, 0x33, 0x44});
    CHECK(bytes_at(packet, 28, 2) == std::vector<u8>{0x12, 0x34});
    CHECK(packet[30] == 5);
    CHECK(packet[31] == 3); // the low seven bits of the source LID
    CHECK(packet[32] == 0); // no GRH
    CHECK(host_at<u16>(packet, 56) == 0x0102);
}

TEST_CASE("a path with a GRH passes its global addresses to the kernel") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    mad::IBPath path;
    path.DLID = iba::lid{7};
    path.has_grh = true;
    path.SGID_index = 3;
    path.hop_limit = 64;
    path.traffic_class = 0x12;
    path.flow_label = 0x000abcde;
    path.DGID = iba::gid(0xfec0000000000001, iba::guid{0x0002c90300001491});
    request r;
    r.path = path;
    r.mgmt_class = class_Performance;
    REQUIRE(transport.send(r()).state == sent);

    const std::vector<u8> packet = kernel.written();
    CHECK(bytes_at(packet, 32, 4) == std::vector<u8>{1, 3, 64, 0x12});
    CHECK(bytes_at(packet, 36, 16) ==
          std::vector<u8>{0xfe, 0xc0, 0, 0, 0, 0, 0, 1, 0x00, 0x02, 0xc9, 0x03, 0x00, 0x00, 0x14, 0x91});
    CHECK(bytes_at(packet, 52, 4) == std::vector<u8>{0x00, 0x0a, 0xbc, 0xde});

    path.has_grh = false;
    r.path = path;
    REQUIRE(transport.send(r()).state == sent);
    CHECK(bytes_at(kernel.written(), 32, 24) == std::vector<u8>(24, 0));
}

TEST_CASE("a LID-routed SMP goes to QP0 whatever queue pair its path names") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    mad::IBPath path;
    path.DLID = iba::lid{7};
    request r;
    r.path = path;
    r.mgmt_class = class_lid_routed;
    REQUIRE(transport.send(r()).state == sent);
    const std::vector<u8> packet = kernel.written();
    CHECK(bytes_at(packet, 20, 4) == std::vector<u8>{0, 0, 0, 0});
    CHECK(bytes_at(packet, 28, 2) == std::vector<u8>{0, 7});
}

TEST_CASE("P_Key indices are enabled first, and each class registers one agent at its first send") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    REQUIRE(kernel.requests == std::vector<unsigned long>{IB_USER_MAD_ENABLE_PKEY});

    const struct {
        u8 mgmt_class, class_version, qpn, rmpp_version;
    } classes[] = {{class_directed, 1, 0, 0},
                   {class_lid_routed, 1, 0, 0},
                   {class_SubnAdm, 2, 1, 1},
                   {class_Performance, 1, 1, 0},
                   {class_Performance, 2, 1, 0}};
    for (int round = 0; round < 2; ++round)
        for (std::size_t i = 0; i < std::size(classes); ++i) {
            request r;
            r.mgmt_class = classes[i].mgmt_class;
            r.class_version = classes[i].class_version;
            REQUIRE(transport.send(r()).state == sent);
            CHECK(host_at<u32>(kernel.written(), 0) == 5 + i);
            if (round == 1) continue;
            REQUIRE(kernel.registrations.size() == i + 1);
            const auto& registration = kernel.registrations.back();
            CHECK(bytes_at(registration, 4, 16) == std::vector<u8>(16, 0)); // method_mask: no unsolicited requests
            CHECK(registration[20] == classes[i].qpn);
            CHECK(registration[21] == classes[i].mgmt_class);
            CHECK(registration[22] == classes[i].class_version);
            CHECK(bytes_at(registration, 23, 3) == std::vector<u8>{0, 0, 0}); // oui
            CHECK(registration[26] == classes[i].rmpp_version);
        }
    CHECK(kernel.registrations.size() == std::size(classes));
}

TEST_CASE("a rejected registration fails the send, and the next send tries again") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    request r;
    kernel.error = EINVAL;
    const mad::send_result result = transport.send(r());
    CHECK(result.state == failed);
    CHECK(result.error == EINVAL);
    CHECK(kernel.nothing_written());
    CHECK(transport.held() == 0);
    kernel.error = 0;
    CHECK(transport.send(r()).state == sent);
}

TEST_CASE("umad_transport registers at most 32 agents per descriptor") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    request r;
    for (u8 version = 1; version <= 33; ++version) {
        r.class_version = version;
        const mad::send_result result = transport.send(r());
        CHECK(result.state == (version <= 32 ? sent : failed));
        if (version > 32) CHECK(result.error == ENOMEM);
    }
    CHECK(kernel.registrations.size() == 32);
}

TEST_CASE("the kernel timeout is rounded up to milliseconds, and 0 means that no reply is expected") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    const auto timeout_for = [&](mad::duration remaining, bool expects_reply) {
        request r;
        r.operation_timeout = remaining;
        r.expects_reply = expects_reply;
        REQUIRE(transport.send(r()).state == sent);
        return timeout_ms(kernel.written());
    };
    CHECK(timeout_for(20ms, true) == 20);
    CHECK(timeout_for(20ms + 1ns, true) == 21);
    CHECK(timeout_for(1ns, true) == 1);
    CHECK(timeout_for(0ns, true) == 1);
    CHECK(timeout_for(std::chrono::hours(24 * 365), true) == INT_MAX); // the kernel stores it in an int
    CHECK(timeout_for(20ms, false) == 0);
    CHECK(transport.held() == 5); // the last one is not held
}

TEST_CASE("the number of requests that the kernel holds is limited") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options(8));
    request r;
    packet_buffer buffer;

    // Up to half of the limit, the kernel may hold an attempt as long as its operation. Above, it holds it only as long
    // as the attempt.
    for (unsigned i = 0; i < 8; ++i) {
        CHECK(transport.held() == i);
        REQUIRE(transport.send(r()).state == sent);
        CHECK(timeout_ms(kernel.written()) == (i < 4 ? 3000u : 1000u));
    }
    CHECK(transport.send(r()).state == would_block);
    CHECK_FALSE(transport.wants_writable()); // the device always claims to be writable
    CHECK(kernel.nothing_written());

    // A MAD that expects no reply is not held, and is sent.
    request one_way;
    one_way.expects_reply = false;
    CHECK(transport.send(one_way()).state == sent);
    kernel.written();
    CHECK(transport.held() == 8);

    // A request from a peer does not reduce the count. A reply or an expired send does.
    kernel.deliver(delivery(0, Get, 256));
    REQUIRE(transport.receive(buffer).state == mad::receive_state::message);
    CHECK(transport.held() == 8);
    for (const auto& message : {a_reply(), an_expired_send(), delivery(0, TrapRepress, 256), delivery(EIO, Get, 256)}) {
        CHECK(transport.send(r()).state == would_block);
        kernel.deliver(message);
        REQUIRE(transport.receive(buffer).state == mad::receive_state::message);
        CHECK(transport.held() == 7);
        CHECK(transport.send(r()).state == sent);
        CHECK(timeout_ms(kernel.written()) == 1000);
    }
}

TEST_CASE("unexpected replies do not make the number of held requests negative") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options(1));
    packet_buffer buffer;
    for (int i = 0; i < 3; ++i) {
        kernel.deliver(a_reply());
        REQUIRE(transport.receive(buffer).state == mad::receive_state::message);
        CHECK(transport.held() == 0);
    }
    request r;
    CHECK(transport.send(r()).state == sent);
    CHECK(transport.send(r()).state == would_block);
}

TEST_CASE("a received reply consists of its MAD and its source") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    packet_buffer buffer;
    CHECK(transport.receive(buffer).state == mad::receive_state::would_block);

    const std::vector<u8> packet = a_reply();
    kernel.deliver(packet);
    pollfd event{transport.native_handle(), POLLIN, 0};
    CHECK(::poll(&event, 1, 0) == 1);
    const mad::received got = transport.receive(buffer);
    REQUIRE(got.state == mad::receive_state::message);
    CHECK(got.status == 0);
    CHECK(std::vector<u8>(got.mad.begin(), got.mad.end()) == bytes_at(packet, 64, 256));
    CHECK(got.full_size == 256);
    CHECK(got.source.SLID == iba::lid{0x1234});
    CHECK(got.source.SL == 9);
    CHECK(got.source.pkey_index == 3);
    CHECK(got.source.sqpn == 0x123456);
    CHECK(transport.receive(buffer).state == mad::receive_state::would_block);
}

TEST_CASE("an expired send is reported with status 110 and the 24-byte MAD header") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    packet_buffer buffer;
    const std::vector<u8> packet = an_expired_send();
    REQUIRE(packet.size() == 88);
    kernel.deliver(packet);
    const mad::received got = transport.receive(buffer);
    REQUIRE(got.state == mad::receive_state::message);
    CHECK(got.status == 110);
    CHECK(std::vector<u8>(got.mad.begin(), got.mad.end()) == bytes_at(packet, 64, 24));
}

TEST_CASE("messages of any length that contain a header are accepted") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    packet_buffer buffer;
    for (std::size_t size : {64u, 65u, 68u, 88u, 319u, 320u, 321u, 1024u}) {
        CAPTURE(size);
        kernel.deliver(std::vector<u8>(size, 0xff));
        const mad::received got = transport.receive(buffer);
        REQUIRE(got.state == mad::receive_state::message);
        CHECK(got.mad.size() == size - 64);
        CHECK(got.full_size == got.mad.size());
    }
    CHECK(transport.short_reads() == 0);
}

TEST_CASE("a message larger than the buffer returns its first segment and its full size") {
    std::array<u8, 64 + 256> buffer{};
    ib_user_mad_hdr h{};
    h.length = 64 + 5000;
    std::memcpy(buffer.data(), &h, sizeof h);
    buffer[64] = 0x77;
    const mad::received got = umad_transport::interpret(buffer, -1, ENOSPC);
    REQUIRE(got.state == mad::receive_state::message);
    CHECK(got.mad.size() == 256);
    CHECK(got.mad[0] == 0x77);
    CHECK(got.full_size == 5000);

    // A device that reports this without copying anything would report it forever.
    const std::array<u8, 64 + 256> untouched{};
    CHECK(umad_transport::interpret(untouched, -1, ENOSPC).state == mad::receive_state::failed);
}

TEST_CASE("a kernel without P_Key index support is rejected") {
    fake_kernel kernel;
    kernel.error = EINVAL;
    CHECK_THAT(message_of([&] { umad_transport transport(kernel.device(), kernel.options()); }),
               Catch::Contains("P_Key"));
}

namespace {

/// A file in a temporary directory that stands for a device.
struct temporary_file {
    std::filesystem::path directory, path;
    temporary_file() {
        std::string name = std::filesystem::temp_directory_path() / "comad-umad-XXXXXX";
        REQUIRE(::mkdtemp(name.data()));
        directory = name;
        path = directory / "umad0";
        std::ofstream(path) << "no device";
    }
    ~temporary_file() { std::filesystem::remove_all(directory); }
};

/// Drops privileges: root may open everything, the user nobody may not.
struct without_privileges {
    uid_t before = ::geteuid();
    without_privileges() {
        if (before == 0) REQUIRE(::seteuid(65534) == 0);
    }
    ~without_privileges() { (void)!::seteuid(before); }
};

} // namespace

TEST_CASE("a device that cannot be opened is reported in one line with its name and a possible fix") {
    const temporary_file file;
    const auto message = message_of([&] { umad_transport transport(file.directory / "umad7"); });
    CHECK_THAT(message, Catch::Contains((file.directory / "umad7").string()) && Catch::Contains("No such file") &&
                            Catch::Contains("udev"));
    CHECK(message.find('\n') == std::string::npos);

    std::filesystem::permissions(file.path, std::filesystem::perms::none);
    std::string denied;
    {
        const without_privileges as_unprivileged;
        denied = message_of([&] { umad_transport transport(file.path); });
    }
    CHECK_THAT(denied, Catch::Contains(file.path.string()) && Catch::Contains("Permission denied") &&
                           Catch::Contains("run as root") && Catch::Contains("udev rule"));
    CHECK(denied.find('\n') == std::string::npos);
}

TEST_CASE("a file that is not a MAD device is rejected") {
    const temporary_file file;
    CHECK_THAT(message_of([&] { umad_transport transport(file.path); }), Catch::Contains("P_Key"));
}

TEST_CASE("an end port is opened under /dev/infiniband") {
    transports::end_port port;
    port.umad = "umad-that-is-not-there";
    CHECK_THAT(message_of([&] { umad_transport transport(port); }),
               Catch::Contains("/dev/infiniband/umad-that-is-not-there"));
}

TEST_CASE("an agent of a server is registered with methods and OUI, and sends replies without a timeout") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    const u32 get_and_table = 1u << 0x01 | 1u << 0x12;
    REQUIRE(transport.serve({iba::MgmtClass::SubnAdm, 2, get_and_table, 0, true}) == 0);
    REQUIRE(transport.serve({iba::MgmtClass{0x32}, 1, 1u << 0x01, 0x001405}) == 0);
    REQUIRE(transport.serve({iba::MgmtClass::SubnLID, 1, 1u << 0x05}) == 0);
    REQUIRE(kernel.registrations.size() == 3);
    const auto& sa = kernel.registrations[0];
    const auto& vendor = kernel.registrations[1];
    CHECK(host_at<u64>(sa, 4) == get_and_table);
    CHECK(host_at<u64>(sa, 12) == 0);
    CHECK(bytes_at(sa, 20, 7) == std::vector<u8>{1, 0x03, 2, 0, 0, 0, 1}); // QP, class, version, OUI, RMPP
    CHECK(host_at<u64>(vendor, 4) == 2);
    CHECK(bytes_at(vendor, 20, 7) == std::vector<u8>{1, 0x32, 1, 0x00, 0x14, 0x05, 0});
    CHECK(bytes_at(kernel.registrations[2], 20, 7) == std::vector<u8>{0, 0x01, 1, 0, 0, 0, 0});

    // A request contains its agent and everything that the return path needs.
    std::vector<u8> requested = delivery(0, Get, 256);
    ib_user_mad_hdr h;
    std::memcpy(&h, requested.data(), sizeof h);
    h.id = 6;
    h.path_bits = 3;
    h.grh_present = 1;
    h.gid_index = 2;
    h.hop_limit = 1;
    h.traffic_class = 4;
    h.flow_label = htobe32(0x12345);
    h.gid[15] = 7;
    std::memcpy(requested.data(), &h, sizeof h);
    kernel.deliver(requested);
    packet_buffer buffer;
    const mad::received got = transport.receive(buffer);
    CHECK(got.source.agent == 6);
    CHECK(got.source.path_bits == 3);
    CHECK(got.source.has_grh);
    CHECK(got.source.SGID.bytes[15] == 7);
    CHECK(got.source.SGID_index == 2);
    CHECK(got.source.hop_limit == 1);
    CHECK(got.source.traffic_class == 4);
    CHECK(got.source.flow_label == 0x12345);

    // The reply can have any length.
    std::vector<u8> packet(mad::headroom + 5000, 0x77);
    const mad::any_path back = mad::IBPath{};
    mad::send_request reply{};
    reply.path = &back;
    reply.mad = packet.data() + mad::headroom;
    reply.size = 1000;
    reply.mgmt_class = 0x03;
    reply.class_version = 2;
    reply.agent = got.source.agent;
    CHECK(transport.send(reply).state == sent);
    const auto written = kernel.written();
    CHECK(written.size() == 64 + 1000);
    CHECK(host_at<u32>(written, 0) == 6);
    CHECK(timeout_ms(written) == 0);
    CHECK(kernel.registrations.size() == 3); // comad registers no agent for it
    CHECK(transport.held() == 0);
}

TEST_CASE("a ping of infiniband-diags from the kernel gets a reply through its agent") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    server::responder answers;
    server::add_ping(answers, {"guest.example.(none)", {}});
    server::add_sysstat(answers, {"guest", std::string(300, 'c')});
    server::agent agent(transport, answers);
    REQUIRE(kernel.registrations.size() == 2);
    CHECK(host_at<u64>(kernel.registrations[0], 4) == 2);                                          // Get
    CHECK(bytes_at(kernel.registrations[0], 20, 7) == std::vector<u8>{1, 0x32, 1, 0, 0x14, 5, 0}); // as OUI, RMPP
    CHECK(bytes_at(kernel.registrations[1], 20, 7) == std::vector<u8>{1, 0x33, 1, 0, 0x14, 5, 1});
    coro::MADSchedule schedule(transport);
    schedule.set_server(&agent);

    const auto send_query = [&](u32 through, const std::vector<u8>& mad) {
        std::vector<u8> packet = delivery(0, Get, 256);
        std::memcpy(packet.data(), &through, sizeof through);
        std::copy(mad.begin(), mad.end(), packet.begin() + 64);
        kernel.deliver(packet);
        schedule.receive(1);
        return kernel.written();
    };
    const auto pong = send_query(5, diags_mad("ping_request"));
    CHECK(host_at<u32>(pong, 0) == 5);
    CHECK(timeout_ms(pong) == 0);
    CHECK(be32toh(host_at<u32>(pong, 20)) == 0x123456); // the queue pair of the requester
    CHECK(be16toh(host_at<u16>(pong, 28)) == 0x1234);   // the LID of the requester
    auto wanted = diags_mad("ping_reply");
    std::fill_n(wanted.begin() + 8, 4,
                u8{0}); // the kernel's half of the transaction ID, which the request does not contain
    CHECK(bytes_at(pong, 64, pong.size() - 64) == wanted);
    const auto cpus = send_query(6, diags_mad("sysstat_cpu_request"));
    CHECK(host_at<u32>(cpus, 0) == 6);
    CHECK(cpus.size() == 64 + 40 + 301);
    CHECK(agent.counters().replies == 2);
}

TEST_CASE("a rejected server registration reports the cause") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    kernel.error = EINVAL; // another program serves the method
    CHECK(transport.serve({iba::MgmtClass::SubnAdm, 2, 2}) == EINVAL);
    server::responder answers;
    server::add_ping(answers, {"guest", {}});
    CHECK_THAT(
        message_of([&] { server::agent agent(transport, answers); }),
        Catch::StartsWith(
            "cannot serve management class 0x32 (another program at this port already serves this management class") &&
            Catch::EndsWith("): Invalid argument"));
}

TEST_CASE("user-space RMPP registers RMPP classes with the second ioctl and sends single MADs") {
    fake_kernel kernel;
    umad_options options = kernel.options();
    options.user_rmpp = true;
    umad_transport transport(kernel.device(), options);
    CHECK_FALSE(transport.limits().kernel_rmpp);
    request r;
    r.path = mad::IBPath{};
    r.mgmt_class = class_Performance;
    REQUIRE(transport.send(r()).state == sent);
    CHECK(kernel.registrations2.empty());
    kernel.written();

    const u32 get_and_table = 1u << 0x01 | 1u << 0x12;
    REQUIRE(transport.serve({iba::MgmtClass::SubnAdm, 2, get_and_table}) == 0);
    REQUIRE(transport.serve({iba::MgmtClass{0x32}, 1, 1u << 0x01, 0x001405, true}) == 0);
    REQUIRE(kernel.registrations2.size() == 2);
    const auto& sa = kernel.registrations2[0];
    CHECK(host_at<u32>(sa, 4) == 1);                                // QP
    CHECK(bytes_at(sa, 8, 2) == std::vector<u8>{class_SubnAdm, 2}); // class, version
    CHECK(host_at<u32>(sa, 12) == 1);                               // flags: user-space RMPP
    CHECK(host_at<u64>(sa, 16) == get_and_table);
    CHECK(host_at<u64>(sa, 24) == 0);
    CHECK(host_at<u32>(sa, 32) == 0); // OUI
    CHECK(sa[36] == 1);               // RMPP version
    CHECK(host_at<u32>(kernel.registrations2[1], 32) == 0x001405);

    // For a reply in segments, the first segment ends the request.
    r.mgmt_class = class_SubnAdm;
    r.class_version = 2;
    REQUIRE(transport.send(r()).state == sent);
    REQUIRE(transport.send(r()).state == sent);
    CHECK(transport.held() == 3);
    packet_buffer buffer;
    for (u8 segment = 1; segment <= 3; ++segment) {
        std::vector<u8> packet = delivery(0, 0x92, 256);
        const u8 header[] = {1, class_SubnAdm, 2, 0x92};
        std::copy(std::begin(header), std::end(header), packet.begin() + 64);
        const u8 rmpp[] = {1, 1, 1, 0, 0, 0, 0, segment};
        std::copy(std::begin(rmpp), std::end(rmpp), packet.begin() + 64 + 24);
        kernel.deliver(packet);
        REQUIRE(transport.receive(buffer).state == mad::receive_state::message);
        CHECK(transport.held() == 2);
    }
}

TEST_CASE("the kernel timeout is the time of the operation or of the attempt, as the option selects") {
    using transports::kernel_timeout;
    for (const auto how : {kernel_timeout::operation, kernel_timeout::attempt}) {
        fake_kernel kernel;
        umad_options options = kernel.options(8);
        options.timeout = how;
        umad_transport transport(kernel.device(), options);
        request r;
        for (unsigned i = 0; i < 8; ++i) {
            REQUIRE(transport.send(r()).state == sent);
            CHECK(timeout_ms(kernel.written()) == (how == kernel_timeout::operation ? 3000u : 1000u));
        }
        CHECK(transport.send(r()).state == would_block);
    }
}

TEST_CASE("the SA limit of the end port lowers the default limit of SA requests") {
    const temporary_file file;
    const std::string fifo = file.directory / "umad1"; // can be opened and polled like a device
    REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
    const auto window_of = [&](unsigned of_device, unsigned of_options = 0) {
        transports::end_port port;
        port.umad = fifo;
        port.sa_max_outstanding = of_device;
        umad_options options;
        options.sa_window = of_options;
        options.ioctl = [](int, unsigned long, void*) { return 0; };
        return umad_transport(port, options).limits().sa_window;
    };
    CHECK(window_of(0) == 16);
    CHECK(window_of(10) == 10);
    CHECK(window_of(100) == 16);
    CHECK(window_of(10, 12) == 12);
}

TEST_CASE("an unacknowledged RMPP reply does not count as an expired request") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    request r;
    REQUIRE(transport.send(r()).state == sent);
    packet_buffer buffer;
    kernel.deliver(delivery(ETIMEDOUT, 0x92, 24));
    REQUIRE(transport.receive(buffer).status == ETIMEDOUT);
    CHECK(transport.held() == 1);
}

// Without retries, a lost segment would end the reply (mad_rmpp.c, retry_send()).
TEST_CASE("the kernel retries only RMPP replies") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    request r;
    r.path = mad::IBPath{};
    r.mgmt_class = 3;
    u8* mad = r.bytes.data() + mad::headroom;
    mad[1] = 3;
    mad[3] = 0x92; // GetTableResp
    mad::send_request reply = r();
    reply.expects_reply = false;
    mad[24] = 1, mad[25] = 1, mad[26] = 0; // version, DATA
    REQUIRE(transport.send(reply).state == sent);
    CHECK(host_at<u32>(kernel.written(), 12) == 0);
    mad[26] = 1; // active
    REQUIRE(transport.send(reply).state == sent);
    const auto packet = kernel.written();
    CHECK(host_at<u32>(packet, 8) == 0); // a timeout would make it a double-sided transfer
    CHECK(host_at<u32>(packet, 12) > 0);
    fake_kernel of_segments;
    umad_options with_segments = of_segments.options();
    with_segments.user_rmpp = true;
    umad_transport single(of_segments.device(), with_segments);
    REQUIRE(single.send(reply).state == sent);
    CHECK(host_at<u32>(of_segments.written(), 12) == 0);
}

TEST_CASE("requests of a vendor class use one agent per OUI") {
    fake_kernel kernel;
    umad_transport transport(kernel.device(), kernel.options());
    request r;
    r.path = mad::IBPath{};
    r.mgmt_class = 0x30;
    u8* mad = r.bytes.data() + mad::headroom;
    mad[1] = 0x30;
    const auto with_oui = [&](u8 last) {
        mad[37] = 0x00;
        mad[38] = 0x14;
        mad[39] = last;
        REQUIRE(transport.send(r()).state == sent);
        return host_at<u32>(kernel.written(), 0);
    };
    const u32 first = with_oui(5);
    CHECK(with_oui(6) != first);
    CHECK(with_oui(5) == first);
    REQUIRE(kernel.registrations.size() == 2); // the kernel rejects these classes without an OUI
    CHECK(bytes_at(kernel.registrations[0], 23, 3) == std::vector<u8>{0x00, 0x14, 0x05});
    CHECK(bytes_at(kernel.registrations[1], 23, 3) == std::vector<u8>{0x00, 0x14, 0x06});
    CHECK(kernel.registrations[0][26] == 1); // their long replies use RMPP
}
