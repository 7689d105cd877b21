// SPDX-License-Identifier: MIT
// ibsim_test.cpp - the ibsim transport with a real ibsim, and with a fake server for behavior that a real one does not
// show.
#include "ibsim/ibsim_server.hpp"
#include "support/catch.hpp"
#include "support/exception_message.hpp"
#include "wire/delivered_request.hpp"
#include <comad/coro/driver.hpp>
#include <comad/coro/schedule.hpp>
#include <comad/iba/smp.hpp>
#include <comad/transports/ibsim.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <endian.h>
#include <memory>
#include <poll.h>
#include <set>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <vector>

using namespace comad;
using mad::unique_fd;
using transports::ibsim_options;
using transports::ibsim_transport;
using namespace std::chrono_literals;

namespace {

// Two hosts on a switch; the second port of host A and switch port 3 are not connected.
constexpr std::string_view small_fabric = R"(
switchguid=0x5000
Switch	4 "S"
[1]	"A"[1]
[2]	"B"[1]

caguid=0xa000
Hca	2 "A"
[1]	"S"[1]

caguid=0xb000
Hca	1 "B"
[1]	"S"[2]
)";

ibsim_options at(const std::string& sockname, std::string node = {}) {
    ibsim_options options;
    options.sockname = sockname;
    options.node = std::move(node);
    return options;
}

constexpr u8 attribute_NodeInfo = 0x11;

/// A directed-route SubnGet(NodeInfo) according to IBA 14.2.1.2, with the arguments for send().
class node_info_request {
public:
    explicit node_info_request(std::initializer_list<u8> ports, u32 tid = 1) {
        const mad::IBDRPath route{std::span(ports.begin(), ports.size())};
        path_ = route;
        u8* const mad = bytes_.data() + mad::headroom;
        mad[0] = 1;    // baseVersion
        mad[1] = 0x81; // mgmtClass: directed route
        mad[2] = 1;    // classVersion
        mad[3] = 1;    // method: Get
        mad[7] = route.hopCount;
        for (int i = 0; i < 4; ++i) mad[12 + i] = static_cast<u8>(tid >> (24 - 8 * i));
        mad[17] = attribute_NodeInfo;
        for (int i = 32; i < 36; ++i) mad[i] = 0xff; // DrSLID, DrDLID: permissive
        std::memcpy(mad + 128, route.drPath.data(), route.drPath.size());
    }
    mad::send_request operator()() {
        return {.path = &path_,
                .mad = bytes_.data() + mad::headroom,
                .size = mad::mad_size,
                .mgmt_class = 0x81,
                .class_version = 1,
                .expects_reply = true,
                .attempt_timeout = std::chrono::seconds(1),
                .operation_timeout = std::chrono::seconds(3)};
    }

private:
    mad::any_path path_;
    std::array<u8, mad::headroom + mad::mad_size> bytes_{};
};

using packet_buffer = std::array<u8, 1024>;

u32 low_tid(std::span<const u8> mad) {
    u32 tid = 0;
    for (int i = 12; i < 16; ++i) tid = tid << 8 | mad[i];
    return tid;
}
u64 node_guid(std::span<const u8> mad) {
    u64 guid = 0;
    for (int i = 64 + 12; i < 64 + 20; ++i) guid = guid << 8 | mad[i];
    return guid;
}

bool ready(const mad::transport& transport, short events, int timeout_ms) {
    pollfd event{transport.native_handle(), events, 0};
    return ::poll(&event, 1, timeout_ms) == 1 && (event.revents & events);
}
constexpr int long_ms = 20000; // only a failing test waits this long

/// Sends one message and waits for its reply.
mad::received exchange(ibsim_transport& transport, node_info_request request, packet_buffer& buffer) {
    REQUIRE(transport.send(request()).state == mad::send_state::sent);
    REQUIRE(ready(transport, POLLIN, long_ms));
    return transport.receive(buffer);
}

