// SPDX-License-Identifier: MIT
// verbs_guest_test.cpp - libibverbs over soft RoCE: GMPs to the kernel's QP1 and back, RMPP with the kernel in both
// directions, queue pairs of all kinds, failures and removal. Also ibtool without a umad device.
#include "guest_rig.hpp"
#include "program/ibtool_rig.hpp"
#include "record_tables.hpp"
#include "support/exception_message.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/iba/detail/format.hpp>
#include <comad/iba/pm.hpp>
#include <comad/iba/sa.hpp>
#include <comad/transports/gmp.hpp>
#include <comad/transports/rmpp.hpp>
#include <comad/transports/verbs.hpp>
#include <comad/verbs/detail/bring_up.hpp>
#include <comad/verbs/detail/poller.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace verbs_guest_test {

using namespace comad;
using namespace comad::test;
using iba::Method;
using iba::MgmtClass;
using iba::pm::PortCounters;
using namespace ibtool_rig;
using Catch::Matchers::Contains;
using transports::verbs_options;
using transports::verbs_transport;

namespace {

template <class T> T had(verbs::result<T> r) {
    INFO((r ? std::string() : r.error().text));
    REQUIRE(r);
    if constexpr (!std::is_void_v<T>) return std::move(r.value());
}

/// Replies to PerformanceGet(PortCounters) with the requested port number in a counter.
server::responder counters() {
    server::responder answers;
    answers.add({MgmtClass::Performance, 1, mad::methods(Method::Get)}, [](const server::request& r) {
        PortCounters c;
        c.portSelect = r.payload<PortCounters>().portSelect;
        c.portXmitData = 1000u + c.portSelect;
        return server::response::of(c);
    });
    return answers;
}

std::unique_ptr<mad::transport> umad_at(const char* port) { return std::make_unique<umad_transport>(port_of(port)); }

/// Runs a program, which must succeed.
void must(words command) {
    const process_result r = run_process(std::move(command));
    INFO(r.err);
    REQUIRE(r.status == 0);
}

coro::task<unsigned> query_many(coro::MADSchedule& schedule, mad::IBPath to, unsigned count) {
    coro::scope scope(schedule.root());
    unsigned right = 0;
    const auto one = [&](u8 number) -> coro::task<void> {
        PortCounters request;
        request.portSelect = number;
        auto counters = co_await schedule.PerformanceGet<PortCounters>(request, to);
        right += counters && counters.value().portXmitData == 1000u + number;
    };
    for (unsigned i = 0; i < count; ++i) scope.spawn(one(static_cast<u8>(i)));
    co_await scope.join();
    co_return right;
}

} // namespace

TEST_CASE("a UD queue pair and a umad server exchange requests one at a time and a thousand at once") {
    const served_port server(umad_at("rxe1/1"), counters());
    verbs_transport device(port_of("rxe0/1"));
    CHECK(device.name() == "rxe0/1 (verbs)");
    const mad::IBPath to = to_gid(port_of("rxe1/1"));
    coro::schedule_options options;
    options.max_outstanding = 256;
    options.gmps_per_destination = 0;
    options.timeout = 10s;
    coro::MADSchedule schedule(device, options);
    CHECK(coro::sync_wait(schedule, query_many(schedule, to, 1)) == 1);
    CHECK(coro::sync_wait(schedule, query_many(schedule, to, 1000)) == 1000);
    CHECK(schedule.counters().retried == 0);
    CHECK(device.replaced() == 0);
    // The kernel itself replies to a request that no agent serves.
    outgoing_mad unserved(to, MgmtClass{0x0a}, 1, Method::Get, 0x12, 7);
    REQUIRE(unserved.send(device).state == mad::send_state::sent);
    const auto refused = await_message(device);
    REQUIRE(refused);
    CHECK(refused->tid() == 7);
    CHECK(refused->mad[5] == 0x0c);
}

