// SPDX-License-Identifier: MIT
// rmpp_sender_test.cpp - a sender that the test feeds by hand: its segments byte by byte, and the effect of ACKs.
#include "library/rmpp_rig.hpp"

#include <algorithm>

using namespace comad;
using namespace comad::test;

namespace {

/// Returns a sender of `segments` full segments. The first n of them were sent and acknowledged.
rmpp_sender sender_of(u32 segments, u32 n = 0, rmpp_sender_options options = {}) {
    rmpp_sender s(message_of(200 * segments), sa_header, at(0s), options);
    all_of(s, at(0s));
    for (u32 done = 1; done <= n; ++done) {
        s.feed(to_sender(ack(done, done + 1)), at(0s));
        all_of(s, at(0s));
    }
    return s;
}
void check_failed(rmpp_sender& s, RMPPStatus why) {
    CHECK(s.state() == rmpp_state::failed);
    CHECK(s.status() == why);
    CHECK(!s.failed_by_peer());
    CHECK(all_of(s) == words_list{ending(why)});
    CHECK(s.next_deadline() == time_point::max());
}
std::vector<u32> numbers(const words_list& all) {
    std::vector<u32> result;
    for (const rmpp_words& w : all) result.push_back(w.data1);
    return result;
}

} // namespace

TEST_CASE("a sender splits a message into segments, each with the header first") {
    // Two NodeRecords of 112 bytes: 224 = 200 + 24; PayloadLength of the message = 224 + 2 * 20.
    rmpp_sender s(message_of(224), sa_header, at(0s));
    CHECK(s.segments() == 2);
    const auto one = next_of(s, at(0s));
    CHECK(one == segment(1, first, 264));
    CHECK(!next_of(s, at(0s))); // the window is one segment
    s.feed(to_sender(ack(1, 65)), at(0s));
    mad_bytes expected = segment(2, last, 44);
    std::fill(expected.begin() + 56 + 24, expected.end(), u8{0});
    CHECK(next_of(s, at(0s)) == expected);
    CHECK(s.state() == rmpp_state::more);
    CHECK(s.feed(to_sender(ack(2, 66)), at(0s)) == rmpp_state::complete);
    CHECK(!next_of(s, at(0s)));
    CHECK(s.next_deadline() == time_point::max());
}

TEST_CASE("the payload lengths of a sender match the manual calculation and Linux") {
    struct sample {
        std::size_t data;
        u32 segments, first_length, last_length;
    };
    for (const sample& of : std::vector<sample>{{0, 1, 20, 20},
                                                {1, 1, 21, 21},
                                                {112, 1, 132, 132},
                                                {199, 1, 219, 219},
                                                {200, 1, 220, 220},
                                                {201, 2, 241, 21}, // the length that Linux announces
                                                {400, 2, 440, 220},
                                                {112000, 560, 123200, 220},
                                                {112112, 561, 112112 + 561 * 20, 132}}) {
        CAPTURE(of.data);
        rmpp_sender s(message_of(of.data), sa_header, at(0s), {.first_window = 1000});
        CHECK(s.segments() == of.segments);
        const words_list sent = all_of(s);
        REQUIRE(sent.size() == of.segments);
        CHECK(sent.front().data2 == of.first_length);
        CHECK(sent.back().data2 == of.last_length);
        CHECK((sent.front().flags & first) != 0);
        CHECK((sent.back().flags & last) != 0);
        for (std::size_t i = 1; i + 1 < sent.size(); ++i)
            CHECK(sent[i] == rmpp_words{data_type, 0, 0, static_cast<u32>(i + 1), 0});
    }
    rmpp_sender vendor(message_of(217, vendor_header), vendor_header, at(0s), {.first_window = 2});
    CHECK(all_of(vendor) == words_list{{data_type, first, 0, 1, 217 + 8}, {data_type, last, 0, 2, 1 + 4}});
}

TEST_CASE("a sender keeps as many segments in flight as the receiver allows") {
    rmpp_sender s = sender_of(100);
    s.feed(to_sender(ack(1, 5)), at(0s));
    CHECK(numbers(all_of(s)) == std::vector<u32>{2, 3, 4, 5});
    s.feed(to_sender(ack(3, 7)), at(0s));
    REQUIRE(next_of(s, at(0s)));          // segment 6
    s.feed(to_sender(ack(2, 6)), at(0s)); // overtaken by the previous ACK
    CHECK(numbers(all_of(s)) == std::vector<u32>{7});
    CHECK(s.acknowledged() == 3);
    s.feed(to_sender(ack(3, 7)), at(0s)); // duplicate
    CHECK(!s.has_packet());
    CHECK(s.acknowledged() == 3);
    s.feed(to_sender(ack(3, 8)), at(0s)); // no further segment arrived, but the window is larger
    CHECK(numbers(all_of(s)) == std::vector<u32>{8});
    s.feed(to_sender(ack(8, 0xffffffff)), at(0s));
    CHECK(all_of(s).size() == 92);
    CHECK(s.feed(to_sender(ack(100, 100)), at(0s)) == rmpp_state::complete);
}

