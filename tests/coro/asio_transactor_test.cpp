// SPDX-License-Identifier: MIT
// asio_transactor_test.cpp - RPCs, tasks and other I/O of one program in one io_context that four threads run. Other
// threads only count what they find, and the test checks the counts at its end: the macros of Catch are not
// thread-safe. These tests also run under ThreadSanitizer.
#include "kernel/answering_kernel.hpp"
#include "library/coro_rig.hpp"
#include "wire/memory_transport.hpp"
#include <comad/coro/asio_transactor.hpp>
#include <comad/coro/detail/when_all.hpp>
#include <comad/coro/use_task.hpp>
#include <comad/iba/pm.hpp>
#include <comad/iba/sa.hpp>
#include <comad/transports/sim/transport.hpp>
#include <comad/transports/umad.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include <atomic>
#include <exception>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace asio_transactor_test {

using namespace comad;
using namespace comad::test;
using coro::asio_transactor;
using coro::use_task;
namespace asio = boost::asio;
namespace sim = transports::sim;
using asio::ip::tcp;

namespace {

constexpr auto terminal = asio::cancellation_type::terminal;

/// An io_context that four threads run, and a transactor in it. By default nothing times out for an hour.
struct threaded_rig {
    explicit threaded_rig(schedule_options options = {.timeout = 1h}) : options_(options) { renew(); }

    /// Runs until no work is left. Returns how many exceptions left the io_context. Only a failing test needs the whole
    /// minute.
    unsigned run() {
        io.restart();
        std::atomic<unsigned> thrown{0};
        {
            std::vector<std::jthread> threads;
            for (int i = 0; i < 4; ++i) {
                threads.emplace_back([&] {
                    for (;;) {
                        try {
                            io.run_for(60s);
                            return;
                        } catch (...) {
                            ++thrown;
                        }
                    }
                });
            }
        }
        REQUIRE(io.stopped());
        return thrown;
    }
    /// Returns true if the caller runs where the schedule runs.
    bool is_there() const {
        return mads->get_executor().target<asio::strand<asio::any_io_executor>>()->running_in_this_thread();
    }
    /// Replaces the transactor with a new one over the same transport.
    void renew() {
        mads.reset();
        mads.emplace(io.get_executor(), net, options_);
    }

    asio::io_context io;
    memory_transport net{memory_transport::time::real};
    schedule_options options_;
    std::optional<asio_transactor> mads;
};

using info_result = mad::result<smp::NodeInfo>;

std::optional<errc> code_of(const info_result& r) { return r ? std::nullopt : std::optional(r.error().code); }

task<int> fail_after(MADSchedule& s) {
    co_await touch(s, route(1));
    throw std::runtime_error("as expected");
}
/// Returns the text of an exception, "" if there is none.
std::string text_of(const std::exception_ptr& thrown) try {
    if (thrown) std::rethrow_exception(thrown);
    return {};
} catch (const std::exception& e) {
    return e.what();
}
task<info_result> query_info(MADSchedule& s, IBDRPath to) { co_return co_await s.SubnGet<smp::NodeInfo>(to); }

} // namespace

// ---- tokens ------------------------------------------------------------------------------------------------------------

TEST_CASE("an RPC of the Asio transactor accepts any token and is an asio::awaitable by default") {
    threaded_rig r;
    std::atomic<int> right{0};
    r.mads->async_SubnGet<smp::NodeInfo>(route(1),
                                         [&](info_result info) { right += info && is_answer(info.value(), route(1)); });
    auto future = r.mads->async_SubnGet<smp::NodeInfo>(route(2), 0, asio::use_future);
    auto later =
        r.mads->async_SubnGet<smp::NodeInfo>(route(3), 0, rpc_options{.timeout = 1s, .retries = 0}, asio::deferred);
    const auto program = [](asio_transactor& mads, std::atomic<int>& sum) -> asio::awaitable<void> {
        auto info = co_await mads.async_SubnGet<smp::NodeInfo>(route(4));
        sum += info && is_answer(info.value(), route(4));
        auto same = co_await mads.async_SubnGet<smp::NodeInfo>(route(5), asio::use_awaitable);
        sum += same && is_answer(same.value(), route(5));
        auto whole = co_await mads.async_SubnGet<smp::NodeInfo, coro::with_header>(route(6));
        sum +=
            whole && is_answer(whole.value().payload, route(6)) && whole.value().header.method == iba::Method::GetResp;
        smp::PortInfo wanted{};
        auto set = co_await mads.async_SubnSet(wanted, route(7), 1);
        sum += set.has_value();
    };
    asio::co_spawn(r.io, program(*r.mads, right), asio::detached);
    std::move(later)([&](info_result info) { right += info && is_answer(info.value(), route(3)); });
    CHECK(r.run() == 0);
    CHECK(right == 6);
    const auto info = future.get();
    CHECK((info && is_answer(info.value(), route(2))));
}

