// SPDX-License-Identifier: MIT
// relay_parts_test.cpp - the lanes and the buffer of a relay, and its imitation of a kernel, with given times instead
// of a server and a clock.
#include "ibsim/relay_buffer.hpp"
#include "ibsim/relay_lane.hpp"
#include "kernel/kernel_repeats.hpp"
#include "support/catch.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

using namespace comad;
using namespace comad::test;
using namespace std::chrono_literals;
using time_point = relay_buffer::time_point;

namespace {

/// When an arriving MAD will have been served, and how many MADs are in the buffer with it; nothing if it is dropped.
using taken = std::optional<std::pair<std::chrono::nanoseconds, unsigned>>;
taken take(relay_buffer& buffer, std::chrono::nanoseconds now) {
    const auto place = buffer.take(time_point(now));
    if (!place) return {};
    return std::pair{std::chrono::nanoseconds(place->served.time_since_epoch()), place->held};
}

// `struct sim_request` of ibsim.
constexpr std::size_t status_at = 16, mad_at = 32;
using datagram = std::array<u8, mad_at + 256>;

datagram mad_of(u8 method, u8 transaction, u8 mgmt_class = 0x81) {
    datagram d{};
    d[mad_at] = 1;
    d[mad_at + 1] = mgmt_class;
    d[mad_at + 3] = method;
    d[mad_at + 15] = transaction;
    d[mad_at + 255] = transaction; // the last byte identifies the transaction
    return d;
}

constexpr u8 Get = 0x01, Set = 0x02, Send = 0x03, Trap = 0x05, TrapRepress = 0x07, GetResp = 0x81;

constexpr time_point at(std::chrono::milliseconds t) { return time_point(t); }

} // namespace

TEST_CASE("a relay buffer serves MADs in turn and drops arrivals while it is full") {
    relay_buffer buffer(3, 10ms);
    CHECK(take(buffer, 100ms) == taken({110ms, 1}));
    CHECK(take(buffer, 100ms) == taken({120ms, 2}));
    CHECK(take(buffer, 105ms) == taken({130ms, 3}));
    CHECK(take(buffer, 105ms) == taken());
    // The first one leaves, and frees its space.
    CHECK(take(buffer, 110ms - 1ns) == taken());
    CHECK(take(buffer, 110ms) == taken({140ms, 3}));
    CHECK(take(buffer, 110ms) == taken());
    CHECK(take(buffer, 125ms) == taken({150ms, 3}));
    // When all have left, the next one does not wait.
    CHECK(take(buffer, 150ms) == taken({160ms, 1}));
    CHECK(take(buffer, 1s) == taken({1010ms, 1}));
}

TEST_CASE("an unbounded relay buffer drops nothing, and a buffer without service time holds at most one MAD") {
    relay_buffer endless(0, 1ms);
    for (unsigned i = 1; i <= 1000; ++i) REQUIRE(take(endless, 0ms) == taken({i * 1ms, i}));
    relay_buffer quick(1, 0ms);
    for (unsigned i = 1; i <= 10; ++i) REQUIRE(take(quick, i * 1ms) == taken({i * 1ms, 1}));
    CHECK(take(quick, 10ms) == taken({10ms, 1}));
}

TEST_CASE("lanes enter their buffer in the order and with the time of their arrivals") {
    relay_buffer buffer(1, 1ms);
    std::mt19937_64 luck;
    relay_lane quick(0ms, 0, luck), slow(1ms, 0, luck);
    std::array<relay_lane*, 2> lanes{&slow, &quick};
    const std::array<u8, 8> bytes{};
    // Arrivals at the buffer: 0, 2 and 4 ms from the quick lane, 1, 3 and 5 ms from the slow lane.
    for (const auto when : {0ms, 2ms, 4ms}) {
        quick.push(bytes, at(when));
        slow.push(bytes, at(when));
    }
    CHECK(slow.arrival() == at(1ms));
    CHECK_FALSE(slow.served());
    enter_in_order(lanes, buffer, at(4ms));
    CHECK(slow.arrival() == at(5ms)); // has not arrived yet
    CHECK_FALSE(quick.arrival());
    CHECK(quick.served() == at(1ms));
    CHECK(slow.served() == at(2ms));
    enter_in_order(lanes, buffer, at(1000ms));
    CHECK_FALSE(slow.arrival());
    CHECK(quick.counts().overflowed + slow.counts().overflowed == 0);

    // The buffer is full: the first one is served from 6 to 7 ms, and the second one arrives too early.
    quick.push(bytes, at(6ms));
    quick.push(bytes, at(6ms));
    quick.push(bytes, at(7ms));
    enter_in_order(lanes, buffer, at(1000ms));
    CHECK(quick.counts().overflowed == 1);
    CHECK(quick.counts().most_held == 1);
}

