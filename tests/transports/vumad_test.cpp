// SPDX-License-Identifier: MIT
// vumad_test.cpp - the kernel's side of a MAD device, compared with measurements of umad on Linux 6.1 and 6.12 (soft
// RoCE, and a module with InfiniBand ports). There is one statement per test. Also tests the embedded simulator as the
// other side of the device.
#include "wire/delivered_request.hpp"
#include "wire/lossy_wire.hpp"
#include <comad/iba/sa.hpp>
#include <comad/iba/smp.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/transports/detail/vumad/kernel_port.hpp>
#include <comad/transports/detail/vumad/local_port.hpp>
#include <comad/transports/detail/vumad/single_mads.hpp>
#include <comad/transports/detail/vumad/sysfs_files.hpp>
#include <comad/transports/sim/transport.hpp>
#include <comad/transports/sysfs.hpp>

#include <array>
#include <chrono>
#include <cstring>
#include <endian.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <rdma/ib_user_mad.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <vector>

namespace vumad_test {

using namespace comad;
using namespace comad::test;
using namespace std::chrono_literals;
using iba::MgmtClass;
using transports::vumad::kernel_port;

namespace {

constexpr u8 get = 0x01, get_table = 0x12, get_resp = 0x81, get_table_resp = 0x92;
constexpr std::size_t header_size = 64;
using packet = std::vector<u8>;

/// A program that has opened the device.
class program {
public:
    explicit program(kernel_port& p) : file(p.open()) { REQUIRE(file->ioctl(IB_USER_MAD_ENABLE_PKEY, nullptr) == 0); }

    /// Returns the number of the agent, or a negative errno.
    int add(u8 mgmt_class, u8 version, u32 methods = 0, u8 rmpp = 0, u32 OUI = 0, u8 qpn = 1) {
        ib_user_mad_reg_req r{};
        r.qpn = qpn;
        r.mgmt_class = mgmt_class;
        r.mgmt_class_version = version;
        r.rmpp_version = rmpp;
        const std::uint64_t mask = methods;
        std::memcpy(r.method_mask, &mask, sizeof mask);
        for (int i = 0; i < 3; ++i) r.oui[i] = static_cast<u8>(OUI >> (16 - 8 * i));
        const int error = file->ioctl(IB_USER_MAD_REGISTER_AGENT, &r);
        return error ? -error : static_cast<int>(r.id);
    }
    int add2(ib_user_mad_reg_req2& r) { return file->ioctl(IB_USER_MAD_REGISTER_AGENT2, &r); }
    /// Registers an agent of the SA's class for messages of any length, as OpenSM does.
    int serve_sa() { return add(0x03, 2, 1u << get | 1u << get_table, 1); }

    std::ptrdiff_t send(int agent, u16 LID, const packet& mad, u32 timeout_ms = 0, u32 retries = 0) {
        ib_user_mad_hdr h{};
        h.id = static_cast<u32>(agent);
        h.timeout_ms = timeout_ms;
        h.retries = retries;
        h.qpn = htobe32(1);
        h.lid = htobe16(LID);
        packet p(header_size + mad.size());
        std::memcpy(p.data(), &h, sizeof h);
        std::copy(mad.begin(), mad.end(), p.begin() + header_size);
        return file->write(p);
    }
    /// Returns the next packet; empty if there is none.
    packet read(std::size_t room = header_size + (2u << 20)) {
        packet p(room);
        const std::ptrdiff_t n = file->read(p);
        if (n == -EAGAIN) return {};
        REQUIRE(n > 0);
        p.resize(static_cast<std::size_t>(n));
        return p;
    }

    std::unique_ptr<kernel_port::file> file;
};

ib_user_mad_hdr header_of(const packet& p) {
    ib_user_mad_hdr h;
    REQUIRE(p.size() >= sizeof h);
    std::memcpy(&h, p.data(), sizeof h);
    return h;
}
packet mad_of(const packet& p) { return {p.begin() + header_size, p.end()}; }
u64 tid_of(const packet& mad) { return iba::get<&iba::MADHeader::transactionID>(mad.data()); }

packet make_mad(u8 mgmt_class, u8 version, u8 method, u32 tid = 1, std::size_t size = 256) {
    packet m(size);
    m[0] = 1, m[1] = mgmt_class, m[2] = version, m[3] = method;
    mad::set_low_tid(m.data(), tid);
    return m;
}
/// Returns an SA message by RMPP with this number of bytes after its headers.
packet make_table(u8 method, std::size_t data, u32 tid = 1) {
    packet m = make_mad(0x03, 2, method, tid, 56 + data);
    m[26] = 1; // Active; OpenSM leaves the other fields to the kernel
    for (std::size_t i = 0; i < data; ++i) m[56 + i] = static_cast<u8>(i * 7 + i / 251);
    return m;
}

/// Two ports on one wire.
struct two_ports {
    explicit two_ports(faults f = {}, unsigned seed = 1) : wire(f, seed) {}
    lossy_wire wire;
    lossy_wire::end near_end{wire, 1}, far_end{wire, 2};
    kernel_port near{{&near_end}}, far{{&far_end}};
    mad::time_point now{};

