// SPDX-License-Identifier: MIT
// reopening_test.cpp - sessions of ibtool whose MAD device disconnects while tasks run. Sockets act as the kernel side
// of the device and of the devices that replace it.
#include "kernel/answering_kernel.hpp"
#include "library/diags_mads.hpp"
#include "session/host_service.hpp"
#include "session/reconnecting_session.hpp"
#include "session/report.hpp"
#include "support/exception_message.hpp"
#include <comad/coro/detail/periods.hpp>
#include <comad/iba/smp.hpp>
#include <comad/server/diags.hpp>

#include <csignal>
#include <deque>
#include <functional>
#include <stdexcept>
#include <thread>

using namespace comad;
using namespace comad::test;
using namespace ibtool;

namespace {

/// The kernel side of the device, one for each time that the session opens the device.
struct device {
    struct opening {
        std::string problem{}; ///< why the device cannot be opened; empty: it can
        u16 LID = 7;
        fake_kernel kernel{};
    };
    std::deque<opening> openings;
    std::size_t opened = 0;

    fabric open() {
        opening& next = openings.at(opened++);
        if (!next.problem.empty()) throw std::runtime_error(next.problem);
        transports::umad_options options = next.kernel.options();
        options.name = "mlx5_0/1 (umad0)";
        return {std::make_unique<transports::umad_transport>(next.kernel.device(), options),
                {iba::lid{next.LID}, {}, {}}};
    }
    std::function<fabric()> opener() {
        return [this] { return open(); };
    }
    /// Makes the open device fail at its next use.
    void remove() {
        fake_kernel& kernel = openings.at(opened - 1).kernel;
        kernel.failing_reads = {ENODEV};
        kernel.fails_for_ever = true;
        kernel.deliver(a_reply());
    }
};

/// Records the notifications of a listener in order.
struct diary {
    std::vector<std::string> entries;
    disconnect_listener listener{
        [this](const disconnect& o) { entries.push_back("lost " + o.device + ": " + o.cause); },
        [this](const disconnect& o) { entries.push_back("still lost: " + o.cause); },
        [this] { entries.push_back("open"); },
        [this](const disconnect& o) {
            entries.push_back("back");
            length = o.length;
            return std::string("missed something");
        },
    };
    std::chrono::nanoseconds length{};
};

/// Queries the local node. Returns an empty value if the device has disconnected.
coro::task<std::optional<bool>> send_query(session& in) {
    auto info = co_await in.schedule().SubnGet<iba::smp::NodeInfo>(mad::IBDRPath{});
    if (!info && in.disconnect_error() != 0) co_return std::nullopt;
    co_return info.has_value();
}
/// Waits for an hour. Returns an empty value if the device has disconnected.
coro::task<std::optional<bool>> wait_long(session& in) {
    const bool has_passed = co_await in.schedule().pause(1h);
    if (!has_passed && in.disconnect_error() != 0) co_return std::nullopt;
    co_return has_passed;
}

} // namespace

TEST_CASE("a task whose device disconnects runs again after the device returns, and listeners are notified") {
    const bool has_something_in_flight = GENERATE(false, true);
    device d;
    d.openings.resize(6);
    d.openings[1].problem = d.openings[2].problem = "no such device";
    d.openings[3].LID = 0; // the subnet manager has not configured the port yet
    d.openings[4].problem = "busy";
    const answering_kernel answers(d.openings[5].kernel);
    diary reported;
    global_options options;
    options.timeout = 60s;
    session in(options, d.opener());
    CHECK(in.device() == "mlx5_0/1 (umad0)");
    unsigned runs = 0;
    const std::function<coro::task<std::optional<bool>>()> make = [&] {
        if (runs++ > 0) return send_query(in);
        d.remove();
        return has_something_in_flight ? send_query(in) : wait_long(in);
    };
    CHECK(reconnecting_session(in, reported.listener).run(make) == true);
    CHECK(runs == 2);
    CHECK(d.opened == 6);
    CHECK(in.disconnect_error() == 0);
    CHECK(reported.entries ==
          std::vector<std::string>{"lost mlx5_0/1 (umad0): No such device", "still lost: no such device",
                                   "still lost: the port has no LID yet: the subnet manager has not configured it",
                                   "still lost: busy", "open", "back"});
    CHECK(reported.length >= 3100ms); // after pauses of 0.1, 0.2, 0.4, 0.8 and 1.6 s
    CHECK(reported.length < 60s);
}

TEST_CASE("a failed preparation on a reopened device is retried") {
    device d;
    d.openings.resize(3);
    const answering_kernel answers(d.openings[2].kernel);
    diary reported;
    unsigned attempts = 0;
    reported.listener.on_open = [&] {
        if (attempts++ == 0) throw std::runtime_error("another program serves it");
    };
    const global_options options;
    session in(options, d.opener());
    const std::function<coro::task<std::optional<bool>>()> make = [&] {
        if (d.opened == 1) d.remove();
        return send_query(in);
    };
    CHECK(reconnecting_session(in, reported.listener).run(make) == true);
    CHECK(attempts == 2);
    CHECK(reported.entries == std::vector<std::string>{"lost mlx5_0/1 (umad0): No such device",
                                                       "still lost: another program serves it", "back"});
}

