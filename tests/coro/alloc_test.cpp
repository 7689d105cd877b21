// SPDX-License-Identifier: MIT
// alloc_test.cpp - engines, tasks, sequences and drivers allocate nothing per MAD after a warm-up.
#include "library/coro_rig.hpp"
#include "support/allocations.hpp"
#include "wire/memory_transport.hpp"
#include <comad/coro/asio.hpp>
#include <comad/coro/detail/frame_cache.hpp>
#include <comad/mad/detail/engine.hpp>
#include <comad/mad/detail/message.hpp>

#include <boost/asio/io_context.hpp>

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::asio_driver;
using coro::async_run;
using coro::mqueue_report;

namespace {

constexpr u32 warm = 20'000, measured = 100'000;

/// An operation that sends its MAD again and again.
struct repeated : mad::operation {
    repeated(mad::engine& e, u32 port) : engine(e), to(route(port)) {
        encode = [](mad::operation& o, u8* bytes) {
            constexpr mad::rpc_kind kind{iba::MgmtClass::SubnLID, 1, iba::Method::Get, 0x11, true};
            mad::write_request(bytes, kind, static_cast<repeated&>(o).to, 0);
        };
        done = [](mad::operation& o, const mad::completion& how) {
            auto& self = static_cast<repeated&>(o);
            self.replies += how.what == mad::completion_status::replied;
            if (self.replies < warm + measured) self.engine.submit(self);
        };
        path = &to;
        destination = mad::destination_key(to);
        timeout = 1s;
    }
    mad::engine& engine;
    mad::any_path to;
    u64 replies = 0;
};

task<void> item(MADSchedule& s, u32 number, u64& right) { right += co_await send_query(s, route_to(number)); }

/// Records the allocations that occur while the tasks after the warm-up are pulled.
generator<task<void>> items(MADSchedule& s, u64& right, std::size_t& allocated) {
    for (u32 i = 0; i < warm; ++i) co_yield item(s, i, right);
    const std::size_t before = allocations::so_far().count;
    for (u32 i = 0; i < measured; ++i) co_yield item(s, i, right);
    allocated = allocations::so_far().count - before;
}
task<mqueue_report> sweep(MADSchedule& s, u64& right, std::size_t& allocated) {
    co_return co_await s.mqueue(items(s, right, allocated));
}

task<void> node(MADSchedule& s, u32 number, u64& right) {
    const auto ports = [](MADSchedule& schedule, u32 first, u64& sum) -> generator<task<void>> {
        for (u32 port = 0; port < 8; ++port) co_yield item(schedule, first + port, sum);
    };
    co_await s.mqueue(ports(s, 8 * number, right));
}
generator<task<void>> nodes(MADSchedule& s, u64& right, std::size_t& allocated) {
    for (u32 i = 0; i < warm / 8; ++i) co_yield node(s, i, right);
    const std::size_t before = allocations::so_far().count;
    for (u32 i = 0; i < measured / 8; ++i) co_yield node(s, i, right);
    allocated = allocations::so_far().count - before;
}
task<mqueue_report> nested_sweep(MADSchedule& s, u64& right, std::size_t& allocated) {
    co_return co_await s.mqueue(nodes(s, right, allocated));
}

/// With sanitizers, frames are not reused, so that the sanitizers can detect a use after free.
std::size_t per_measurement(std::size_t when_recycled) {
    return coro::detail::recycles_frames() ? when_recycled : ~std::size_t{0};
}

} // namespace

TEST_CASE("frames up to 2 KiB are recycled by size, and larger frames come from the heap") {
    if (!coro::detail::recycles_frames()) return;
    for (const std::size_t bytes : {64u, 65u, 2047u, 2048u, 2049u, 2112u, 2113u, 4096u}) {
        CAPTURE(bytes);
        const auto allocated = [&] {
            const std::size_t before = allocations::so_far().count;
            void* const frame = coro::detail::allocate_frame(bytes);
            const std::size_t count = allocations::so_far().count - before;
            coro::detail::release_frame(frame, bytes);
            return count;
        };
        allocated(); // warm-up
        CHECK(allocated() == (bytes <= 2048 ? 0 : 1));
    }
}

TEST_CASE("the engine allocates nothing per MAD") {
    memory_transport net;
    mad::engine engine(net, {.max_outstanding = 16});
    std::array<u8, 1024> buffer;
    std::deque<repeated> all;
    for (u32 port = 1; port <= 20; ++port) engine.submit(all.emplace_back(engine, port));

    std::size_t before = 0;
    const auto done = [&](u64 replies) {
        return std::all_of(all.begin(), all.end(), [&](const repeated& o) { return o.replies >= replies / 20; });
    };
    while (!engine.idle() && !done(warm + measured)) {
        if (before == 0 && done(warm)) before = allocations::so_far().count;
        net.set_now(net.next_event().value_or(mad::time_point{}));
        for (mad::received r; (r = net.receive(buffer)).state == mad::receive_state::message;) engine.on_received(r);
        engine.set_now(mad::time_point{});
        engine.on_time();
        engine.run_ready();
    }
    CHECK(before > 0);
    CHECK(allocations::so_far().count == before);
    for (repeated& o : all) engine.withdraw(o);
}

TEST_CASE("a task per MAD allocates nothing under the blocking driver") {
    memory_transport net(memory_transport::time::real);
    MADSchedule schedule(net, {.max_outstanding = 64}); // a growing window would allocate frames
    u64 right = 0;
    std::size_t allocated = ~std::size_t{0};
    sync_wait(schedule, sweep(schedule, right, allocated));
    CHECK(right == warm + measured);
    CHECK(allocated <= per_measurement(0));
}

TEST_CASE("a task per MAD allocates nothing under the Asio driver") {
    memory_transport net(memory_transport::time::real);
    MADSchedule schedule(net, {.max_outstanding = 64}); // a growing window would allocate frames
    boost::asio::io_context io{1};
    asio_driver driver(io, schedule);
    u64 right = 0;
    std::size_t allocated = ~std::size_t{0};
    async_run(driver, sweep(schedule, right, allocated), [](const mqueue_report&) {});
    io.run();
    CHECK(right == warm + measured);
    CHECK(allocated <= per_measurement(0));
}

TEST_CASE("a sequence per node and a task per MAD allocate nothing in virtual time") {
    memory_transport net;
    MADSchedule schedule(net, {.max_outstanding = 64}); // a growing window would allocate frames
    u64 right = 0;
    std::size_t allocated = ~std::size_t{0};
    sync_wait(schedule, nested_sweep(schedule, right, allocated));
    CHECK(right == warm + measured);
    CHECK(allocated <= per_measurement(0));
}

TEST_CASE("timeouts and retries allocate nothing") {
    memory_transport net;
    net.drop_every = 7;
    MADSchedule schedule(net, {.timeout = 1ms, .retries = 30});
    u64 right = 0;
    std::size_t allocated = ~std::size_t{0};
    sync_wait(schedule, sweep(schedule, right, allocated));
    CHECK(right == warm + measured);
    CHECK(schedule.counters().retried > measured / 7);
    CHECK(allocated <= per_measurement(0));
}

TEST_CASE("the allocation counter counts a vector and its reallocation") {
    const std::size_t before = allocations::so_far().count;
    std::vector<int> some(100);
    some.resize(1000);
    CHECK(allocations::so_far().count == before + 2);
}
