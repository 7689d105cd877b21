// SPDX-License-Identifier: MIT
// rmpp_receiver_test.cpp - a receiver that the test feeds by hand: its packets byte by byte.
#include "library/rmpp_rig.hpp"

#include <algorithm>

using namespace comad;
using namespace comad::test;

namespace {

rmpp_receiver receiver_of(const mad_bytes& mad, rmpp_receiver_options options = {}) {
    return rmpp_receiver(mad, sa_header, at(0s), options);
}
/// Returns a receiver that has the segments 1..n of a message of unknown length, and owes no ACK.
rmpp_receiver receiver_with(u32 segments, rmpp_receiver_options options = {}) {
    rmpp_receiver r = receiver_of(segment(1, first, 0), options);
    all_of(r);
    for (u32 n = 2; n <= segments; ++n) {
        r.feed(segment(n, 0, 0), at(0s));
        all_of(r);
    }
    return r;
}
/// Checks a failure that the receiver reports to the sender.
void check_failed(rmpp_receiver& r, RMPPStatus why) {
    CHECK(r.state() == rmpp_state::failed);
    CHECK(r.status() == why);
    CHECK(!r.failed_by_peer());
    CHECK(all_of(r) == words_list{ending(why)});
    CHECK(r.next_deadline() == time_point::max());
}

} // namespace

TEST_CASE("a message of one segment is complete at once and is acknowledged") {
    // One NodeRecord: 108 bytes, and 20 bytes of the SA header.
    const mad_bytes data = segment(1, first | last, 128);
    rmpp_receiver r = receiver_of(data);
    CHECK(r.state() == rmpp_state::complete);
    CHECK(r.next_deadline() == time_point::max());

    mad_bytes expected{1, 3, 2, 0x12, 0, 0, 0, 0, 0, 0, 0, 1, 0x12, 0x34, 0x56, 0x78, 0, 0x11};
    expected[24] = 1;    // version
    expected[25] = 2;    // ACK
    expected[26] = 0xf9; // RRespTime 31, Active
    expected[31] = 1;    // SegmentNumber
    expected[35] = 65;   // NewWindowLast
    for (u8 i = 36; i < 56; ++i) expected[i] = i;
    CHECK(next_of(r, at(0s)) == expected);
    CHECK(!next_of(r, at(0s)));

    const std::vector<u8> message = r.take_message();
    CHECK(message.size() == 164);
    CHECK(std::equal(message.begin(), message.end(), data.begin()));
}

TEST_CASE("a table without records is a message that consists of a header only") {
    rmpp_receiver r = receiver_of(segment(1, first | last, 20));
    REQUIRE(r.state() == rmpp_state::complete);
    CHECK(r.take_message().size() == 56);
}

TEST_CASE("the message contains only the header of the first segment") {
    // 201 bytes: Linux announces 241, with 20 header bytes for each of two segments.
    rmpp_receiver r = receiver_of(segment(1, first, 241));
    CHECK(r.state() == rmpp_state::more);
    CHECK(all_of(r) == words_list{ack(1, 65)});
    CHECK(r.feed(segment(2, last, 21), at(0s)) == rmpp_state::complete);
    CHECK(all_of(r) == words_list{ack(2, 66)});

    std::vector<u8> expected = message_of(201);
    std::copy_n(segment(1, first, 241).begin(), 56, expected.begin()); // from the first segment
    CHECK(r.take_message() == expected);
}

TEST_CASE("a 4-byte vendor header counts 4 bytes per segment") {
    mad_bytes one = segment(1, first, 216 + 5 + 8), two = segment(2, last, 5 + 4);
    one[1] = two[1] = 0x30;
    rmpp_receiver r(one, vendor_header, at(0s));
    const auto answer = next_of(r, at(0s));
    REQUIRE(answer);
    CHECK(std::equal(&(*answer)[36], &(*answer)[40], &one[36])); // the OUI selects the agent
    CHECK((*answer)[40] == 0);
    CHECK(r.feed(two, at(0s)) == rmpp_state::complete);
    CHECK(r.take_message().size() == 40 + 216 + 5);
}