    void run(mad::duration time) {
        for (const mad::time_point end = now + time; now < end;) {
            mad::time_point next = end;
            for (const kernel_port* p : {&near, &far})
                if (const auto event = p->next_event()) next = std::min(next, std::max(*event, now + 1us));
            now = next;
            near.set_now(now);
            far.set_now(now);
        }
    }
};

/// Registers an agent for queries to the SA that handles RMPP itself. Returns its number.
int add_user_rmpp(program& client) {
    ib_user_mad_reg_req2 r{};
    r.qpn = 1;
    r.mgmt_class = 0x03;
    r.mgmt_class_version = 2;
    r.rmpp_version = 1;
    r.flags = IB_USER_MAD_USER_RMPP;
    REQUIRE(client.add2(r) == 0);
    return static_cast<int>(r.id);
}

} // namespace

TEST_CASE("agents of a virtual MAD device register as in the kernel") {
    two_ports w;
    program p(w.near), q(w.near);
    CHECK(p.add(0x04, 1, 0, 0, 0, 2) == -EINVAL); // this QP does not exist
    CHECK(p.add(0x50, 1) == -EINVAL);
    CHECK(p.add(0x82, 1) == -EINVAL);
    CHECK(p.add(0x04, 0x83) == -EINVAL);
    CHECK(p.add(0x03, 2, 0, 2) == -EINVAL);
    CHECK(p.add(0x04, 1, 0, 1) == -EINVAL);       // a class without RMPP
    CHECK(p.add(0x30, 1) == -EINVAL);             // an OUI is required
    CHECK(p.add(0x01, 1) == -EINVAL);             // SMPs belong to QP0
    CHECK(p.add(0x04, 1, 0, 0, 0, 0) == -EINVAL); // only SMPs belong to QP0
    CHECK(p.add(0x01, 1, 0, 0, 0, 0) == 0);
    CHECK(p.add(0x81, 1, 0, 0, 0, 0) == 1);
    CHECK(p.add(0x00, 0) == 2); // responses of any class
    CHECK(p.add(0x30, 1, 1u << get, 0, 0x001405) == 3);
    CHECK(p.file->ioctl(IB_USER_MAD_ENABLE_PKEY, nullptr) == EINVAL); // too late

    CHECK(p.add(0x0a, 1, 1u << get) == 4);
    CHECK(q.add(0x0a, 1, 1u << get) == -EINVAL); // another agent has the method
    CHECK(q.add(0x0a, 2, 1u << get) == 0);
    CHECK(q.add(0x0a, 1, 1u << get_table) == 1);
    u32 id = 4;
    CHECK(p.file->ioctl(IB_USER_MAD_UNREGISTER_AGENT, &id) == 0);
    CHECK(p.file->ioctl(IB_USER_MAD_UNREGISTER_AGENT, &id) == EINVAL);
    CHECK(q.add(0x0a, 1, 1u << get) == 2);
    id = 99;
    CHECK(p.file->ioctl(IB_USER_MAD_UNREGISTER_AGENT, &id) == EINVAL);
    CHECK(p.file->ioctl(_IO(IB_IOCTL_MAGIC, 99), nullptr) == ENOTTY);

    for (int n = 4; n < 32; ++n) CHECK(p.add(0x04, 1) == n);
    CHECK(p.add(0x04, 1) == -ENOMEM);
    id = 7;
    CHECK(p.file->ioctl(IB_USER_MAD_UNREGISTER_AGENT, &id) == 0);
    CHECK(p.add(0x04, 1) == 7); // the lowest free number
}

TEST_CASE("the second registration ioctl rejects unknown flags and too large OUIs") {
    two_ports w;
    program p(w.near);
    ib_user_mad_reg_req2 r{};
    r.qpn = 1;
    r.mgmt_class = 0x03;
    r.mgmt_class_version = 2;
    r.flags = 6;
    CHECK(p.add2(r) == EINVAL);
    CHECK(r.flags == IB_USER_MAD_USER_RMPP); // the flags that it supports
    r.mgmt_class = 0x00;
    CHECK(p.add2(r) == EINVAL); // RMPP is not possible
    r.mgmt_class = 0x30;
    r.flags = 0;
    r.oui = 0x1000000;
    CHECK(p.add2(r) == EINVAL);
    r.oui = 0x001405;
    CHECK(p.add2(r) == 0);
    CHECK(r.id == 0);
}

TEST_CASE("a packet without P_Key indices has the header of older programs") {
    two_ports w;
    std::unique_ptr<kernel_port::file> file = w.near.open();
    ib_user_mad_reg_req r{};
    r.qpn = 1;
    r.mgmt_class = 0x04;
    r.mgmt_class_version = 1;
    REQUIRE(file->ioctl(IB_USER_MAD_REGISTER_AGENT, &r) == 0);
    packet p(56 + 36);
    p[56] = 1, p[57] = 4, p[58] = 1, p[59] = get;
    p[8] = 1; // timeout_ms
    CHECK(file->write(std::span(p).first(91)) == -EINVAL);
    CHECK(file->write(p) == 92);
    w.run(2ms);
    packet report(320);
    CHECK(file->read(report) == 56 + 24);
    CHECK(file->read(std::span(report).first(55)) == -EINVAL);
}

TEST_CASE("a virtual MAD device rejects reads and writes with the errors of the kernel") {
    two_ports w;
    program p(w.near);
    REQUIRE(p.add(0x04, 1) == 0);
    REQUIRE(p.add(0x03, 2, 0, 1) == 1);
    CHECK(p.send(0, 2, make_mad(0x04, 1, get, 1, 35)) == -EINVAL);
    CHECK(p.send(0, 2, make_mad(0x04, 1, get, 1, 36)) == 64 + 36);
    CHECK(p.send(0, 2, make_mad(0x04, 1, get, 1, 257)) == -EINVAL);
    CHECK(p.send(32, 2, make_mad(0x04, 1, get)) == -EINVAL);
    CHECK(p.send(5, 2, make_mad(0x04, 1, get)) == -EIO);
    CHECK(p.send(1, 2, make_mad(0x04, 1, get)) == -EINVAL); // an agent with RMPP for a class without it
    CHECK(p.send(0, 2, make_mad(0x0a, 1, get)) == 64 + 256);
    CHECK(p.send(1, 2, make_table(get_table, 1000), 100) == 64 + 56 + 1000);
    CHECK(p.send(0, 2, make_table(get_table, 1000)) == -EINVAL); // an agent without RMPP

    packet buffer(320);
    CHECK(p.file->read(std::span(buffer).first(63)) == -EINVAL);
    CHECK(p.file->read(buffer) == -EAGAIN);
    CHECK_FALSE(p.file->is_readable());
}

TEST_CASE("SMPs leave through the port of their device with the initial hop pointer") {
    two_ports w;
    kernel_port port({&w.near_end, 1});
    program p(port);
    REQUIRE(p.add(0x81, 1, 0, 0, 0, 0) == 0);
    packet m = make_mad(0x81, 1, get);
    iba::put<&iba::smp::FormatDirected::drSLID>(m.data(), iba::permissive_lid);
    iba::put<&iba::smp::FormatDirected::drDLID>(m.data(), iba::permissive_lid);
    m[7] = 1;   // hop count
    m[129] = 1; // the port of the first hop
    CHECK(p.send(0, 0xffff, m) == 320);
    m[129] = 2;
    CHECK(p.send(0, 0xffff, m) == -EINVAL);
    // The device does not check the port of the switch at which a LID-routed part ends.
    iba::put<&iba::smp::FormatDirected::drSLID>(m.data(), iba::lid{7});
    mad::set_low_tid(m.data(), 99);
    CHECK(p.send(0, 9, m) == 320);
    iba::put<&iba::smp::FormatDirected::drSLID>(m.data(), iba::permissive_lid);
    m[129] = 1, m[7] = 64;
    CHECK(p.send(0, 0xffff, m) == -EINVAL);
    m[7] = 3, m[6] = 1;
    CHECK(p.send(0, 0xffff, m) == -EINVAL);
}

TEST_CASE("a request goes to the agent that registered its class, and the reply to the requesting agent") {
    two_ports w;
    program client(w.near), other(w.near), server(w.far);
    REQUIRE(other.add(0x04, 1) == 0);
    REQUIRE(client.add(0x30, 1, 0, 0, 0x001405) == 0);
    REQUIRE(client.add(0x04, 1) == 1);
    REQUIRE(server.add(0x04, 1, 1u << get) == 0);
    CHECK(client.send(1, 2, make_mad(0x04, 1, get, 77), 100) == 320);
    w.run(1ms);
    const packet requested = server.read();
    REQUIRE(requested.size() == 320);
    const ib_user_mad_hdr h = header_of(requested);
    CHECK(h.length == 320);
    CHECK(h.status == 0);
    CHECK(h.id == 0);
    CHECK(be32toh(h.qpn) == 1);
    CHECK(h.qkey == 0);
    CHECK(be16toh(h.lid) == 1);
    const packet request = mad_of(requested);
    CHECK(tid_of(request) >> 32 != 0); // the number of the agent
    CHECK(static_cast<u32>(tid_of(request)) == 77);

    packet answer = request;
    answer[3] = get_resp;
    answer[100] = 0x5a;
    CHECK(server.send(0, 1, answer) == 320);
    CHECK(server.send(0, 1, answer) == 320); // duplicate: it is not delivered
    packet lost = answer;
    mad::set_low_tid(lost.data(), 78); // a reply without a request
    CHECK(server.send(0, 1, lost) == 320);
    w.run(1ms);
    const packet got = client.read();
    REQUIRE(got.size() == 320);
    CHECK(header_of(got).id == 1);
    CHECK(mad_of(got) == answer);
    CHECK(client.read().empty());
    CHECK(other.read().empty());
    CHECK(w.near.counters().dropped == 2);
    w.run(200ms);
    CHECK(client.read().empty()); // no report for an answered request
}

TEST_CASE("an agent of class 0 receives replies of any class") {
    two_ports w;
    program client(w.near), server(w.far);
    REQUIRE(client.add(0, 0) == 0);
    REQUIRE(server.add(0x04, 1, 1u << get) == 0);
    REQUIRE(client.send(0, 2, make_mad(0x04, 1, get), 100) == 320);
    w.run(1ms);
    packet answer = mad_of(server.read());
    answer[3] = get_resp;
    REQUIRE(server.send(0, 1, answer) == 320);
    w.run(1ms);
    CHECK(client.read().size() == 320);
}

TEST_CASE("an unanswered request is sent as often as its header specifies and reported once") {
    struct sample {
        u32 timeout_ms, retries;
        mad::duration least, most;
    };
    const sample s = GENERATE(sample{100, 0, 100ms, 104ms}, sample{100, 3, 400ms, 416ms}, sample{300, 2, 900ms, 960ms},
                              sample{1, 0, 1ms, 7ms});
    two_ports w;
    program client(w.near), server(w.far);
    REQUIRE(client.add(0x04, 1) == 0);
    REQUIRE(server.add(0x04, 1, 1u << get) == 0);
    const packet request = make_mad(0x04, 1, get, 9);
    REQUIRE(client.send(0, 2, request, s.timeout_ms, s.retries) == 320);
    w.run(s.least - 1us);
    CHECK(client.read().empty());
    w.run(s.most - s.least + 1us);
    const packet report = client.read();
    REQUIRE(report.size() == 88);
    const ib_user_mad_hdr h = header_of(report);
    CHECK(h.status == ETIMEDOUT);
    CHECK(h.id == 0);
    CHECK(h.timeout_ms == s.timeout_ms);
    CHECK(h.retries == s.retries);
    CHECK(be32toh(h.qpn) == 1);
    CHECK(h.length == 0);
    packet reported = mad_of(report);
    CHECK(tid_of(reported) >> 32 != 0);
    iba::put<&iba::MADHeader::transactionID>(reported.data(), 9);
    CHECK(std::equal(reported.begin(), reported.end(), request.begin()));
    unsigned copies = 0;
    packet copy;
    for (packet next; !(next = server.read()).empty(); ++copies) copy = mad_of(next);
    CHECK(copies == s.retries + 1);

    copy[3] = get_resp; // too late
    REQUIRE(server.send(0, 1, copy) == 320);
    w.run(10s);
    CHECK(client.read().empty());
}

TEST_CASE("a request without a timeout is sent once, and neither its reply nor its loss is reported") {
    two_ports w;
    program client(w.near), server(w.far);
    REQUIRE(client.add(0x04, 1) == 0);
    REQUIRE(server.add(0x04, 1, 1u << get) == 0);
    REQUIRE(client.send(0, 2, make_mad(0x04, 1, get), 0, 5) == 320);
    w.run(10s);
    packet answer = mad_of(server.read());
    CHECK(server.read().empty());
    answer[3] = get_resp;
    REQUIRE(server.send(0, 1, answer) == 320);
    w.run(10s);
    CHECK(client.read().empty());
}

TEST_CASE("a transaction ID belongs to its agent while in use") {
    two_ports w;
    program p(w.near);
    REQUIRE(p.add(0x04, 1) == 0);
    REQUIRE(p.add(0x04, 1) == 1);
    CHECK(p.send(0, 2, make_mad(0x04, 1, get, 5), 10) == 320);
    CHECK(p.send(0, 2, make_mad(0x04, 1, get, 5), 10) == -EINVAL);
    CHECK(p.send(0, 3, make_mad(0x04, 1, get, 5), 10) == -EINVAL); // to any LID
    CHECK(p.send(1, 2, make_mad(0x04, 1, get, 5), 10) == 320);
    w.run(20ms);
    CHECK(p.send(0, 2, make_mad(0x04, 1, get, 5), 10) == 320);
}

TEST_CASE("each of a thousand requests in flight is reported, except those of a closed device") {
    two_ports w;
    program p(w.near);
    REQUIRE(p.add(0x04, 1) == 0);
    for (u32 tid = 1; tid <= 1000; ++tid) REQUIRE(p.send(0, 2, make_mad(0x04, 1, get, tid), 100) == 320);
    CHECK(w.near.counters().most_outstanding == 1000);
    w.run(200ms);
    unsigned reports = 0;
    while (!p.read().empty()) ++reports;
    CHECK(reports == 1000);

    REQUIRE(p.send(0, 2, make_mad(0x04, 1, get), 100) == 320);
    u32 id = 0;
    REQUIRE(p.file->ioctl(IB_USER_MAD_UNREGISTER_AGENT, &id) == 0);
    w.run(200ms);
    CHECK(p.read().empty());
}

TEST_CASE("the kernel itself rejects a Get that no agent serves") {
    two_ports w;
    program client(w.near);
    REQUIRE(client.add(0x0a, 1) == 0);
    REQUIRE(client.send(0, 2, make_mad(0x0a, 1, get), 100) == 320);
    REQUIRE(client.send(0, 2, make_mad(0x0a, 1, get_table, 2), 100) == 320); // GetTable without an agent is dropped
    w.run(1ms);
    const packet answer = client.read();
    REQUIRE(answer.size() == 320);
    CHECK(mad_of(answer)[3] == get_resp);
    CHECK(mad::status_of(mad_of(answer).data()) == 0x0c);
    CHECK(client.read().empty());
}

TEST_CASE("a message of any length travels both ways by kernel RMPP") {
    const std::size_t size = GENERATE(0, 1, 199, 200, 201, 12345, 1u << 20);
    const faults f = GENERATE(faults{}, faults{.loss = 0.02, .twice = 0.02, .late = 0.05});
    if (size > 100'000 && f.loss > 0) return; // the same case, but slow
    two_ports w(f, 3);
    program client(w.near), server(w.far);
    REQUIRE(client.add(0x03, 2, 0, 1) == 0);
    REQUIRE(server.serve_sa() == 0);
    packet requested;
    for (u32 tid = 1; requested.empty(); ++tid) { // without retries, the kernel sends a single MAD only once
        REQUIRE(client.send(0, 2, make_mad(0x03, 2, get_table, tid), 600'000) == 320);
        w.run(1ms);
        requested = server.read();
    }
    packet answer = make_table(get_table_resp, size);
    std::copy_n(mad_of(requested).begin() + 8, 8, answer.begin() + 8); // the transaction ID
    REQUIRE(server.send(0, 1, answer) == static_cast<std::ptrdiff_t>(64 + answer.size()));
    packet got;
    for (int seconds = 0; got.empty() && seconds < 300; ++seconds) {
        w.run(1s);
        got = client.read();
    }
    REQUIRE(got.size() == 64 + answer.size());
    CHECK(header_of(got).length == got.size());
    const packet message = mad_of(got);
    CHECK(std::equal(message.begin() + 56, message.end(), answer.begin() + 56));
    CHECK(message[25] == 1);                                 // DATA, the type of the first segment
    CHECK(message[26] == (size <= 200 ? 1 | 2 | 4 : 1 | 2)); // Active, First, Last
    const std::size_t segments =
        std::max<std::size_t>(1, (size + 199) / 200); // each segment counts 20 bytes of the SA header
    CHECK(iba::load_be<u32>(message.data() + 32) == size + 20 * segments);
    w.run(60s);
    CHECK(client.read().empty());
    CHECK(server.read().empty()); // everything was acknowledged: there is no report
}

TEST_CASE("a message that does not fit the buffer stays, and its first segment contains the length") {
    two_ports w;
    program client(w.near), server(w.far);
    REQUIRE(client.add(0x03, 2, 0, 1) == 0);
    REQUIRE(server.serve_sa() == 0);
    REQUIRE(client.send(0, 2, make_mad(0x03, 2, get_table), 10'000) == 320);
    w.run(1ms);
    packet answer = make_table(get_table_resp, 5000);
    std::copy_n(mad_of(server.read()).begin() + 8, 8, answer.begin() + 8);
    REQUIRE(server.send(0, 1, answer) > 0);
    w.run(100ms);
    packet small(319), usual(320);
    CHECK(client.file->read(small) == -EINVAL);
    CHECK(client.file->read(usual) == -ENOSPC);
    CHECK(header_of(usual).length == 64 + 56 + 5000);
    CHECK(std::equal(usual.begin() + 64 + 56, usual.end(), answer.begin() + 56));
    CHECK(client.read().size() == 64 + 56 + 5000);
}

TEST_CASE("a message without an ACK is reported with or without a timeout") {
    struct sample {
        u32 timeout_ms, retries;
        mad::duration least, most;
    };
    const sample s = GENERATE(sample{100, 2, 300ms, 320ms}, sample{0, 0, 2s, 2010ms}, sample{60'000, 1, 4s, 4010ms});
    two_ports w;
    program server(w.far);
    REQUIRE(server.serve_sa() == 0);
    const packet answer = make_table(get_table_resp, 1000);
    REQUIRE(server.send(0, 7, answer, s.timeout_ms, s.retries) > 0);
    CHECK(server.send(0, 7, answer, s.timeout_ms, s.retries) == -EINVAL); // it is in flight
    CHECK(server.send(0, 8, answer, s.timeout_ms, s.retries) > 0);        // to another LID it is another transfer
    w.run(s.least - 1us);
    CHECK(server.read().empty());
    w.run(s.most - s.least + 1us);
    const packet report = server.read();
    REQUIRE(report.size() == 88);
    CHECK(header_of(report).status == ETIMEDOUT);
}

TEST_CASE("an RMPP reply with a timeout waits for a reply to itself") {
    two_ports w;
    program client(w.near), server(w.far);
    REQUIRE(client.add(0x03, 2, 0, 1) == 0);
    REQUIRE(server.serve_sa() == 0);
    REQUIRE(client.send(0, 2, make_mad(0x03, 2, get_table), 10'000) == 320);
    w.run(1ms);
    packet answer = make_table(get_table_resp, 1000);
    std::copy_n(mad_of(server.read()).begin() + 8, 8, answer.begin() + 8);
    REQUIRE(server.send(0, 1, answer, 500) > 0);
    w.run(400ms);
    CHECK(client.read().size() == 64 + 56 + 1000);
    CHECK(server.read().empty());
    w.run(200ms);
    CHECK(server.read().size() == 88);
}

TEST_CASE("an agent with user-space RMPP receives every segment") {
    two_ports w;
    program client(w.near), server(w.far);
    const int agent = add_user_rmpp(client);
    REQUIRE(server.serve_sa() == 0);
    REQUIRE(client.send(agent, 2, make_mad(0x03, 2, get_table), 10'000) == 320);
    w.run(1ms);
    packet answer = make_table(get_table_resp, 8000);
    std::copy_n(mad_of(server.read()).begin() + 8, 8, answer.begin() + 8);
    REQUIRE(server.send(0, 1, answer) > 0);
    packet data;
    for (u32 segment = 1; segment <= 40; ++segment) {
        w.run(100us);
        const packet got = client.read();
        REQUIRE(got.size() == 320);
        const packet m = mad_of(got);
        REQUIRE(iba::load_be<u32>(m.data() + 28) == segment);
        data.insert(data.end(), m.begin() + 56, m.end());
        packet ack = m; // acknowledges each segment, with a window for the next
        ack[3] = get_table;
        ack[25] = 2;
        ack[26] = 1;
        iba::store_be<u32>(ack.data() + 32, segment + 1);
        REQUIRE(client.send(agent, 2, ack) == 320);
    }
    CHECK(std::equal(data.begin(), data.end(), answer.begin() + 56));
    w.run(10s);
    CHECK(server.read().empty());
}

namespace {

/// A port of the embedded simulator as a device.
struct simulated {
    explicit simulated(const std::string& specification)
        : simulation(transports::sim::make_sim(specification, transports::sim::time_mode::virtual_)) {
        simulation.place->serve_next_to_sma();
    }
    void run(mad::duration time) {
        for (const mad::time_point end = now + time; now < end;) {
            now = std::clamp(port.next_event().value_or(end), now + mad::duration(1), end);
            port.set_now(now);
        }
    }

    transports::sim::simulation simulation;
    transports::vumad::single_mads carrier{*simulation.place};
    kernel_port port{{.carrier = &carrier,
                      .port = 1,
                      .unserve = [this](const mad::registration& r) { simulation.place->unserve(r); },
                      .set_is_sm = [this](bool is_sm) { simulation.place->set_is_sm(is_sm); }}};
    mad::time_point now{};
};

u32 capability_mask(simulated& s, program& p, int agent) {
    packet m = make_mad(0x81, 1, get, 1000);
    iba::put<&iba::MADHeader::attributeID>(m.data(), iba::attribute_id<iba::smp::PortInfo>);
    iba::put<&iba::smp::FormatDirected::drSLID>(m.data(), iba::permissive_lid);
    iba::put<&iba::smp::FormatDirected::drDLID>(m.data(), iba::permissive_lid);
    REQUIRE(p.send(agent, 0xffff, m, 100) == 320);
    s.run(1ms);
    const packet answer = mad_of(p.read());
    return iba::decode<iba::smp::PortInfo>(std::span<const u8, 64>(answer.data() + 64, 64)).capabilityMask;
}

} // namespace

namespace {

/// Returns a segment of a GetTable request, which uses RMPP itself.
packet request_segment(u32 number, bool is_last, u32 payload_length) {
    packet m = make_mad(0x03, 2, get_table);
    m[24] = 1;                                                              // RMPPVersion
    m[25] = 1;                                                              // DATA
    m[26] = static_cast<u8>(1 | (number == 1 ? 2 : 0) | (is_last ? 4 : 0)); // Active, First, Last
    iba::store_be<u32>(m.data() + 28, number);
    iba::store_be<u32>(m.data() + 32, payload_length);
    for (std::size_t i = 56; i < m.size(); ++i) m[i] = static_cast<u8>(number);
    return m;
}

} // namespace

TEST_CASE("the kernel ends the reception of a message with missing segments") {
    two_ports w;
    program client(w.near), server(w.far);
    const int agent = add_user_rmpp(client);
    REQUIRE(server.serve_sa() == 0);
    REQUIRE(client.send(agent, 2, request_segment(1, false, 440)) == 320);
    w.run(1ms);
    REQUIRE(w.far.next_event());
    mad::time_point last{};
    for (unsigned events = 0; events < 20 && w.far.next_event(); ++events) {
        last = std::max(last, *w.far.next_event());
        w.far.set_now(last);
    }
    CHECK_FALSE(w.far.next_event());
    CHECK(w.far.counters().dropped == 1);
    CHECK(last.time_since_epoch() >= 12s); // six times the two seconds that RMPP waits for a segment
    CHECK(last.time_since_epoch() < 5min);
    CHECK(server.read().empty());
}

namespace {

/// A transport that records what is sent.
class recording final : public mad::transport {
public:
    int native_handle() const noexcept override { return -1; }
    mad::send_result send(const mad::send_request& r) noexcept override {
        sent.emplace_back(r.mad, r.mad + r.size);
        return {};
    }
    mad::received receive(std::span<u8>) noexcept override { return {}; }
    mad::transport_limits limits() const noexcept override { return {}; }
    std::optional<mad::time_point> next_event() const noexcept override { return std::nullopt; }
    void set_now(mad::time_point) noexcept override {}

    std::vector<packet> sent;
};

} // namespace

TEST_CASE("segments of a request are acknowledged at once, and the request leaves whole after the last one") {
    recording inner;
    transports::vumad::single_mads carrier(inner);
    const mad::any_path to = mad::IBPath{};
    const auto send = [&](packet bytes) {
        mad::send_request request{};
        request.path = &to;
        request.mad = bytes.data();
        request.size = bytes.size();
        return carrier.send(request).state;
    };
    packet buffer(1024);
    const auto received_type = [&] { // type of RMPP: 2 is ACK; 0: nothing has arrived
        const mad::received r = carrier.receive(buffer);
        return r.state == mad::receive_state::message ? unsigned{r.mad[25]} : 0u;
    };
    CHECK(send(request_segment(1, false, 440)) == mad::send_state::sent);
    CHECK(inner.sent.empty());
    CHECK(received_type() == 2);
    CHECK(received_type() == 0);
    CHECK(send(request_segment(2, true, 220)) == mad::send_state::sent);
    REQUIRE(inner.sent.size() == 1);
    CHECK(inner.sent[0].size() == 56 + 2 * 200);
    CHECK(inner.sent[0][56] == 1);
    CHECK(inner.sent[0][56 + 200] == 2);
    CHECK(received_type() == 2);
}

TEST_CASE("tables of the simulated SA arrive whole in segments without remainders") {
    simulated s("fattree2,radix=8,sm=1");
    program p(s.port);
    REQUIRE(p.add(0x03, 2, 0, 1) == 0);
    const auto& graph = s.simulation.fabric->graph();
    packet m = make_mad(0x03, 2, get_table);
    iba::put<&iba::MADHeader::attributeID>(m.data(), iba::attribute_id<iba::sa::NodeRecord>);
    for (u32 tid = 1; tid <= 3; ++tid) {
        mad::set_low_tid(m.data(), tid);
        REQUIRE(p.send(0, value(graph.sm_lid), m, 1000) == 320);
        s.run(100ms);
        const packet got = p.read();
        REQUIRE(got.size() > 64 + 256);
        const std::size_t stride = 8 * iba::load_be<u16>(got.data() + 64 + 44); // attributeOffset
        REQUIRE(stride >= 108);
        CHECK(got.size() == 64 + 56 + graph.nodes.size() * stride);
        CHECK(p.read().empty());
    }
    s.run(20s);
    CHECK(s.carrier.transfers() == 0);
    CHECK(s.port.counters().timed_out == 0);
}

TEST_CASE("a manager on the virtual device serves its port, and the SMA keeps running") {
    simulated s("single,sm=1");
    program manager(s.port), tool(s.port);
    REQUIRE(manager.add(0x81, 1, 1u << get | 1u << 2, 0, 0, 0) == 0);
    REQUIRE(tool.add(0x81, 1, 0, 0, 0, 0) == 0);
    constexpr u32 is_sm = 1u << 1;

    // The SMA replies to its own attributes. SMInfo belongs to the manager.
    capability_mask(s, tool, 0);
    CHECK(manager.read().empty());
    packet m = make_mad(0x81, 1, get);
    iba::put<&iba::MADHeader::attributeID>(m.data(), iba::attribute_id<iba::smp::SMInfo>);
    iba::put<&iba::smp::FormatDirected::drSLID>(m.data(), iba::permissive_lid);
    iba::put<&iba::smp::FormatDirected::drDLID>(m.data(), iba::permissive_lid);
    REQUIRE(tool.send(0, 0xffff, m, 100) == 320);
    s.run(1ms);
    packet requested = mad_of(manager.read());
    REQUIRE(requested.size() == 256);
    requested[3] = get_resp;
    requested[4] = 0x80; // D
    requested[6] = 1;    // hop pointer
    requested[64] = 0x77;
    REQUIRE(manager.send(0, 0xffff, requested) == 320);
    s.run(1ms);
    const packet answer = tool.read();
    REQUIRE(answer.size() == 320);
    CHECK(mad_of(answer)[64] == 0x77);

    // Without the agent, the simulated SMA replies again.
    u32 id = 0;
    REQUIRE(manager.file->ioctl(IB_USER_MAD_UNREGISTER_AGENT, &id) == 0);
    mad::set_low_tid(m.data(), 2);
    REQUIRE(tool.send(0, 0xffff, m, 100) == 320);
    s.run(1ms);
    CHECK(tool.read().size() == 320);

    simulated without_manager("single");
    program there(without_manager.port);
    REQUIRE(there.add(0x81, 1, 0, 0, 0, 0) == 0);
    CHECK((capability_mask(without_manager, there, 0) & is_sm) == 0);
    CHECK(without_manager.port.claim_sm());
    CHECK_FALSE(without_manager.port.claim_sm());
    CHECK((capability_mask(without_manager, there, 0) & is_sm) != 0);
    without_manager.port.give_up_sm();
    CHECK((capability_mask(without_manager, there, 0) & is_sm) == 0);
}

TEST_CASE("a server on the virtual device receives the headers of Linux, whatever Q_Key was written") {
    const auto what =
        GENERATE(test::request_kind::by_ports, test::request_kind::by_lid, test::request_kind::of_other_port);
    simulated s("single,sm=1,at=h-0002 HCA-1");
    program server(s.port);
    REQUIRE(server.add(0x81, 1, 1u << get, 0, 0, 0) == 0);
    REQUIRE(server.add(0x01, 1, 1u << get, 0, 0, 0) == 1);
    REQUIRE(server.add(0x04, 1, 1u << get) == 2);
    transports::sim::fabric& fabric = *s.simulation.fabric;
    transports::sim::sim_transport other(fabric, 0, 1, transports::sim::time_mode::virtual_);
    transports::vumad::single_mads others_carrier(other);
    kernel_port others_port({.carrier = &others_carrier, .port = 1});
    program client(others_port);
    const auto sent = test::bytes_of(what);
    const bool is_smp = what != test::request_kind::of_other_port;
    REQUIRE(client.add(sent[1], 1, 0, 0, 0, is_smp ? 0 : 1) == 0);
    const iba::lid here = fabric.graph().nodes[1].ports[1].LID, there = fabric.graph().nodes[0].ports[1].LID;
    ib_user_mad_hdr h{};
    h.lid = what == test::request_kind::by_ports ? 0xffff : htobe16(value(here));
    h.qpn = htobe32(is_smp ? 0 : 1);
    h.qkey = htobe32(7);
    h.sl = what == test::request_kind::by_ports ? 0 : test::requested_sl;
    packet p(header_size);
    std::memcpy(p.data(), &h, sizeof h);
    p.insert(p.end(), sent.begin(), sent.end());
    REQUIRE(client.file->write(p) == 320);
    s.run(1ms);

    const packet came = server.read();
    REQUIRE(came.size() == 320);
    const ib_user_mad_hdr got = header_of(came);
    CHECK(got.length == 320);
    CHECK(got.status == 0);
    CHECK(got.qkey == 0);
    mad::source_address from;
    from.SLID = iba::lid{be16toh(got.lid)};
    from.SL = got.sl;
    from.path_bits = got.path_bits;
    from.pkey_index = got.pkey_index;
    from.sqpn = be32toh(got.qpn);
    from.has_grh = got.grh_present != 0;
    CHECK(test::differences(test::fields_of(from, mad_of(came)), test::expected_of(what, there)) == "");
}

TEST_CASE("a program on the virtual device selects its P_Key by index and reads the index of received MADs") {
    simulated s("single,sm=1");
    transports::sim::fabric& fabric = *s.simulation.fabric;
    program client(s.port);
    REQUIRE(client.add(0x81, 1, 0, 0, 0, 0) == 0);
    REQUIRE(client.add(0x04, 1) == 1);
    const auto set_pkeys = [&](u8 hops, std::initializer_list<u16> pkeys) {
        packet m = make_mad(0x81, 1, 2, 500u + hops);
        iba::put<&iba::MADHeader::attributeID>(m.data(), iba::attribute_id<iba::smp::PKeyTable>);
        iba::put<&iba::smp::FormatDirected::drSLID>(m.data(), iba::permissive_lid);
        iba::put<&iba::smp::FormatDirected::drDLID>(m.data(), iba::permissive_lid);
        m[7] = hops, m[129] = 1;
        std::size_t at = 64;
        for (const u16 pkey : pkeys) iba::store_be<u16>(m.data() + std::exchange(at, at + 2), pkey);
        REQUIRE(client.send(0, 0xffff, m, 100) == 320);
        s.run(1ms);
        REQUIRE(header_of(client.read()).status == 0);
    };
    set_pkeys(1, {0x7fff, 0x8001});
    set_pkeys(0, {0x7fff, 0x8001, 0x0003});
    const u16 LID = value(fabric.graph().nodes[1].ports[1].LID);
    const auto requested_with = [&](u16 index, u32 tid) {
        packet m = make_mad(0x04, 1, get, tid);
        iba::put<&iba::MADHeader::attributeID>(m.data(), 1);
        ib_user_mad_hdr h{};
        h.id = 1;
        h.timeout_ms = 10;
        h.qpn = htobe32(1);
        h.lid = htobe16(LID);
        h.pkey_index = index;
        packet p(header_size);
        std::memcpy(p.data(), &h, sizeof h);
        p.insert(p.end(), m.begin(), m.end());
        REQUIRE(client.file->write(p) == 320);
        s.run(20ms);
        return header_of(client.read());
    };
    CHECK(requested_with(0, 1).status == ETIMEDOUT); // two limited members
    CHECK(requested_with(1, 2).status == 0);
    CHECK(requested_with(1, 3).pkey_index == 1);
    CHECK(requested_with(2, 4).status == ETIMEDOUT); // not in the table of the other port
    CHECK(requested_with(3, 5).status == ETIMEDOUT); // not in its own table either
    CHECK(fabric.counters().refused == 2);
}

TEST_CASE("the virtual device rejects the SMPs that the SMI of Linux rejects") {
    // The rules of smi_handle_dr_smp_send() for port 2 of a channel adapter.
    struct row {
        u8 D, pointer, count, initial, back;
        u16 drSLID, drDLID;
        bool is_sent;
    };
    const auto r = GENERATE(values<row>({
        {0, 0, 1, 2, 0, 0xffff, 0xffff, true},
        {0, 0, 1, 1, 0, 0xffff, 0xffff, false},
        {0, 0, 0, 0, 0, 0xffff, 0xffff, true},
        {0, 1, 2, 2, 0, 0xffff, 0xffff, false},
        {0, 1, 1, 2, 0, 0xffff, 0xffff, true},
        {0, 1, 1, 2, 0, 0xffff, 7, false},
        {0, 2, 1, 2, 0, 0xffff, 7, true},
        {0, 3, 1, 2, 0, 0xffff, 0xffff, false},
        {0, 0, 1, 1, 0, 7, 0xffff, true},
        {1, 2, 1, 0, 2, 0xffff, 0xffff, true},
        {1, 2, 1, 0, 1, 0xffff, 0xffff, false},
        {1, 2, 2, 0, 2, 0xffff, 0xffff, false},
        {1, 1, 1, 0, 2, 0xffff, 0xffff, true},
        {1, 1, 1, 0, 2, 7, 0xffff, false},
        {1, 0, 1, 0, 1, 0xffff, 0xffff, true},
        {1, 3, 1, 0, 2, 0xffff, 0xffff, false},
        {1, 2, 1, 0, 1, 0xffff, 7, true},
    }));
    CAPTURE(r.D, r.pointer, r.count, r.initial, r.back, r.drSLID, r.drDLID);
    two_ports w;
    kernel_port port({&w.near_end, 2});
    program p(port);
    REQUIRE(p.add(0x81, 1, 0, 0, 0, 0) == 0);
    packet m = make_mad(0x81, 1, r.D ? get_resp : get);
    m[4] = static_cast<u8>(r.D << 7), m[6] = r.pointer, m[7] = r.count, m[129] = r.initial, m[192 + r.count] = r.back;
    iba::put<&iba::smp::FormatDirected::drSLID>(m.data(), iba::lid{r.drSLID});
    iba::put<&iba::smp::FormatDirected::drDLID>(m.data(), iba::lid{r.drDLID});
    CHECK(p.send(0, 0xffff, m) == (r.is_sent ? 320 : -EINVAL));
}

TEST_CASE("sysfs of a virtual device shows the values of its SMA in the format of the kernel") {
    simulated s("fattree2,radix=4,sm=1,loss=0.2");
    transports::vumad::local_port local(s.port);
    const transports::vumad::described_port described{"vib0", 1};
    char name[] = "/tmp/comad-vumad-XXXXXX";
    REQUIRE(::mkdtemp(name));
    const std::filesystem::path root = name;
    std::map<std::string, std::string> all;
    for (const auto& file : transports::vumad::sysfs_files({&described, 1})) {
        std::string text;
        const auto take = [&](const transports::vumad::local_attributes* a) {
            REQUIRE(a);
            text = file.text(*a);
        };
        if (file.what == 0) {
            const transports::vumad::local_attributes none;
            take(&none);
        } else {
            local.query_attributes(file.what, take);
            for (int i = 0; text.empty() && i < 100; ++i) {
                s.run(20ms);
                local.take_answers();
            }
        }
        all[file.path] = text;
        std::filesystem::create_directories((root / file.path).parent_path());
        std::ofstream(root / file.path) << text;
    }
    const std::string port = "infiniband/vib0/ports/1/";
    CHECK(all["infiniband_mad/abi_version"] == "5\n");
    CHECK(all["infiniband_mad/umad0/ibdev"] == "vib0\n");
    CHECK(all["infiniband_mad/issm0/port"] == "1\n");
    CHECK(all["infiniband/vib0/node_type"] == "1: CA\n");
    CHECK(all[port + "state"] == "4: ACTIVE\n");
    CHECK(all[port + "phys_state"] == "5: LinkUp\n");
    CHECK(all[port + "rate"] == "100 Gb/sec (4X EDR)\n");
    CHECK(all[port + "lid"] == "0x1\n");
    CHECK(all[port + "sm_lid"] == "0x1\n");
    CHECK(all[port + "link_layer"] == "InfiniBand\n");
    CHECK(all[port + "pkeys/0"] == "0xffff\n");
    CHECK(all[port + "pkeys/31"] == "0x0000\n");
    CHECK(all[port + "gids/0"].size() == 40);

    // A program that reads sysfs finds the ports.
    const auto found = transports::end_ports(root);
    std::filesystem::remove_all(root);
    REQUIRE(found.size() == 1);
    const auto& graph = s.simulation.fabric->graph();
    const auto& node = graph.nodes[s.simulation.place->node()];
    CHECK(found[0].umad == "umad0");
    CHECK(found[0].nodeGUID == node.nodeGUID);
    CHECK(found[0].portGUID == node.ports[1].GUID);
    CHECK(found[0].GIDPrefix == iba::link_local_prefix);
    CHECK(found[0].LID == node.ports[1].LID);
    CHECK(found[0].masterSMLID == graph.sm_lid);
    CHECK(found[0].portState == iba::PortState::Active);
    CHECK((found[0].capabilityMask & value(iba::CapabilityMask::IsSM)) != 0);
    CHECK(found[0].PKeys.at(0) == 0xffff);
}

// The texts of Linux (drivers/infiniband/core/sysfs.c, rate_show). Its drivers distinguish FDR10 from QDR by
// MlnxExtPortInfo.
TEST_CASE("the rate file of a virtual device has the width and speed of its link, including XDR and FDR10") {
    const std::pair<const char*, const char*> rates[] = {{"single,speed=FDR10", "40 Gb/sec (4X FDR10)\n"},
                                                         {"single,speed=FDR10,loss=0.3", "40 Gb/sec (4X FDR10)\n"},
                                                         {"single,speed=QDR", "40 Gb/sec (4X QDR)\n"},
                                                         {"single,speed=XDR", "800 Gb/sec (4X XDR)\n"},
                                                         {"single,speed=XDR,width=2x", "400 Gb/sec (2X XDR)\n"}};
    for (const auto& [specification, rate] : rates) {
        CAPTURE(specification);
        simulated s(specification);
        transports::vumad::local_port local(s.port);
        const transports::vumad::described_port described{"vib0", 1};
        std::string text;
        for (const auto& file : transports::vumad::sysfs_files({&described, 1})) {
            if (!file.path.ends_with("/rate")) continue;
            local.query_attributes(file.what, [&](const transports::vumad::local_attributes* a) {
                REQUIRE(a);
                text = file.text(*a);
            });
            for (int i = 0; text.empty() && i < 100; ++i) {
                s.run(20ms);
                local.take_answers();
            }
        }
        CHECK(text == rate);
    }
}

} // namespace vumad_test