TEST_CASE("SA requests need an SA path, tables arrive whole, and an RPC without a path fails") {
    sim::simulation net = sim::make_sim("fattree2,radix=4,sm=1,time=real", sim::time_mode::real);
    asio::io_context io;
    asio_transactor mads(io.get_executor(), *net.transport);
    using iba::sa::NodeRecord;
    auto before = mads.async_SubnAdmGetTable<NodeRecord>(asio::use_future);
    mad::IBPath sa;
    sa.DLID = iba::lid{1};
    asio::post(mads.get_executor(), [&] { mads.schedule().set_sa_path(sa); });
    auto nodes = mads.async_SubnAdmGetTable<NodeRecord>(asio::use_future);
    iba::query<NodeRecord> one;
    one.where<&NodeRecord::LID>(iba::lid{1});
    auto record = mads.async_SubnAdmGet(one, asio::use_future);
    io.run_for(60s);
    const auto refused = before.get();
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == errc::incomplete_path);
    const auto found = record.get();
    REQUIRE(found);
    CHECK(found.value().LID == iba::lid{1});
    const auto all = nodes.get();
    REQUIRE(all);
    CHECK(all.value().size() == net.fabric->graph().nodes.size());
}

TEST_CASE("completions run in the executor of the handler, else of the transactor, and never inline") {
    threaded_rig r;
    auto strand = asio::make_strand(r.io);
    std::atomic<int> on_strand{0}, there{0};
    bool beginning = false, inside = true; // inside: the handler ran inside its initiating function
    r.mads->async_SubnGet<smp::NodeInfo>(route(1), asio::bind_executor(strand, [&](info_result) {
                                             on_strand += strand.running_in_this_thread() && !r.is_there();
                                         }));
    r.mads->async_SubnGet<smp::NodeInfo>(route(2), [&](info_result) {
        there += r.is_there();
        // From inside the strand, too, an operation that is refused at once completes later.
        beginning = true;
        r.mads->async_SubnGet<smp::NodeInfo>(mad::IBPath{}, [&](info_result) { inside = beginning; });
        beginning = false;
    });
    CHECK(r.run() == 0);
    CHECK(on_strand == 1);
    CHECK(there == 1);
    CHECK_FALSE(inside);
}

TEST_CASE("ten thousand RPCs of forty coroutines complete in four threads") {
    threaded_rig r({.max_outstanding = 64, .timeout = 1h});
    std::atomic<unsigned> right{0}, ended{0};
    const auto program = [](asio_transactor& mads, u32 first, std::atomic<unsigned>& sum) -> asio::awaitable<void> {
        for (u32 i = 0; i < 250; ++i) {
            const IBDRPath to = route_to(first + i);
            auto info = co_await mads.async_SubnGet<smp::NodeInfo>(to);
            sum += info && is_answer(info.value(), to);
        }
    };
    for (u32 i = 0; i < 40; ++i) {
        asio::co_spawn(asio::make_strand(r.io), program(*r.mads, 1000 * i, right),
                       [&](std::exception_ptr e) { ended += !e; });
    }
    CHECK(r.run() == 0);
    CHECK(right == 10000);
    CHECK(ended == 40);
    CHECK(r.net.sent == 10000);
}

// ---- cancelling --------------------------------------------------------------------------------------------------------