TEST_CASE("the receiver advances its window when half of the window arrived") {
    rmpp_receiver r = receiver_with(1); // sent ACK 1, 65
    for (u32 n = 2; n < 33; ++n) {
        r.feed(segment(n, 0, 0), at(0s));
        REQUIRE(!r.has_packet());
    }
    r.feed(segment(33, 0, 0), at(0s));
    CHECK(all_of(r) == words_list{ack(33, 97)});
}

TEST_CASE("a receiver with a window of one segment acknowledges every segment") {
    rmpp_receiver r = receiver_of(segment(1, first, 0), {.window = 1});
    CHECK(all_of(r) == words_list{ack(1, 2)});
    r.feed(segment(2, 0, 0), at(0s));
    CHECK(all_of(r) == words_list{ack(2, 3)});
}

TEST_CASE("the receiver clamps an out-of-range window to the nearest supported value") {
    rmpp_receiver none = receiver_of(segment(1, first, 0), {.window = 0});
    CHECK(all_of(none) == words_list{ack(1, 2)});
    rmpp_receiver many = receiver_of(segment(1, first, 0), {.window = 65});
    CHECK(all_of(many) == words_list{ack(1, 65)});
}

TEST_CASE("segments in any order within the window form the message") {
    rmpp_receiver r = receiver_of(segment(1, first, 4 * 220 + 25));
    all_of(r);
    for (u32 n : {4u, 5u, 3u}) {
        CHECK(r.feed(segment(n, n == 5 ? last : 0, n == 5 ? 25 : 0), at(0s)) == rmpp_state::more);
        CHECK(!r.has_packet());
    }
    CHECK(r.feed(segment(2, 0, 0), at(0s)) == rmpp_state::complete);
    CHECK(all_of(r) == words_list{ack(5, 69)});
    const std::vector<u8> message = r.take_message(), expected = message_of(805);
    REQUIRE(message.size() == expected.size());
    CHECK(std::equal(message.begin() + 56, message.end(), expected.begin() + 56));
}

TEST_CASE("a whole window can arrive in reverse order") {
    rmpp_receiver r = receiver_with(1);
    for (u32 n = 65; n > 2; --n) r.feed(segment(n, 0, 0), at(0s));
    CHECK(!r.has_packet());
    r.feed(segment(2, 0, 0), at(0s));
    CHECK(all_of(r) == words_list{ack(65, 129)});
}

TEST_CASE("a segment beyond the window is dropped") {
    rmpp_receiver r = receiver_with(1); // window up to 65
    r.feed(segment(66, last, 20), at(0s));
    for (u32 n = 2; n <= 65; ++n) r.feed(segment(n, 0, 0), at(0s));
    CHECK(r.state() == rmpp_state::more);
    CHECK(all_of(r) == words_list{ack(65, 129)});
}

TEST_CASE("a receiver without the first segment waits for that segment without sending an ACK") {
    rmpp_receiver r = receiver_of(segment(2, 0, 0));
    CHECK(r.next_deadline() == at(2s));
    CHECK(r.state() == rmpp_state::more);
    CHECK(!r.has_packet());
    CHECK(r.on_time(at(2s)) == rmpp_state::more);
    CHECK(!r.has_packet()); // nothing to acknowledge
    r.feed(segment(1, first, 0), at(2s));
    CHECK(all_of(r) == words_list{ack(1, 65)});
}

TEST_CASE("a duplicate segment is acknowledged again and changes nothing") {
    rmpp_receiver r = receiver_with(3);
    mad_bytes other = segment(2, 0, 0);
    other[100] ^= 0xff;
    r.feed(other, at(0s));
    CHECK(all_of(r) == words_list{ack(3, 67)});
    r.feed(segment(5, 0, 0), at(0s)); // a segment that waits for an earlier one can be duplicated, too
    other = segment(5, 0, 0);
    other[100] ^= 0xff;
    r.feed(other, at(0s));
    CHECK(!r.has_packet());
    r.feed(segment(4, last, 100), at(0s)); // not the last one: 5 exists
    check_failed(r, RMPPStatus::InconsistentLastAndPayloadLength);
}