TEST_CASE("a signal ends the wait for a device") {
    const int number = GENERATE(SIGINT, SIGTERM);
    device d;
    d.openings.resize(2);
    d.openings[1].problem = "no such device";
    diary reported;
    reported.listener.on_retry = [&](const disconnect&) { std::raise(number); };
    const global_options options;
    session in(options, d.opener());
    const std::function<coro::task<std::optional<bool>>()> make = [&] {
        d.remove();
        return wait_long(in);
    };
    CHECK_FALSE(reconnecting_session(in, reported.listener).run(make));
    CHECK(in.stopped());
    CHECK(d.opened == 2); // the session did not open the device a third time
    CHECK(end_capture(in, partial) == partial);
    CHECK(in.counts().empty());
}

TEST_CASE("a task that may end by itself is not canceled by the loss of its device") {
    device d;
    d.openings.resize(1);
    const global_options options;
    session in(options, d.opener());
    d.remove();
    const auto body = [](session& s) -> coro::task<bool> {
        auto info = co_await s.schedule().SubnGet<iba::smp::NodeInfo>(mad::IBDRPath{});
        const bool failed = !info && info.error().code == mad::errc::transport_failed;
        const bool has_passed = co_await s.schedule().pause(1ms); // nothing has canceled the pause
        co_return failed&& has_passed;
    };
    CHECK(in.run(body(in)));
    CHECK(in.disconnect_error() == ENODEV);
    CHECK(in.disconnect_text() == "mlx5_0/1 (umad0) disconnected: No such device");
}

TEST_CASE("a server replies on the reopened device through newly registered agents") {
    device d;
    d.openings.resize(2);
    fake_kernel& later = d.openings[1].kernel;
    server::responder answers;
    server::add_ping(answers, {"guest.example.(none)", {}});
    const global_options options;
    session in(options, d.opener());
    d.remove();

    // The client of the second device. The test checks the results after the thread has ended, because only one thread
    // may use the macros of Catch.
    std::vector<u8> pong(320);
    const std::vector<u8> ping = diags_mad("ping_request");
    std::thread requester([&, kernel = later.descriptor()] {
        std::vector<u8> packet = delivery(0, Get, 256);
        std::copy(ping.begin(), ping.end(), packet.begin() + 64);
        (void)!::write(kernel, packet.data(), packet.size());
        pollfd answered{kernel, POLLIN, 0};
        ::poll(&answered, 1, 30000);
        pong.resize(static_cast<std::size_t>(std::max<ssize_t>(0, ::read(kernel, pong.data(), pong.size()))));
        std::raise(SIGTERM);
    });
    CHECK(serve_in(in, answers) == complete);
    requester.join();
    CHECK(d.openings[0].kernel.registrations.size() == 1);
    CHECK(later.registrations.size() == 1);
    REQUIRE(pong.size() == 320);
    const auto wanted = diags_mad("ping_reply");
    CHECK(bytes_at(pong, 64, 4) == std::vector<u8>(wanted.begin(), wanted.begin() + 4)); // version, class, GetResp
}

TEST_CASE("pauses between attempts grow to 10 seconds, and shrink only after 10 seconds of success") {
    growing_pause pause;
    std::vector<double> seconds;
    for (int i = 0; i < 9; ++i) seconds.push_back(std::chrono::duration<double>(pause.next()).count());
    CHECK(seconds == std::vector<double>{0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10, 10});
    pause.succeeded_for(9999ms);
    CHECK(pause.next() == 10s);
    pause.succeeded_for(10s);
    CHECK(pause.next() == 100ms);
    CHECK(pause.next() == 200ms);
}

TEST_CASE("each missed period is counted once") {
    const mad::time_point start{100s};
    coro::periods every(10s);
    every.begin(start);
    CHECK(every.next() == start);
    every.done();
    CHECK(every.next() == start + 10s);
    // In time: the next period has not started.
    CHECK(every.skip_over(start + 3s) == 0);
    CHECK(every.next() == start + 10s);
    // Late: the action of the second period took until 29 s, so that of the third period is due immediately.
    every.done();
    CHECK(every.skip_over(start + 29s) == 0);
    CHECK(every.next() == start + 20s);
    // The third one took until 41 s: the fourth period has ended, and the action of the fifth one is due immediately.
    every.done();
    CHECK(every.skip_over(start + 41s) == 1);
    CHECK(every.next() == start + 40s);
    // The device was lost until 75 s. The fifth to the seventh period are missed, and the eighth continues.
    CHECK(every.skip_over(start + 75s) == 3);
    CHECK(every.next() == start + 70s);
    CHECK(every.skip_over(start + 76s) == 0);
    // The device was lost during the wait for the next period and returned in time.
    every.done();
    CHECK(every.skip_over(start + 78s) == 0);
    CHECK(every.next() == start + 80s);
}