TEST_CASE("a relay kernel retries an unanswered request after each timeout and then returns it") {
    kernel_repeats kernel(200ms, 3);
    CHECK_FALSE(kernel.due());
    const datagram request = mad_of(Get, 7);
    kernel.note(request, at(1000ms));
    for (const auto when : {1200ms, 1400ms, 1600ms}) {
        CHECK(kernel.due() == at(when));
        CHECK_FALSE(kernel.next(at(when - 1ms)));
        const auto again = kernel.next(at(when));
        REQUIRE(again);
        CHECK_FALSE(again->is_in_vain);
        CHECK(std::equal(request.begin(), request.end(), again->datagram.begin(), again->datagram.end()));
        CHECK_FALSE(kernel.next(at(when)));
    }
    const auto back = kernel.next(at(1800ms));
    REQUIRE(back);
    CHECK(back->is_in_vain);
    datagram expected = request;
    expected[status_at + 3] = 110; // ETIMEDOUT
    CHECK(std::equal(expected.begin(), expected.end(), back->datagram.begin(), back->datagram.end()));
    CHECK_FALSE(kernel.due());
    // The reply is too late.
    CHECK_FALSE(kernel.accepts(mad_of(GetResp, 7)));
}

TEST_CASE("a relay kernel delivers exactly one reply per request") {
    kernel_repeats kernel(200ms, 3);
    kernel.note(mad_of(Get, 1), at(0ms));
    kernel.note(mad_of(Set, 2), at(50ms));
    CHECK(kernel.due() == at(200ms));
    CHECK_FALSE(kernel.accepts(mad_of(GetResp, 3)));
    CHECK(kernel.accepts(mad_of(GetResp, 1)));
    CHECK_FALSE(kernel.accepts(mad_of(GetResp, 1)));
    CHECK(kernel.due() == at(250ms));
    // A reply after a retry answers the retry, too.
    const auto again = kernel.next(at(250ms));
    REQUIRE(again);
    CHECK(again->datagram.back() == 2);
    CHECK(kernel.accepts(mad_of(GetResp, 2)));
    CHECK_FALSE(kernel.due());
}

TEST_CASE("a relay kernel forwards requests from peers and packets that the server returned") {
    kernel_repeats kernel(200ms, 3);
    CHECK(kernel.accepts(mad_of(Get, 1))); // a request from a peer to this client
    CHECK(kernel.accepts(mad_of(Trap, 1)));
    kernel.note(mad_of(Get, 2), at(0ms));
    datagram undeliverable = mad_of(Get, 2);
    undeliverable[status_at + 3] = 110;
    CHECK(kernel.accepts(undeliverable));
    CHECK_FALSE(kernel.due());
    CHECK(kernel.accepts(datagram{})); // a datagram without a known transaction
}

TEST_CASE("a relay kernel waits for no reply to a response, a trap or a Send") {
    kernel_repeats kernel(200ms, 3);
    for (const u8 method : {GetResp, Trap, TrapRepress, Send}) {
        kernel.note(mad_of(method, method), at(0ms));
        CHECK_FALSE(kernel.due());
    }
    const datagram whole = mad_of(Get, 1);
    kernel.note(std::span(whole).first(mad_at + 4), at(0ms)); // not a MAD
    kernel.note(std::span(whole).first(4), at(0ms));
    CHECK_FALSE(kernel.due());
}