TEST_CASE("a segment after the complete message is acknowledged again") {
    rmpp_receiver r = receiver_with(2);
    r.feed(segment(3, last, 100), at(0s));
    CHECK(all_of(r) == words_list{ack(3, 67)});
    CHECK(r.feed(segment(3, last, 100), at(1s)) == rmpp_state::complete);
    CHECK(all_of(r) == words_list{ack(3, 67)});
    CHECK(r.feed(segment(2, first, 0), at(1s)) == rmpp_state::complete); // the transfer stays complete
    CHECK(r.feed(to_receiver({abort_type, 0, 127, 0, 0}), at(1s)) == rmpp_state::complete);
    r.abort();
    CHECK(r.on_time(at(10s)) == rmpp_state::complete);
    CHECK(r.on_time(at(1h)) == rmpp_state::complete);
    CHECK(!r.has_packet());
    CHECK(r.take_message().size() == 56 + 480);
}

TEST_CASE("the receiver repeats the last ACK to a stalled sender and then sends an ABORT") {
    rmpp_receiver r = receiver_of(segment(1, first, 0), {.timing = {.response = 1s, .retries = 2, .total = 1min}});
    CHECK(all_of(r) == words_list{ack(1, 65)});
    r.feed(segment(2, 0, 0), at(500ms));
    CHECK(r.next_deadline() == at(1500ms));
    CHECK(r.on_time(at(1499ms)) == rmpp_state::more);
    CHECK(!r.has_packet());
    r.on_time(at(1500ms));
    CHECK(all_of(r) == words_list{ack(2, 66)});
    CHECK(r.next_deadline() == at(2500ms));
    r.on_time(at(2500ms));
    CHECK(all_of(r) == words_list{ack(2, 66)});
    CHECK(r.on_time(at(3500ms)) == rmpp_state::failed);
    check_failed(r, RMPPStatus::TooManyRetries);
}

TEST_CASE("the receiver restores all retries when the sender continues in time") {
    rmpp_receiver r = receiver_of(segment(1, first, 0), {.timing = {.response = 1s, .retries = 1, .total = 1min}});
    all_of(r);
    for (u32 n = 2; n < 20; ++n) {
        CHECK(r.on_time(r.next_deadline()) == rmpp_state::more);
        r.feed(segment(n, 0, 0), r.next_deadline() - 1ms);
        r.feed(segment(n, 0, 0), r.next_deadline() - 1ms); // a duplicate is not progress
        all_of(r);
    }
    r.on_time(r.next_deadline());
    CHECK(r.on_time(r.next_deadline()) == rmpp_state::failed);
}

TEST_CASE("a receiver ends the transfer at the total time") {
    rmpp_receiver r = receiver_of(segment(1, first, 0), {.timing = {.response = 2s, .retries = 5, .total = 3s}});
    all_of(r);
    r.feed(segment(2, 0, 0), at(2s));
    CHECK(r.next_deadline() == at(3s));
    CHECK(r.on_time(at(2999ms)) == rmpp_state::more);
    CHECK(r.on_time(at(3s)) == rmpp_state::failed);
    check_failed(r, RMPPStatus::TotalTimeTooLong);
}

TEST_CASE("a receiver waits longer for a sender that announces a long response time") {
    mad_bytes slow = segment(1, first, 0);
    slow[26] = 20 << 3 | first | active; // 4.096 us * 2^20
    rmpp_receiver r = receiver_of(slow, {.timing = {.response = 1s, .retries = 1, .total = 1h}});
    CHECK(r.next_deadline() == at(4294967296ns));
    const auto answer = next_of(r, at(0s));
    REQUIRE(answer);
    CHECK((*answer)[26] == (not_reported << 3 | active)); // the receiver does not copy the response time of the sender
    mad_bytes fast = segment(2, 0, 0);
    fast[26] = 1 << 3 | active;
    r.feed(fast, at(1s));
    CHECK(r.next_deadline() == at(5294967296ns));
}