TEST_CASE("all 64 bits of a transaction ID return, and the reply has its source") {
    const end_port here = port_of("rxe0/1"), there = port_of("rxe1/1");
    const served_port server(std::make_unique<umad_transport>(there), counters());
    verbs_options how;
    how.session = 0xfeedface;
    verbs_transport device(here, how);
    outgoing_mad request(to_gid(there), MgmtClass::Performance, 1, Method::Get, 0x12, 0x12345678);
    REQUIRE(request.send(device).state == mad::send_state::sent);
    const auto answer = await_message(device);
    REQUIRE(answer);
    CHECK(answer->tid() == 0x12345678);
    CHECK(answer->mad.size() == 256);
    CHECK(answer->source.sqpn == 1);
    CHECK(answer->source.has_grh);
    CHECK(answer->source.SGID == there.gids[0]);
    CHECK(answer->source.SGID_index == 0);
    CHECK(device.foreign() == 0);
}

TEST_CASE("kernel RMPP and user-space RMPP over verbs exchange messages up to 1 MiB") {
    const end_port here = port_of("rxe0/1"), there = port_of("rxe1/1");
    {
        const served_port server(std::make_unique<umad_transport>(there), record_tables());
        const auto device = transports::open_verbs_port(here);
        coro::blocking_transactor rpcs(*device, {.unmeasured_timeout = 10s});
        for (const u16 sixteens : {u16{1}, u16{20}, mebibyte}) check_table(rpcs, to_gid(there), sixteens);
    }
    // A server over verbs is addressed by its queue pair number.
    auto single = std::make_unique<verbs_transport>(there);
    mad::IBPath to_server = to_gid(there);
    to_server.dqpn = single->qp_number();
    const served_port server(std::make_unique<transports::rmpp_transport>(std::move(single)), record_tables());
    umad_transport device(here);
    coro::blocking_transactor rpcs(device, {.unmeasured_timeout = 10s});
    for (const u16 sixteens : {u16{1}, u16{20}, mebibyte}) check_table(rpcs, to_server, sixteens);
    // Both ends over verbs.
    const auto over = transports::open_verbs_port(here);
    coro::blocking_transactor ours(*over, {.unmeasured_timeout = 10s});
    check_table(ours, to_server, 20);
}

namespace {

/// While this object exists, each Nth packet that a network device receives is dropped.
class lossy_device {
public:
    lossy_device(std::string name, unsigned one_of) : name_(std::move(name)) {
        must({"tc", "qdisc", "add", "dev", name_, "ingress"});
        must({"tc", "filter", "add", "dev", name_, "ingress", "matchall", "action", "pass", "random", "determ", "drop",
              std::to_string(one_of)});
    }
    ~lossy_device() { run_process({"tc", "qdisc", "del", "dev", name_, "ingress"}); }

    unsigned dropped() const {
        const std::string counts = run_process({"tc", "-s", "filter", "show", "dev", name_, "ingress"}).out;
        const std::size_t at = counts.find("(dropped ");
        return at == counts.npos ? 0 : static_cast<unsigned>(std::stoul(counts.substr(at + 9)));
    }

private:
    std::string name_;
};

} // namespace

TEST_CASE("the kernel and user-space RMPP retransmit lost segments and ACKs") {
    const end_port here = port_of("rxe0/1"), there = port_of("rxe1/1");
    const lossy_device to_us("eth0", 29), to_them("eth1", 7);
    const auto over_verbs = [](const end_port& port) { return transports::open_verbs_port(port); };
    const auto over_umad = [](const end_port& port) { return std::make_unique<umad_transport>(port); };
    {
        const served_port server(over_umad(there), record_tables());
        const auto device = over_verbs(here);
        coro::blocking_transactor rpcs(*device, {.timeout = 20s, .retries = 1});
        check_table(rpcs, to_gid(there), 6);
    }
    auto single = std::make_unique<verbs_transport>(there);
    mad::IBPath to_server = to_gid(there);
    to_server.dqpn = single->qp_number();
    const served_port server(std::make_unique<transports::rmpp_transport>(std::move(single)), record_tables());
    {
        const auto device = over_umad(here);
        coro::blocking_transactor rpcs(*device, {.timeout = 20s, .retries = 1});
        check_table(rpcs, to_server, 6);
    }
    const auto device = over_verbs(here);
    coro::blocking_transactor rpcs(*device, {.timeout = 20s, .retries = 1});
    check_table(rpcs, to_server, 6);
    CHECK(to_us.dropped() > 2);
    CHECK(to_them.dropped() > 2);
}