TEST_CASE("a cancellation from another thread ends the RPC once and at once, and its reply is stale") {
    threaded_rig r;
    r.net.hold();
    auto strand = asio::make_strand(r.io);
    asio::cancellation_signal signal;
    std::atomic<int> calls{0};
    std::optional<errc> code;
    const auto begin = [&] {
        r.mads->async_SubnGet<smp::NodeInfo>(
            route(1), asio::bind_executor(strand, asio::bind_cancellation_slot(signal.slot(), [&](info_result info) {
                                              code = code_of(info);
                                              ++calls;
                                              // Only now the reply to the abandoned MAD arrives, and the reply to
                                              // another RPC that shows when it arrived.
                                              asio::post(r.mads->get_executor(), [&] { r.net.release(); });
                                              r.mads->async_SubnGet<smp::NodeInfo>(
                                                  route(2), [&](info_result other) { calls += other.has_value(); });
                                          })));
    };
    asio::post(strand, begin);
    std::thread other([&] {
        // Waits until the request is sent.
        std::promise<void> sent;
        const std::function<void()> look = [&] {
            if (r.net.sent == 1) sent.set_value();
            else asio::post(r.mads->get_executor(), look);
        };
        asio::post(r.mads->get_executor(), look);
        sent.get_future().wait();
        asio::post(strand, [&] {
            signal.emit(terminal);
            signal.emit(terminal);
        });
    });
    CHECK(r.run() == 0);
    other.join();
    CHECK(code == errc::cancelled);
    CHECK(calls == 2);
    CHECK(r.mads->schedule().counters().stale == 1);
    signal.emit(terminal); // no operation is left to receive it
}

TEST_CASE("a cancellation directly after the initiation is not lost") {
    threaded_rig r;
    r.net.drop_every = 1;
    asio::cancellation_signal signals[2];
    std::atomic<int> cancelled{0};
    const auto begin = [&](asio::cancellation_signal& signal) {
        r.mads->async_SubnGet<smp::NodeInfo>(route(1),
                                             asio::bind_cancellation_slot(signal.slot(), [&](info_result info) {
                                                 cancelled += code_of(info) == errc::cancelled;
                                             }));
        signal.emit(terminal);
    };
    begin(signals[0]); // from outside the strand
    asio::post(r.mads->get_executor(), [&] { begin(signals[1]); });
    CHECK(r.run() == 0);
    CHECK(cancelled == 2);
}

TEST_CASE("hundreds of RPCs that are canceled at random moments complete exactly once") {
    threaded_rig r({.max_outstanding = 8, .timeout = 1h});
    r.net.drop_every = 3;
    struct one {
        asio::strand<asio::any_io_executor> home;
        asio::cancellation_signal signal{};
        int calls = 0;
        bool answered = false;
    };
    std::vector<std::unique_ptr<one>> all;
    for (int i = 0; i < 400; ++i)
        all.emplace_back(new one{asio::make_strand(asio::any_io_executor(r.io.get_executor()))});
    for (auto& o : all) {
        asio::post(o->home, [&r, o = o.get()] {
            r.mads->async_SubnGet<smp::NodeInfo>(
                route(1),
                asio::bind_executor(o->home, asio::bind_cancellation_slot(o->signal.slot(), [o](info_result info) {
                                        ++o->calls;
                                        o->answered = info.has_value();
                                    })));
        });
    }
    std::thread other([&] {
        for (auto& o : all) asio::post(o->home, [o = o.get()] { o->signal.emit(terminal); });
    });
    CHECK(r.run() == 0);
    other.join();
    unsigned once = 0;
    for (auto& o : all) once += o->calls == 1;
    CHECK(once == 400);
}

// ---- tasks and exceptions ----------------------------------------------------------------------------------------------

TEST_CASE("an exception of a task reaches its awaiter, and the transactor continues") {
    threaded_rig r;
    std::atomic<int> caught{0}, right{0};
    const auto program = [](asio_transactor& mads, std::atomic<int>& c, std::atomic<int>& n) -> asio::awaitable<void> {
        try {
            co_await mads.async_run(fail_after(mads.schedule()));
        } catch (const std::runtime_error& e) {
            c += std::string(e.what()) == "as expected";
        }
        const bool answered = co_await mads.async_run(send_query(mads.schedule(), route(1)));
        n += answered;
        auto info = co_await mads.async_run(query_info(mads.schedule(), route(2)), asio::use_awaitable);
        n += info.has_value();
        co_await mads.async_run(touch(mads.schedule(), route(3)));
    };
    asio::co_spawn(r.io, program(*r.mads, caught, right), asio::detached);
    // The thread that completes the operation copies the text. Otherwise that thread could destroy the exception after
    // this thread has read it. Nothing would be wrong with that, but ThreadSanitizer does not see the reference counter
    // of exceptions, which is in libstdc++, and would report a data race.
    auto future = r.mads->async_run(fail_after(r.mads->schedule()),
                                    asio::use_future([](std::exception_ptr thrown, int) { return text_of(thrown); }));
    CHECK(r.run() == 0); // no exception leaves run()
    CHECK(caught == 1);
    CHECK(right == 2);
    CHECK(future.get() == "as expected");
}

