// SPDX-License-Identifier: MIT
// rmpp_wire_test.cpp - sender and receiver over a simulated wire that loses, duplicates and reorders, in virtual time.
#include "library/rmpp_rig.hpp"
#include <comad/mad/detail/record_table.hpp>

#include <map>
#include <random>

using namespace comad;
using namespace comad::test;

namespace {

struct wire_faults {
    unsigned lost = 0, doubled = 0, delayed = 0; // per thousand MADs
};

/// One direction of a wire.
class wire {
public:
    wire(wire_faults faults, std::mt19937& random) : faults_(faults), random_(random) {}

    void send(const mad_bytes& mad, time_point now) {
        if (happens(faults_.lost)) return;
        under_way_.emplace(now + travel(), mad);
        if (happens(faults_.doubled)) under_way_.emplace(now + travel(), mad);
    }
    time_point next() const { return under_way_.empty() ? time_point::max() : under_way_.begin()->first; }
    std::optional<mad_bytes> receive(time_point now) {
        if (next() > now) return std::nullopt;
        const mad_bytes mad = under_way_.begin()->second;
        under_way_.erase(under_way_.begin());
        return mad;
    }

private:
    bool happens(unsigned per_thousand) { return random_() % 1000 < per_thousand; }
    duration travel() { return happens(faults_.delayed) ? duration(random_() % 200000) : 10us; }

    wire_faults faults_;
    std::mt19937& random_;
    std::multimap<time_point, mad_bytes> under_way_;
};

const mad::rmpp_timing quick{.response = 1ms, .retries = 20, .total = 1h};

struct transfer_result {
    std::optional<rmpp_receiver> receiver;
    u64 data_sent = 0;
    time_point end{};
};

/// Runs until both ends have finished, or nothing more can happen.
transfer_result transfer(rmpp_sender& sender, wire_faults faults, u32 seed,
                         rmpp_receiver_options options = {.timing = quick}) {
    std::mt19937 random(seed);
    wire there(faults, random), back(faults, random);
    transfer_result o;
    auto& receiver = o.receiver;
    time_point now{};
    while (true) {
        while (const auto mad = next_of(sender, now)) {
            ++o.data_sent;
            there.send(*mad, now);
        }
        if (receiver)
            while (const auto mad = next_of(*receiver, now)) back.send(*mad, now);
        now = std::min({there.next(), back.next(), sender.next_deadline(),
                        receiver ? receiver->next_deadline() : time_point::max()});
        if (now == time_point::max()) break;
        o.end = now;
        while (const auto mad = there.receive(now)) {
            if (receiver) receiver->feed(*mad, now);
            else receiver.emplace(*mad, sa_header, now, options);
        }
        while (const auto mad = back.receive(now)) sender.feed(*mad, now);
        sender.on_time(now);
        if (receiver) receiver->on_time(now);
    }
    return o;
}

/// Returns a GetTableResp of NodeRecords: 108 bytes at intervals of 112 bytes. The contents depend on the record
/// number.
std::vector<u8> table_of(std::size_t records) {
    std::vector<u8> message = message_of(112 * records);
    message[44] = 0;
    message[45] = static_cast<u8>(mad::attribute_offset_of(108));
    for (std::size_t i = 0; i < records; ++i) put_u32(&message[56 + 112 * i], static_cast<u32>(i));
    return message;
}

void check_whole(transfer_result& o, const rmpp_sender& sender, std::size_t records, const std::vector<u8>& sent) {
    REQUIRE(sender.state() == rmpp_state::complete);
    REQUIRE(o.receiver);
    REQUIRE(o.receiver->state() == rmpp_state::complete);
    const std::vector<u8> message = o.receiver->take_message();
    REQUIRE(message.size() == sent.size());
    CHECK(std::equal(message.begin() + 36, message.end(), sent.begin() + 36));
    const auto table = mad::record_table::of(message, 108);
    REQUIRE(table);
    REQUIRE(table.value().size() == records);
    for (std::size_t i = 0; i < records; ++i) REQUIRE(get_u32(table.value()[i].data()) == i);
}

} // namespace

TEST_CASE("any number of records arrives over a fault-free link with each segment sent once") {
    for (std::size_t records : {0u, 1u, 2u, 1000u, 100000u}) {
        CAPTURE(records);
        const std::vector<u8> sent = table_of(records);
        rmpp_sender sender(sent, sa_header, at(0s), {.timing = quick});
        transfer_result o = transfer(sender, {}, 1);
        check_whole(o, sender, records, sent);
        CHECK(o.data_sent == std::max<std::size_t>(1, (records * 112 + 199) / 200));
    }
}

TEST_CASE("any number of records arrives over a link that loses, duplicates and reorders MADs") {
    const u32 seed = GENERATE(range(1u, 11u));
    for (std::size_t records : {0u, 1u, 2u, 1000u}) {
        CAPTURE(seed, records);
        const std::vector<u8> sent = table_of(records);
        rmpp_sender sender(sent, sa_header, at(0s), {.timing = quick});
        transfer_result o = transfer(sender, {.lost = 50, .doubled = 50, .delayed = 200}, seed);
        check_whole(o, sender, records, sent);
    }
}

