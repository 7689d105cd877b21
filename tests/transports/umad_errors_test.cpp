// SPDX-License-Identifier: MIT
// umad_errors_test.cpp - a MAD device whose calls fail, once or permanently: what the transport retries, when it gives
// up, and what schedules report. Sockets simulate the kernel.
#include "kernel/answering_kernel.hpp"
#include "kernel/fake_kernel.hpp"
#include "library/coro_rig.hpp"
#include <comad/coro/asio.hpp>
#include <comad/iba/sa.hpp>
#include <comad/transports/smi_gsi.hpp>
#include <comad/transports/striped.hpp>

#include <boost/asio/io_context.hpp>
#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>
#include <poll.h>
#include <vector>

namespace umad_errors_test {

using namespace comad;
using namespace comad::test;
using transports::umad_transport;

namespace {

constexpr auto sent = mad::send_state::sent;
constexpr auto would_block = mad::send_state::would_block;
constexpr auto failed = mad::send_state::failed;
constexpr auto nothing = mad::receive_state::would_block;
constexpr auto message = mad::receive_state::message;

constexpr unsigned repetitions = 9;

/// A device in time that the test controls.
struct device {
    fake_kernel kernel;
    umad_transport transport{kernel.device(), kernel.options()};
    mad::time_point now{1h};
    std::array<u8, 1024> buffer{};
    request sent_request;

