// SPDX-License-Identifier: MIT
// verbs_objects_test.cpp - objects of libibverbs over a fake device: ownership, the attributes that each step sets, and
// error texts.
#include "kernel/made_verbs.hpp"
#include "support/catch.hpp"
#include <comad/iba/detail/format.hpp>
#include <comad/verbs/detail/address_cache.hpp>
#include <comad/verbs/detail/bring_up.hpp>
#include <comad/verbs/detail/buffer_pool.hpp>
#include <comad/verbs/detail/poller.hpp>

#include <chrono>
#include <optional>

namespace verbs_objects_test {

using namespace comad;
using namespace comad::test;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;

namespace {

template <class T> T had(verbs::result<T> r) {
    INFO((r ? std::string() : r.error().text));
    REQUIRE(r);
    if constexpr (!std::is_void_v<T>) return std::move(r.value());
}

/// All objects that a QP needs.
struct bench {
    explicit bench(verbs::queue_pair_options options = {})
        : device(had(verbs::context::open("made0"))), domain(had(verbs::pd::create(device))),
          channel(had(verbs::completion_channel::create(device))),
          queue(had(verbs::completion_queue::create(device, 64, channel))),
          pair(had(verbs::queue_pair::create(domain, queue, queue, options))) {}
    verbs::context device;
    verbs::pd domain;
    verbs::completion_channel channel;
    verbs::completion_queue queue;
    verbs::queue_pair pair;
};

verbs::queue_pair_options of_type(ibv_qp_type type) {
    verbs::queue_pair_options options;
    options.type = type;
    return options;
}

bool nothing_is_left(const made_device& d) {
    for (const auto& [kind, count] : d.alive) {
        INFO(kind);
        CHECK(count == 0);
    }
    return d.misuses.empty();
}

} // namespace

TEST_CASE("a verbs device reports its attributes, ports and tables") {
    made_device made;
    made.gids[2] = iba::gid(iba::link_local_prefix, iba::guid{0x12});
    CHECK(had(verbs::device_names()) == std::vector<std::string>{"made0"});
    const auto device = had(verbs::context::open("made0"));
    CHECK(device.name() == "made0");
    CHECK(had(device.attributes()).phys_port_cnt == 1);
    CHECK(had(device.port_attributes(1)).lid == 3);
    CHECK(had(device.gid(1, 2)) == made.gids[2]);
    CHECK(had(device.gids(1)) == made.gids);
    CHECK(had(device.pkey(1, 1)) == 0x8001);
    CHECK(had(device.pkeys(1)) == made.PKeys);
    CHECK(device.gid(1, 3).error().sys_errno == ENOENT);
    CHECK_THAT(device.pkey(1, 9).error().text, Contains("cannot read P_Key 9 of port 1 of made0"));
}

TEST_CASE("the effective speed of a port is reported in bits per second if driver and kernel report it") {
    made_device made;
    const auto device = had(verbs::context::open("made0"));
    CHECK(device.effective_speed(1) == 800'000'000'000u);
    CHECK_FALSE(device.effective_speed(2));
    made.failures["ibv_query_port_speed"] = {EOPNOTSUPP};
    CHECK_FALSE(device.effective_speed(1));
}

TEST_CASE("a missing or inaccessible verbs device is reported with a possible fix") {
    made_device made;
    CHECK_THAT(verbs::context::open("mlx5_9").error().text,
               Contains("available: made0") && Contains("ibverbs-providers"));
    made.failures["ibv_open_device"] = {EACCES};
    const auto refused = verbs::context::open("made0");
    CHECK_THAT(refused.error().text, Contains("udev rule") && Contains("Permission denied"));
    CHECK(refused.error().sys_errno == EACCES);
    made.failures["ibv_get_device_list"] = {ENOSYS, ENOSYS};
    CHECK_THAT(verbs::device_names().error().text, Contains("ib_uverbs"));
    CHECK_THAT(verbs::context::open("made0").error().text, Contains("ib_uverbs"));
}

TEST_CASE("the resources of a queue pair live as long as the queue pair, in any order of destruction") {
    made_device made;
    std::optional<verbs::queue_pair> last;
    {
        const bench b;
        last = b.pair;
    }
    CHECK(made.alive["qp"] == 1);
    CHECK(made.alive["cq"] == 1);
    CHECK(made.alive["channel"] == 1);
    CHECK(made.alive["pd"] == 1);
    CHECK(made.alive["context"] == 1);
    last.reset();
    CHECK(nothing_is_left(made));
}

TEST_CASE("each failed verbs call is an error with its errno and releases everything") {
    made_device made;
    const auto fails = [&](const char* function, auto make) {
        made.failures[function] = {ENOMEM};
        const auto r = make();
        INFO(function);
        REQUIRE_FALSE(r);
        CHECK(r.error().sys_errno == ENOMEM);
        CHECK_THAT(r.error().text, Contains("Cannot allocate memory"));
    };
    {
        const bench b;
        std::vector<u8> bytes(64);
        fails("ibv_alloc_pd", [&] { return verbs::pd::create(b.device); });
        fails("ibv_create_comp_channel", [&] { return verbs::completion_channel::create(b.device); });
        fails("ibv_create_cq", [&] { return verbs::completion_queue::create(b.device, 8); });
        fails("ibv_create_srq", [&] { return verbs::shared_receive_queue::create(b.domain, 8); });
        fails("ibv_create_qp", [&] { return verbs::queue_pair::create(b.domain, b.queue, b.queue); });
        fails("ibv_create_ah", [&] { return verbs::address_handle::create(b.domain, mad::IBPath{}, 1); });
        fails("ibv_modify_qp", [&] { return b.pair.modify(IBV_QPS_ERR); });
        fails("ibv_query_qp", [&] { return b.pair.attributes(); });
        fails("ibv_query_port", [&] { return b.device.port_attributes(1); });
        fails("ibv_query_device", [&] { return b.device.attributes(); });
        fails("ibv_resize_cq", [&] { return b.queue.resize(128); });
        fails("ibv_req_notify_cq", [&] { return b.queue.request_notification(); });
        fails("ibv_attach_mcast",
              [&] { return verbs::multicast_membership::create(b.pair, iba::gid{}, iba::lid{0xc001}); });
        fails("ibv_reg_mr", [&] { return verbs::memory_region::create(b.domain, bytes); });
        made.failures["ibv_reg_mr"] = {ENOMEM};
        CHECK_THAT(verbs::memory_region::create(b.domain, bytes).error().text, Contains("ulimit -l"));
        made.failures["ibv_modify_qp"] = {EPERM};
        CHECK_THAT(verbs::establish(b.pair, mad::IBPath{}).error().text, Contains("CAP_NET_RAW"));
    }
    CHECK(nothing_is_left(made));
}

// python-rdma's rdma/ibverbs.py: rq_psn=dqpsn, sq_psn=sqpsn, max_dest_rd_atomic=drdatomic, max_rd_atomic=srdatomic.
TEST_CASE("the values of a path specification become those of a connection") {
    const auto target = mad::from_string("IBPath(DLID=7, dqpsn=0x222222, sqpsn=0x111111, drdatomic=4, srdatomic=3, "
                                         "min_rnr_timer=9, dack_resp_time=15, sack_resp_time=14)");
    REQUIRE(target);
    const verbs::connection c = verbs::connection_of(target.value().qp);
    CHECK(c.rq_psn == 0x222222);
    CHECK(c.sq_psn == 0x111111);
    CHECK(c.max_dest_rd_atomic == 4);
    CHECK(c.max_rd_atomic == 3);
    CHECK(c.min_rnr_timer == 9);
    CHECK(c.ack_delay == 15);
}

// IBA 10.3.1 and table 96 list the required attributes of each transition, as does ibv_modify_qp(3).
TEST_CASE("queue pairs of each type come up with the path attributes that they require") {
    made_device made;
    mad::IBPath path;
    path.DLID = iba::lid{7};
    path.SLID = iba::lid{0x83};
    path.SL = 2;
    path.pkey_index = 1;
    path.dqpn = 0x1234;
    path.MTU = iba::MTU::m2048;
    path.rate = iba::Rate::r100;
    path.packet_life_time = 13;
    path.has_grh = true;
    path.DGID = iba::gid(1, iba::guid{2});
    path.SGID_index = 2;
    path.hop_limit = 9;
    path.traffic_class = 8;
    path.flow_label = 0x12345;
    verbs::connection how;
    how.sq_psn = 0x111111;
    how.rq_psn = 0x222222;
    how.remote_access = IBV_ACCESS_REMOTE_WRITE;
    how.max_rd_atomic = 3;
    how.max_dest_rd_atomic = 4;
    how.retries = 5;

    constexpr int address = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    constexpr int init = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT, rts = IBV_QP_STATE | IBV_QP_SQ_PSN;
    const auto masks = [&](ibv_qp_type type) {
        made.modifications.clear();
        const bench b(of_type(type));
        had(verbs::establish(b.pair, path, how));
        CHECK(had(b.pair.attributes()).now.qp_state == IBV_QPS_RTS);
        std::vector<int> all;
        for (const auto& m : made.modifications) all.push_back(m.what);
        return all;
    };
    CHECK(masks(IBV_QPT_UD) == std::vector<int>{init | IBV_QP_QKEY, IBV_QP_STATE, rts});
    CHECK(made.modifications[0].attributes.qkey == 0x80010000);
    CHECK(masks(IBV_QPT_UC) == std::vector<int>{init | IBV_QP_ACCESS_FLAGS, IBV_QP_STATE | address, rts});
    CHECK(masks(IBV_QPT_RC) ==
          std::vector<int>{init | IBV_QP_ACCESS_FLAGS,
                           IBV_QP_STATE | address | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
                           rts | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC});

    const ibv_qp_attr &first = made.modifications[0].attributes, &second = made.modifications[1].attributes,
                      &third = made.modifications[2].attributes;
    CHECK(first.pkey_index == 1);
    CHECK(first.port_num == 1);
    CHECK(first.qp_access_flags == IBV_ACCESS_REMOTE_WRITE);
    CHECK(second.path_mtu == IBV_MTU_2048);
    CHECK(second.dest_qp_num == 0x1234);
    CHECK(second.rq_psn == 0x222222);
    CHECK(second.max_dest_rd_atomic == 4);
    const ibv_ah_attr& to = second.ah_attr;
    CHECK(to.dlid == 7);
    CHECK(to.sl == 2);
    CHECK(to.src_path_bits == 3);
    CHECK(to.static_rate == IBV_RATE_100_GBPS);
    CHECK(to.is_global == 1);
    CHECK(to.port_num == 1);
    CHECK(to.grh.dgid.raw[7] == 1);
    CHECK(to.grh.dgid.raw[15] == 2);
    CHECK(to.grh.sgid_index == 2);
    CHECK(to.grh.hop_limit == 9);
    CHECK(to.grh.traffic_class == 8);
    CHECK(to.grh.flow_label == 0x12345);
    CHECK(third.sq_psn == 0x111111);
    CHECK(third.timeout == 14); // twice 4.096 us * 2^13
    CHECK(third.retry_cnt == 5);
    CHECK(third.max_rd_atomic == 3);
}

TEST_CASE("both ends of a connection agree on common limits and wait for the slower adapter") {
    made_device made;
    const bench b(of_type(IBV_QPT_RC));
    ibv_device_attr device{};
    device.local_ca_ack_delay = 15;
    device.max_qp_init_rd_atom = 128;
    device.max_qp_rd_atom = 16;
    const verbs::connection_end here = verbs::end_of(b.pair, device, 0xff123456);
    CHECK(here.QPN == b.pair.number());
    CHECK(here.PSN == 0x123456);
    CHECK(here.ack_delay == 15);
    CHECK(here.max_rd_atomic == 128);
    CHECK(here.max_dest_rd_atomic == 16);
    device.max_qp_rd_atom = 1000; // more than the field can hold
    CHECK(verbs::end_of(b.pair, device, 1, 4).max_rd_atomic == 4);
    CHECK(verbs::end_of(b.pair, device, 1).max_dest_rd_atomic == 255);

    const verbs::connection_end there{0x777, 0x654321, 16, 8, 200};
    mad::IBPath path;
    path.DLID = iba::lid{7};
    path.packet_life_time = 13;
    verbs::connection rest;
    rest.remote_access = IBV_ACCESS_REMOTE_READ;
    const verbs::connection how = verbs::connect(path, here, there, rest);
    CHECK(path.dqpn == 0x777);
    CHECK(path.sqpn == here.QPN);
    CHECK(how.sq_psn == 0x123456);
    CHECK(how.rq_psn == 0x654321);
    CHECK(how.max_rd_atomic == 128);
    CHECK(how.max_dest_rd_atomic == 8);
    CHECK(how.remote_access == IBV_ACCESS_REMOTE_READ);

    // 2^14 and 2^16 are less than 2^17; 2^14 and 2^3 are less than 2^15. The field has five bits.
    const auto timeout = [&](u8 life, u8 delay) {
        mad::IBPath to = path;
        to.packet_life_time = life;
        verbs::connection c = how;
        c.ack_delay = delay;
        made.modifications.clear();
        const bench again(of_type(IBV_QPT_RC));
        had(verbs::establish(again.pair, to, c));
        return made.modifications.back().attributes.timeout;
    };
    CHECK(timeout(13, 16) == 17);
    CHECK(timeout(13, 3) == 15);
    CHECK(timeout(13, 14) == 15);
    CHECK(timeout(31, 16) == 31);
}

TEST_CASE("a failed post of several work requests reports the first one that was not posted") {
    made_device made;
    const bench b;
    had(verbs::to_init(b.pair, mad::IBPath{}, {}));
    std::vector<u8> bytes(256);
    const auto region = had(verbs::memory_region::create(b.domain, bytes));
    std::array<ibv_sge, 1> piece{region.piece(0, 256)};
    std::array<ibv_recv_wr, 4> list;
    for (std::size_t i = 0; i < list.size(); ++i) list[i] = verbs::receive_request(i, piece);
    made.failures["ibv_post_recv"] = {0, 0, EINVAL};
    const auto posted = b.pair.post_receives(list);
    REQUIRE_FALSE(posted);
    CHECK(posted.error().bad_index == 2);
    CHECK(posted.error().sys_errno == EINVAL);
    CHECK(made.receives_posted(b.pair.number()) == 2);
}

TEST_CASE("source_of combines the completion and the GRH of a datagram") {
    ibv_wc wc{};
    wc.slid = 7;
    wc.sl = 3;
    wc.src_qp = 0x123456;
    wc.dlid_path_bits = 2;
    std::array<u8, 40> grh{};
    const mad::source_address by_lid = verbs::source_of(wc, grh);
    CHECK(by_lid.SLID == iba::lid{7});
    CHECK(by_lid.SL == 3);
    CHECK(by_lid.sqpn == 0x123456);
    CHECK(by_lid.path_bits == 2);
    CHECK_FALSE(by_lid.has_grh);

    wc.wc_flags = IBV_WC_GRH;
    // Version 6, traffic class 0x12, flow label 0x34567, hop limit 9 (IBA 8.3).
    grh = {0x61, 0x23, 0x45, 0x67, 0,    0,    0x1b, 9, 0xfe, 0x80, 0, 0, 0, 0, 0, 0,    0,    0, 0, 0xff,
           0xfe, 0,    0,    2,    0xfe, 0x80, 0,    0, 0,    0,    0, 0, 0, 0, 0, 0xff, 0xfe, 0, 0, 1};
    const mad::source_address global = verbs::source_of(wc, grh);
    CHECK(global.has_grh);
    CHECK(global.traffic_class == 0x12);
    CHECK(global.flow_label == 0x34567);
    CHECK(global.hop_limit == 9);
    CHECK(fmt::format("{}", global.SGID) == "fe80::ff:fe00:2");
    CHECK(fmt::format("{}", verbs::destination_of(wc, grh)) == "fe80::ff:fe00:1");

    // 20 arbitrary bytes, then an IPv4 header: the example for the checksum of RFC 1071 in Wikipedia's "Internet
    // checksum".
    grh.fill(0x66);
    const std::array<u8, 20> ipv4{0x45, 0,    0,    0x73, 0, 0, 0x40, 0,    0x40, 0x11,
                                  0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0,    0xc7};
    std::copy(ipv4.begin(), ipv4.end(), grh.begin() + 20);
    const mad::source_address over_ipv4 = verbs::source_of(wc, grh);
    CHECK(over_ipv4.has_grh);
    CHECK(over_ipv4.hop_limit == 0x40);
    CHECK(over_ipv4.SGID.bytes == std::array<u8, 16>{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xc0, 0xa8, 0, 1});
    CHECK(verbs::destination_of(wc, grh).bytes[15] == 0xc7);
    grh[31] ^= 1; // wrong checksum: not IPv4
    CHECK(verbs::source_of(wc, grh).SGID.bytes[0] == 0x66);
}

TEST_CASE("the address cache keeps handles by path up to its size and evicts the least recently used") {
    made_device made;
    const bench b;
    verbs::address_cache cache(b.domain, 1, 2);
    const auto to = [](u16 LID) {
        mad::IBPath path;
        path.DLID = iba::lid{LID};
        return path;
    };
    const auto held = had(cache.get(to(1)));
    had(cache.get(to(2)));
    had(cache.get(to(1)));
    CHECK(made.addresses.size() == 2);
    CHECK(made.addresses[0].static_rate == IBV_RATE_MAX); // not the 2.5 Gb/s of an unresolved path
    had(cache.get(to(3)));
    CHECK(cache.size() == 2);
    CHECK(made.alive["ah"] == 2);
    had(cache.get(to(1)));
    CHECK(made.addresses.size() == 3);
    had(cache.get(to(2)));
    CHECK(made.addresses.size() == 4);
    cache.clear();
    CHECK(made.alive["ah"] == 1); // an owner keeps its handle
    // Fields of a path that are not part of the address do not create another handle. Fields of the address do.
    mad::IBPath path = to(4);
    had(cache.get(path));
    path.dqpn = 77;
    path.qkey = 1;
    path.MKey = 3;
    had(cache.get(path));
    CHECK(made.addresses.size() == 5);
    path.SL = 1;
    had(cache.get(path));
    path.SLID = iba::lid{1};
    had(cache.get(path));
    path.has_grh = true;
    had(cache.get(path));
    path.DGID = iba::gid(1, iba::guid{1});
    had(cache.get(path));
    path.SGID_index = 1;
    had(cache.get(path));
    CHECK(made.addresses.size() == 10);
}

TEST_CASE("a buffer pool lends buffers, reposts receive buffers and reclaims send buffers") {
    made_device made;
    {
        const bench b;
        auto pool = had(verbs::buffer_pool::create(b.domain, 4, 128));
        had(verbs::establish(b.pair, mad::IBPath{}));
        had(pool.post_receives(b.pair, 3));
        CHECK(made.receives_posted(b.pair.number()) == 3);
        CHECK(pool.free() == 1);
        const auto mine = pool.take();
        REQUIRE(mine);
        CHECK_FALSE(pool.take());
        had(pool.post_receives(b.pair, 1)); // there is none

        REQUIRE(made.deliver(b.pair.number(), {1, 2, 3}));
        std::array<ibv_wc, 4> room;
        auto found = had(b.queue.poll(room));
        REQUIRE(found.size() == 1);
        CHECK((found[0].wr_id & verbs::buffer_pool::is_receive) != 0);
        const auto number = static_cast<u32>(found[0].wr_id & ~verbs::buffer_pool::is_receive);
        CHECK(pool[number][42] == 3);
        ibv_wc sent{};
        sent.wr_id = *mine;
        const std::array<ibv_wc, 2> over{found[0], sent};
        had(pool.finish(b.pair, over));
        CHECK(made.receives_posted(b.pair.number()) == 3);
        CHECK(pool.free() == 1);

        sent.status = IBV_WC_WR_FLUSH_ERR;
        const auto mine_again = pool.take();
        REQUIRE(mine_again);
        const auto finished = pool.finish(b.pair, std::span(&sent, 1));
        REQUIRE_FALSE(finished);
        CHECK_THAT(finished.error().text, Contains("Flushed"));
        CHECK(pool.free() == 1);
    }
    CHECK(nothing_is_left(made));
}

TEST_CASE("queue pairs can share a receive queue") {
    made_device made;
    {
        const bench b;
        const auto shared = had(verbs::shared_receive_queue::create(b.domain, 8));
        auto options = of_type(IBV_QPT_UD);
        options.receives = shared;
        const auto one = had(verbs::queue_pair::create(b.domain, b.queue, b.queue, options));
        const auto other = had(verbs::queue_pair::create(b.domain, b.queue, b.queue, options));
        auto pool = had(verbs::buffer_pool::create(b.domain, 2, 128));
        had(pool.post_receives(shared, 2));
        had(verbs::establish(one, mad::IBPath{}));
        had(verbs::establish(other, mad::IBPath{}));
        CHECK(made.deliver(one.number(), {1}));
        CHECK(made.deliver(other.number(), {2}));
        CHECK_FALSE(made.deliver(one.number(), {3}));
        std::array<ibv_wc, 4> room;
        const auto found = had(b.queue.poll(room));
        REQUIRE(found.size() == 2);
        CHECK(found[0].qp_num == one.number());
        CHECK(found[1].qp_num == other.number());
        had(shared.set_limit(1));
        had(shared.resize(16));
        CHECK(had(shared.attributes()).max_wr == 16);
        CHECK(had(shared.attributes()).srq_limit == 1);
    }
    CHECK(nothing_is_left(made));
}

TEST_CASE("a queue pair stays in a multicast group while a membership object exists") {
    made_device made;
    {
        std::optional<verbs::multicast_membership> member;
        {
            const bench b;
            member = had(verbs::multicast_membership::create(b.pair, iba::gid(0xff12401bffff0000, iba::guid{1}),
                                                             iba::lid{0xc001}));
        }
        CHECK(made.groups_joined == 1);
        CHECK(made.alive["qp"] == 1);
    }
    CHECK(made.groups_joined == 0);
    CHECK(nothing_is_left(made));
}

TEST_CASE("RDMA writes of a reliable connection reach only permitted memory") {
    made_device made;
    const bench a(of_type(IBV_QPT_RC)), b(of_type(IBV_QPT_RC));
    std::vector<u8> from(64, 5), to(64);
    const auto source = had(verbs::memory_region::create(a.domain, from));
    const auto target =
        had(verbs::memory_region::create(b.domain, to, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE));
    mad::IBPath path;
    path.dqpn = b.pair.number();
    had(verbs::establish(a.pair, path));
    path.dqpn = a.pair.number();
    verbs::connection how;
    how.remote_access = IBV_ACCESS_REMOTE_WRITE;
    had(verbs::establish(b.pair, path, how));
    std::array<ibv_sge, 2> pieces{source.piece(0, 16), source.piece(16, 16)};
    ibv_send_wr work = verbs::send_request(9, IBV_WR_RDMA_WRITE, pieces);
    work.wr.rdma = {target.address() + 8, target.rkey()};
    had(a.pair.post_send(work));
    work.wr.rdma.rkey ^= 0xff;
    had(a.pair.post_send(work));
    std::array<ibv_wc, 4> room;
    const auto found = had(a.queue.poll(room));
    REQUIRE(found.size() == 2);
    CHECK(found[0].wr_id == 9);
    CHECK(found[0].status == IBV_WC_SUCCESS);
    CHECK(found[1].status == IBV_WC_REM_ACCESS_ERR);
    CHECK(to[7] == 0);
    CHECK(to[8] == 5);
    CHECK(to[39] == 5);
    CHECK(to[40] == 0);
}

TEST_CASE("a poller waits for a completion, reports events and returns at its timeout") {
    made_device made;
    const bench b;
    had(verbs::establish(b.pair, mad::IBPath{}));
    auto pool = had(verbs::buffer_pool::create(b.domain, 4, 128));
    had(pool.post_receives(b.pair, 4));
    std::array<ibv_wc, 2> room;
    const auto soon = [] { return std::chrono::steady_clock::now() + 1ms; };
    const auto late = [] { return std::chrono::steady_clock::now() + 20s; };
    std::vector<std::string> received;
    verbs::poller listening(b.device, {b.queue, b.channel},
                            [&](const verbs::event& e) { received.push_back(e.name()); });
    CHECK(had(listening.wait(room, soon())).empty());
    for (int i = 0; i < 3; ++i) { // the event is reported once more each time
        made.raise(IBV_EVENT_LID_CHANGE);
        made.deliver(b.pair.number(), {1});
        CHECK(had(listening.wait(room, late())).size() == 1);
    }
    CHECK(had(listening.wait(room, soon())).empty());
    CHECK(received == std::vector<std::string>(3, "LID changed"));

    verbs::poller strict(b.device, {b.queue, b.channel});
    made.raise(IBV_EVENT_LID_CHANGE);
    CHECK(had(strict.wait(room, soon())).empty());
    made.raise(IBV_EVENT_DEVICE_FATAL);
    const auto ended = strict.wait(room, late());
    REQUIRE_FALSE(ended);
    CHECK(ended.error().text == "made0: local catastrophic error");
}

TEST_CASE("notifications and events are acknowledged before their objects are destroyed") {
    made_device made;
    {
        const bench b;
        verbs::completions done(b.queue, b.channel);
        std::array<ibv_wc, 2> room;
        CHECK_FALSE(done.will_report());
        CHECK(had(done.poll(room, false)).empty());
        CHECK(done.will_report());
        had(verbs::establish(b.pair, mad::IBPath{}));
        auto pool = had(verbs::buffer_pool::create(b.domain, 4, 128));
        had(pool.post_receives(b.pair, 4));
        for (u8 i = 0; i < 3; ++i) REQUIRE(made.deliver(b.pair.number(), {i}));
        CHECK(had(done.poll(room, true)).size() == 2);
        CHECK_FALSE(done.will_report()); // the third completion came before the new request
        CHECK(had(done.poll(room, false)).size() == 1);
        CHECK(done.will_report());
        CHECK(made.notifications_requested == 2);
        made.raise(IBV_EVENT_PORT_ACTIVE);
        const auto event = had(b.device.next_event());
        REQUIRE(event);
        CHECK(event->port == 1);
        CHECK(event->is_of_port());
        CHECK_FALSE(had(b.device.next_event()));
    }
    CHECK(nothing_is_left(made));
}

} // namespace verbs_objects_test