std::string attached(ibsim_server& server) { return server.console("Attached"); }

} // namespace

TEST_CASE("a directed-route NodeInfo query reaches every node and returns") {
    ibsim_server server(small_fabric);
    ibsim_transport transport(at(server.sockname(), "A"));
    CHECK(transport.node() == "A");
    packet_buffer buffer;

    struct {
        node_info_request request;
        u64 guid;
    } const cases[] = {{node_info_request({}, 7), 0xa000},
                       {node_info_request({1}, 8), 0x5000},
                       {node_info_request({1, 2}, 9), 0xb000}};
    u32 tid = 7;
    for (const auto& [request, guid] : cases) {
        const mad::received reply = exchange(transport, request, buffer);
        REQUIRE(reply.state == mad::receive_state::message);
        CHECK(reply.status == 0);
        REQUIRE(reply.mad.size() == mad::mad_size);
        CHECK(reply.full_size == mad::mad_size);
        CHECK(reply.mad[1] == 0x81);
        CHECK(reply.mad[3] == 0x81); // GetResp
        CHECK(low_tid(reply.mad) == tid++);
        CHECK(node_guid(reply.mad) == guid);
        CHECK(reply.source.SLID == iba::permissive_lid);
        CHECK(reply.source.sqpn == 0);
    }
    CHECK(transport.receive(buffer).state == mad::receive_state::would_block);
}

TEST_CASE("the first node of the topology is the local node without a node name") {
    ibsim_server server(small_fabric);
    ibsim_transport transport(at(server.sockname()));
    CHECK(transport.node() == "S");
    packet_buffer buffer;
    CHECK(node_guid(exchange(transport, node_info_request({}), buffer).mad) == 0x5000);
}

TEST_CASE("a request over a route that leads nowhere returns at once with status 110") {
    ibsim_server server(small_fabric);
    ibsim_transport transport(at(server.sockname(), "A"));
    packet_buffer buffer;
    const mad::received reply = exchange(transport, node_info_request({1, 3}, 0x1234), buffer);
    REQUIRE(reply.state == mad::receive_state::message);
    CHECK(reply.status == ETIMEDOUT);
    REQUIRE(reply.mad.size() >= 24);
    CHECK(low_tid(reply.mad) == 0x1234);
}

TEST_CASE("setting IsSM on ibsim changes PortInfo and loses no packet that arrives meanwhile") {
    ibsim_server server(small_fabric);
    ibsim_transport transport(at(server.sockname(), "A"));
    packet_buffer buffer;
    const auto is_sm = [&] {
        const auto bytes = transport.port_info();
        return (iba::decode<iba::smp::PortInfo>(std::span<const u8, 64>(bytes)).capabilityMask & 2) != 0;
    };
    CHECK_FALSE(is_sm());
    for (u32 tid = 1; tid <= 3; ++tid) {
        REQUIRE(transport.send(node_info_request({1}, tid)()).state == mad::send_state::sent);
        REQUIRE(ready(transport, POLLIN, long_ms));
    }
    CHECK(transport.set_is_sm(true) == 0);
    CHECK(is_sm());
    for (u32 tid = 1; tid <= 3; ++tid) {
        const bool is_reported = transport.next_event().has_value() || ready(transport, POLLIN, long_ms);
        REQUIRE(is_reported);
        const mad::received reply = transport.receive(buffer);
        REQUIRE(reply.state == mad::receive_state::message);
        CHECK(low_tid(reply.mad) == tid);
        CHECK(reply.mad.size() == mad::mad_size);
    }
    CHECK(transport.receive(buffer).state == mad::receive_state::would_block);
    CHECK_FALSE(transport.next_event().has_value());
    CHECK(transport.set_is_sm(false) == 0);
    CHECK_FALSE(is_sm());
}