TEST_CASE("a queue pair that fails with RPCs in flight is replaced, and all RPCs get replies") {
    const end_port there = port_of("rxe1/1");
    const served_port server(std::make_unique<umad_transport>(there), counters());
    verbs_transport device(port_of("rxe0/1"));
    coro::schedule_options options;
    options.timeout = 500ms;
    options.retries = 3;
    coro::MADSchedule schedule(device, options);
    const u32 first = device.qp_number();
    const auto query_until_success = [&]() -> coro::task<unsigned> {
        auto all = query_many(schedule, to_gid(there), 100);
        had(device.pair().modify(IBV_QPS_ERR));
        co_return co_await std::move(all);
    };
    CHECK(coro::sync_wait(schedule, query_until_success()) == 100);
    CHECK(device.replaced() == 1);
    CHECK(device.qp_number() != first);
}

TEST_CASE("port events from the driver and injected events arrive with the changed port state") {
    std::vector<std::string> received;
    verbs_options how;
    how.on_event = [&](const verbs::event& e, const end_port& now) {
        received.push_back(fmt::format("{} {}", value(now.portState), static_cast<int>(e.type)));
    };
    verbs_transport device(port_of("rxe1/1"), how);
    const auto expected_event = [](int state, ibv_event_type type) {
        return fmt::format("{} {}", state, static_cast<int>(type));
    };
    const auto await = [&](const std::string& what) {
        const mad::time_point end = clock_now() + 5s;
        while (std::find(received.begin(), received.end(), what) == received.end() && clock_now() < end)
            await_message(device, 50ms);
        CHECK(std::find(received.begin(), received.end(), what) != received.end());
    };
    must({"ip", "link", "set", "eth1", "down"});
    await(expected_event(1, IBV_EVENT_PORT_ERR));
    must({"ip", "link", "set", "eth1", "up"});
    await(expected_event(4, IBV_EVENT_PORT_ACTIVE));
    // Events that this driver does not raise.
    for (const ibv_event_type type : {IBV_EVENT_LID_CHANGE, IBV_EVENT_PKEY_CHANGE, IBV_EVENT_SM_CHANGE}) {
        device.inject({type, 1});
        await(expected_event(4, type));
    }
    CHECK(device.port().gids.at(0) == port_of("rxe1/1").gids.at(0));
    CHECK(device.replaced() == 0);
}

TEST_CASE("RPCs in flight fail with the name of the device when the device fails") {
    const end_port there = port_of("rxe1/1");
    const peer silent_peer(there, {MgmtClass::Performance, 1, mad::methods(Method::Get)}, silence());
    verbs_transport device(port_of("rxe0/1"));
    coro::schedule_options options;
    options.gmps_per_destination = 0;
    options.max_outstanding = 16; // an adaptive window starts smaller
    coro::MADSchedule schedule(device, options);
    std::vector<std::string> ends;
    const auto one = [&]() -> coro::task<void> {
        auto counters = co_await schedule.PerformanceGet<PortCounters>(to_gid(there));
        ends.push_back(counters ? "answered" : plain_text(counters.error()));
    };
    const auto all = [&]() -> coro::task<void> {
        coro::scope scope(schedule.root());
        for (int i = 0; i < 10; ++i) scope.spawn(one());
        device.inject({IBV_EVENT_DEVICE_FATAL});
        co_await scope.join();
    };
    coro::sync_wait(schedule, all());
    REQUIRE(ends.size() == 10);
    for (const std::string& end : ends) CHECK_THAT(end, Contains("rxe0/1 (verbs) was disconnected"));
}