TEST_CASE("destroying a transactor destroys all unfinished operations, started or not") {
    threaded_rig r;
    r.net.drop_every = 1;
    census lives;
    std::atomic<int> calls{0};
    {
        const counted handlers(lives);
        r.mads->async_SubnGet<smp::NodeInfo>(route(1), [&calls, handlers](info_result) { ++calls; });
        r.io.poll();
        r.mads->async_SubnGet<smp::NodeInfo>(route(2), [&calls, handlers](info_result) { ++calls; });
    }
    r.mads.reset();
    CHECK(r.run() == 0);
    CHECK(calls == 0);
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
}

// ---- Asio operations in tasks ------------------------------------------------------------------------------------------

TEST_CASE("a task awaits timers, sockets and immediate operations and resumes in the executor of its schedule") {
    threaded_rig r;
    tcp::socket left(r.io), right(r.io);
    {
        tcp::acceptor acceptor(r.io, tcp::endpoint(asio::ip::address_v4::loopback(), 0));
        left.connect(acceptor.local_endpoint());
        acceptor.accept(right);
    }
    const auto throwing = []() -> asio::awaitable<int> {
        throw std::runtime_error("as expected");
        co_return 0;
    };
    const auto body = [](threaded_rig& rig, tcp::socket& from, tcp::socket& to, auto thrower) -> task<int> {
        int right_so_far = 0;
        MADSchedule& s = rig.mads->schedule();
        const use_task token(rig.mads->driver());
        asio::steady_timer timer(rig.io, 1ms);
        const boost::system::error_code waited = co_await timer.async_wait(token);
        right_so_far += !waited && rig.is_there();
        const bool first = co_await send_query(s, route(1));
        right_so_far += first;
        char text[] = "ping", read[4];
        auto [write_error, written] = co_await asio::async_write(from, asio::buffer(text, 4), token);
        right_so_far += !write_error && written == 4;
        auto [read_error, n] = co_await asio::async_read(to, asio::buffer(read), token);
        right_so_far += !read_error && n == 4 && std::string(read, 4) == "ping" && rig.is_there();
        co_await asio::post(rig.io, token);
        right_so_far += rig.is_there();
        co_await asio::dispatch(rig.mads->get_executor(), token); // completes inside the initiating function
        right_so_far += rig.is_there();
        try {
            co_await asio::co_spawn(rig.io, thrower(), token);
        } catch (const std::runtime_error&) {
            ++right_so_far;
        }
        const bool second = co_await send_query(s, route(2));
        right_so_far += second;
        co_return right_so_far;
    };
    auto future = r.mads->async_run(body(r, left, right, throwing), asio::use_future);
    CHECK(r.run() == 0);
    CHECK(future.get() == 8);
}

TEST_CASE("canceling a task cancels its Asio operation, whether the cancellation comes before or after the start") {
    threaded_rig r;
    const auto wait = [](threaded_rig& rig) -> task<int> {
        asio::steady_timer timer(rig.io, 1h);
        const auto first = co_await timer.async_wait(use_task(rig.mads->driver()));
        const auto second = co_await timer.async_wait(use_task(rig.mads->driver()));
        co_return (first == asio::error::operation_aborted) + (second == asio::error::operation_aborted);
    };
    asio::cancellation_signal signal;
    std::atomic<int> aborted{0};
    r.mads->async_run(wait(r),
                      asio::bind_cancellation_slot(signal.slot(), [&](std::exception_ptr, int n) { aborted = n; }));
    asio::steady_timer soon(r.io, 5ms);
    soon.async_wait([&](auto) { signal.emit(terminal); });
    CHECK(r.run() == 0);
    CHECK(aborted == 2);
}

TEST_CASE("destroying a task cancels the Asio operation that the task awaits") {
    threaded_rig r;
    census lives;
    const auto wait = [](threaded_rig& rig, asio::steady_timer& timer, counted) -> task<void> {
        co_await timer.async_wait(use_task(rig.mads->driver()));
    };
    asio::steady_timer timer(r.io, 1h);
    r.mads->async_run(wait(r, timer, counted(lives)), [](std::exception_ptr) {});
    r.io.poll();
    CHECK(lives.live() == 1);
    r.mads.reset();
    CHECK(lives.live() == 0);
    CHECK(lives.ghosts() == 0);
    CHECK(r.run() == 0); // run() does not wait for an hour
}