// ibsim keeps the hop pointer of the sender, and accepts only replies with this value. It also writes the port of
// arrival before the return path.
TEST_CASE("a subnet manager on ibsim receives directed-route SMInfo with the headers of Linux except two fields") {
    ibsim_server server("Hca 1 \"A\"\n[1] \"B\"[1]\n\nHca 1 \"B\"\n[1] \"A\"[1]\n");
    ibsim_transport manager(at(server.sockname(), "A")), requester(at(server.sockname(), "B"));
    REQUIRE(manager.set_is_sm(true) == 0);
    const mad::any_path path = test::path_of(test::request_kind::by_ports, {});
    std::array<u8, mad::headroom + mad::mad_size> packet{};
    const auto bytes = test::bytes_of(test::request_kind::by_ports);
    std::copy(bytes.begin(), bytes.end(), packet.begin() + mad::headroom);
    const mad::duration second{1'000'000'000};
    REQUIRE(
        requester.send({&path, packet.data() + mad::headroom, mad::mad_size, 0x81, 1, true, second, second}).state ==
        mad::send_state::sent);
    REQUIRE(ready(manager, POLLIN, long_ms));
    packet_buffer buffer;
    const mad::received r = manager.receive(buffer);
    REQUIRE(r.state == mad::receive_state::message);
    const auto got = test::fields_of(r.source, r.mad);
    const auto expected = test::expected_of(test::request_kind::by_ports, {});
    CHECK(test::differences(got, expected, {"HopPointer", "ReturnPath 0"}) == "");
    CHECK(got.at("HopPointer") == 0);
    CHECK(got.at("ReturnPath 0") == 1);
}

TEST_CASE("a link that was cut on the console is cut when the console has replied") {
    ibsim_server server(small_fabric);
    ibsim_transport transport(at(server.sockname(), "A"));
    packet_buffer buffer;
    CHECK(exchange(transport, node_info_request({1, 2}), buffer).status == 0);
    CHECK(server.console(R"(Unlink "S"[2])").empty());
    CHECK(exchange(transport, node_info_request({1, 2}), buffer).status == ETIMEDOUT);
    CHECK(server.console(R"(ReLink "S"[2])").empty());
    CHECK(exchange(transport, node_info_request({1, 2}), buffer).status == 0);
}

TEST_CASE("a full socket queue is not an error, and 256 requests are sent as the socket becomes writable") {
    ibsim_server server(small_fabric);
    ibsim_transport transport(at(server.sockname(), "A"));
    constexpr u32 window = 256;

    // While the server is stopped, its queue fills up.
    server.stop();
    u32 sent = 0;
    mad::send_result result;
    while (result.state == mad::send_state::sent && sent < window) {
        node_info_request request({1}, sent);
        result = transport.send(request());
        if (result.state == mad::send_state::sent) ++sent;
    }
    REQUIRE(result.state == mad::send_state::would_block);
    CHECK(transport.wants_writable());
    CHECK_FALSE(ready(transport, POLLOUT, 0));
    CHECK(sent > 10);

    // The server continues, and poll() wakes up when there is space. From then on the test does whatever becomes
    // possible first.
    server.resume();
    REQUIRE(ready(transport, POLLOUT, long_ms));
    std::set<u32> replies;
    packet_buffer buffer;
    while (replies.size() < window) {
        REQUIRE(ready(transport, transport.wants_writable() ? POLLIN | POLLOUT : POLLIN, long_ms));
        for (auto reply = transport.receive(buffer); reply.state != mad::receive_state::would_block;
             reply = transport.receive(buffer)) {
            REQUIRE(reply.state == mad::receive_state::message);
            REQUIRE(reply.mad.size() == mad::mad_size);
            CHECK(node_guid(reply.mad) == 0x5000);
            CHECK(replies.insert(low_tid(reply.mad)).second);
        }
        while (sent < window) {
            node_info_request request({1}, sent);
            if (transport.send(request()).state != mad::send_state::sent) break;
            ++sent;
        }
    }
    CHECK_FALSE(transport.wants_writable());
    CHECK(*replies.rbegin() == window - 1);
    CHECK(transport.receive(buffer).state == mad::receive_state::would_block);
}

TEST_CASE("destroying an ibsim transport releases its slot") {
    ibsim_server server(small_fabric);
    packet_buffer buffer;
    for (int i = 0; i < 30; ++i) {
        ibsim_transport transport(at(server.sockname()));
        CHECK(transport.client_id() == 0);
        CHECK(exchange(transport, node_info_request({}), buffer).status == 0);
    }
    CHECK(attached(server).empty());
}

TEST_CASE("destroying an ibsim transport with unread replies releases its slot") {
    ibsim_server server(small_fabric);
    {
        ibsim_transport transport(at(server.sockname()));
        // More than both queues can hold: in the end the server busy-waits, writing to this client. A single rejection
        // can mean that the server is slow. If it lasts, the server is stuck.
        node_info_request request({});
        do
            while (transport.send(request()).state == mad::send_state::sent) {}
        while (ready(transport, POLLOUT, 200));
    }
    CHECK(attached(server).empty());
}

TEST_CASE("an exception during the attachment releases the ibsim slot") {
    ibsim_server server(small_fabric);
    try {
        ibsim_transport transport(at(server.sockname()));
        throw 1;
    } catch (int) {}
    CHECK(attached(server).empty());
}

TEST_CASE("one process can have ten ibsim transports but not eleven") {
    ibsim_server server(small_fabric);
    std::vector<std::unique_ptr<ibsim_transport>> clients;
    std::set<u32> slots;
    for (int i = 0; i < 10; ++i) {
        clients.push_back(std::make_unique<ibsim_transport>(at(server.sockname(), i % 2 ? "A" : "B")));
        slots.insert(clients.back()->client_id());
    }
    CHECK(slots.size() == 10);

    // Each client gets its own replies.
    for (u32 i = 0; i < 10; ++i) {
        node_info_request request({}, 100 + i);
        REQUIRE(clients[i]->send(request()).state == mad::send_state::sent);
    }
    for (u32 i = 0; i < 10; ++i) {
        packet_buffer buffer;
        REQUIRE(ready(*clients[i], POLLIN, long_ms));
        const mad::received reply = clients[i]->receive(buffer);
        REQUIRE(reply.mad.size() == mad::mad_size);
        CHECK(low_tid(reply.mad) == 100 + i);
        CHECK(node_guid(reply.mad) == (i % 2 ? 0xa000u : 0xb000u));
    }

    for (const char* node : {"", "A"})
        CHECK_THAT(message_of([&] { ibsim_transport eleventh(at(server.sockname(), node)); }),
                   Catch::Contains("ten client slots") && Catch::Contains(server.sockname()));
    clients.pop_back();
    CHECK(ibsim_transport(at(server.sockname())).node() == "S");
}

TEST_CASE("attaching to an unknown node fails with its name and uses no slot") {
    ibsim_server server(small_fabric);
    CHECK_THAT(message_of([&] { ibsim_transport transport(at(server.sockname(), "nobody")); }),
               Catch::Contains("no node 'nobody'") && Catch::Contains(server.sockname()));
    CHECK(attached(server).empty());
    CHECK_THAT(message_of([&] { ibsim_transport transport(at(server.sockname(), std::string(32, 'x'))); }),
               Catch::Contains("at most 31"));
    CHECK(attached(server).empty());
}

TEST_CASE("a missing ibsim server is reported in one line with a possible fix") {
    const std::string message = message_of([] { ibsim_transport transport(at("comad-test-nobody-serves-this")); });
    CHECK_THAT(message, Catch::Contains("no ibsim server at socket name 'comad-test-nobody-serves-this'") &&
                            Catch::Contains("start ibsim") && Catch::Contains("Connection refused"));
    CHECK(message.find('\n') == std::string::npos);
    CHECK_THAT(message_of([] { ibsim_transport transport(at(std::string(200, 'x'))); }), Catch::Contains("too long"));
}

TEST_CASE("attaching to an unresponsive ibsim server times out") {
    ibsim_server server(small_fabric);
    server.stop();
    auto options = at(server.sockname());
    options.patience = std::chrono::milliseconds(20);
    CHECK_THAT(message_of([&] { ibsim_transport transport(options); }), Catch::Contains("does not reply"));
}

TEST_CASE("the next send and all later operations fail after the ibsim server ended") {
    ibsim_server server(small_fabric);
    ibsim_transport transport(at(server.sockname()));
    server.kill();
    std::array<u8, 512> buffer;
    CHECK(transport.receive(buffer).state == mad::receive_state::would_block); // the socket does not report it
    CHECK_FALSE(transport.next_event());
    node_info_request request({});
    for (int i = 0; i < 2; ++i) {
        const mad::send_result result = transport.send(request());
        CHECK(result.state == mad::send_state::failed);
        CHECK(result.error == ECONNREFUSED);
        CHECK(transport.next_event() == mad::time_point{});
    }
    const mad::received last = transport.receive(buffer);
    CHECK(last.state == mad::receive_state::failed);
    CHECK(last.error == ECONNREFUSED);
}

TEST_CASE("RPCs in flight fail with the name of the ibsim server when the server ends") {
    ibsim_server server(small_fabric);
    ibsim_transport transport(at(server.sockname()));
    coro::MADSchedule schedule(transport, {.max_outstanding = 8, .per_destination = 0, .timeout = 60s, .retries = 0});
    server.stop();
    // The first client waits for its reply; the second one detects that the server has gone.
    const auto send_query = [](coro::MADSchedule& s) -> coro::task<std::string> {
        auto info = co_await s.SubnGet<iba::smp::NodeInfo>(mad::IBDRPath{});
        co_return info ? std::string() : to_string(info.error());
    };
    coro::job<std::string> first = schedule.queue(send_query(schedule));
    REQUIRE(schedule.counters().sent == 1);
    server.kill();
    CHECK_THAT(sync_wait(schedule, send_query(schedule)),
               Catch::StartsWith("ibsim server '" + server.sockname() + "'"));
    const auto join = [](coro::job<std::string>& j) -> coro::task<std::string> { co_return co_await j; };
    CHECK_THAT(sync_wait(schedule, join(first)),
               Catch::StartsWith("ibsim server '" + server.sockname() + "' was disconnected [RPC"));
}

TEST_CASE("an ibsim transport sends only whole MADs of 256 bytes") {
    ibsim_server server(small_fabric);
    ibsim_transport transport(at(server.sockname()));
    node_info_request request({});
    mad::send_request longer = request();
    longer.size = 512;
    const mad::send_result result = transport.send(longer);
    CHECK(result.state == mad::send_state::failed);
    CHECK(result.error == EMSGSIZE);
}

namespace {

unique_fd bound_socket(const std::string& name) {
    unique_fd fd{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path + 1, name.c_str(), name.size() + 1);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() + 2);
    REQUIRE(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) == 0);
    return fd;
}