TEST_CASE("100,000 records arrive over a link that loses, duplicates and reorders MADs") {
    const std::vector<u8> sent = table_of(100000);
    rmpp_sender sender(sent, sa_header, at(0s), {.timing = quick});
    transfer_result o = transfer(sender, {.lost = 10, .doubled = 10, .delayed = 100}, 1);
    check_whole(o, sender, 100000, sent);
}

TEST_CASE("a transfer with a small window completes over a link that loses, duplicates and reorders MADs") {
    const std::vector<u8> sent = table_of(500);
    for (unsigned window : {1u, 2u, 3u, 63u}) {
        CAPTURE(window);
        rmpp_sender sender(sent, sa_header, at(0s), {.timing = quick});
        transfer_result o =
            transfer(sender, {.lost = 50, .doubled = 50, .delayed = 200}, window, {.timing = quick, .window = window});
        check_whole(o, sender, 500, sent);
    }
}

TEST_CASE("a message arrives if any single MAD is lost") {
    // Loses the n-th MAD of the sender and, in another run, the n-th MAD of the receiver.
    const std::vector<u8> sent = table_of(300); // 168 segments: the ACKs follow 1, 64, 64 and 39 of them
    for (int direction : {0, 1}) {
        for (unsigned n = 0; n < (direction == 0 ? 168u : 4u); ++n) {
            CAPTURE(direction, n);
            rmpp_sender sender(sent, sa_header, at(0s), {.timing = quick});
            transfer_result o;
            auto& receiver = o.receiver;
            unsigned passed[2] = {};
            const auto is_lost = [&](int d) { return passed[d]++ == n && d == direction; };
            time_point now{};
            while (sender.state() == rmpp_state::more) {
                bool was_quiet = true;
                while (const auto mad = next_of(sender, now)) {
                    was_quiet = false;
                    if (is_lost(0)) continue;
                    if (receiver) receiver->feed(*mad, now);
                    else receiver.emplace(*mad, sa_header, now, rmpp_receiver_options{.timing = quick});
                }
                while (receiver) {
                    const auto mad = next_of(*receiver, now);
                    if (!mad) break;
                    was_quiet = false;
                    if (!is_lost(1)) sender.feed(*mad, now);
                }
                if (!was_quiet) continue;
                now = std::min(sender.next_deadline(), receiver ? receiver->next_deadline() : time_point::max());
                sender.on_time(now);
                if (receiver) receiver->on_time(now);
            }
            REQUIRE(passed[direction] > n); // a MAD was lost
            check_whole(o, sender, 300, sent);
        }
    }
}

TEST_CASE("both ends time out, each at its own limit, if the link loses every MAD") {
    rmpp_sender sender(table_of(10), sa_header, at(0s), {.timing = {.response = 1ms, .retries = 3, .total = 1h}});
    transfer_result o = transfer(sender, {.lost = 1000}, 1);
    CHECK(sender.state() == rmpp_state::failed);
    CHECK(sender.status() == RMPPStatus::TooManyRetries);
    CHECK(o.data_sent == 4 + 1); // including the ABORT
    CHECK(o.end == at(4ms));
    CHECK(!o.receiver);
}

TEST_CASE("an end that aborts a transfer informs its peer") {
    SECTION("receiver without memory") {
        rmpp_sender sender(table_of(1000), sa_header, at(0s), {.timing = quick});
        transfer_result o = transfer(sender, {}, 1, {.timing = quick, .max_message = 1000});
        CHECK(o.receiver->status() == RMPPStatus::ResourcesExhausted);
        CHECK(sender.status() == RMPPStatus::ResourcesExhausted);
        CHECK(sender.failed_by_peer());
    }
    SECTION("sender without time") {
        rmpp_sender sender(table_of(100000), sa_header, at(0s),
                           {.timing = {.response = 1ms, .retries = 20, .total = 5ms}});
        transfer_result o = transfer(sender, {.lost = 50}, 1);
        CHECK(sender.status() == RMPPStatus::TotalTimeTooLong);
        CHECK(o.receiver->status() == RMPPStatus::TotalTimeTooLong);
        CHECK(o.receiver->failed_by_peer());
    }
}

TEST_CASE("a double-sided transfer carries a request and a reply of many segments each") {
    std::vector<u8> question = table_of(50), answer = table_of(80);
    question[3] = 0x14; // GetMulti
    answer[3] = 0x94;   // GetMultiResp
    rmpp_sender requester(question, sa_header, at(0s), {.timing = quick, .double_sided = true});
    transfer_result query = transfer(requester, {.lost = 50, .doubled = 50, .delayed = 200}, 3);
    check_whole(query, requester, 50, question);
    rmpp_sender answering(answer, sa_header, at(0s), {.timing = quick, .first_window = query.receiver->reply_window()});
    transfer_result answered = transfer(answering, {.lost = 50, .doubled = 50, .delayed = 200}, 4);
    check_whole(answered, answering, 80, answer);
}
