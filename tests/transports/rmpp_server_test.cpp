// SPDX-License-Identifier: MIT
// rmpp_server_test.cpp - an agent over a transport that carries single MADs: replies and requests by RMPP, and
// requesters that violate RMPP. The test writes the MADs of raw requesters by hand (rmpp_rig.hpp).
#include "library/rmpp_rig.hpp"
#include "wire/lossy_wire.hpp"
#include <comad/coro/schedule.hpp>
#include <comad/iba/sa.hpp>
#include <comad/mad/detail/record_table.hpp>
#include <comad/server/agent.hpp>
#include <comad/transports/rmpp.hpp>

#include <algorithm>
#include <list>
#include <vector>

namespace rmpp_server_test {

using namespace comad;
using namespace comad::test;
using iba::Method;
using iba::MgmtClass;
using transports::rmpp_options;
using transports::rmpp_transport;

namespace {

constexpr u16 server_lid = 1;
constexpr u8 get = 0x01, get_table = 0x12, get_multi = 0x14, get_table_resp = 0x92, get_multi_resp = 0x94;

mad::IBPath to_server() {
    mad::IBPath path;
    path.DLID = iba::lid{server_lid};
    return path;
}

mad::send_result send_by(mad::transport& t, std::span<const u8> message, const mad::IBPath& path = to_server()) {
    std::vector<u8> packet(mad::headroom + message.size());
    std::copy(message.begin(), message.end(), packet.begin() + mad::headroom);
    const mad::any_path to = path;
    return t.send({&to,
                   packet.data() + mad::headroom,
                   message.size(),
                   packet[mad::headroom + 1],
                   packet[mad::headroom + 2],
                   true,
                   {},
                   {}});
}

/// Returns a request for a table in a single MAD.
mad_bytes plain_request(u8 method = get_table, u8 number = 1) {
    mad_bytes mad = sa_mad(method, {});
    std::fill(mad.begin() + 24, mad.begin() + 36, u8{0});
    std::fill(mad.begin() + 36, mad.begin() + 56, u8{0});
    mad[11] = number;
    return mad;
}

/// A wire with an agent at LID 1. It replies to GetTable with `records` numbered records of 200 bytes, one segment
/// each, to GetMulti with the bytes that it got, and to Get with a single MAD.
class subnet {
public:
    explicit subnet(std::size_t records, rmpp_options options = {}, faults f = {}, unsigned seed = 1)
        : wire(f, seed), end(wire, server_lid), carrier(end, options) {
        answers_.add({MgmtClass::SubnAdm, 2, mad::methods(Method::GetTable, Method::Get), 0, true},
                     [records, this](const server::request& r) {
                         ++requests;
                         if (r.header.method == Method::Get) return server::response::echo();
                         std::vector<u8> table(records * 200);
                         for (std::size_t i = 0; i < table.size(); ++i) table[i] = data_byte(i);
                         return server::response::table(std::move(table), 200);
                     });
        answers_.add({MgmtClass::SubnAdm, 2, mad::methods(Method::GetMulti), 0, true},
                     [this](const server::request& r) {
                         ++requests;
                         requested.assign(r.data.begin(), r.data.end());
                         return server::response::table(requested, 8);
                     });
        agent.emplace(carrier, answers_);
        serving_.emplace(carrier);
        serving_->set_server(&*agent);
    }

    /// A requester with its own RMPP implementation.
    struct rmpp_client {
        rmpp_client(subnet& s, u16 LID) : place(s.wire, LID), carrier(place) {}
        lossy_wire::end place;
        rmpp_transport carrier;
        std::vector<std::vector<u8>> got{};
    };
    rmpp_client& add_client() { return clients_.emplace_back(*this, static_cast<u16>(100 + clients_.size())); }

    /// Advances time by `d`.
    void run(duration d = 20us) {
        const time_point until = now_ + d;
        for (;;) {
            turn();
            time_point next = carrier.next_event().value_or(until);
            for (rmpp_client& a : clients_) next = std::min(next, a.carrier.next_event().value_or(until));
            if (next > until || now_ == until) break;
            now_ = std::max(now_, next);
        }
        now_ = until;
        turn();
    }