TEST_CASE("the deadline of a receiver with unlimited times does not wrap") {
    rmpp_receiver r(segment(1, first, 0), sa_header, at(1s),
                    {.timing = {.response = duration::max(), .retries = 1, .total = duration::max()}});
    CHECK(r.next_deadline() == time_point::max());
}

TEST_CASE("contradictory Last and PayloadLength end the transfer as inconsistent") {
    struct lie {
        const char* what;
        std::vector<mad_bytes> segments;
    };
    const std::vector<lie> altered_replies{
        {"the first says less than it carries", {segment(1, first, 1)}},
        {"the first says as much as it carries, but is not the last", {segment(1, first, 220)}},
        {"two segments hold all that was announced, and there is a third", {segment(1, first, 440), segment(2, 0, 0)}},
        {"the last comes a segment early", {segment(1, first, 441), segment(2, last, 220)}},
        {"the last has less than was announced", {segment(1, first, 241), segment(2, last, 22)}},
        {"the last has more than was announced", {segment(1, first, 243), segment(2, last, 22)}},
        {"the only one contradicts nobody, but is too long", {segment(1, first | last, 221)}},
        {"the only one ends in its own header", {segment(1, first | last, 19)}},
        {"the only one has no length", {segment(1, first | last, 0)}},
        {"the last has no length", {segment(1, first, 0), segment(2, last, 0)}},
        {"the last is longer than a segment", {segment(1, first, 0), segment(2, last, 221)}},
        {"the last's length is no length", {segment(1, first, 0), segment(2, last, 0xffffffff)}},
        {"there is one after the last", {segment(1, first, 0), segment(3, last, 20), segment(4, 0, 0)}},
        {"there are two last ones", {segment(1, first, 0), segment(3, last, 20), segment(4, last, 20)}},
        {"the last comes before another", {segment(1, first, 0), segment(4, 0, 0), segment(3, last, 20)}},
    };
    for (const lie& l : altered_replies) {
        CAPTURE(l.what);
        rmpp_receiver r = receiver_of(l.segments.front());
        for (std::size_t i = 1; i < l.segments.size(); ++i) {
            REQUIRE(r.state() == rmpp_state::more);
            all_of(r);
            r.feed(l.segments[i], at(0s));
        }
        check_failed(r, RMPPStatus::InconsistentLastAndPayloadLength);
    }
}

TEST_CASE("the first segment can omit the length or announce all fields including padding") {
    for (u32 announced : {0u, 222u + 20u, 440u}) {
        CAPTURE(announced);
        rmpp_receiver r = receiver_of(segment(1, first, announced));
        all_of(r);
        REQUIRE(r.feed(segment(2, last, 22), at(0s)) == rmpp_state::complete);
        CHECK(r.take_message().size() == 56 + 202);
    }
}

TEST_CASE("a message longer than the limit is aborted, whatever length was announced") {
    const rmpp_receiver_options limit{.max_message = 56 + 500};
    {
        rmpp_receiver r = receiver_of(segment(1, first, 0xffffffff), limit);
        check_failed(r, RMPPStatus::ResourcesExhausted);
    }
    {
        rmpp_receiver r = receiver_of(segment(1, first, 0xffffffff)); // 4 GiB are not accepted
        check_failed(r, RMPPStatus::ResourcesExhausted);
    }
    {
        rmpp_receiver r = receiver_with(2, limit);
        r.feed(segment(3, 0, 0), at(0s));
        check_failed(r, RMPPStatus::ResourcesExhausted);
    }
    {
        rmpp_receiver r = receiver_with(2, limit);
        r.feed(segment(3, last, 121), at(0s));
        check_failed(r, RMPPStatus::ResourcesExhausted);
    }
    {
        rmpp_receiver r = receiver_with(2, limit);
        CHECK(r.feed(segment(3, last, 120), at(0s)) == rmpp_state::complete);
        CHECK(r.take_message().size() == 556);
    }
    {
        rmpp_receiver r = receiver_of(segment(1, first, 3 * 20 + 500), limit); // the announced length fits
        CHECK(r.state() == rmpp_state::more);
    }
    {
        rmpp_receiver r = receiver_of(segment(1, first, 0), {.max_message = 100}); // less than one segment
        check_failed(r, RMPPStatus::ResourcesExhausted);
    }
    {
        rmpp_receiver r = receiver_of(segment(1, first | last, 20), {.max_message = 55});
        check_failed(r, RMPPStatus::ResourcesExhausted);
    }
}