    device() { transport.set_now(now); }
    void pass(mad::duration time) { transport.set_now(now += time); }
    mad::received receive() { return transport.receive(buffer); }
    mad::send_result send() { return transport.send(sent_request()); }
    bool readable() const {
        pollfd waiting{transport.native_handle(), POLLIN, 0};
        return ::poll(&waiting, 1, 0) == 1;
    }
    /// Returns the time until the transport must be called again. Fails the test if there is no such time.
    mad::duration until_next() const {
        const auto due = transport.next_event();
        REQUIRE(due);
        return *due - now;
    }
};

} // namespace

// ---- reads ---------------------------------------------------------------------------------------------------------

TEST_CASE("a read that fails once is retried after 1 ms and loses no message") {
    const int error = GENERATE(EIO, ENOMEM, ENOBUFS, ENOSPC, EBUSY);
    device d;
    d.kernel.failing_reads = {error};
    d.kernel.deliver(a_reply());
    REQUIRE(d.readable());
    CHECK(d.receive().state == nothing);
    CHECK(d.until_next() == 1ms);
    CHECK_FALSE(d.readable()); // otherwise a poll on it would return all the time
    d.pass(999us);
    CHECK(d.receive().state == nothing);
    CHECK(d.kernel.reads == 1);
    d.pass(1us);
    CHECK(d.receive().state == message);
    CHECK_FALSE(d.transport.next_event());

    d.kernel.deliver(a_reply());
    CHECK(d.readable());
    CHECK(d.receive().state == message);
}

TEST_CASE("a read shorter than the header is counted and retried") {
    const std::size_t size = GENERATE(1u, 4u, 63u);
    device d;
    d.kernel.deliver(std::vector<u8>(size, 0xff));
    d.kernel.deliver(a_reply());
    CHECK(d.receive().state == nothing);
    CHECK(d.transport.short_reads() == 1);
    d.pass(1ms);
    CHECK(d.receive().state == message);
    CHECK(d.transport.short_reads() == 1);
}

TEST_CASE("a device fails after the tenth short read") {
    device d;
    for (unsigned i = 0; i < 20; ++i) d.kernel.deliver(std::vector<u8>(63, 0xff));
    for (unsigned i = 0; i < repetitions; ++i) {
        CHECK(d.receive().state == nothing);
        d.pass(d.until_next());
    }
    const mad::received last = d.receive();
    CHECK(last.state == mad::receive_state::failed);
    CHECK(last.error == EIO);
    CHECK(d.transport.short_reads() == repetitions + 1);
}

TEST_CASE("a removed device fails after nine retries within half a second and is then no longer accessed") {
    const int error = GENERATE(EIO, ENOMEM, ENOSPC); // ENOSPC with growing buffers, up to a limit
    device d;
    REQUIRE(d.send().state == sent);
    d.kernel.remove(error);
    const mad::time_point removed = d.now;
    REQUIRE(d.readable());
    for (unsigned i = 0; i < repetitions; ++i) {
        REQUIRE(d.receive().state == nothing);
        CHECK_FALSE(d.readable());
        CHECK(d.until_next() == 1ms * (1 << i));
        d.pass(d.until_next());
    }
    for (int i = 0; i < 3; ++i) {
        const mad::received last = d.receive();
        CHECK(last.state == mad::receive_state::failed);
        CHECK(last.error == error);
    }
    CHECK(d.now - removed == 511ms);
    CHECK(d.kernel.reads == repetitions + 1);
    CHECK_FALSE(d.readable());
    CHECK_FALSE(d.transport.next_event());
    const mad::send_result result = d.send();
    CHECK(result.state == failed);
    CHECK(result.error == error);
    CHECK(d.kernel.writes == 1);
}

TEST_CASE("a message whose length the kernel does not report is read with ever larger buffers") {
    device d;
    d.kernel.reports_length = false;
    d.kernel.deliver(delivery(0, 0x92, 100'000)); // larger than the first of them
    CHECK(d.receive().state == nothing);
    CHECK(d.until_next() == 1ms);
    d.pass(1ms);
    CHECK(d.receive().state == nothing); // 64 KiB
    CHECK(d.until_next() == 2ms);
    d.pass(2ms);
    const mad::received cut = d.receive();
    REQUIRE(cut.state == message);
    CHECK(cut.mad.size() == mad::mad_size);
    CHECK(cut.full_size == 100'000);
    CHECK(cut.mad[3] == 0x92);
    CHECK(d.until_next() == 0ms); // the message is there, but the device is not readable
    CHECK(d.receive().full_size == 100'000);
    CHECK(d.kernel.reads == 3);
    std::vector<u8> large(mad::headroom + cut.full_size);
    const mad::received whole = d.transport.receive(large);
    REQUIRE(whole.state == message);
    CHECK(whole.mad.size() == 100'000);
    CHECK(whole.mad.data() == large.data() + 64);
    CHECK(whole.mad.back() == 0xab);
    CHECK(whole.source.SLID == iba::lid{0x1234});
    CHECK_FALSE(d.transport.next_event());
    CHECK(d.receive().state == nothing);

    d.kernel.deliver(a_reply()); // as if there had been no failure
    CHECK(d.receive().state == message);
    CHECK(d.kernel.reads == 5);
}

TEST_CASE("a permanent error ends the transport at once") {
    const int error = GENERATE(ENODEV, ENXIO, EBADF, EINVAL, EFAULT);
    device d;
    d.kernel.remove(error);
    const mad::received got = d.receive();
    CHECK(got.state == mad::receive_state::failed);
    CHECK(got.error == error);
    CHECK_FALSE(d.transport.next_event());
    CHECK(d.send().error == error);
}

TEST_CASE("a successful or empty read resets the count of failed reads") {
    const bool finds_something = GENERATE(false, true);
    device d;
    for (unsigned round = 0; round < 3 * repetitions; ++round) {
        d.kernel.failing_reads = {EIO};
        CHECK(d.receive().state == nothing);
        REQUIRE(d.until_next() == 1ms);
        d.pass(1ms);
        if (finds_something) d.kernel.deliver(a_reply());
        CHECK(d.receive().state == (finds_something ? message : nothing));
        CHECK_FALSE(d.transport.next_event());
    }
}

// ---- writes --------------------------------------------------------------------------------------------------------

TEST_CASE("a write that fails once is retried after 1 ms") {
    const int error = GENERATE(EIO, ENOSPC, ENOMEM, ENOBUFS, EBUSY, EAGAIN);
    device d;
    d.kernel.failing_writes = {error};
    CHECK(d.send().state == would_block);
    CHECK(d.until_next() == 1ms);
    CHECK(d.transport.held() == 0);
    CHECK(d.send().state == would_block); // another request, or the same one too early: no call
    d.pass(999us);
    CHECK(d.send().state == would_block);
    CHECK(d.kernel.writes == 1);
    d.pass(1us);
    CHECK(d.send().state == sent);
    CHECK(d.kernel.written().size() == 64 + 256);
    CHECK(d.transport.held() == 1);
    CHECK_FALSE(d.transport.next_event());
}

TEST_CASE("a failing write fails its request after half a second, and others at once until a write succeeds") {
    const int error = GENERATE(EIO, ENOSPC, ENOMEM, EAGAIN);
    device d;
    d.kernel.failing_writes = {error};
    d.kernel.fails_for_ever = true;
    const mad::time_point start = d.now;
    for (unsigned i = 0; i < repetitions; ++i) {
        REQUIRE(d.send().state == would_block);
        d.pass(d.until_next());
        CHECK(d.receive().state == nothing);
    }
    for (int request = 0; request < 3; ++request) {
        const mad::send_result result = d.send();
        CHECK(result.state == failed);
        CHECK(result.error == error);
        CHECK(d.kernel.writes == repetitions + 1u + static_cast<unsigned>(request));
        CHECK_FALSE(d.transport.next_event());
    }
    CHECK(d.now - start == 511ms);

    d.kernel.failing_writes = {0, error};
    d.kernel.fails_for_ever = false;
    CHECK(d.send().state == sent);
    d.kernel.deliver(a_reply()); // so that the kernel holds no request
    CHECK(d.receive().state == message);
    CHECK(d.send().state == would_block);
    CHECK(d.until_next() == 1ms);
}

TEST_CASE("a withdrawn request cancels its pending write retry") {
    device d;
    d.kernel.failing_writes = {EIO};
    CHECK(d.send().state == would_block);
    d.pass(1ms);
    CHECK(d.until_next() == 0ms); // until the driver has called once
    CHECK(d.receive().state == nothing);
    CHECK_FALSE(d.transport.next_event());
}

TEST_CASE("writes to a kernel short of memory are retried whenever a held request returns") {
    const int error = GENERATE(ENOMEM, ENOBUFS, EAGAIN);
    device d;
    REQUIRE(d.send().state == sent);
    for (unsigned i = 0; i < 3 * repetitions; ++i) {
        d.kernel.failing_writes = {error};
        CHECK(d.send().state == would_block);
        CHECK_FALSE(d.transport.next_event());
        CHECK_FALSE(d.transport.wants_writable());
        d.pass(1s);
    }
    d.kernel.deliver(a_reply());
    REQUIRE(d.receive().state == message);
    CHECK(d.send().state == sent);
}

TEST_CASE("a write that the kernel rejects is not retried") {
    const int error = GENERATE(EINVAL, EFAULT, EBADF, ENODATA);
    device d;
    d.kernel.failing_writes = {error};
    const mad::send_result result = d.send();
    CHECK(result.state == failed);
    CHECK(result.error == error);
    CHECK(d.send().state == sent);
}

// ---- possible fixes ----------------------------------------------------------------------------------------------------

TEST_CASE("the error table in the documentation equals the table of the messages") {
    std::ifstream page(COMAD_SOURCE_DIR "/docs/explanation/devices.md");
    std::vector<std::string> reported;
    for (std::string line; std::getline(page, line);)
        for (const char* call : {"open", "ioctl", "read", "write", "poll"})
            if (line.starts_with(fmt::format("| `{}` | `E", call))) reported.push_back(line);
    std::vector<std::string> known;
    for (const transports::umad_error& e : transports::umad_errors())
        known.push_back(fmt::format("| `{}` | `{}` | {} |", name(e.call), ::strerrorname_np(e.error), e.advice));
    CHECK(reported == known);
}

TEST_CASE("a failed call has its own advice, and a removed device has the advice for removal") {
    device d;
    d.kernel.error = EPROTONOSUPPORT; // when the agent is registered
    CHECK(d.send().error == EPROTONOSUPPORT);
    const auto advice = [&](mad::transport_call call, int error) {
        return std::string(d.transport.advice(call, error));
    };
    CHECK_THAT(advice(mad::transport_call::send, EPROTONOSUPPORT), Catch::Contains("no QP0"));
    CHECK_THAT(advice(mad::transport_call::send, EINVAL), Catch::Contains("does not support the class or version"));
    d.kernel.error = 0;
    d.kernel.failing_writes = {EINVAL};
    CHECK(d.send().error == EINVAL);
    CHECK_THAT(advice(mad::transport_call::send, EINVAL), Catch::Contains("directed route"));
    CHECK_THAT(advice(mad::transport_call::serve, EINVAL), Catch::Contains("already serves this management class"));
    CHECK_THAT(advice(mad::transport_call::receive, EIO), Catch::Contains("was removed"));
    CHECK(advice(mad::transport_call::receive, EXDEV).empty());
    d.kernel.failing_reads = {ENODEV};
    CHECK(d.receive().state == mad::receive_state::failed);
    CHECK_THAT(advice(mad::transport_call::send, ENODEV), Catch::Contains("was removed"));
}

// ---- with drivers ----------------------------------------------------------------------------------------------------

namespace {

/// Forwards everything, and counts the calls of a driver.
class observed final : public mad::transport {
public:
    explicit observed(std::unique_ptr<mad::transport> inner) : inner_(std::move(inner)) {}
    u64 turns = 0;
    std::function<void()> after_send = [] {};

    std::string name() const override { return inner_->name(); }
    std::string_view advice(mad::transport_call c, int error) const noexcept override {
        return inner_->advice(c, error);
    }
    int native_handle() const noexcept override { return inner_->native_handle(); }
    mad::send_result send(const mad::send_request& r) noexcept override {
        const mad::send_result result = inner_->send(r);
        if (result.state == sent) after_send();
        return result;
    }
    mad::received receive(std::span<u8> buffer) noexcept override { return inner_->receive(buffer); }
    mad::transport_limits limits() const noexcept override { return inner_->limits(); }
    std::optional<mad::time_point> next_event() const noexcept override { return inner_->next_event(); }
    void set_now(mad::time_point now) noexcept override {
        ++turns;
        inner_->set_now(now);
    }

private:
    std::unique_ptr<mad::transport> inner_;
};

enum class driver { poll, asio };
enum class form { plain, smi_gsi, striped, striped_smi_gsi };

/// One kernel behind a transport of that form. Other members without requests have their own kernels.
struct port {
    explicit port(form as) : transport(make(as)) {}
    fake_kernel kernel;
    std::vector<std::unique_ptr<fake_kernel>> idle;
    observed transport;

    void remove(int error = EIO) {
        kernel.remove(error);
        for (auto& other : idle) other->remove(error);
    }

private:
    std::unique_ptr<mad::transport> umad() {
        transports::umad_options options = kernel.options();
        options.name = "mlx5_7/1 (umad9)";
        return std::make_unique<umad_transport>(kernel.device(), options);
    }
    std::unique_ptr<mad::transport> idle_umad() {
        idle.push_back(std::make_unique<fake_kernel>());
        transports::umad_options options = idle.back()->options();
        options.name = "mlx5_8/1 (umad10)";
        return std::make_unique<umad_transport>(idle.back()->device(), options);
    }
    std::unique_ptr<mad::transport> make(form as) {
        if (as == form::plain) return umad();
        if (as == form::smi_gsi) return std::make_unique<transports::smi_gsi_transport>(umad(), idle_umad());
        std::vector<std::unique_ptr<mad::transport>> members;
        members.push_back(as == form::striped ? umad() : make(form::smi_gsi));
        return std::make_unique<transports::striped_transport>(std::move(members));
    }
};

/// Runs `t` in real time.
template <class T> T run(driver by, MADSchedule& schedule, task<T> t) {
    if (by == driver::poll) return sync_wait(schedule, std::move(t));
    boost::asio::io_context io{1};
    coro::asio_driver asio(io, schedule);
    std::optional<T> value;
    coro::async_run(asio, std::move(t), [&](T v) { value.emplace(std::move(v)); });
    io.run();
    return std::move(*value);
}

/// An RPC that ended with an error.
struct failure_seen {
    errc code{};
    int sys_errno = 0;
    std::string text;
};
task<failure_seen> fail_to_query(MADSchedule& s) {
    auto info = co_await s.SubnGet<smp::NodeInfo>(route(1));
    if (info) co_return failure_seen{};
    co_return failure_seen{info.error().code, info.error().sys_errno, to_string(info.error())};
}

constexpr u64 few = 100; // iterations of a driver: one that does not wait makes many thousands

} // namespace

TEST_CASE("calls that fail and then succeed cost an RPC only time under both drivers") {
    const auto by = GENERATE(driver::poll, driver::asio);
    const auto as = GENERATE(form::plain, form::smi_gsi, form::striped, form::striped_smi_gsi);
    port p(as);
    const answering_kernel answers(p.kernel);
    p.kernel.failing_writes = {EIO, EAGAIN, ENOSPC};
    p.transport.after_send = [&] { p.kernel.failing_reads = {EIO, EIO, ENOMEM}; };
    MADSchedule schedule(p.transport, {.timeout = 60s, .retries = 0});
    CHECK(run(by, schedule, send_query(schedule, route(1))));
    CHECK(p.kernel.writes == 4);
    CHECK(schedule.counters().sent == 1);
    CHECK(p.transport.turns < few);
}

TEST_CASE("RPCs in flight report a removed device under both drivers without a busy loop") {
    const auto by = GENERATE(driver::poll, driver::asio);
    const auto as = GENERATE(form::plain, form::smi_gsi, form::striped, form::striped_smi_gsi);
    port p(as);
    p.transport.after_send = [&] { p.remove(); };
    MADSchedule schedule(p.transport, {.timeout = 60s, .retries = 0});
    const failure_seen in_flight = run(by, schedule, fail_to_query(schedule));
    CHECK(in_flight.code == errc::transport_failed);
    CHECK(in_flight.sys_errno == EIO);
    const bool has_two = as == form::smi_gsi || as == form::striped_smi_gsi;
    const std::string name = has_two ? "mlx5_7/1 (umad9), mlx5_8/1 (umad10)" : "mlx5_7/1 (umad9)";
    CHECK_THAT(in_flight.text,
               Catch::StartsWith(name + " was disconnected (the device was removed or reset; it can be reopened "
                                        "after it returns) [RPC ") &&
                   Catch::Contains("lost its transport (Input/output error)"));
    CHECK(schedule.transport_failed());
    CHECK(p.kernel.reads <= repetitions + 3);
    CHECK(p.transport.turns < few);

    const u64 before = p.transport.turns;
    const failure_seen later = run(by, schedule, fail_to_query(schedule));
    CHECK(later.code == errc::send_failed);
    CHECK_THAT(later.text, Catch::StartsWith(name + " rejected the request (the device was removed") &&
                               Catch::Contains("after it returns) [RPC "));
    const auto idle = [](MADSchedule& s) -> task<bool> { co_return co_await s.pause(50ms); };
    CHECK(run(by, schedule, idle(schedule)));
    CHECK(p.transport.turns - before < few / 10);
}

TEST_CASE("an RPC that a device does not send reports the cause of the failed call") {
    port p(form::plain);
    p.kernel.error = EPROTONOSUPPORT; // no QP0: fails only when sending
    MADSchedule schedule(p.transport, {.timeout = 60s, .retries = 0});
    const failure_seen seen = run(driver::poll, schedule, fail_to_query(schedule));
    CHECK(seen.code == errc::send_failed);
    CHECK_THAT(seen.text, Catch::Contains(" rejected the request (") && Catch::Contains("no QP0"));
}

TEST_CASE("a request that the device never accepts fails under both drivers if nothing is in flight") {
    const auto by = GENERATE(driver::poll, driver::asio);
    port p(form::plain);
    p.kernel.failing_writes = {EAGAIN};
    p.kernel.fails_for_ever = true;
    MADSchedule schedule(p.transport, {.timeout = 60s, .retries = 0});
    const failure_seen seen = run(by, schedule, fail_to_query(schedule));
    CHECK(seen.code == errc::send_failed);
    CHECK(seen.sys_errno == EAGAIN);
    CHECK(p.kernel.writes == repetitions + 1);
    CHECK(p.transport.turns < few);
    CHECK_FALSE(schedule.transport_failed());
}

TEST_CASE("a table that was read partially is read again and arrives whole") {
    port p(form::plain);
    MADSchedule schedule(p.transport, {.timeout = 60s, .retries = 0});
    p.transport.after_send = [&] {
        std::vector<u8> reply = p.kernel.written();
        constexpr std::size_t records = 20, size = 112; // records of 108 bytes: the SA counts in units of 8
        reply.resize(64 + 56 + records * size);
        reply[64 + 3] = 0x92;                   // GetTableResp
        reply[64 + 24] = 1, reply[64 + 25] = 1; // RMPP version, DATA
        reply[64 + 26] = 7;                     // Active, First, Last
        reply[64 + 45] = size / 8;              // AttributeOffset
        const auto length = static_cast<u32>(reply.size());
        std::memcpy(reply.data() + 16, &length, sizeof length);
        p.kernel.deliver(reply);
        p.kernel.failing_reads = {0, EIO}; // the start, and then the read of the whole message
    };
    const auto table = [](MADSchedule& s) -> task<std::size_t> {
        auto records = co_await s.SubnAdmGetTable<iba::sa::NodeRecord>();
        co_return records ? records.value().size() : 0;
    };
    lead_to_sa(schedule);
    CHECK(sync_wait(schedule, table(schedule)) == 20);
    CHECK(schedule.counters().replied == 1);
    CHECK(schedule.counters().stale == 0);
    CHECK(p.kernel.failing_reads.empty());
}

} // namespace umad_errors_test
