// SPDX-License-Identifier: MIT
// umad_rmpp_guest_test.cpp - long messages with the kernel's RMPP and with comad's RMPP, in all combinations, up to 1
// MiB.
#include "guest_rig.hpp"
#include "record_tables.hpp"
#include <comad/coro/detail/blocking.hpp>
#include <comad/mad/detail/message.hpp>
#include <comad/transports/rmpp.hpp>

#include <atomic>
#include <memory>
#include <poll.h>

namespace umad_rmpp_guest_test {

using namespace comad;
using namespace comad::test;
using iba::Method;
using iba::MgmtClass;
using iba::sa::NodeRecord;

namespace {

/// Returns a transport with the kernel's RMPP, or with comad's RMPP over single MADs.
std::unique_ptr<mad::transport> with_rmpp(const end_port& port, bool ours) {
    umad_options options;
    options.user_rmpp = ours;
    auto device = std::make_unique<umad_transport>(port, options);
    if (!ours) return device;
    return std::make_unique<transports::rmpp_transport>(std::move(device));
}

} // namespace

TEST_CASE("tables up to 1 MiB arrive whole, whether kernel or user space does the RMPP") {
    use_fakeib();
    const auto [ours_sends, ours_answers] =
        GENERATE(table<bool, bool>({{false, false}, {false, true}, {true, false}, {true, true}}));
    CAPTURE(ours_sends, ours_answers);
    const served_port server(with_rmpp(port_of("fib1/1"), ours_answers), record_tables());
    const auto device = with_rmpp(port_of("fib0/1"), ours_sends);
    coro::blocking_transactor rpcs(*device, {.unmeasured_timeout = 10s});
    for (const u16 sixteens : {u16{0}, u16{1}, u16{20}}) check_table(rpcs, to_lid(2), sixteens);
    check_table(rpcs, to_lid(2), mebibyte);
    CHECK(rpcs.schedule().counters().retried == 0);
    CHECK(server.agent().counters().unsent == 0);
}

TEST_CASE("tables arrive whole over soft RoCE") {
    const end_port there = port_of("rxe1/1");
    const auto [ours_sends, ours_answers] = GENERATE(table<bool, bool>({{false, false}, {true, false}, {false, true}}));
    CAPTURE(ours_sends, ours_answers);
    const served_port server(with_rmpp(there, ours_answers), record_tables());
    const auto device = with_rmpp(port_of("rxe0/1"), ours_sends);
    coro::blocking_transactor rpcs(*device, {.unmeasured_timeout = 10s});
    check_table(rpcs, to_gid(there), 20);
    if (!ours_sends && !ours_answers) check_table(rpcs, to_gid(there), mebibyte);
}

TEST_CASE("a message larger than the buffer reports its length and stays until it is read whole") {
    use_fakeib();
    const served_port server(with_rmpp(port_of("fib1/1"), false), record_tables());
    umad_transport device(port_of("fib0/1"));
    outgoing_mad request(to_lid(2), MgmtClass::SubnAdm, 2, Method::GetTable, 0x11, 1);
    NodeRecord wanted;
    wanted.LID = iba::lid{5};
    const auto bytes = iba::encode(wanted);
    std::copy(bytes.begin(), bytes.end(), request.mad() + 56);
    REQUIRE(request.send(device).state == mad::send_state::sent);
    pollfd waiting{device.native_handle(), POLLIN, 0};
    REQUIRE(::poll(&waiting, 1, 5000) == 1);

    const std::size_t whole = 56 + 5 * 16 * record_stride;
    std::vector<u8> small(mad::headroom + mad::mad_size), large(mad::headroom + whole);
    for (int i = 0; i < 2; ++i) {
        const auto beginning = device.receive(small);
        REQUIRE(beginning.state == mad::receive_state::message);
        CHECK(beginning.mad.size() == mad::mad_size);
        CHECK(beginning.full_size == whole);
        CHECK(device.held() == 1);
    }
    const auto all = device.receive(large);
    REQUIRE(all.state == mad::receive_state::message);
    CHECK(all.mad.size() == whole);
    CHECK(device.held() == 0);
    CHECK(device.receive(large).state == mad::receive_state::would_block);
}

TEST_CASE("multi-segment requests reach their handler whole") {
    use_fakeib();
    const bool ours_sends = GENERATE(false, true);
    const bool ours_answers = GENERATE(false, true);
    CAPTURE(ours_sends, ours_answers);
    constexpr std::size_t size = 56 + 30'000;
    std::atomic<std::size_t> received = 0, wrong = 0;
    server::responder answers;
    answers.add({MgmtClass::SubnAdm, 2, mad::methods(Method::GetMulti), 0, true}, [&](const server::request& r) {
        for (std::size_t i = 0; i + 56 < r.mad.size(); ++i) wrong += r.mad[56 + i] != static_cast<u8>(i * 7);
        received = r.mad.size();
        return server::response::table(std::vector<u8>(8), 8);
    });
    const served_port server(with_rmpp(port_of("fib1/1"), ours_answers), std::move(answers));
    const auto device = with_rmpp(port_of("fib0/1"), ours_sends);
    outgoing_mad request(to_lid(2), MgmtClass::SubnAdm, 2, Method::GetMulti, 0x3a, 9);
    request.packet.resize(mad::headroom + size);
    request.mad()[24] = 1; // RMPP version, DATA, Active: the message uses RMPP
    request.mad()[25] = 1;
    request.mad()[26] = 1;
    for (std::size_t i = 0; i + 56 < size; ++i) request.mad()[56 + i] = static_cast<u8>(i * 7);
    REQUIRE(request.send(*device).state == mad::send_state::sent);
    const auto answer = await_message(*device, 10s);
    REQUIRE(answer);
    CHECK(answer->status == 0);
    CHECK(answer->mad[3] == 0x94); // GetMultiResp
    CHECK(received == size);
    CHECK(wrong == 0);
}

} // namespace umad_rmpp_guest_test