TEST_CASE("a receiver ends a transfer with the status that belongs to each fault") {
    mad_bytes wrong = segment(2, 0, 0);
    RMPPStatus expected{};
    SECTION("other version") {
        wrong[24] = 2;
        expected = RMPPStatus::UnsupportedVersion;
    }
    SECTION("version 0") {
        wrong[24] = 0;
        expected = RMPPStatus::UnsupportedVersion;
    }
    SECTION("type 0") {
        wrong[25] = 0;
        expected = RMPPStatus::BadRMPPType;
    }
    SECTION("unknown type") {
        wrong[25] = 5;
        expected = RMPPStatus::BadRMPPType;
    }
    SECTION("DATA with a status") {
        wrong[27] = 1;
        expected = RMPPStatus::IllegalStatus;
    }
    SECTION("STOP without a status") {
        wrong = to_receiver({stop_type, 0, 0, 0, 0});
        expected = RMPPStatus::IllegalStatus;
    }
    SECTION("STOP with the status of an ABORT") {
        wrong = to_receiver({stop_type, 0, 118, 0, 0});
        expected = RMPPStatus::IllegalStatus;
    }
    SECTION("ABORT with the status of a STOP") {
        wrong = to_receiver({abort_type, 0, 1, 0, 0});
        expected = RMPPStatus::IllegalStatus;
    }
    SECTION("ABORT status below the range") {
        wrong = to_receiver({abort_type, 0, 117, 0, 0});
        expected = RMPPStatus::IllegalStatus;
    }
    SECTION("ABORT status above the range") {
        wrong = to_receiver({abort_type, 0, 128, 0, 0});
        expected = RMPPStatus::IllegalStatus;
    }
    SECTION("First in a later segment") {
        wrong = segment(2, first, 0);
        expected = RMPPStatus::InconsistentFirstAndSegmentNumber;
    }
    SECTION("segment 1 without First") {
        wrong = segment(1, 0, 0);
        expected = RMPPStatus::InconsistentFirstAndSegmentNumber;
    }
    SECTION("segment 0") {
        wrong = segment(0, 0, 0);
        expected = RMPPStatus::InconsistentFirstAndSegmentNumber;
    }
    {
        rmpp_receiver r = receiver_with(1);
        r.feed(wrong, at(0s));
        check_failed(r, expected);
    }
    { // the limit also applies to the first MAD
        rmpp_receiver r = receiver_of(wrong);
        check_failed(r, expected);
    }
}

TEST_CASE("the bytes of an ABORT are identical to those of Linux") {
    rmpp_receiver r = receiver_with(1);
    r.feed(segment(2, first, 0), at(0s));
    mad_bytes expected{1, 3, 2, 0x12, 0, 0, 0, 0, 0, 0, 0, 1, 0x12, 0x34, 0x56, 0x78, 0, 0x11};
    expected[24] = 1;
    expected[25] = 4;
    expected[26] = 0xf9;
    expected[27] = 120;
    for (u8 i = 36; i < 56; ++i) expected[i] = i;
    CHECK(next_of(r, at(0s)) == expected);
}

TEST_CASE("a receiver sends nothing after an ABORT from the sender") {
    for (const RMPPStatus why : ending_statuses) {
        CAPTURE(static_cast<int>(why));
        rmpp_receiver r = receiver_with(2);
        CHECK(r.feed(to_receiver(ending(why)), at(0s)) == rmpp_state::failed);
        CHECK(r.status() == why);
        CHECK(r.failed_by_peer());
        CHECK(!r.has_packet());
        r.feed(segment(3, 0, 0), at(0s));
        CHECK(!r.has_packet());
    }
}