TEST_CASE("a sender without an ACK repeats the segments after the last ACK and then aborts") {
    rmpp_sender s = sender_of(10, 0, {.timing = {.response = 1s, .retries = 2, .total = 1min}});
    s.feed(to_sender(ack(1, 4)), at(0s));
    CHECK(s.next_deadline() == at(1min)); // nothing is in flight
    CHECK(numbers(all_of(s, at(500ms))) == std::vector<u32>{2, 3, 4});
    CHECK(s.next_deadline() == at(1500ms));
    CHECK(s.on_time(at(1499ms)) == rmpp_state::more);
    CHECK(!s.has_packet());
    s.on_time(at(1500ms));
    CHECK(numbers(all_of(s, at(1500ms))) == std::vector<u32>{2, 3, 4});
    s.on_time(at(2500ms));
    CHECK(s.next_deadline() == at(3500ms)); // although nothing was sent yet
    CHECK(numbers(all_of(s, at(2600ms))) == std::vector<u32>{2, 3, 4});
    CHECK(s.next_deadline() == at(3600ms));
    CHECK(s.on_time(at(3600ms)) == rmpp_state::failed);
    check_failed(s, RMPPStatus::TooManyRetries);
}

TEST_CASE("an ACK between retries restores all retries, and acknowledged segments are not repeated") {
    rmpp_sender s = sender_of(10, 0, {.timing = {.response = 1s, .retries = 1, .total = 1min}});
    s.feed(to_sender(ack(1, 5)), at(0s));
    all_of(s, at(0s));
    s.on_time(at(1s));
    REQUIRE(next_of(s, at(1s))); // segment 2 again
    s.feed(to_sender(ack(3, 5)), at(1200ms));
    CHECK(s.next_deadline() == at(2200ms));
    s.feed(to_sender(ack(4, 5)), at(1500ms));
    CHECK(numbers(all_of(s, at(1500ms))) == std::vector<u32>{5});
    CHECK(s.on_time(at(2500ms)) == rmpp_state::more);
    CHECK(numbers(all_of(s, at(2500ms))) == std::vector<u32>{5});
    s.feed(to_sender(ack(4, 5)), at(3s)); // contains nothing new
    CHECK(s.next_deadline() == at(3500ms));
    CHECK(s.on_time(at(3500ms)) == rmpp_state::failed);
}

TEST_CASE("a sender ends the transfer at the total time") {
    rmpp_sender s = sender_of(10, 3, {.timing = {.response = 2s, .retries = 5, .total = 3s}});
    s.on_time(at(2s));
    all_of(s, at(2s));
    CHECK(s.next_deadline() == at(3s));
    CHECK(s.on_time(at(3s)) == rmpp_state::failed);
    check_failed(s, RMPPStatus::TotalTimeTooLong);
}

TEST_CASE("a sender waits longer for a receiver that announces a long response time") {
    rmpp_sender s = sender_of(10, 0, {.timing = {.response = 1s, .retries = 1, .total = 1h}});
    mad_bytes slow = to_sender(ack(1, 2));
    slow[26] = 20 << 3 | active; // 4.096 us * 2^20
    s.feed(slow, at(0s));
    all_of(s, at(1s));
    CHECK(s.next_deadline() == at(5294967296ns));
}

TEST_CASE("a sender keeps RRespTime of the message and overwrites all other RMPP fields") {
    std::vector<u8> message = message_of(100);
    message[26] = 17 << 3 | last;
    message[24] = message[25] = message[27] = message[31] = 0xee;
    rmpp_sender s(message, sa_header, at(0s));
    const auto sent = next_of(s, at(0s));
    REQUIRE(sent);
    CHECK((*sent)[26] == (17 << 3 | first | last | active));
    CHECK(words_of(*sent) == rmpp_words{data_type, first | last, 0, 1, 120});
}

TEST_CASE("a sender ends a transfer with the status that belongs to each fault") {
    mad_bytes wrong = to_sender(ack(4, 8));
    RMPPStatus expected{};
    SECTION("other version") {
        wrong[24] = 2;
        expected = RMPPStatus::UnsupportedVersion;
    }
    SECTION("unknown type") {
        wrong[25] = 5;
        expected = RMPPStatus::BadRMPPType;
    }
    SECTION("ACK with a status") {
        wrong[27] = 126;
        expected = RMPPStatus::IllegalStatus;
    }
    SECTION("STOP without a status") {
        wrong = to_sender({stop_type, 0, 0, 0, 0});
        expected = RMPPStatus::IllegalStatus;
    }
    SECTION("ABORT with the status of a STOP") {
        wrong = to_sender({abort_type, 0, 1, 0, 0});
        expected = RMPPStatus::IllegalStatus;
    }
    SECTION("window that ends before the acknowledged segment") {
        wrong = to_sender(ack(4, 3));
        expected = RMPPStatus::NewWindowLastTooSmall;
    }
    SECTION("ACK of a segment that was not sent yet") {
        wrong = to_sender(ack(5, 8));
        expected = RMPPStatus::SegmentNumberTooBig;
    }
    SECTION("ACK of a segment that does not exist") {
        wrong = to_sender(ack(0xffffffff, 0xffffffff));
        expected = RMPPStatus::SegmentNumberTooBig;
    }
    rmpp_sender s = sender_of(10, 3);
    s.feed(wrong, at(0s));
    check_failed(s, expected);
}