/// A fake server for one client. It answers CONNECT and DISCONNECT like ibsim. The test uses its data socket.
class made_up_server {
public:
    made_up_server() : control_(bound_socket(name_ + ":ctl")), data_(bound_socket(name_ + ":out0")) {
        answering_ = std::thread([this] { answer(); });
    }
    ~made_up_server() { answering_.join(); }
    const std::string& sockname() const { return name_; }

    /// Sends to the client that attached.
    void send(std::span<const u8> datagram) {
        REQUIRE(::sendto(data_.get(), datagram.data(), datagram.size(), 0, reinterpret_cast<const sockaddr*>(&client_),
                         client_length_) == static_cast<ssize_t>(datagram.size()));
    }
    std::vector<u8> receive() {
        std::vector<u8> datagram(1024);
        const ssize_t n = ::recv(data_.get(), datagram.data(), datagram.size(), 0);
        REQUIRE(n >= 0);
        datagram.resize(static_cast<std::size_t>(n));
        return datagram;
    }

private:
    void answer() {
        for (;;) {
            struct {
                u32 magic, client, type, length, id, qp, issm;
                char node[52];
            } message;
            static_assert(sizeof message == 80);
            sockaddr_un from;
            socklen_t length = sizeof from;
            const ssize_t n =
                ::recvfrom(control_.get(), &message, sizeof message, 0, reinterpret_cast<sockaddr*>(&from), &length);
            if (n != sizeof message || message.magic != 0xdeadbeef) continue;
            if (message.type == 1) {
                const std::string peer = name_ + ":in" + std::to_string(message.id);
                client_ = {};
                client_.sun_family = AF_UNIX;
                std::memcpy(client_.sun_path + 1, peer.c_str(), peer.size() + 1);
                client_length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + peer.size() + 2);
                message.id = 0;
            }
            ::sendto(control_.get(), &message, sizeof message, 0, reinterpret_cast<const sockaddr*>(&from), length);
            if (message.type == 2) return;
        }
    }

    std::string name_ = "comad-made-up-" + std::to_string(::getpid());
    unique_fd control_;
    unique_fd data_;
    sockaddr_un client_{}; // written before the reply to CONNECT, read after it
    socklen_t client_length_ = 0;
    std::thread answering_;
};

} // namespace