TEST_CASE("the user of a receiver can abort the transfer with any status") {
    for (const RMPPStatus why : ending_statuses) {
        CAPTURE(static_cast<int>(why));
        rmpp_receiver r = receiver_with(2);
        r.abort(why);
        check_failed(r, why);
        r.abort(RMPPStatus::BadRMPPType); // one ABORT is enough
        CHECK(r.status() == why);
    }
}

TEST_CASE("an ABORT replaces a pending ACK") {
    rmpp_receiver r = receiver_of(segment(1, first, 0));
    r.abort();
    check_failed(r, RMPPStatus::Unspecified);
    CHECK(r.on_time(at(10s)) == rmpp_state::failed);
    CHECK(!r.has_packet());
}

TEST_CASE("a receiver repeats its ABORT for every further segment, but not in reply to an ABORT") {
    rmpp_receiver r = receiver_with(2);
    r.abort();
    r.feed(segment(3, 0, 0), at(0s)); // before the first ABORT was sent: one is enough
    CHECK(all_of(r) == words_list{ending(RMPPStatus::Unspecified)});
    r.feed(segment(3, 0, 0), at(0s));
    CHECK(all_of(r) == words_list{ending(RMPPStatus::Unspecified)});
    r.feed(to_receiver(ending(RMPPStatus::BadRMPPType)), at(0s));
    r.feed(to_receiver(ending(RMPPStatus::ResourcesExhausted)), at(0s));
    CHECK(!r.has_packet());
    CHECK(r.status() == RMPPStatus::Unspecified);
}

TEST_CASE("a receiver ignores MADs of other transfers") {
    rmpp_receiver r = receiver_with(1);
    const auto foreign = [&](std::size_t byte) {
        mad_bytes mad = to_receiver(ending(RMPPStatus::Unspecified));
        mad[byte] ^= 1;
        return mad;
    };
    // The foreign bytes are versions, class, method or transaction ID.
    for (std::size_t byte : {0u, 1u, 2u, 3u, 15u}) r.feed(foreign(byte), at(0s));
    r.feed(to_sender(ending(RMPPStatus::Unspecified)), at(0s)); // addressed to the other end
    r.feed(foreign(26), at(0s));                                // not Active: a MAD without RMPP
    const mad_bytes ours = to_receiver(ending(RMPPStatus::Unspecified));
    r.feed(std::span(ours).first(255), at(0s));
    r.feed({}, at(0s));
    CHECK(r.state() == rmpp_state::more);
    CHECK(r.feed(ours, at(0s)) == rmpp_state::failed);
}

TEST_CASE("a receiver compares the high half of the transaction ID for requests from a peer") {
    mad_bytes data = sa_mad(0x14, {data_type, first, 0, 1, 0}); // a request: the sender chose its transaction ID
    rmpp_receiver r = receiver_of(data);
    mad_bytes other = sa_mad(0x14, ending(RMPPStatus::Unspecified));
    other[11] ^= 1;
    CHECK(r.feed(other, at(0s)) == rmpp_state::more);
    other[11] ^= 1;
    CHECK(r.feed(other, at(0s)) == rmpp_state::failed);
}

TEST_CASE("only a first segment starts a transfer") {
    CHECK(rmpp_receiver::begins(segment(1, first, 0)));
    CHECK(rmpp_receiver::begins(segment(1, first | last, 20)));
    CHECK(!rmpp_receiver::begins(segment(2, 0, 0)));
    CHECK(!rmpp_receiver::begins(to_receiver(ack(1, 65))));
    CHECK(!rmpp_receiver::begins(to_receiver({abort_type, first, 127, 0, 0})));
    mad_bytes plain = segment(1, first, 0);
    plain[26] ^= active;
    CHECK(!mad::is_rmpp(plain));
    CHECK(!rmpp_receiver::begins(plain));
    CHECK(mad::is_rmpp(to_receiver(ack(1, 65))));
    CHECK(!mad::is_rmpp(std::span(plain).first(30)));
}

TEST_CASE("a pending ACK is discarded after an ABORT from the sender") {
    rmpp_receiver r(segment(1, first, 0), sa_header, at(0s));
    r.feed(to_receiver(ending(RMPPStatus::Unspecified)), at(0s));
    CHECK(!r.has_packet());
}