// ---- a whole program ---------------------------------------------------------------------------------------------------

namespace {

/// Receives LIDs of one byte each. Replies with portSelect from the counters of port 1, which an RPC reads over the
/// simulated subnet.
asio::awaitable<void> serve_one(tcp::socket socket, asio_transactor& mads, std::atomic<unsigned>& failed) {
    for (;;) {
        u8 lid = 0;
        auto [error, n] = co_await asio::async_read(socket, asio::buffer(&lid, 1), asio::as_tuple(asio::use_awaitable));
        if (error) co_return;
        mad::IBPath path;
        path.DLID = iba::lid{lid};
        iba::pm::PortCounters wanted{};
        wanted.portSelect = 1;
        auto counters = co_await mads.async_PerformanceGet(wanted, path);
        failed += !counters;
        const u8 answer = counters ? counters.value().portSelect : 0;
        co_await asio::async_write(socket, asio::buffer(&answer, 1), asio::use_awaitable);
    }
}
// Uses strands of the io_context itself: ThreadSanitizer does not understand the fence with which Asio counts the
// strands of any_io_executor.
asio::awaitable<void> serve(asio::io_context& io, tcp::acceptor& acceptor, unsigned clients, asio_transactor& mads,
                            std::atomic<unsigned>& failed) {
    for (unsigned i = 0; i < clients; ++i) {
        tcp::socket socket = co_await acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(asio::make_strand(io), serve_one(std::move(socket), mads, failed), asio::detached);
    }
}
asio::awaitable<void> be_client(tcp::endpoint server, unsigned questions, std::atomic<unsigned>& right) {
    tcp::socket socket(co_await asio::this_coro::executor);
    co_await socket.async_connect(server, asio::use_awaitable);
    for (unsigned i = 0; i < questions; ++i) {
        const u8 lid = static_cast<u8>(1 + i % 4);
        u8 answer = 0;
        co_await asio::async_write(socket, asio::buffer(&lid, 1), asio::use_awaitable);
        co_await asio::async_read(socket, asio::buffer(&answer, 1), asio::use_awaitable);
        right += answer == 1;
    }
}
/// A task of the schedule that sends two requests after each timer of Asio. Returns how many got the right reply.
task<unsigned> query_between_timers(asio_transactor& mads, unsigned rounds) {
    unsigned right = 0;
    asio::steady_timer timer(mads.get_executor());
    for (unsigned i = 0; i < rounds; ++i) {
        timer.expires_after(100us);
        co_await timer.async_wait(use_task(mads.driver()));
        auto [one, other] = co_await coro::when_all(send_query(mads.schedule(), route_to(2 * i)),
                                                    send_query(mads.schedule(), route_to(2 * i + 1)));
        right += one;
        right += other;
    }
    co_return right;
}

} // namespace

TEST_CASE("a TCP server, timers, a simulated subnet and a MAD device share an io_context and four threads") {
    constexpr unsigned clients = 8, questions = 100, rounds = 200;
    sim::simulation net = sim::make_sim("fattree2,radix=4,sm=1,time=real", sim::time_mode::real);
    fake_kernel kernel;
    transports::umad_transport device(kernel.device(), kernel.options());
    asio::io_context io;
    asio_transactor by_sim(io.get_executor(), *net.transport), by_umad(io.get_executor(), device, {.timeout = 1h});
    std::atomic<unsigned> right{0}, failed{0};

    auto acceptor = tcp::acceptor(asio::make_strand(io), tcp::endpoint(asio::ip::address_v4::loopback(), 0));
    asio::co_spawn(acceptor.get_executor(), serve(io, acceptor, clients, by_sim, failed), asio::detached);
    for (unsigned i = 0; i < clients; ++i)
        asio::co_spawn(asio::make_strand(io), be_client(acceptor.local_endpoint(), questions, right), asio::detached);
    auto between = by_umad.async_run(query_between_timers(by_umad, rounds), asio::use_future);
    {
        answering_kernel answers(kernel);
        std::vector<std::jthread> threads;
        for (int i = 0; i < 4; ++i) threads.emplace_back([&] { io.run_for(60s); });
        threads.clear();
    }
    REQUIRE(io.stopped());
    CHECK(right == clients * questions);
    CHECK(failed == 0);
    CHECK(between.get() == 2 * rounds);
}

} // namespace asio_transactor_test