TEST_CASE("an ibsim transport delivers a datagram of any size as one bounded message") {
    made_up_server server;
    ibsim_transport transport(at(server.sockname()));
    packet_buffer buffer;
    const std::vector<u8> garbage(2048, 0xee);
    for (const std::size_t size : {0, 1, 31, 32, 33, 100, 287, 288, 289, 1024, 2048}) {
        server.send(std::span(garbage).first(size));
        const mad::received got = transport.receive(buffer);
        CAPTURE(size);
        REQUIRE(got.state == mad::receive_state::message);
        const std::size_t behind_header = size < 32 ? 0 : size - 32;
        CHECK(got.full_size == behind_header);
        CHECK(got.mad.size() == std::min(behind_header, buffer.size() - 32));
        for (u8 byte : got.mad) REQUIRE(byte == 0xee);
    }
    CHECK(transport.receive(buffer).state == mad::receive_state::would_block);
}

TEST_CASE("ibsim requests carry LIDs, queue pairs and length in the ibsim header") {
    made_up_server server;
    ibsim_transport transport(at(server.sockname()));

    // A directed route: permissive LIDs, QP0 at both ends.
    node_info_request directed({1});
    REQUIRE(transport.send(directed()).state == mad::send_state::sent);
    const std::vector<u8> smp = server.receive();
    REQUIRE(smp.size() == 288);
    u32 lids[2];
    std::memcpy(lids, smp.data(), sizeof lids);
    CHECK(lids[0] == 0xffff);
    CHECK(lids[1] == 0xffff);
    const std::vector<u8> smp_rest{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0};
    CHECK(std::vector<u8>(smp.begin() + 8, smp.begin() + 32) == smp_rest);
    CHECK(std::memcmp(smp.data() + 32, directed().mad, mad::mad_size) == 0);

    // A GMP to LID 0x1234: the LID is a host-order word that holds its big-endian value, QPs are big-endian.
    mad::IBPath lid_routed;
    lid_routed.DLID = iba::lid{0x1234};
    const mad::any_path path = lid_routed;
    mad::send_request gmp = directed();
    gmp.path = &path;
    gmp.mgmt_class = 4;
    REQUIRE(transport.send(gmp).state == mad::send_state::sent);
    const std::vector<u8> sent = server.receive();
    std::memcpy(lids, sent.data(), sizeof lids);
    CHECK(lids[0] == htobe16(0x1234));
    CHECK(lids[1] == 0);
    const std::vector<u8> gmp_rest{0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0};
    CHECK(std::vector<u8>(sent.begin() + 8, sent.begin() + 32) == gmp_rest);
}
