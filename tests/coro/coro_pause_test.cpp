// SPDX-License-Identifier: MIT
// coro_pause_test.cpp - tests of pauses: when and in which order they end, and what cancels them.
#include "library/coro_rig.hpp"
#include "wire/memory_transport.hpp"
#include <comad/coro/asio.hpp>

#include <boost/asio/io_context.hpp>

#include <stdexcept>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::current_scope;

namespace {

struct pause_end {
    int which;
    bool passed;
    mad::duration after;
    friend bool operator==(const pause_end&, const pause_end&) = default;
};

task<void> pause_and_note(MADSchedule& s, int which, mad::duration length, std::vector<pause_end>& endings) {
    const mad::time_point start = s.now();
    const bool passed = co_await s.pause(length);
    endings.push_back({which, passed, s.now() - start});
}

task<mad::duration> pause_once(MADSchedule& s, mad::duration length) {
    const auto start = std::chrono::steady_clock::now();
    const bool passed = co_await s.pause(length);
    CHECK(passed);
    co_return std::chrono::steady_clock::now() - start;
}

} // namespace

TEST_CASE("pauses end after their duration, the shortest first and equal pauses in order") {
    rig r;
    std::vector<pause_end> endings;
    const auto body = [](MADSchedule& s, std::vector<pause_end>& e) -> task<void> {
        scope children(co_await current_scope{});
        int which = 0;
        for (const mad::duration length : {30ms, 10ms, 20ms, 10ms, 0ms})
            children.spawn(pause_and_note(s, which++, length, e));
        co_await children.join();
    };
    sync_wait(r.schedule, body(r.schedule, endings));
    CHECK(endings ==
          std::vector<pause_end>{{4, true, 0ms}, {1, true, 10ms}, {3, true, 10ms}, {2, true, 20ms}, {0, true, 30ms}});
    CHECK(r.schedule.idle());
}

TEST_CASE("a pause starts at the end of the previous pause, and RPCs run during a pause") {
    rig r;
    const auto body = [](MADSchedule& s) -> task<mad::duration> {
        scope children(co_await current_scope{});
        job<bool> query = children.queue(send_query(s, route(1)));
        const mad::time_point start = s.now();
        for (int i = 0; i < 3; ++i) {
            const bool passed = co_await s.pause(1s);
            CHECK(passed);
        }
        CHECK(query.done());
        co_return s.now() - start;
    };
    CHECK(sync_wait(r.schedule, body(r.schedule)) == 3s);
}

TEST_CASE("a canceled pause ends at once, and a pause in a canceled scope does not wait") {
    rig r;
    std::vector<pause_end> endings;
    const auto body = [](MADSchedule& s, std::vector<pause_end>& e) -> task<void> {
        scope children(co_await current_scope{});
        children.spawn(pause_and_note(s, 0, 1h, e));
        children.spawn(pause_and_note(s, 1, mad::duration::max(), e));
        const bool passed = co_await s.pause(5ms);
        CHECK(passed);
        CHECK(e.empty());
        children.cancel();
        children.spawn(pause_and_note(s, 2, 1h, e));
        CHECK(e == std::vector<pause_end>{{2, false, 0ms}}); // the others end soon after, not inside cancel()
        co_await children.join();
    };
    sync_wait(r.schedule, body(r.schedule, endings));
    CHECK_THAT(endings, Catch::UnorderedEquals<pause_end>({{2, false, 0ms}, {0, false, 5ms}, {1, false, 5ms}}));
    CHECK(r.schedule.idle());
}

TEST_CASE("a pause that is canceled twice before its end completes") {
    rig r;
    std::vector<pause_end> endings;
    const auto body = [](MADSchedule& s, std::vector<pause_end>& e) -> task<void> {
        scope children(co_await current_scope{});
        children.spawn(pause_and_note(s, 0, 1h, e));
        children.cancel();
        children.cancel();
        co_await children.join();
    };
    sync_wait(r.schedule, body(r.schedule, endings));
    CHECK(endings == std::vector<pause_end>{{0, false, 0ms}});
}

TEST_CASE("destroying a task during a pause removes the pause") {
    rig r;
    std::vector<pause_end> endings;
    {
        job<void> first = r.schedule.queue(pause_and_note(r.schedule, 0, 1s, endings));
        job<void> second = r.schedule.queue(pause_and_note(r.schedule, 1, 2s, endings));
        r.schedule.set_now(mad::time_point(1ms));
        CHECK(r.schedule.next_deadline() == mad::time_point(1001ms));
        CHECK_FALSE(r.schedule.idle());
    }
    CHECK(r.schedule.idle());
    CHECK(r.schedule.next_deadline() == mad::time_point::max());
    r.schedule.set_now(mad::time_point(5s));
    r.schedule.on_time();
    CHECK(endings.empty());
}

TEST_CASE("an endless pause is an error in virtual time") {
    rig r;
    std::vector<pause_end> endings;
    CHECK_THROWS_AS(sync_wait(r.schedule, pause_and_note(r.schedule, 0, mad::duration::max(), endings)),
                    std::logic_error);
}

TEST_CASE("pauses have their real duration under the blocking and the Asio driver") {
    memory_transport net(memory_transport::time::real);
    MADSchedule schedule(net);
    CHECK(sync_wait(schedule, pause_once(schedule, 5ms)) >= 5ms);

    boost::asio::io_context io{1};
    coro::asio_driver driver(io, schedule);
    mad::duration took{0};
    coro::async_run(driver, pause_once(schedule, 5ms), [&](mad::duration t) { took = t; });
    io.run();
    CHECK(took >= 5ms);
}