    lossy_wire wire;

private:
    void turn() {
        serving_->set_now(now_);
        serving_->receive(1000);
        serving_->settle();
        std::vector<u8> buffer(std::size_t{1} << 20);
        for (rmpp_client& a : clients_) {
            a.carrier.set_now(now_);
            for (;;) {
                const mad::received r = a.carrier.receive(buffer);
                if (r.state != mad::receive_state::message) break;
                if (!r.is_part) a.got.push_back({r.mad.begin(), r.mad.end()});
            }
        }
    }

    server::responder answers_;
    std::list<rmpp_client> clients_;
    std::optional<coro::MADSchedule> serving_;
    time_point now_{};

public:
    lossy_wire::end end; ///< the end of the server
    rmpp_transport carrier;
    std::optional<server::agent> agent;
    unsigned requests = 0;
    std::vector<u8> requested; ///< the data of the last GetMulti
};

/// A requester that sends exactly what the test specifies.
struct raw {
    raw(subnet& s, u16 LID) : end(s.wire, LID) {}
    void send(const mad_bytes& mad, const mad::IBPath& path = to_server()) { send_by(end, mad, path); }
    std::vector<mad_bytes> take() {
        std::vector<mad_bytes> all;
        std::array<u8, 1024> buffer;
        for (;;) {
            const mad::received r = end.receive(buffer);
            if (r.state != mad::receive_state::message) return all;
            last_source = r.source;
            std::copy(r.mad.begin(), r.mad.end(), all.emplace_back().begin());
        }
    }
    std::vector<rmpp_words> take_words() {
        std::vector<rmpp_words> all;
        for (const mad_bytes& mad : take()) all.push_back(words_of(mad));
        return all;
    }
    lossy_wire::end end;
    mad::source_address last_source{};
};

bool is_whole(const std::vector<u8>& message, std::size_t records) {
    if (message.size() != 56 + records * 200 || message[3] != get_table_resp) return false;
    for (std::size_t i = 56; i < message.size(); ++i)
        if (message[i] != data_byte(i - 56)) return false;
    return true;
}

} // namespace

TEST_CASE("a reply of one segment is sent by RMPP and freed when it is acknowledged") {
    subnet s(1);
    raw r(s, 7);
    r.send(plain_request());
    s.run();
    const auto segments = r.take_words();
    REQUIRE(segments == words_list{{data_type, first | last, 0, 1, 220}});
    CHECK(s.carrier.transfers() == 1);
    r.send(to_sender(ack(1, 65)));
    s.run();
    CHECK(s.carrier.transfers() == 0);
    CHECK(r.take().empty());
    CHECK(s.agent->counters().replies == 1);
    r.send(plain_request(get)); // a reply that is not a table needs no transfer
    s.run();
    CHECK(r.take().size() == 1);
    CHECK(s.carrier.transfers() == 0);
}

TEST_CASE("segments of a reply leave as the windows of the requester allow") {
    subnet s(10);
    raw r(s, 7);
    const auto numbers = [&] {
        std::vector<u32> all;
        for (const rmpp_words& w : r.take_words()) all.push_back(w.data1);
        return all;
    };
    r.send(plain_request());
    s.run();
    CHECK(numbers() == std::vector<u32>{1});
    r.send(to_sender(ack(1, 4)));
    s.run();
    CHECK(numbers() == std::vector<u32>{2, 3, 4});
    r.send(to_sender(ack(2, 6))); // 3 and 4 are still in flight
    s.run();
    CHECK(numbers() == std::vector<u32>{5, 6});
    s.run(2s); // no further ACK arrives: unacknowledged segments are sent again
    CHECK(numbers() == std::vector<u32>{3, 4, 5, 6});
}

TEST_CASE("a duplicate request gets one reply") {
    subnet s(10);
    raw r(s, 7);
    r.send(plain_request());
    r.send(plain_request());
    s.run();
    CHECK(r.take().size() == 1);
    CHECK(s.carrier.transfers() == 1);
    CHECK(s.requests == 2);
    r.send(plain_request(get_table, 9)); // another request has its own transfer
    s.run();
    CHECK(r.take().size() == 1);
    CHECK(s.carrier.transfers() == 2);
}

TEST_CASE("a requester that aborts the transfer receives nothing more") {
    const RMPPStatus why = GENERATE(from_range(ending_statuses));
    subnet s(10);
    raw r(s, 7);
    r.send(plain_request());
    s.run();
    REQUIRE(r.take().size() == 1);
    r.send(to_sender(ending(why)));
    s.run();
    CHECK(s.carrier.transfers() == 0);
    s.run(1min);
    CHECK(r.take().empty());
}

TEST_CASE("an ACK for a segment that was never sent aborts the transfer") {
    subnet s(10);
    raw r(s, 7);
    r.send(plain_request());
    s.run();
    REQUIRE(r.take().size() == 1);
    r.send(to_sender(ack(5, 64)));
    s.run();
    CHECK(r.take_words() == words_list{ending(RMPPStatus::SegmentNumberTooBig)});
    CHECK(s.carrier.transfers() == 0);
}

TEST_CASE("a requester that stops sending ACKs is dropped, and other requesters are served meanwhile") {
    subnet s(300);
    std::list<raw> silent;
    for (u16 i = 0; i < 20; ++i) silent.emplace_back(s, static_cast<u16>(10 + i)).send(plain_request());
    s.run();
    CHECK(s.carrier.transfers() == 20);
    subnet::rmpp_client& other = s.add_client();
    REQUIRE(send_by(other.carrier, plain_request()).state == mad::send_state::sent);
    s.run(10ms);
    REQUIRE(other.got.size() == 1);
    CHECK(is_whole(other.got[0], 300));
    CHECK(s.carrier.transfers() == 20);
    s.run(20s); // six times two seconds
    CHECK(s.carrier.transfers() == 0);
    for (raw& r : silent) {
        const auto words = r.take_words();
        REQUIRE(words.size() == 7);
        CHECK(std::all_of(words.begin(), words.end() - 1, [](const rmpp_words& w) { return w.data1 == 1; }));
        CHECK(words.back() == ending(RMPPStatus::TooManyRetries));
    }
}

TEST_CASE("RMPP replies in progress are limited in number and bytes without delaying single-MAD replies") {
    rmpp_options options;
    SECTION("number") { options.max_transfers = 3; }
    SECTION("bytes") { options.max_sending = 3 * (56 + 300 * 200); }
    subnet s(300, options);
    std::list<raw> silent;
    for (u16 i = 0; i < 5; ++i) silent.emplace_back(s, static_cast<u16>(10 + i)).send(plain_request());
    s.run();
    CHECK(s.carrier.transfers() == 3);
    CHECK(s.agent->counters().unsent == 2);
    CHECK(s.agent->waiting() == 0);
    CHECK(silent.front().take().size() == 1);
    CHECK(silent.back().take().empty());
    silent.back().send(plain_request(get));
    s.run();
    CHECK(silent.back().take().size() == 1);
    s.run(20s);
    subnet::rmpp_client& other = s.add_client();
    send_by(other.carrier, plain_request());
    s.run(10ms);
    REQUIRE(other.got.size() == 1);
    CHECK(is_whole(other.got[0], 300));
}

TEST_CASE("many concurrent requesters receive whole tables over a lossy, duplicating and reordering link") {
    subnet s(100, {}, {.loss = 0.02, .twice = 0.02, .late = 0.1}, 3);
    std::vector<subnet::rmpp_client*> all;
    for (int i = 0; i < 100; ++i) all.push_back(&s.add_client());
    for (subnet::rmpp_client* a : all) send_by(a->carrier, plain_request());
    s.run(40s);
    unsigned whole = 0, none = 0;
    for (subnet::rmpp_client* a : all) {
        if (a->got.empty()) ++none; // its request was lost, and no sender repeats it in this test
        else if (is_whole(a->got[0], 100)) ++whole;
    }
    CHECK(none < 10);
    CHECK(whole + none == 100);
    CHECK(s.carrier.transfers() == 0);
}

TEST_CASE("a handler receives a whole RMPP request, and its reply returns") {
    const std::size_t size = GENERATE(112u, 200u, 208u, 2000u, 20'000u);
    CAPTURE(size);
    subnet s(1, {}, {.loss = 0.02, .twice = 0.05, .late = 0.1}, 2);
    subnet::rmpp_client& a = s.add_client();
    std::vector<u8> request = message_of(size);
    request[3] = get_multi;
    request[24] = 1;
    request[26] = active;
    send_by(a.carrier, request);
    s.run(30s);
    CHECK(s.requests == 1);
    CHECK(s.requested == std::vector<u8>(request.begin() + 56, request.end()));
    REQUIRE(a.got.size() == 1);
    CHECK(a.got[0][3] == get_multi_resp);
    const auto table = mad::record_table::of(a.got[0], 8);
    REQUIRE(table);
    REQUIRE(table.value().size() == size / 8);
    CHECK(std::equal(request.begin() + 56, request.end(), a.got[0].begin() + 56, a.got[0].end()));
    s.run(30s);
    CHECK(s.carrier.transfers() == 0);
    CHECK(a.carrier.transfers() == 0);
}

TEST_CASE("the turnaround ACK of a requester sets the first window of the reply") {
    subnet s(1);
    raw r(s, 7);
    mad_bytes one = sa_mad(get_multi, {data_type, first, 0, 1, 0}),
              two = sa_mad(get_multi, {data_type, last, 0, 2, 220});
    r.send(one);
    s.run();
    CHECK(r.take_words() == words_list{ack(1, 65)});
    CHECK(s.requests == 0);
    r.send(two);
    s.run();
    auto words = r.take_words();
    REQUIRE(words.size() == 2);
    CHECK(words[0] == ack(2, 66));
    CHECK(words[1] == rmpp_words{data_type, first, 0, 1, 2 * 220}); // one segment until the window grows
    CHECK(s.requests == 1);
    r.send(sa_mad(get_multi, ack(0, 2)));
    s.run();
    CHECK(r.take_words() == words_list{{data_type, last, 0, 2, 220}});
    r.send(sa_mad(get_multi, ack(2, 66)));
    s.run();
    CHECK(s.carrier.transfers() == 1); // the request, in case its last ACK must be repeated
    r.send(two);
    s.run();
    CHECK(r.take_words() == words_list{ack(2, 66)});
    CHECK(s.requests == 1);
    s.run(11s);
    CHECK(s.carrier.transfers() == 0);
}

TEST_CASE("a handler receives no request whose transfer failed") {
    subnet s(1);
    raw r(s, 7);
    r.send(sa_mad(get_multi, {data_type, first, 0, 1, 0}));
    s.run();
    REQUIRE(r.take().size() == 1);
    SECTION("abort by the sender") { r.send(sa_mad(get_multi, ending(RMPPStatus::Unspecified))); }
    SECTION("protocol fault") { r.send(sa_mad(get_multi, {data_type, first, 0, 2, 0})); }
    SECTION("timeout") {}
    s.run(2min);
    CHECK(s.requests == 0);
    CHECK(s.carrier.transfers() == 0);
}

TEST_CASE("segments of a method without a server start no transfer") {
    subnet s(1);
    raw r(s, 7);
    r.send(sa_mad(0x02, {data_type, first, 0, 1, 0})); // Set
    s.run();
    CHECK(r.take().empty());
    CHECK(s.carrier.transfers() == 0);
    transports::rmpp_options none;
    none.max_transfers = 0;
    subnet full(1, none);
    raw other(full, 7);
    other.send(sa_mad(get_multi, {data_type, first, 0, 1, 0}));
    full.run();
    CHECK(other.take().empty());
}

TEST_CASE("a requester on the other side of a router receives the reply and ACKs through its GID") {
    subnet s(3);
    raw router(s, 7);
    const auto by = [](u8 requester) {
        mad::IBPath path = to_server();
        path.has_grh = true;
        path.SGID.bytes[15] = requester;
        return path;
    };
    router.send(plain_request(), by(1));
    s.run();
    CHECK(router.take().size() == 1);
    CHECK(router.last_source.has_grh);
    router.send(plain_request(), by(2)); // another requester behind the same router, with the same transaction ID
    s.run();
    CHECK(router.take().size() == 1);
    CHECK(s.carrier.transfers() == 2);
    router.send(to_sender(ending(RMPPStatus::Unspecified)), by(2));
    router.send(to_sender(ending(RMPPStatus::Unspecified)), by(3));
    s.run();
    CHECK(s.carrier.transfers() == 1);
    router.send(sa_mad(get_multi, {data_type, first, 0, 1, 0}), by(4));
    s.run();
    REQUIRE(router.take().size() == 1);
    CHECK(router.last_source.has_grh);
}

TEST_CASE("a port can send an RMPP request to itself") {
    subnet s(1);
    std::vector<u8> request = message_of(2000);
    request[3] = get_multi;
    send_by(s.carrier, request);
    s.run(1s);
    CHECK(s.requests == 1);
    CHECK(s.requested.size() == 2000);
    s.run(30s);
    CHECK(s.carrier.transfers() == 0);
}

TEST_CASE("RMPP transfers take turns when the inner transport blocks") {
    subnet s(300);
    raw a(s, 7), b(s, 8);
    for (raw* r : {&a, &b}) r->send(plain_request());
    s.run();
    for (raw* r : {&a, &b}) CHECK(r->take().size() == 1);
    s.end.room = 0;
    for (raw* r : {&a, &b}) r->send(to_sender(ack(1, 65)));
    s.run();
    s.end.room = 10;
    s.run();
    for (raw* r : {&a, &b}) CHECK(r->take().size() == 5);
}

TEST_CASE("a completed transfer frees its slot for the next") {
    rmpp_options options;
    options.max_transfers = 1;
    subnet s(1, options);
    for (u16 LID : {7, 8}) {
        raw r(s, LID);
        r.send(sa_mad(get_multi, {data_type, first | last, 0, 1, 220}));
        s.run();
        CHECK(r.take().size() == 2); // the acknowledgment and the reply
        r.send(sa_mad(get_multi, ack(1, 65)));
        s.run();
    }
    CHECK(s.requests == 2);
}

TEST_CASE("a response starts a transfer once, and only from the destination of an outgoing request") {
    subnet s(1);
    subnet::rmpp_client& client = s.add_client();
    mad::IBPath to_client, to_peer = to_server();
    to_client.DLID = iba::lid{100};
    to_peer.DLID = iba::lid{50};
    raw peer(s, 50), other(s, 51);
    const auto respond = [&](raw& from, u8 number, u8 method = get_table_resp, u8 mgmt_class = 3) {
        const std::size_t before = client.carrier.transfers();
        mad_bytes mad = segment(1, first, 0);
        mad[1] = mgmt_class;
        mad[3] = method;
        mad[15] = number; // the last byte of the transaction ID
        from.send(mad, to_client);
        s.run();
        return client.carrier.transfers() > before;
    };
    const auto send_query = [&](u8 number) {
        mad_bytes mad = plain_request();
        mad[11] = 0x01; // as in segment()
        mad[15] = number;
        send_by(client.carrier, mad, to_peer);
        s.run();
    };
    for (u8 number = 0; number < 200; ++number) CHECK_FALSE(respond(peer, number));
    CHECK(client.carrier.transfers() == 0);

    send_query(9);
    CHECK_FALSE(respond(other, 9));
    CHECK_FALSE(respond(peer, 8));
    CHECK_FALSE(respond(peer, 9, get_multi_resp));
    CHECK_FALSE(respond(peer, 9, get_table_resp, 6));
    CHECK(respond(peer, 9));
    CHECK_FALSE(respond(peer, 9)); // again the same response
    mad_bytes end = to_receiver(ending(RMPPStatus::Unspecified));
    end[15] = 9;
    peer.send(end, to_client);
    s.run(11s); // the transfer has ended, and is forgotten
    CHECK(client.carrier.transfers() == 0);
    CHECK_FALSE(respond(peer, 9));

    send_query(10);
    s.run(41s); // longer than the time limit of a transfer
    CHECK_FALSE(respond(peer, 10));
    send_query(11);
    mad_bytes single = plain_request(get_table_resp); // without RMPP
    single[11] = 0x01;
    single[15] = 11;
    peer.send(single, to_client);
    s.run();
    CHECK_FALSE(respond(peer, 11));
}

TEST_CASE("a response to an outgoing request gets a transfer even if incoming requests use all of them") {
    rmpp_options options;
    options.max_transfers = 3;
    subnet s(1, options);
    std::list<raw> others;
    for (u16 i = 0; i < 5; ++i)
        others.emplace_back(s, static_cast<u16>(10 + i)).send(sa_mad(get_multi, {data_type, first, 0, 1, 0}));
    s.run();
    CHECK(s.carrier.transfers() == 3);
    raw server(s, 50);
    mad::IBPath path = to_server();
    path.DLID = iba::lid{50};
    send_by(s.carrier, plain_request(), path);
    s.run();
    server.take();
    server.send(segment(1, first, 0));
    s.run();
    CHECK(s.carrier.transfers() == 3);
    CHECK(server.take_words().size() == 1); // the acknowledgment
}

TEST_CASE("all received messages share a byte limit, and the transfer that exceeds it is aborted") {
    rmpp_options options;
    options.max_receiving = 3 * 256;
    subnet s(1, options);
    raw a(s, 10), b(s, 11);
    const auto send_segment = [&](raw& from, u32 number) {
        from.send(sa_mad(get_multi, {data_type, number == 1 ? first : u8{0}, 0, number, 0}));
        s.run();
        return from.take_words();
    };
    CHECK(send_segment(a, 1) == words_list{ack(1, 65)}); // 256 bytes each, minus 56 from the second segment on
    CHECK(send_segment(b, 1) == words_list{ack(1, 65)});
    CHECK(send_segment(a, 2).empty()); // 712 bytes in total
    CHECK(send_segment(b, 2) == words_list{ending(RMPPStatus::ResourcesExhausted)});
    CHECK(send_segment(a, 3) == words_list{}); // there is space again: 656 bytes
    s.run(1min);
    CHECK(s.carrier.transfers() == 0);
    CHECK(send_segment(b, 1) == words_list{ack(1, 65)});
}

TEST_CASE("a requester with a multi-segment request sends the turnaround ACK and repeats it if necessary") {
    lossy_wire wire;
    lossy_wire::end end(wire, 100), server(wire, server_lid);
    rmpp_transport client(end);
    std::vector<u8> request = message_of(300);
    request[3] = get_multi;
    send_by(client, request);
    std::array<u8, 1024> buffer;
    time_point now{};
    const auto reported = [&](rmpp_words words) {
        mad::IBPath back;
        back.DLID = iba::lid{100};
        send_by(server, sa_mad(get_multi_resp, words), back);
        client.set_now(now += 10us);
        while (client.receive(buffer).state == mad::receive_state::message) {}
        client.set_now(now += 10us);
        std::vector<rmpp_words> all;
        for (mad_bytes mad;;) {
            const mad::received r = server.receive(buffer);
            if (r.state != mad::receive_state::message) return all;
            std::copy(r.mad.begin(), r.mad.end(), mad.begin());
            all.push_back(words_of(mad));
        }
    };
    CHECK(reported(ack(1, 64)).size() == 2); // both segments
    CHECK(reported(ack(2, 64)) == words_list{ack(0, 1)});
    CHECK(reported(ack(2, 64)) == words_list{ack(0, 1)});
    CHECK(client.transfers() == 1);
    client.set_now(now + 11s);
    CHECK(client.transfers() == 0);
}

} // namespace rmpp_server_test
