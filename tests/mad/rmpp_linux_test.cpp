// SPDX-License-Identifier: MIT
// rmpp_linux_test.cpp - sender and receiver compared with MADs that Linux 6.1 sent (RMPP of ib_core, read as a
// user-space RMPP agent).
#include "library/iba_data.hpp"
#include "library/rmpp_rig.hpp"

#include <string>

namespace rmpp_linux_test {

using namespace comad;
using namespace comad::test;

namespace {

/// rmpp_linux.txt has a name and a MAD in hex on each line. MADs with the same name are in the order of their arrival.
/// Data bytes are data_byte(position).
///   sa_201_data, sa_201_ack    a GetTableResp of 201 bytes: its segments, and the ACKs for such a message
///   sa_0_data                  a GetTableResp without data
///   vendor_300_data, _ack      a message of 300 bytes of a vendor class with OUI, and its ACKs
///   question_data, _turn       a double-sided GetMulti of 300 bytes, and the ACK that turns the direction
///   answer_ack                 the ACKs for its response of 500 bytes, three segments, with a first window of 1
///   abort                      the reply to a second segment with First
std::vector<mad_bytes> linux_mads(const std::string& name) {
    std::vector<mad_bytes> all;
    std::ifstream in = open_data("rmpp_linux.txt");
    for (std::string title, hex; in >> title >> hex;) {
        if (title != name) continue;
        REQUIRE(hex.size() == 512);
        mad_bytes& mad = all.emplace_back();
        for (std::size_t i = 0; i < 256; ++i) mad[i] = static_cast<u8>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
    }
    REQUIRE(!all.empty());
    return all;
}

/// Returns the message whose first segment Linux sent.
std::vector<u8> message_with_header(const mad_bytes& mad, std::size_t header, std::size_t data) {
    std::vector<u8> message(mad.begin(), mad.begin() + static_cast<std::ptrdiff_t>(header));
    for (std::size_t i = 0; i < data; ++i) message.push_back(data_byte(i));
    return message;
}

struct sample {
    const char* name;
    std::size_t header, data;
};
const std::vector<sample> samples{{"sa_201_data", sa_header, 201},
                                  {"sa_0_data", sa_header, 0},
                                  {"vendor_300_data", vendor_header, 300},
                                  {"question_data", sa_header, 300}};

} // namespace

TEST_CASE("segments from the Linux kernel form the message that Linux delivers") {
    for (const sample& s : samples) {
        CAPTURE(s.name);
        const std::vector<mad_bytes> segments = linux_mads(s.name);
        rmpp_receiver r(segments.front(), s.header, at(0s));
        for (std::size_t i = 1; i < segments.size(); ++i) {
            all_of(r);
            r.feed(segments[i], at(0s));
        }
        REQUIRE(r.state() == rmpp_state::complete);
        CHECK(r.take_message() == message_with_header(segments.front(), s.header, s.data));
    }
}

TEST_CASE("the segments that comad sends are identical to those of Linux") {
    for (const sample& s : samples) {
        CAPTURE(s.name);
        const std::vector<mad_bytes> segments = linux_mads(s.name);
        rmpp_sender sender(message_with_header(segments.front(), s.header, s.data), s.header, at(0s),
                           {.first_window = 10});
        for (const mad_bytes& mad : segments) CHECK(next_of(sender, at(0s)) == mad);
        CHECK(!sender.has_packet());
    }
}

TEST_CASE("ACKs from the Linux kernel complete the transfer of a message") {
    for (const bool is_vendor : {false, true}) {
        const std::vector<mad_bytes> acks = linux_mads(is_vendor ? "vendor_300_ack" : "sa_201_ack");
        const std::size_t header = is_vendor ? vendor_header : sa_header;
        mad_bytes begin = acks.front();
        begin[3] = 0x92;
        rmpp_sender sender(message_with_header(begin, header, is_vendor ? 300 : 201), header, at(0s));
        for (const mad_bytes& mad : acks) {
            CHECK(all_of(sender).size() == 1);
            CHECK(sender.state() == rmpp_state::more);
            sender.feed(mad, at(0s));
        }
        CHECK(sender.state() == rmpp_state::complete);
    }
}

TEST_CASE("the ACKs that comad sends are identical to those of Linux except for the window of the last one") {
    for (const bool is_vendor : {false, true}) {
        const std::vector<mad_bytes> acks = linux_mads(is_vendor ? "vendor_300_ack" : "sa_201_ack");
        const std::size_t header = is_vendor ? vendor_header : sa_header;
        mad_bytes begin = acks.front();
        begin[3] = 0x92;
        rmpp_sender sender(message_with_header(begin, header, is_vendor ? 300 : 201), header, at(0s),
                           {.first_window = 2});
        rmpp_receiver r(*next_of(sender, at(0s)), header, at(0s));
        CHECK(next_of(r, at(0s)) == acks[0]);
        r.feed(*next_of(sender, at(0s)), at(0s));
        mad_bytes expected = acks[1];
        REQUIRE(expected[35] == 65);
        expected[35] = 66; // Linux moves the window only after all of it arrived
        CHECK(next_of(r, at(0s)) == expected);
    }
}

TEST_CASE("a double-sided transfer with the Linux kernel succeeds") {
    const std::vector<mad_bytes> question = linux_mads("question_data");
    const mad_bytes turn = linux_mads("question_turn").front();

    // Linux sends the request, comad the response.
    rmpp_receiver r(question[0], sa_header, at(0s));
    all_of(r);
    r.feed(question[1], at(0s));
    all_of(r);
    r.feed(turn, at(0s));
    CHECK(r.reply_window() == 1);
    std::vector<u8> answer = message_with_header(question[0], sa_header, 500);
    answer[3] = 0x94;
    rmpp_sender answering(answer, sa_header, at(0s), {.first_window = r.reply_window()});
    CHECK(all_of(answering).size() == 1);
    const std::vector<mad_bytes> acks = linux_mads("answer_ack");
    REQUIRE(acks.size() == 2);
    answering.feed(acks[0], at(0s));
    CHECK(all_of(answering).size() == 2);
    CHECK(answering.feed(acks[1], at(0s)) == rmpp_state::complete);

    // comad sends the request of Linux. The turnaround ACK differs only in RRespTime, which Linux copies from the ACK.
    rmpp_sender requester(message_with_header(question[0], sa_header, 300), sa_header, at(0s), {.double_sided = true});
    for (u32 n : {1u, 2u}) {
        all_of(requester);
        requester.feed(sa_mad(0x94, {ack_type, 0, 0, n, n + 64}), at(0s)); // of another transaction
        CHECK(requester.acknowledged() == n - 1);
        mad_bytes ack_of_it = turn;
        ack_of_it[3] = 0x94;
        ack_of_it[31] = static_cast<u8>(n);
        ack_of_it[35] = 65;
        requester.feed(ack_of_it, at(0s));
    }
    CHECK(requester.state() == rmpp_state::complete);
    auto ours = next_of(requester, at(0s));
    REQUIRE(ours);
    (*ours)[26] = turn[26];
    CHECK(ours == turn);
}

TEST_CASE("the ABORT that comad sends is identical to that of Linux, and comad accepts the ABORT of Linux") {
    const mad_bytes abort = linux_mads("abort").front();
    mad_bytes begin = abort;
    begin[3] = 0x92;
    rmpp_sender sender(message_with_header(begin, sa_header, 1000), sa_header, at(0s));
    const auto one = next_of(sender, at(0s));
    REQUIRE(one);
    CHECK(sender.feed(abort, at(0s)) == rmpp_state::failed);
    CHECK(sender.failed_by_peer());
    CHECK(sender.status() == RMPPStatus::InconsistentFirstAndSegmentNumber);

    rmpp_receiver r(*one, sa_header, at(0s));
    all_of(r);
    mad_bytes wrong = *one;
    wrong[31] = 2;
    r.feed(wrong, at(0s));
    CHECK(next_of(r, at(0s)) == abort);
}

} // namespace rmpp_linux_test