// Drivers of hardware remove the device and raise IBV_EVENT_DEVICE_FATAL; this driver does neither.
TEST_CASE("soft RoCE can be removed when no process uses it, and can be opened again when it returns") {
    std::vector<std::string> received;
    verbs_options how;
    how.on_event = [&](const verbs::event& e, const end_port&) { received.push_back(e.name()); };
    auto device = std::make_unique<verbs_transport>(port_of("rxe1/1"), how);
    process removal({"rdma", "link", "del", "rxe1"});
    await([] { return !std::filesystem::exists("/sys/class/infiniband_verbs/uverbs1"); });
    CHECK_FALSE(await_message(*device, 100ms));
    CHECK(received.empty());
    CHECK_FALSE(removal.ended());
    device.reset();
    CHECK(removal.wait().status == 0);
    CHECK_THAT(message_of([] { verbs_transport gone(port_of("rxe1/1")); }), Contains("there is no end port rxe1/1"));
    must({"rdma", "link", "add", "rxe1", "type", "rxe", "netdev", "eth1"});
    await([] { return std::filesystem::exists("/dev/infiniband/umad1"); });
    const served_port server(umad_at("rxe1/1"), counters());
    verbs_transport again(port_of("rxe0/1"));
    coro::MADSchedule schedule(again);
    CHECK(coro::sync_wait(schedule, query_many(schedule, to_gid(port_of("rxe1/1")), 3)) == 3);
}

namespace {

/// One end of a connection.
struct end {
    end(const char* device_name, ibv_qp_type type)
        : device(had(verbs::context::open(device_name))), domain(had(verbs::pd::create(device))),
          channel(had(verbs::completion_channel::create(device))),
          queue(had(verbs::completion_queue::create(device, 64, channel))),
          pair(had(verbs::queue_pair::create(domain, queue, queue, options(type)))), bytes(4096),
          region(had(verbs::memory_region::create(
              domain, bytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ))),
          done(device, {queue, channel}) {}
    static verbs::queue_pair_options options(ibv_qp_type type) {
        verbs::queue_pair_options o;
        o.type = type;
        return o;
    }
    void connect(const end& other, u32 our_psn, u32 their_psn) {
        mad::IBPath path;
        path.has_grh = true;
        path.DGID = had(other.device.gid(1, 0));
        path.hop_limit = 64;
        path.dqpn = other.pair.number();
        path.MTU = iba::MTU::m1024;
        path.rate = iba::Rate{0};
        verbs::connection how;
        how.sq_psn = our_psn;
        how.rq_psn = their_psn;
        how.remote_access = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
        how.ack_timeout = 14;
        had(verbs::establish(pair, path, how));
    }
    ibv_wc complete() {
        std::array<ibv_wc, 1> room;
        const auto found = had(done.wait(room, clock_now() + 5s));
        REQUIRE(found.size() == 1);
        return found[0];
    }
    verbs::context device;
    verbs::pd domain;
    verbs::completion_channel channel;
    verbs::completion_queue queue;
    verbs::queue_pair pair;
    std::vector<u8> bytes;
    verbs::memory_region region;
    verbs::poller done;
};

} // namespace