TEST_CASE("a sender sends nothing after an ABORT from the receiver") {
    for (const RMPPStatus why : ending_statuses) {
        CAPTURE(static_cast<int>(why));
        rmpp_sender s = sender_of(10, 3);
        CHECK(s.feed(to_sender(ending(why)), at(0s)) == rmpp_state::failed);
        CHECK(s.status() == why);
        CHECK(s.failed_by_peer());
        CHECK(!s.has_packet());
        s.feed(to_sender(ack(4, 68)), at(0s));
        CHECK(!s.has_packet());
    }
}

TEST_CASE("the user of a sender can abort with any status, and the ABORT is repeated if the peer continues") {
    for (const RMPPStatus why : ending_statuses) {
        CAPTURE(static_cast<int>(why));
        rmpp_sender s = sender_of(10, 3);
        s.abort(why);
        check_failed(s, why);
        s.feed(to_sender(ack(4, 68)), at(0s));
        CHECK(all_of(s) == words_list{ending(why)});
        s.feed(to_sender(ending(why)), at(0s));
        CHECK(!s.has_packet());
    }
}

TEST_CASE("a sender ignores MADs of other transfers and DATA") {
    rmpp_sender s = sender_of(10, 3);
    for (std::size_t byte : {0u, 1u, 2u, 3u, 8u, 15u, 26u}) { // versions, class, method, both halves of the ID, Active
        CAPTURE(byte);
        mad_bytes foreign = to_sender(ending(RMPPStatus::Unspecified));
        foreign[byte] ^= 1;
        CHECK(s.feed(foreign, at(0s)) == rmpp_state::more);
    }
    CHECK(s.feed(to_sender({data_type, first, 0, 1, 0}), at(0s)) == rmpp_state::more); // the response
    CHECK(!s.has_packet());
}

TEST_CASE("a sender matches ACKs of a request by the low half of the transaction ID") {
    std::vector<u8> request = message_of(100);
    request[3] = 0x14;
    rmpp_sender s(request, sa_header, at(0s));
    all_of(s);
    mad_bytes answer = sa_mad(0x94, ack(1, 65));
    answer[15] ^= 1;
    CHECK(s.feed(answer, at(0s)) == rmpp_state::more);
    answer[15] ^= 1;
    answer[8] ^= 1;
    CHECK(s.feed(answer, at(0s)) == rmpp_state::complete);
}

TEST_CASE("a double-sided sender repeats the turnaround ACK after every repeated last ACK") {
    rmpp_sender s = sender_of(2, 1, {.double_sided = true});
    CHECK(s.feed(to_sender(ack(2, 66)), at(0s)) == rmpp_state::complete);
    const auto turn = next_of(s, at(0s));
    REQUIRE(turn);
    CHECK((*turn)[3] == 0x92); // the direction bit of this end
    CHECK(words_of(*turn) == ack(0, 1));
    CHECK(!s.has_packet());
    s.feed(to_sender(ack(1, 65)), at(0s)); // an old ACK
    CHECK(!s.has_packet());
    s.feed(to_sender(ack(2, 66)), at(0s));
    CHECK(all_of(s) == words_list{ack(0, 1)});

    rmpp_sender single_sided = sender_of(2, 2);
    CHECK(single_sided.state() == rmpp_state::complete);
    single_sided.feed(to_sender(ack(2, 66)), at(0s));
    CHECK(!single_sided.has_packet());
}

TEST_CASE("the turnaround ACK gives the receiver the first window of its reply") {
    rmpp_receiver r(segment(1, first | last, 120), sa_header, at(0s));
    CHECK(r.reply_window() == 1);
    r.feed(to_receiver(ack(0, 8)), at(0s));
    CHECK(r.reply_window() == 8);
    r.feed(to_receiver(ack(1, 9)), at(0s)); // not a turnaround ACK
    CHECK(r.reply_window() == 8);
    r.feed(to_receiver(ack(0, 0)), at(0s)); // an empty window would allow no response
    CHECK(r.reply_window() == 1);
    rmpp_sender answer(message_of(200 * 20), sa_header, at(0s), {.first_window = 8});
    CHECK(all_of(answer).size() == 8);

    rmpp_receiver unfinished(segment(1, first, 0), sa_header, at(0s));
    unfinished.feed(to_receiver(ack(0, 8)), at(0s));
    CHECK(unfinished.reply_window() == 1);
    CHECK(unfinished.state() == rmpp_state::more);
}

TEST_CASE("an old ACK does not discard a pending turnaround ACK") {
    rmpp_sender s(message_of(400), sa_header, at(0s), {.first_window = 2, .double_sided = true});
    all_of(s);
    s.feed(to_sender(ack(2, 66)), at(0s)); // the wire is busy: no packet is taken from the sender
    s.feed(to_sender(ack(1, 65)), at(0s)); // overtaken
    CHECK(all_of(s) == words_list{ack(0, 1)});
}
