// SPDX-License-Identifier: MIT
// kernel_model_test.cpp - the model of the kernel compared with measurements on Linux 6.1 and 6.12, or with their
// source if a test mentions it. There is one statement per test, over a scripted wire in virtual time.
#include "library/coro_rig.hpp"
#include "wire/lossy_wire.hpp"
#include "wire/memory_transport.hpp"
#include <comad/iba/sa.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/transports/kernel_model.hpp>
#include <comad/transports/rmpp.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <utility>
#include <vector>

namespace kernel_model_test {

using namespace comad;
using namespace comad::test;
using iba::MgmtClass;
using transports::kernel_model;
using transports::kernel_options;

namespace {

constexpr auto sent = mad::send_state::sent;
constexpr auto would_block = mad::send_state::would_block;
constexpr auto failed = mad::send_state::failed;
constexpr u8 Get = 0x01, Send = 0x03, GetTable = 0x12, GetResp = 0x81;

/// A request. Its number is the lower half of its transaction ID.
struct mad_settings {
    MgmtClass mgmt_class = MgmtClass::SubnDirected;
    u8 class_version = 1;
    u8 method = Get;
    bool expects_reply = true;
    mad::duration attempt = 1s;
    mad::duration operation = 3s;
    mad::any_path path = route(1);
    std::size_t size = mad::mad_size;
    u8 RMPPFlags = 0;
    std::optional<MgmtClass> class_in_mad{}; ///< unless it is the class of the agent
};

struct reading {
    u32 status;
    std::vector<u8> mad;
    std::size_t full_size;
    mad::source_address source;

    u32 number() const { return mad::low_tid(mad.data()); }
    u32 agent() const { return iba::load_be<u32>(mad.data() + 8); }
};

/// A program that sends and reads, the kernel, and a wire on which only packets of the test arrive.
struct program {
    explicit program(kernel_options o = {}) : wire(silence), kernel(wire, o) {}

    mad::send_result send_mad(u32 number, const mad_settings& a = {}) {
        std::vector<u8> bytes(mad::headroom + std::max(a.size, mad::mad_size));
        u8* const m = bytes.data() + mad::headroom;
        m[0] = 1;
        m[1] = value(a.class_in_mad.value_or(a.mgmt_class));
        m[2] = a.class_version;
        m[3] = a.method;
        iba::store_be<u32>(m + 8, 0xfeedbeef); // set by the kernel
        mad::set_low_tid(m, number);
        iba::store_be<u32>(m + 20, 0x98765432); // attributeModifier
        m[26] = a.RMPPFlags;
        return kernel.send(
            {&a.path, m, a.size, value(a.mgmt_class), a.class_version, a.expects_reply, a.attempt, a.operation});
    }
    /// Returns what has arrived.
    std::vector<reading> read(std::size_t buffer_size = 1024) {
        std::vector<u8> buffer(buffer_size);
        std::vector<reading> all;
        for (;;) {
            const mad::received r = kernel.receive(buffer);
            if (r.state != mad::receive_state::message) return all;
            all.push_back({r.status, {r.mad.begin(), r.mad.end()}, r.full_size, r.source});
            if (r.full_size > r.mad.size()) return all; // the message stays in the kernel
        }
    }
    std::vector<u32> read_numbers() {
        std::vector<u32> numbers;
        for (const reading& r : read()) numbers.push_back(r.number());
        return numbers;
    }
    std::vector<reading> read_at(mad::duration since_the_beginning) {
        kernel.set_now(mad::time_point(since_the_beginning));
        return read();
    }
    /// Makes the reply to the n-th MAD on the wire arrive after this time.
    void answer(std::size_t n, mad::duration in) {
        mad_bytes bytes = wire.taken().at(n).bytes;
        bytes[3] |= 0x80;
        arrive(in, {bytes.begin(), bytes.end()});
    }
    void arrive(mad::duration in, std::vector<u8> bytes) { wire.inject({in, std::move(bytes)}); }
    std::size_t on_wire() const { return wire.taken().size(); }
    const transports::kernel_counters& counters() const { return kernel.counters(); }