TEST_CASE("connected queue pairs of type RC and UC send and write, and RC can read") {
    const ibv_qp_type type = GENERATE(IBV_QPT_RC, IBV_QPT_UC);
    CAPTURE(static_cast<int>(type));
    end a("rxe0", type), b("rxe1", type);
    a.connect(b, 0x111, 0x222);
    b.connect(a, 0x222, 0x111);
    CHECK(had(a.pair.attributes()).now.qp_state == IBV_QPS_RTS);
    CHECK(had(a.pair.attributes(IBV_QP_DEST_QPN)).now.dest_qp_num == b.pair.number());

    std::fill_n(a.bytes.begin(), 100, u8{7});
    std::array<ibv_sge, 1> into{b.region.piece(1000, 200)};
    had(b.pair.post_receive(verbs::receive_request(5, into)));
    std::array<ibv_sge, 1> whole{a.region.piece(0, 100)};
    had(a.pair.post_send(verbs::send_request(1, IBV_WR_SEND, whole)));
    CHECK(a.complete().status == IBV_WC_SUCCESS);
    const ibv_wc arrived = b.complete();
    CHECK(arrived.wr_id == 5);
    CHECK(arrived.byte_len == 100);
    CHECK(b.bytes[1099] == 7);

    ibv_send_wr write = verbs::send_request(2, IBV_WR_RDMA_WRITE, whole);
    write.wr.rdma = {b.region.address() + 2000, b.region.rkey()};
    had(a.pair.post_send(write));
    CHECK(a.complete().status == IBV_WC_SUCCESS);
    if (type == IBV_QPT_UC) return;
    CHECK(b.bytes[2099] == 7);
    ibv_send_wr read = verbs::send_request(3, IBV_WR_RDMA_READ, whole);
    read.wr.rdma = {b.region.address() + 3000, b.region.rkey()};
    had(a.pair.post_send(read));
    CHECK(a.complete().status == IBV_WC_SUCCESS);
    CHECK(a.bytes[99] == 0);
    write.wr.rdma.rkey ^= 0x5500;
    had(a.pair.post_send(write));
    const ibv_wc refused = a.complete();
    CHECK(refused.status == IBV_WC_REM_ACCESS_ERR);
    CHECK_THAT(verbs::error_of(refused).text, Contains("remote access error"));
}

TEST_CASE("UD queue pairs share receives and join groups, and a device reports its attributes") {
    end a("rxe0", IBV_QPT_UD);
    const auto shared = had(verbs::shared_receive_queue::create(a.domain, 8));
    had(shared.set_limit(2));
    CHECK(had(shared.attributes()).srq_limit == 2);
    auto options = end::options(IBV_QPT_UD);
    options.receives = shared;
    const auto one = had(verbs::queue_pair::create(a.domain, a.queue, a.queue, options));
    auto pool = had(verbs::buffer_pool::create(a.domain, 4, 512));
    had(pool.post_receives(shared, 4));
    mad::IBPath path;
    path.qkey = 0x11111111;
    had(verbs::establish(one, path));
    had(verbs::establish(a.pair, path));

    const iba::gid group(0xff0e000000000000, iba::guid{0x77});
    const auto member = had(verbs::multicast_membership::create(one, group, iba::lid{0xc001}));

    // From a's own queue pair to the one with the shared receive queue, by the GID of the port itself.
    path.has_grh = true;
    path.DGID = had(a.device.gid(1, 0));
    path.hop_limit = 1;
    verbs::address_cache addresses(a.domain, 1, 4);
    const auto to = had(addresses.get(path));
    std::array<ibv_sge, 1> piece{a.region.piece(0, 32)};
    ibv_send_wr work = verbs::send_request(9, IBV_WR_SEND, piece);
    work.wr.ud = {to.get(), one.number(), 0x11111111};
    had(a.pair.post_send(work));
    std::optional<ibv_wc> arrived;
    for (int i = 0; i < 2; ++i)
        if (const ibv_wc wc = a.complete(); wc.opcode == IBV_WC_RECV) arrived = wc;
    REQUIRE(arrived);
    CHECK(arrived->byte_len == 32 + verbs::grh_size);
    CHECK(arrived->src_qp == a.pair.number());
    const auto number = static_cast<u32>(arrived->wr_id & ~verbs::buffer_pool::is_receive);
    const auto source = verbs::source_of(*arrived, pool[number].first<verbs::grh_size>());
    CHECK(source.SGID == path.DGID);

    CHECK(had(a.device.attributes()).phys_port_cnt == 1);
    CHECK(had(a.device.port_attributes(1)).state == IBV_PORT_ACTIVE);
    CHECK(had(a.device.gids(1)).at(0) == port_of("rxe0/1").gids.at(0));
    CHECK(had(a.device.pkeys(1)) == std::vector<u16>{0xffff});
    CHECK_THAT(verbs::context::open("rxe9").error().text, Contains("available: rxe0, rxe1"));
    had(a.queue.resize(256));
}

TEST_CASE("get_gmp_mad uses verbs, and umad if the verbs device cannot be opened") {
    const end_port port = port_of("rxe0/1");
    const auto over = transports::get_gmp_mad(port);
    CHECK(over.transport->name() == "rxe0/1 (verbs)");
    CHECK(over.refusal.empty());

    const std::filesystem::path device = "/dev/infiniband/uverbs0", away = "/dev/infiniband/away";
    std::filesystem::rename(device, away);
    const auto instead = transports::get_gmp_mad(port);
    std::filesystem::rename(away, device);
    CHECK(instead.transport->name() == "rxe0/1 (umad0)");
    CHECK_THAT(instead.refusal, Contains("rxe0"));

    end_port neither = port;
    neither.umad.clear();
    std::filesystem::rename(device, away);
    const std::string refused = message_of([&] { transports::get_gmp_mad(neither); });
    std::filesystem::rename(away, device);
    CHECK_THAT(refused, Contains("rxe0/1 has no umad device, and verbs cannot be used: "));
}

TEST_CASE("rdma_bw writes data from one port to the other") {
    process server(ibtool({"rdma_bw", "-P", "rxe1/1", "--tcp-port", "4455"}));
    process_result client;
    await([&] {
        client = run({"rdma_bw", "-P", "rxe0/1", "--tcp-port", "4455", "-b", "-s", "65536", "-n", "50", "-e", "3",
                      "--json", "127.0.0.1"});
        return client.err.find("cannot connect") == client.err.npos;
    });
    INFO(client.err);
    CHECK(client.status == 0);
    CHECK_THAT(client.out, Contains("\"writes\":50") && Contains("\"has_arrived\":true"));
    const process_result served = server.wait();
    INFO(served.err);
    CHECK(served.status == 0);
    CHECK_THAT(served.out,
               Contains("50 writes of 65536 bytes in ") && Contains("all data from the remote end has arrived\n"));
}

TEST_CASE("ibtool queries an SA over verbs without a umad device") {
    const end_port there = port_of("rxe1/1");
    auto single = std::make_unique<verbs_transport>(there);
    const std::string sa =
        fmt::format("IBPath(DGID={}, has_grh=1, hop_limit=64, dqpn={})", there.gids.at(0), single->qp_number());
    const served_port server(std::make_unique<transports::rmpp_transport>(std::move(single)), record_tables(3));
    // Commands in a mount namespace in which no MAD device is visible.
    const words without_umad{"IBTOOL_FABRIC=",
                             "unshare",
                             "-m",
                             "sh",
                             "-c",
                             "mount -t tmpfs none /sys/class/infiniband_mad && exec \"$@\"",
                             "sh"};
    const auto run_without_umad = [&](const words& command) {
        return run_process(without_umad + words{ibtool_program()} + command);
    };
    const process_result records = run_without_umad({"saquery", "NR", "-P", "rxe0/1", "--sa-path", sa, "--json", "-v"});
    INFO(records.err);
    CHECK(records.status == 0);
    CHECK(std::count(records.out.begin(), records.out.end(), '\n') >= 3);
    CHECK_THAT(records.out, Contains("1122:3344:0000:0002"));
    CHECK_THAT(records.err, Contains("rxe0/1 (verbs)"));
    const process_result smp = run_without_umad({"smpquery", "NI", "-D", "0", "-P", "rxe0/1"});
    CHECK(smp.status == 1);
    CHECK_THAT(smp.err, Contains("SMPs cannot be sent over verbs"));
}

} // namespace verbs_guest_test