    scripted_transport wire;
    kernel_model kernel;
};

/// Returns the time at which the kernel returns an unanswered request that is sent at `at`.
mad::duration comes_back(const mad_settings& a, mad::duration at = {}, mad::duration tick = 1ms) {
    program p({.tick = tick});
    p.kernel.set_now(mad::time_point(at));
    REQUIRE(p.send_mad(1, a).state == sent);
    while (p.read().empty()) {
        const auto next = p.kernel.next_event();
        REQUIRE(next);
        REQUIRE(*next > p.wire.now());
        p.kernel.set_now(*next);
    }
    return p.wire.now().time_since_epoch();
}

std::vector<u8> request_of_others() {
    std::vector<u8> mad(256);
    mad[0] = 1;
    mad[1] = value(MgmtClass::Performance);
    mad[2] = 1;
    mad[3] = Get;
    return mad;
}

} // namespace

// ---- timeouts ------------------------------------------------------------------------------------------------------------

TEST_CASE("the kernel timeout is rounded up to whole milliseconds and is at least one") {
    const auto measured = [](mad::duration operation) { return comes_back({.operation = operation}); };
    CHECK(measured(20ms) == 20ms);
    CHECK(measured(20ms + 1ns) == 21ms);
    CHECK(measured(1ns) == 1ms);
    CHECK(measured(0ns) == 1ms);
}

TEST_CASE("kernel timers run on whole jiffies and expire at a jiffy") {
    // Measured with HZ=250: a timeout of 1 ms took 7 ms, one of 100 ms took 104 ms.
    const auto measured = [](mad::duration operation, mad::duration at) {
        return comes_back({.operation = operation}, at, 4ms);
    };
    CHECK(measured(1ms, 1ms) == 8ms);
    CHECK(measured(100ms, 1ms) == 104ms);
    CHECK(measured(100ms, 0ms) == 100ms);
    CHECK(measured(97ms, 1ns) == 104ms);
    CHECK(comes_back({.operation = 100ms}, 700us) == 101ms);
    CHECK(comes_back({.operation = 11ms}, 0ms, 10ms) == 20ms);
}

TEST_CASE("an unanswered request returns once with status 110, 24 bytes and the whole transaction ID") {
    program p;
    REQUIRE(p.send_mad(0x01020304, {.operation = 100ms}).state == sent);
    CHECK(p.read_at(100ms - 1ns).empty());
    CHECK(p.kernel.next_event() == mad::time_point(100ms));
    const auto report = p.read_at(100ms);
    REQUIRE(report.size() == 1);
    CHECK(report[0].status == 110);
    const mad_bytes& on_wire = p.wire.taken().at(0).bytes;
    CHECK(report[0].mad == std::vector<u8>(on_wire.begin(), on_wire.begin() + 24));
    CHECK(report[0].full_size == 24);
    CHECK(report[0].number() == 0x01020304);
    CHECK(report[0].agent() != 0xfeedbeef);
    CHECK(p.read_at(10s).empty());
    CHECK(p.counters().given_back == 1);
    CHECK_FALSE(p.kernel.next_event());
}

TEST_CASE("the kernel holds a request for the whole operation, so that a late reply arrives") {
    program p;
    REQUIRE(p.send_mad(1, {.attempt = 10ms, .operation = 40ms}).state == sent);
    p.answer(0, 35ms);
    CHECK(p.read_at(34ms).empty());
    const auto answer = p.read_at(35ms);
    REQUIRE(answer.size() == 1);
    CHECK(answer[0].status == 0);
    CHECK(answer[0].mad.size() == 256);
    CHECK(p.counters().answered == 1);
    CHECK(p.read_at(1s).empty());
}

TEST_CASE("a reply after the kernel timeout is dropped") {
    program p;
    REQUIRE(p.send_mad(1, {.operation = 100ms}).state == sent);
    p.answer(0, 100ms + 1ns);
    const auto report = p.read_at(1s);
    REQUIRE(report.size() == 1);
    CHECK(report[0].status == 110);
    CHECK(p.counters().late == 1);
    CHECK(p.counters().answered == 0);
}

TEST_CASE("a program that sleeps finds what arrived meanwhile, except replies after the timeout") {
    program p;
    for (u32 i = 0; i < 4; ++i) REQUIRE(p.send_mad(i, {.operation = 10ms}).state == sent);
    p.answer(0, 0ms);
    p.answer(1, 20ms);
    p.answer(2, 5ms);
    p.kernel.set_now(mad::time_point(50ms));
    CHECK(p.read_numbers() == std::vector<u32>{0, 2, 1, 3});
    CHECK(p.counters().answered == 2);
    CHECK(p.counters().late == 1);
}

TEST_CASE("a reply at the very end of the timeout is in time") {
    program p;
    REQUIRE(p.send_mad(1, {.operation = 100ms}).state == sent);
    p.answer(0, 100ms);
    const auto answer = p.read_at(100ms);
    REQUIRE(answer.size() == 1);
    CHECK(answer[0].status == 0);
    CHECK(p.read_at(1s).empty());
}

TEST_CASE("a thousand requests in flight return in the order of their timeouts") {
    program p;
    for (u32 i = 0; i < 1000; ++i) {
        const bool is_short = i % 2;
        REQUIRE(p.send_mad(i, {.attempt = 1s, .operation = is_short ? 50ms : 60ms}).state ==
                (i < 640 ? sent : would_block));
    }
    CHECK(p.counters().most_on_wire == 640);
    p.kernel.set_now(mad::time_point(10s));
    std::vector<u32> wanted;
    for (u32 i = 1; i < 64; i += 2) wanted.push_back(i);
    for (u32 i = 0; i < 64; i += 2) wanted.push_back(i);
    for (u32 i = 64; i < 640; ++i) wanted.push_back(i); // the timeout of the attempt
    CHECK(p.read_numbers() == wanted);
}

// ---- replies -------------------------------------------------------------------------------------------------------------

TEST_CASE("the kernel drops a duplicate reply") {
    program p;
    REQUIRE(p.send_mad(1).state == sent);
    p.answer(0, 1ms);
    p.answer(0, 1ms);
    p.answer(0, 2ms);
    CHECK(p.read_at(1ms).size() == 1);
    CHECK(p.read_at(2ms).empty());
    CHECK(p.counters().answered == 1);
    CHECK(p.counters().doubled == 2);
}

TEST_CASE("a reply with an unknown transaction ID is not delivered") {
    program p;
    REQUIRE(p.send_mad(1).state == sent);
    std::vector<u8> answer(p.wire.taken()[0].bytes.begin(), p.wire.taken()[0].bytes.end());
    answer[3] = GetResp;
    const std::size_t byte = GENERATE(8, 11, 12, 15); // bytes of both halves
    answer[byte] ^= 0x40;
    p.arrive(1ms, answer);
    CHECK(p.read_at(1ms).empty());
    CHECK(p.counters().unknown == 1);
    p.answer(0, 0ms);
    CHECK(p.read_at(1ms).size() == 1); // the reply did not belong to it
}

TEST_CASE("a reply in another class than its request is not delivered") {
    program p;
    REQUIRE(p.send_mad(1).state == sent);
    std::vector<u8> answer(p.wire.taken()[0].bytes.begin(), p.wire.taken()[0].bytes.end());
    answer[1] = value(MgmtClass::SubnLID);
    answer[3] = GetResp;
    p.arrive(1ms, answer);
    CHECK(p.read_at(1ms).empty());
    CHECK(p.counters().unknown == 1);
}

TEST_CASE("an agent can send another class than its own, and the reply must have the class of the request") {
    program p;
    REQUIRE(p.send_mad(1, {.class_in_mad = MgmtClass::SubnLID}).state == sent);
    p.answer(0, 1ms);
    CHECK(p.read_at(1ms).size() == 1);
}

TEST_CASE("a request without a timeout is sent once, never returned, and its reply is not delivered") {
    program p;
    REQUIRE(p.send_mad(1, {.method = Send, .expects_reply = false}).state == sent);
    CHECK(p.on_wire() == 1);
    p.answer(0, 1ms);
    CHECK(p.read_at(1ms).empty());
    CHECK(p.counters().unknown == 1);
    CHECK(p.read_at(100s).empty());
    CHECK(p.kernel.held() == 0);
    CHECK(p.counters().requests == 0);
}

TEST_CASE("a reply with another base version is dropped, and its request times out") {
    program p;
    REQUIRE(p.send_mad(1, {.operation = 10ms}).state == sent);
    std::vector<u8> answer(p.wire.taken()[0].bytes.begin(), p.wire.taken()[0].bytes.end());
    answer[0] = 0;
    answer[3] = GetResp;
    p.arrive(1ms, answer);
    p.arrive(1ms, std::vector<u8>(23, 1));
    p.arrive(1ms, {});
    CHECK(p.read_at(1ms).empty());
    CHECK(p.counters().malformed == 3);
    CHECK(p.read_at(10ms).size() == 1);
}

TEST_CASE("500 unread replies arrive unchanged in order") {
    program p;
    for (u32 i = 0; i < 500; ++i) {
        REQUIRE(p.send_mad(i).state == sent);
        p.answer(i, mad::duration(i) * 1000 + 1us);
    }
    p.kernel.set_now(mad::time_point(1ms));
    CHECK(p.kernel.next_event() == mad::time_point(1ms)); // a message is readable now
    const auto answers = p.read();
    REQUIRE(answers.size() == 500);
    for (u32 i = 0; i < 500; ++i) {
        CHECK(answers[i].number() == i);
        CHECK(answers[i].mad.size() == 256);
        CHECK(std::equal(answers[i].mad.begin() + 12, answers[i].mad.end(), p.wire.taken()[i].bytes.begin() + 12));
    }
    std::vector<u8> buffer(320);
    CHECK(p.kernel.receive(buffer).state == mad::receive_state::would_block);
}

TEST_CASE("replies are dropped while 200,000 messages are unread, and returned requests are never dropped") {
    CHECK(kernel_options{}.max_unread == 200'000); // according to the source
    program p({.max_unread = 3});
    for (u32 i = 0; i < 8; ++i) {
        REQUIRE(p.send_mad(i, {.operation = i < 6 ? 3s : 10ms}).state == sent);
        if (i < 6) p.answer(i, 1ms);
    }
    p.kernel.set_now(mad::time_point(10ms));
    CHECK(p.read_numbers() == std::vector<u32>{0, 1, 2, 3, 6, 7});
    CHECK(p.counters().overrun == 2);
    CHECK(p.kernel.held() == 2); // the program never gets these two back
    CHECK(p.read_at(10s).empty());
}

// ---- transaction IDs -----------------------------------------------------------------------------------------------------

TEST_CASE("requests carry the agent number in the upper half of the transaction ID, and responses keep theirs") {
    program p;
    REQUIRE(p.send_mad(1).state == sent);
    REQUIRE(p.send_mad(2).state == sent);
    REQUIRE(p.send_mad(1, {.mgmt_class = MgmtClass::SubnLID}).state == sent);
    REQUIRE(p.send_mad(1, {.mgmt_class = MgmtClass::SubnLID, .class_version = 2}).state == sent);
    REQUIRE(p.send_mad(3, {.mgmt_class = MgmtClass::SubnLID, .method = Send, .expects_reply = false}).state == sent);
    REQUIRE(p.send_mad(1, {.method = GetResp, .expects_reply = false}).state == sent);
    std::vector<u32> numbers;
    for (const packet& s : p.wire.taken()) numbers.push_back(iba::load_be<u32>(s.bytes.data() + 8));
    REQUIRE(numbers.size() == 6);
    CHECK(numbers[0] == numbers[1]);
    CHECK(numbers[2] == numbers[4]);
    CHECK(numbers[0] != numbers[2]);
    CHECK(numbers[0] != numbers[3]);
    CHECK(numbers[2] != numbers[3]);
    CHECK(numbers[0] != 0xfeedbeef);
    CHECK(numbers[5] == 0xfeedbeef);
    // A reply finds the request of its agent.
    p.answer(2, 1ms);
    const auto answers = p.read_at(1ms);
    REQUIRE(answers.size() == 1);
    CHECK(answers[0].mad[1] == value(MgmtClass::SubnLID));
    CHECK(answers[0].mad[2] == 1);
}

TEST_CASE("a request with a transaction ID in use fails with EINVAL, even to another destination") {
    program p;
    REQUIRE(p.send_mad(1, {.operation = 10ms}).state == sent);
    for (const bool expects_reply : {true, false}) {
        const auto again = p.send_mad(1, {.expects_reply = expects_reply, .path = route(2)});
        CHECK(again.state == failed);
        CHECK(again.error == EINVAL);
    }
    CHECK(p.counters().duplicates == 2);
    CHECK(p.on_wire() == 1);
    CHECK(p.kernel.held() == 1);
    CHECK(p.send_mad(1, {.mgmt_class = MgmtClass::SubnLID}).state == sent);
    CHECK(p.send_mad(1, {.class_version = 2}).state == sent);
    CHECK(p.send_mad(1, {.method = GetResp, .expects_reply = false}).state == sent);

    // The slot is free as soon as the kernel has returned the request, or has its reply, whether or not the program has
    // read it.
    p.kernel.set_now(mad::time_point(10ms));
    REQUIRE(p.send_mad(1, {.operation = 100ms}).state == sent);
    p.answer(p.on_wire() - 1, 1ms);
    p.kernel.set_now(mad::time_point(11ms));
    CHECK(p.send_mad(1).state == sent);
    CHECK(p.read().size() == 2);
}

TEST_CASE("the kernel model supports exactly 32 agents per descriptor") {
    program p;
    for (u8 version = 1; version <= 33; ++version) {
        const auto result = p.send_mad(1, {.class_version = version});
        CHECK(result.state == (version <= 32 ? sent : failed));
        if (version > 32) CHECK(result.error == ENOMEM);
    }
    CHECK(p.send_mad(2, {.class_version = 7}).state == sent);
}

// ---- sizes ---------------------------------------------------------------------------------------------------------------

TEST_CASE("36 bytes of a MAD are padded to 256, and shorter or too long writes fail with EINVAL") {
    program p;
    CHECK(p.send_mad(1, {.size = 35}).error == EINVAL);
    CHECK(p.send_mad(1, {.size = 257}).error == EINVAL);
    CHECK(p.send_mad(1, {.mgmt_class = MgmtClass::SubnAdm, .size = 257}).error == EINVAL);
    CHECK(p.send_mad(1, {.mgmt_class = MgmtClass::Performance, .size = 257, .RMPPFlags = 1}).error == EINVAL);
    CHECK(p.on_wire() == 0);
    CHECK(p.kernel.held() == 0);
    CHECK(p.send_mad(1, {.size = 36}).state == sent);
    REQUIRE(p.on_wire() == 1); // the wire always gets 256 bytes
    CHECK(
        std::all_of(p.wire.taken()[0].bytes.begin() + 36, p.wire.taken()[0].bytes.end(), [](u8 b) { return b == 0; }));
    CHECK(p.send_mad(1, {.mgmt_class = MgmtClass::SubnAdm, .size = 257, .RMPPFlags = 1}).state == sent);
}

namespace {

/// A transport that answers the first request with one message of a given size. A small buffer gets the start of the
/// message.
class long_answer final : public mad::transport {
public:
    explicit long_answer(std::size_t size) : size_(size) {}
    bool in_pieces = false;

    int native_handle() const noexcept override { return -1; }
    mad::send_result send(const mad::send_request& r) noexcept override {
        answer_.assign(size_, 0x5a);
        std::copy_n(r.mad, 56, answer_.begin());
        answer_[3] |= 0x80;
        return {};
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        if (answer_.empty()) return {};
        const std::size_t room = buffer.size() - mad::headroom;
        const std::size_t shown = answer_.size() <= room ? answer_.size() : mad::mad_size;
        std::copy_n(answer_.begin(), shown, buffer.begin() + mad::headroom);
        mad::received r{mad::receive_state::message};
        r.mad = buffer.subspan(mad::headroom, shown);
        r.full_size = answer_.size();
        if (shown == answer_.size()) answer_.clear();
        return r;
    }
    mad::transport_limits limits() const noexcept override { return {.kernel_rmpp = true}; }

private:
    std::size_t size_;
    std::vector<u8> answer_;
};

} // namespace

TEST_CASE("a message larger than the buffer returns its first segment and size until it is read completely") {
    const std::size_t size = GENERATE(257, 5000, 1 << 20);
    long_answer wire(size);
    kernel_model kernel(wire);
    CHECK(kernel.limits().kernel_rmpp);
    std::vector<u8> bytes(mad::headroom + mad::mad_size), small(mad::headroom + mad::mad_size);
    u8* const m = bytes.data() + mad::headroom;
    m[0] = 1;
    m[1] = value(MgmtClass::SubnAdm);
    m[3] = GetTable;
    const mad::any_path path = mad::IBPath{};
    REQUIRE(kernel.send({&path, m, 256, m[1], 2, true, 1s, 1s}).state == sent);
    for (int i = 0; i < 3; ++i) {
        small.resize(mad::headroom + std::min(mad::mad_size + 100 * static_cast<std::size_t>(i), size - 1));
        const auto cut = kernel.receive(small);
        REQUIRE(cut.state == mad::receive_state::message);
        CHECK(cut.mad.size() == 256);
        CHECK(cut.full_size == size);
        CHECK(cut.mad[3] == (GetTable | 0x80));
        CHECK(kernel.held() == 1); // not read yet
        CHECK(kernel.next_event());
    }
    std::vector<u8> large(mad::headroom + size);
    const auto whole = kernel.receive(large);
    REQUIRE(whole.state == mad::receive_state::message);
    CHECK(whole.mad.size() == size);
    CHECK(whole.mad.back() == 0x5a);
    CHECK(kernel.held() == 0);
    CHECK(kernel.receive(large).state == mad::receive_state::would_block);
    CHECK(kernel.counters().answered == 1);
}

TEST_CASE("the kernel delivers no partial RMPP message, and segments do not extend the timeout") {
    // The peer replies by RMPP. Only the first segments are acknowledged.
    lossy_wire air;
    lossy_wire::end here(air, 1), there(air, 2);
    transports::rmpp_transport segments(here), server(there);
    REQUIRE(server.serve({MgmtClass::SubnAdm, 2, 1u << GetTable, 0, true}) == 0);
    kernel_model kernel(segments);
    std::vector<u8> bytes(mad::headroom + 4096), buffer(1 << 16);
    u8* const m = bytes.data() + mad::headroom;
    m[0] = 1;
    m[1] = value(MgmtClass::SubnAdm);
    m[2] = 2;
    m[3] = GetTable;
    mad::any_path path = mad::IBPath{};
    std::get<mad::IBPath>(path).DLID = iba::lid{2};
    const mad::duration operation = GENERATE(1ms, 1s);
    REQUIRE(kernel.send({&path, m, 256, m[1], m[2], true, operation, operation}).state == sent);

    mad::received last;
    for (mad::time_point now{}; now < mad::time_point(2ms); now += 1us) {
        server.set_now(now);
        const auto requested = server.receive(buffer);
        if (requested.state == mad::receive_state::message) {
            std::copy_n(requested.mad.begin(), 256, m);
            m[3] = GetTable | 0x80;
            m[24] = 1; // RMPPVersion
            m[25] = 1; // DATA
            m[26] = 1; // Active
            const mad::any_path back = mad::path_back(requested.source);
            REQUIRE(server.send({&back, m, 4096, m[1], m[2], false, 1s, 1s, requested.source.agent}).state == sent);
            if (operation == 1ms) there.room = 4; // then the wire is full
        }
        kernel.set_now(now);
        const auto got = kernel.receive(buffer);
        if (got.state == mad::receive_state::message) {
            CHECK(last.state == mad::receive_state::would_block); // there is only one message
            last = got;
        }
        CHECK_FALSE(got.is_part);
    }
    CHECK(air.carried > 4);
    REQUIRE(last.state == mad::receive_state::message);
    CHECK(last.status == (operation == 1ms ? 110 : 0));
    CHECK(last.mad.size() == (operation == 1ms ? 24 : 4096));
}

// ---- requests from peers -------------------------------------------------------------------------------------------------

namespace {

/// Delivers one request. Records what it is asked to serve and to send.
class served_wire final : public mad::transport {
public:
    explicit served_wire(int refusal) : refusal_(refusal) {}
    std::optional<mad::registration> served;
    std::optional<mad::send_request> given;
    std::vector<u8> bytes;

    int native_handle() const noexcept override { return -1; }
    mad::send_result send(const mad::send_request& r) noexcept override {
        given = r;
        bytes.assign(r.mad, r.mad + r.size);
        return {};
    }
    mad::received receive(std::span<u8> buffer) noexcept override {
        if (std::exchange(has_arrived_, true)) return {};
        const auto mad = request_of_others();
        std::copy(mad.begin(), mad.end(), buffer.begin());
        mad::received r{mad::receive_state::message};
        r.mad = buffer.first(mad.size()); // at any place in the buffer
        r.full_size = mad.size();
        r.source.SLID = iba::lid{5};
        r.source.agent = 9;
        return r;
    }
    mad::transport_limits limits() const noexcept override { return {}; }
    int serve(const mad::registration& what) noexcept override {
        served = what;
        return refusal_;
    }

private:
    int refusal_;
    bool has_arrived_ = false;
};

} // namespace

TEST_CASE("a request that arrives is delivered unchanged and does not complete an outgoing request") {
    program p;
    REQUIRE(p.send_mad(1).state == sent);
    // This holds even if the request has our transaction ID.
    std::vector<u8> theirs(p.wire.taken()[0].bytes.begin(), p.wire.taken()[0].bytes.end());
    p.arrive(1ms, theirs);
    p.arrive(1ms, request_of_others());
    const auto got = p.read_at(1ms);
    REQUIRE(got.size() == 2);
    CHECK(got[0].mad == theirs);
    CHECK(got[1].mad == request_of_others());
    CHECK(p.kernel.held() == 1);
    CHECK(p.counters().answered == 0);
}

TEST_CASE("the inner transport serves requests, and replies leave unchanged through the agent of the request") {
    const int refusal = GENERATE(0, EINVAL);
    served_wire wire(refusal);
    kernel_model kernel(wire);
    std::vector<u8> buffer(1024);
    const auto requested = kernel.receive(buffer);
    REQUIRE(requested.state == mad::receive_state::message);
    CHECK(requested.source.SLID == iba::lid{5});
    CHECK(requested.source.agent == 9);
    CHECK(kernel.serve({MgmtClass::Performance, 1, 2}) == refusal);
    REQUIRE(wire.served);
    CHECK(wire.served->mgmt_class == MgmtClass::Performance);

    std::vector<u8> bytes(mad::headroom);
    const std::vector<u8> reply = [] {
        std::vector<u8> r = request_of_others();
        r[3] = GetResp;
        r[8] = 0x77; // the requester's half of the transaction ID
        return r;
    }();
    bytes.insert(bytes.end(), reply.begin(), reply.end());
    const mad::any_path back = mad::IBPath{};
    REQUIRE(kernel.send({&back, bytes.data() + mad::headroom, 256, reply[1], 1, false, 1s, 1s, requested.source.agent})
                .state == sent);
    REQUIRE(wire.given);
    CHECK(wire.given->agent == 9);
    CHECK(wire.bytes == reply);
    CHECK(kernel.held() == 0);
}

// ---- what umad_transport passes to the kernel ----------------------------------------------------------------------------

TEST_CASE("the kernel gets only the attempt timeout from half of max_held, and no sends at max_held") {
    program p({.max_held = 8});
    for (u32 i = 0; i < 8; ++i) REQUIRE(p.send_mad(i, {.attempt = 10ms, .operation = 30ms}).state == sent);
    CHECK(p.send_mad(8).state == would_block);
    CHECK_FALSE(p.kernel.wants_writable()); // the device always claims to be writable
    CHECK(p.send_mad(9, {.method = Send, .expects_reply = false}).state == sent); // the kernel does not hold it
    p.kernel.set_now(mad::time_point(10ms));
    CHECK(p.send_mad(8).state == would_block); // they were returned, but not read
    CHECK(p.read_numbers() == std::vector<u32>{4, 5, 6, 7});
    CHECK(p.kernel.held() == 4);
    CHECK(p.send_mad(8, {.attempt = 5ms, .operation = 500ms}).state == sent);
    p.kernel.set_now(mad::time_point(15ms));
    CHECK(p.read_numbers() == std::vector<u32>{8});
    p.kernel.set_now(mad::time_point(30ms));
    CHECK(p.read_numbers() == std::vector<u32>{0, 1, 2, 3});
    CHECK(p.kernel.held() == 0);
}

TEST_CASE("a request counts as held for its class until its completion was read") {
    program p;
    REQUIRE(p.send_mad(1).state == sent);
    REQUIRE(p.send_mad(1, {.mgmt_class = MgmtClass::Performance}).state == sent);
    REQUIRE(p.send_mad(2, {.mgmt_class = MgmtClass::Performance, .operation = 5ms}).state == sent);
    p.answer(1, 1ms);
    p.kernel.set_now(mad::time_point(5ms));
    CHECK(p.kernel.held(MgmtClass::Performance) == 2u);
    p.read();
    CHECK(p.kernel.held(MgmtClass::Performance) == 0u);
    CHECK(p.kernel.held(MgmtClass::SubnDirected) == 1u);
    CHECK(p.kernel.held(MgmtClass::SubnAdm) == 0u);
    REQUIRE(p.send_mad(3, {.mgmt_class = MgmtClass::Performance}).state == sent);
    CHECK(p.counters().most_on_wire == 3);
    CHECK(p.counters().most_on_wire_of[value(MgmtClass::Performance)] == 2);
}

TEST_CASE("the limits come from the device, or from the inner transport if its limits are smaller") {
    program p;
    CHECK(p.kernel.limits().max_window == 128);
    CHECK(p.kernel.limits().sa_window == 16);
    CHECK(p.kernel.limits().timer_resolution == 1ms);
    CHECK(p.kernel.limits().smi);
    CHECK_FALSE(p.kernel.limits().kernel_rmpp);
    CHECK(p.kernel.native_handle() == -1);
    p.wire.max_window = 7;
    p.wire.sa_window = 3;
    CHECK(p.kernel.limits().max_window == 7);
    CHECK(p.kernel.limits().sa_window == 3);

    struct planes_apart final : mad::transport {
        int native_handle() const noexcept override { return -1; }
        mad::send_result send(const mad::send_request&) noexcept override { return {}; }
        mad::received receive(std::span<u8>) noexcept override { return {}; }
        mad::transport_limits limits() const noexcept override { return {.smi_by_lid = false}; }
    } planes;
    CHECK(p.kernel.limits().smi_by_lid);
    CHECK_FALSE(kernel_model(planes).limits().smi_by_lid);
}

// ---- kernels since 2025, according to their source -----------------------------------------------------------------------

TEST_CASE("a capped agent has 128 SMPs or 16 SA requests on the wire and any number of PerformanceGets") {
    const auto [mgmt_class, cap] = GENERATE(table<MgmtClass, std::size_t>({{MgmtClass::SubnDirected, 128},
                                                                           {MgmtClass::SubnLID, 128},
                                                                           {MgmtClass::CommMgt, 128},
                                                                           {MgmtClass::SubnAdm, 16},
                                                                           {MgmtClass::Performance, 600},
                                                                           {MgmtClass::DevMgt, 600}}));
    const bool is_capped = GENERATE(true, false);
    program p({.is_capped = is_capped});
    for (u32 i = 0; i < 600; ++i) REQUIRE(p.send_mad(i, {.mgmt_class = mgmt_class}).state == sent);
    CHECK(p.on_wire() == (is_capped ? cap : 600));
    CHECK(p.counters().most_held_back == (is_capped ? 600 - cap : 0));
    CHECK(p.counters().most_on_wire == (is_capped ? cap : 600));
    CHECK(p.counters().most_on_wire_of[value(mgmt_class)] == (is_capped ? cap : 600));
    CHECK(p.kernel.held() == 600);
}

TEST_CASE("the cap on requests applies to each agent separately") {
    program p({.is_capped = true});
    for (u32 i = 0; i < 150; ++i) {
        REQUIRE(p.send_mad(i).state == sent);
        REQUIRE(p.send_mad(i, {.mgmt_class = MgmtClass::SubnLID}).state == sent);
        REQUIRE(p.send_mad(i, {.class_version = 2}).state == sent);
    }
    CHECK(p.on_wire() == 3 * 128);
    CHECK(p.counters().most_on_wire_of[value(MgmtClass::SubnDirected)] == 2 * 128);
    CHECK(p.counters().most_held_back == 22);
}

TEST_CASE("the oldest capped request leaves when a request is answered or returned") {
    program p({.is_capped = true});
    const mad_settings to_sa{.mgmt_class = MgmtClass::SubnAdm, .attempt = 20ms, .operation = 20ms};
    for (u32 i = 0; i < 30; ++i) REQUIRE(p.send_mad(i, to_sa).state == sent);
    REQUIRE(p.on_wire() == 16);
    p.answer(3, 1ms);
    p.answer(4, 2ms);
    p.kernel.set_now(mad::time_point(5ms)); // the program slept in the meantime
    REQUIRE(p.on_wire() == 18);
    CHECK(p.wire.taken()[16].tid == 16);
    CHECK(p.wire.taken()[16].at == mad::time_point(1ms));
    CHECK(p.wire.taken()[17].tid == 17);
    CHECK(p.wire.taken()[17].at == mad::time_point(2ms));
    p.kernel.set_now(mad::time_point(20ms)); // the other 14 of the first requests return
    CHECK(p.on_wire() == 30);
    CHECK(p.wire.taken()[29].at == mad::time_point(20ms));
    CHECK(p.read().size() == 16);
}

TEST_CASE("the timeout of a capped request starts when it leaves") {
    program p({.is_capped = true});
    const mad_settings to_sa{.mgmt_class = MgmtClass::SubnAdm, .attempt = 20ms, .operation = 20ms};
    for (u32 i = 0; i < 17; ++i) REQUIRE(p.send_mad(i, to_sa).state == sent);
    CHECK(p.read_at(20ms).size() == 16);
    CHECK(p.read_at(40ms - 1ns).empty());
    const auto last = p.read_at(40ms);
    REQUIRE(last.size() == 1);
    CHECK(last[0].number() == 16);
}

TEST_CASE("a capped request occupies its transaction ID, and a reply to it is not delivered") {
    program p({.is_capped = true});
    for (u32 i = 0; i < 17; ++i) REQUIRE(p.send_mad(i, {.mgmt_class = MgmtClass::SubnAdm}).state == sent);
    CHECK(p.send_mad(16, {.mgmt_class = MgmtClass::SubnAdm}).error == EINVAL);
    std::vector<u8> answer(p.wire.taken()[0].bytes.begin(), p.wire.taken()[0].bytes.end());
    answer[3] = GetResp;
    answer[15] = 16;
    p.arrive(1ms, answer);
    CHECK(p.read_at(1ms).empty());
    CHECK(p.counters().unknown == 1);
    CHECK(p.on_wire() == 16);
}

TEST_CASE("RMPP transfers and requests without a reply are not capped") {
    program p({.is_capped = true});
    for (u32 i = 0; i < 20; ++i) REQUIRE(p.send_mad(i, {.mgmt_class = MgmtClass::SubnAdm}).state == sent);
    REQUIRE(p.on_wire() == 16);
    CHECK(p.send_mad(20, {.mgmt_class = MgmtClass::SubnAdm, .method = Send, .expects_reply = false}).state == sent);
    CHECK(p.send_mad(21, {.mgmt_class = MgmtClass::SubnAdm, .RMPPFlags = 1}).state == sent);
    CHECK(p.on_wire() == 18);
}

TEST_CASE("the cap of an agent counts requests of capped classes, whatever the class of the agent") {
    program p({.is_capped = true});
    for (u32 i = 0; i < 5; ++i)
        REQUIRE(p.send_mad(i, {.mgmt_class = MgmtClass::SubnAdm, .RMPPFlags = 1}).state == sent);
    for (u32 i = 5; i < 30; ++i) REQUIRE(p.send_mad(i, {.mgmt_class = MgmtClass::SubnAdm}).state == sent);
    CHECK(p.on_wire() == 5 + 16);
    // Requests for counters by an agent of the SA's class do not count. SA requests by an agent without a cap do not
    // wait.
    for (u32 i = 30; i < 50; ++i)
        REQUIRE(p.send_mad(i, {.mgmt_class = MgmtClass::Performance, .class_in_mad = MgmtClass::SubnAdm}).state ==
                sent);
    CHECK(p.on_wire() == 5 + 16 + 20);
}

TEST_CASE("a capped request that fails when it is sent later is not reported") {
    program p({.is_capped = true});
    for (u32 i = 0; i < 18; ++i) REQUIRE(p.send_mad(i, {.mgmt_class = MgmtClass::SubnAdm}).state == sent);
    p.wire.set_script([](const packet& s) { return s.tid == 16 ? refused(EIO) : dropped(); });
    p.answer(0, 1ms);
    CHECK(p.read_at(1ms).size() == 1);
    CHECK(p.wire.taken().back().tid == 17); // the next request leaves instead
    CHECK(p.counters().failed_held_back == 1);
    CHECK(p.kernel.held() == 17);
    CHECK(p.read_at(100s).size() == 16);
    CHECK(p.kernel.held() == 1);
    p.wire.set_script(silence);
    CHECK(p.send_mad(16, {.mgmt_class = MgmtClass::SubnAdm}).state == sent);
}

// ---- sends of the inner transport, and its failure -----------------------------------------------------------------------

TEST_CASE("a request that the wire rejects or blocks is neither held nor in use") {
    program p;
    p.wire.set_script([](const packet& s) { return s.number == 0 ? refused(EMSGSIZE) : blocked(); });
    const auto result = p.send_mad(1);
    CHECK(result.state == failed);
    CHECK(result.error == EMSGSIZE);
    CHECK(p.send_mad(1).state == would_block);
    CHECK(p.kernel.held() == 0);
    CHECK(p.counters().requests == 0);
    p.wire.set_script(silence);
    CHECK(p.send_mad(1).state == sent);
}

TEST_CASE("a capped request that the wire blocks leaves later") {
    program p({.is_capped = true});
    for (u32 i = 0; i < 18; ++i) REQUIRE(p.send_mad(i, {.mgmt_class = MgmtClass::SubnAdm}).state == sent);
    p.wire.set_script([](const packet& s) { return s.at < mad::time_point(2ms) ? blocked(1ms) : dropped(); });
    p.answer(0, 1ms);
    p.answer(1, 1ms);
    p.answer(2, 1ms);
    CHECK(p.read_at(1ms).size() == 3);
    REQUIRE(p.on_wire() == 16);
    REQUIRE(p.send_mad(18, {.mgmt_class = MgmtClass::SubnAdm}).state == sent); // not before the others
    p.read_at(2ms);
    REQUIRE(p.on_wire() == 19);
    for (u32 i = 16; i < 19; ++i) CHECK(p.wire.taken()[i].tid == i);
}

TEST_CASE("a send report of the inner transport ends its request, and unknown reports are dropped") {
    program p;
    REQUIRE(p.send_mad(1).state == sent);
    p.wire.inject(report(p.wire.taken()[0], 1ms, EIO));
    p.wire.inject(report(p.wire.taken()[0], 2ms, EIO));
    const auto got = p.read_at(1s);
    REQUIRE(got.size() == 1);
    CHECK(got[0].status == EIO);
    CHECK(p.counters().given_back == 1);
    CHECK(p.kernel.held() == 0);
}

TEST_CASE("reads and writes fail when the device is removed") {
    program p;
    REQUIRE(p.send_mad(1, {.operation = 10ms}).state == sent);
    p.wire.inject(failure(1ms, ENODEV));
    std::vector<u8> buffer(1024);
    p.kernel.set_now(mad::time_point(5ms));
    CHECK(p.kernel.next_event() == mad::time_point(5ms)); // a message is readable now
    for (int i = 0; i < 2; ++i) {
        const auto r = p.kernel.receive(buffer);
        CHECK(r.state == mad::receive_state::failed);
        CHECK(r.error == ENODEV);
    }
    CHECK(p.send_mad(2).state == failed);
    CHECK(p.send_mad(2).error == EIO);
    CHECK_FALSE(p.kernel.next_event());
}

TEST_CASE("kernel_model rejects a transport in real time") {
    memory_transport wire(memory_transport::time::real);
    CHECK_THROWS_WITH(kernel_model(wire), Catch::Contains("virtual time"));
}

// ---- random runs ---------------------------------------------------------------------------------------------------------

TEST_CASE("each request completes exactly once as its replies and timeout require, for random read times") {
    const auto seed = GENERATE(range(1u, 6u));
    CAPTURE(seed);
    const mad::duration tick = seed % 2 ? 1ms : 4ms;
    std::mt19937 random(seed);
    const auto below = [&](u32 n) { return static_cast<u32>(random() % n); };
    program p({.tick = tick, .max_held = 1'000'000});

    struct expectation {
        bool is_answered;
        mad::time_point at;
    };
    std::map<u32, expectation> expected;
    transports::kernel_counters counted;
    mad::time_point now{};
    const auto look = [&] {
        for (const reading& r : p.read()) {
            const auto mine = expected.find(r.number());
            REQUIRE(mine != expected.end()); // no request may complete a second time
            REQUIRE(mine->second.at <= now);
            REQUIRE(mine->second.is_answered == (r.status == 0));
            expected.erase(mine);
        }
        const auto is_over = [&](const auto& one) { return one.second.at <= now; };
        REQUIRE(std::none_of(expected.begin(), expected.end(), is_over)); // no request may be missing
    };
    for (u32 number = 0; number < 3000; ++number) {
        if (below(3) == 0) {
            const auto next = p.kernel.next_event();
            now = below(2) && next ? std::max(now, *next)
                                   : now + mad::duration(below(3'000'000)); // in small steps, or after a long sleep
            p.kernel.set_now(now);
            if (below(4)) look();
        }
        const mad::duration operation = std::chrono::milliseconds(1 + below(40));
        const MgmtClass mgmt_class = below(2) ? MgmtClass::SubnDirected : MgmtClass::Performance;
        REQUIRE(p.send_mad(number, {.mgmt_class = mgmt_class, .attempt = operation, .operation = operation}).state ==
                sent);

        mad::time_point end = now + operation;
        while ((end - now) % tick != 0ns) end += 1ms;
        if (end.time_since_epoch() % tick != 0ns) end += tick - end.time_since_epoch() % tick;
        expectation e{false, end};
        const u32 copies = below(4);
        for (u32 i = 0; i < copies; ++i) {
            const mad::duration after = std::chrono::microseconds(below(60'000));
            p.answer(p.on_wire() - 1, after);
            if (now + after > end) continue;
            e = {true, e.is_answered ? std::min(e.at, now + after) : now + after};
        }
        // A reply after the end is a duplicate if there was a reply before; otherwise it is late.
        if (e.is_answered) counted.doubled += copies - 1;
        else counted.late += copies;
        ++(e.is_answered ? counted.answered : counted.given_back);
        expected.emplace(number, e);
    }
    while (const auto next = p.kernel.next_event()) {
        now = *next;
        p.kernel.set_now(now);
        look();
    }
    CHECK(expected.empty());
    CHECK(counted.answered > 500);
    CHECK(counted.given_back > 500);
    CHECK(p.counters().answered == counted.answered);
    CHECK(p.counters().given_back == counted.given_back);
    CHECK(p.counters().doubled == counted.doubled);
    CHECK(p.counters().late == counted.late);
    CHECK(p.counters().unknown == 0);
    CHECK(p.kernel.held() == 0);
}

TEST_CASE("late and duplicate replies are distinguished from unknown ones for the latest 16,384 requests") {
    program p;
    constexpr u32 count = 20'000;
    for (u32 i = 0; i < count; ++i) {
        REQUIRE(p.send_mad(i).state == sent);
        p.answer(i, 0ms);
        REQUIRE(p.read().size() == 1);
    }
    p.answer(count - 16'384, 0ms);
    p.answer(count - 16'385, 0ms);
    p.answer(0, 0ms);
    CHECK(p.read().empty());
    CHECK(p.counters().doubled == 1);
    CHECK(p.counters().unknown == 2);
}

} // namespace kernel_model_test
