// SPDX-License-Identifier: MIT
// coro_rpc_test.cpp - RPCs from the view of a program: decoded replies with header and source, and every kind of error.
#include "library/coro_rig.hpp"
#include <comad/mad/detail/deadlines.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <map>
#include <sys/wait.h>
#include <type_traits>
#include <unistd.h>
#include <vector>

using namespace comad;
using namespace comad::test;
using coro::with_header;

namespace {

fate answer_with_status(const packet& p, u8 high, u8 low) {
    fate f = answered(p);
    f.arrivals[0].bytes[4] = static_cast<u8>((f.arrivals[0].bytes[4] & 0x80) | high);
    f.arrivals[0].bytes[5] = low;
    return f;
}

mad::mad_error error_of(MADSchedule& s, const IBDRPath& to = {}, rpc_options options = {}) {
    auto info = sync_wait(s, s.SubnGet<smp::NodeInfo>(to, 3, options));
    REQUIRE(!info);
    return std::move(info.error());
}

} // namespace

/// Returns the line that a program prints on stderr when `wrong` ends it with std::terminate().
template <class F> std::string last_words(F wrong) {
    int ends[2];
    REQUIRE(::pipe(ends) == 0);
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        ::dup2(ends[1], STDERR_FILENO);
        ::signal(SIGABRT, SIG_DFL); // not the handler of Catch, which would report the signal
        wrong();
        ::_exit(0);
    }
    ::close(ends[1]);
    std::array<char, 4096> printed;
    const ssize_t bytes = ::read(ends[0], printed.data(), printed.size());
    ::close(ends[0]);
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    CHECK((WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT));
    const std::string text(printed.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0)));
    return text.substr(0, text.find('\n')); // the next lines come from the handler of std::terminate()
}

// ---- requests and replies ----------------------------------------------------------------------------------------------

TEST_CASE("an RPC returns the decoded reply of the queried node") {
    rig r;
    const IBDRPath to = route(1, 2, 3);
    auto info = sync_wait(r.schedule, r.schedule.SubnGet<smp::NodeInfo>(to, 0x01020304));
    REQUIRE(info);
    CHECK(is_answer(info.value(), to));
    CHECK(value(info.value().portGUID) == 0x0011'0000'0102'0304); // attribute, reserved, modifier
    REQUIRE(r.net.taken().size() == 1);
    CHECK(r.net.taken()[0].bytes[3] == 0x01);
}

TEST_CASE("a request given as a type is zero-filled, and a request given as a value carries the value") {
    rig r;
    smp::PortInfo wanted;
    wanted.LID = iba::lid{0x1234};
    wanted.LMC = 3;
    REQUIRE(sync_wait(r.schedule, r.schedule.SubnGet<smp::PortInfo>(IBDRPath{}, 1)));
    REQUIRE(sync_wait(r.schedule, r.schedule.SubnGet<smp::PortInfo>(wanted, IBDRPath{}, 1)));
    REQUIRE(sync_wait(r.schedule, r.schedule.SubnSet<smp::PortInfo>(wanted, IBDRPath{}, 1)));
    const std::vector<packet>& sent = r.net.taken();
    const std::array<u8, 64> zeros{}, carried = iba::encode(wanted);
    CHECK(std::equal(zeros.begin(), zeros.end(), sent[0].bytes.begin() + 64));
    CHECK(std::equal(carried.begin(), carried.end(), sent[1].bytes.begin() + 64));
    CHECK(std::equal(carried.begin(), carried.end(), sent[2].bytes.begin() + 64));
    CHECK(sent[1].bytes[3] == 0x01);
    CHECK(sent[2].bytes[3] == 0x02);
}

TEST_CASE("an RPC rejects a value that does not fit its field and names the field in the error") {
    rig r;
    smp::PortInfo wanted;
    wanted.LMC = 9;
    auto set = sync_wait(r.schedule, r.schedule.SubnSet<smp::PortInfo>(wanted, route(1), 1));
    REQUIRE(!set);
    const mad::mad_error& e = set.error();
    CHECK(e.code == errc::out_of_range);
    CHECK(e.attempts == 0);
    CHECK(to_string(e) == "RPC MAD_METHOD_SET(2) SMPFormatDirected(129.1) SMPPortInfo(21) was not sent to "
                          "'DR Path (0, 1)': SMPPortInfo.LMC: value 9 does not fit in 3 bits");
    auto get = sync_wait(r.schedule, r.schedule.SubnGet<smp::PortInfo>(wanted, route(1), 1));
    REQUIRE(!get);
    CHECK(get.error().code == errc::out_of_range);
    CHECK(r.net.taken().empty());

    wanted.LMC = 7;
    CHECK(sync_wait(r.schedule, r.schedule.SubnSet<smp::PortInfo>(wanted, route(1), 1)));
    CHECK(r.net.taken().size() == 1);
}

TEST_CASE("a request that was rejected before the send holds no slot, also as one of many") {
    rig r({.max_outstanding = 1});
    const auto set = [](MADSchedule& schedule, u8 LMC) -> task<bool> {
        smp::PortInfo wanted;
        wanted.LMC = LMC;
        auto port = co_await schedule.SubnSet<smp::PortInfo>(wanted, route(LMC), 1);
        co_return port.has_value();
    };
    std::vector<job<bool>> jobs;
    for (u8 LMC = 5; LMC < 11; ++LMC) jobs.push_back(r.schedule.queue(set(r.schedule, LMC)));
    const auto join = [](std::vector<job<bool>>& all) -> task<int> {
        int answers = 0;
        for (job<bool>& j : all) answers += co_await j;
        co_return answers;
    };
    CHECK(sync_wait(r.schedule, join(jobs)) == 3);
    CHECK(r.net.taken().size() == 3);
    CHECK(r.schedule.in_flight() == 0);
}

TEST_CASE("a retried Set carries the original request instead of the last received bytes") {
    rig r([](const packet& p) { return p.number < 2 ? dropped() : answered(p); });
    smp::PortInfo wanted;
    wanted.LID = iba::lid{0x1234};
    REQUIRE(sync_wait(r.schedule, r.schedule.SubnSet<smp::PortInfo>(wanted, IBDRPath{}, 1)));
    REQUIRE(r.net.taken().size() == 3);
    for (const packet& p : r.net.taken()) CHECK((p.bytes[64 + 16] == 0x12 && p.bytes[64 + 17] == 0x34));
}

TEST_CASE("a Set uses measured round-trip times and makes seven attempts") {
    rig r;
    REQUIRE(sync_wait(r.schedule, r.schedule.SubnGet<smp::PortInfo>(route(1), 1)));
    const std::size_t before = r.net.taken().size();
    r.net.set_script([](const packet&) { return dropped(); });
    auto set = sync_wait(r.schedule, r.schedule.SubnSet<smp::PortInfo>(smp::PortInfo{}, route(1), 1));
    REQUIRE(!set);
    CHECK(set.error().attempts == 7);
    REQUIRE(r.net.taken().size() == before + 7);
    constexpr std::array<int, 7> waits{200, 200, 400, 400, 800, 800, 1600};
    for (std::size_t i = 0; i < waits.size(); ++i)
        CHECK(r.net.taken()[before + i].attempt_timeout == std::chrono::milliseconds(waits[i]));
}

TEST_CASE("the timeout of a Set to a node without replies is one second or the shorter one of the schedule") {
    const auto first_wait = [](coro::schedule_options options) {
        rig r([](const packet&) { return dropped(); }, options);
        CHECK(!sync_wait(r.schedule, r.schedule.SubnSet<smp::PortInfo>(smp::PortInfo{}, route(1), 1)));
        return r.net.taken()[0].attempt_timeout;
    };
    CHECK(first_wait({}) == 1s);
    CHECK(first_wait({.unmeasured_timeout = 500ms}) == 500ms);
    CHECK(first_wait({.timeout = 50ms}) == 50ms);
}

TEST_CASE("a Set with an explicit number of retries makes no further attempts") {
    rig r([](const packet&) { return dropped(); }, {.retries = 1});
    auto set = sync_wait(r.schedule, r.schedule.SubnSet<smp::PortInfo>(smp::PortInfo{}, route(1), 1));
    REQUIRE(!set);
    CHECK(set.error().attempts == 2);
    auto once = sync_wait(
        r.schedule, r.schedule.SubnSet<smp::PortInfo>(smp::PortInfo{}, route(1), 1, coro::rpc_options{.retries = 0}));
    REQUIRE(!once);
    CHECK(once.error().attempts == 1);
}

TEST_CASE("a LID-routed path produces a LID-routed SMP") {
    rig r;
    mad::IBPath to;
    to.DLID = iba::lid{7};
    REQUIRE(sync_wait(r.schedule, r.schedule.SubnGet<smp::NodeInfo>(to)));
    CHECK(r.net.taken()[0].bytes[1] == 0x01);
}

TEST_CASE("with_header returns header and source of the reply with the payload") {
    rig r;
    auto body = [](MADSchedule& s) -> task<mad::result<coro::reply<smp::NodeInfo>>> {
        co_return co_await s.SubnGet<smp::NodeInfo, with_header>(route(5), 2);
    };
    auto answer = sync_wait(r.schedule, body(r.schedule));
    REQUIRE(answer);
    CHECK(is_answer(answer.value().payload, route(5)));
    const iba::MADHeader& header = answer.value().header;
    CHECK(header.method == iba::Method::GetResp);
    CHECK(header.mgmtClass == iba::MgmtClass::SubnDirected);
    CHECK(header.status == 0x8000); // D bit
    CHECK(header.attributeID == 0x11);
    CHECK(header.attributeModifier == 2);
    CHECK(static_cast<u32>(header.transactionID) == r.net.taken()[0].tid);
}

TEST_CASE("an RPC can be named before it is awaited") {
    rig r;
    const auto body = [](MADSchedule& s) -> task<bool> {
        auto first = s.SubnGet<smp::NodeInfo>(route(1));
        auto second = s.SubnGet<smp::NodeInfo>(route(2));
        auto second_info = co_await second;
        auto first_info = co_await first;
        co_return is_answer(first_info.value(), route(1)) && is_answer(second_info.value(), route(2));
    };
    CHECK(sync_wait(r.schedule, body(r.schedule)));
}

TEST_CASE("one SMP per route is in flight by default, and any number without a bound") {
    for (const unsigned bound : {2u, 1u, 0u}) {
        rig r(silence, {.max_outstanding = 64, .per_destination = bound, .timeout = 1ms, .retries = 0});
        const schedule_options defaults;
        CHECK(defaults.per_destination == 1);
        const auto body = [](MADSchedule& s) -> task<void> {
            scope children(co_await coro::current_scope{});
            const auto get = [](MADSchedule& schedule, u32 port) -> task<void> {
                [[maybe_unused]] auto info = co_await schedule.SubnGet<smp::PortInfo>(route(1), port);
            };
            for (u32 port = 0; port < 10; ++port) children.spawn(get(s, port));
            co_await children.join();
        };
        sync_wait(r.schedule, body(r.schedule));
        std::map<mad::time_point, unsigned> sent_at;
        for (const packet& p : r.net.taken()) ++sent_at[p.at];
        for (const auto& [at, sent] : sent_at) CHECK(sent == (bound ? bound : 10));
    }
}

// ---- errors ------------------------------------------------------------------------------------------------------------

TEST_CASE("an RPC without a reply fails after all attempts and reports their number") {
    rig r(silence, {.timeout = 10ms, .retries = 2});
    const mad::mad_error e = error_of(r.schedule, route(1, 4));
    CHECK(e.code == errc::timed_out);
    CHECK(e.attempts == 3);
    CHECK((e.elapsed >= 30ms && e.elapsed < 33ms)); // a deadline may be slightly late
    CHECK(to_string(e) == "RPC MAD_METHOD_GET(1) SMPFormatDirected(129.1) SMPNodeInfo(17) timed out to "
                          "'DR Path (0, 1, 4)'");
    CHECK(r.net.taken().size() == 3);
}

TEST_CASE("timeout and retries come from the call, else from the schedule") {
    struct setting {
        rpc_options options;
        mad::duration timeout;
        std::size_t attempts;
    };
    const auto s = GENERATE(values<setting>({{{}, 10ms, 3},
                                             {{.timeout = 20ms}, 20ms, 3},
                                             {{.retries = 0}, 10ms, 1},
                                             {{.timeout = 5ms, .retries = 255}, 5ms, 256}}));
    rig r(silence, {.timeout = 10ms, .retries = 2});
    const mad::mad_error e = error_of(r.schedule, {}, s.options);
    CHECK(e.attempts == s.attempts);
    REQUIRE(r.net.taken().size() == s.attempts);
    CHECK(r.net.taken()[0].attempt_timeout == s.timeout);
    CHECK(r.net.taken()[0].operation_timeout == s.timeout * static_cast<int>(s.attempts));
    CHECK(r.net.now().time_since_epoch() == mad::detail::deadlines::rounded(s.timeout) * static_cast<int>(s.attempts));
}

TEST_CASE("a reply with an error status is an error with that status, without the D bit") {
    struct setting {
        u8 high, low;
        errc code;
        u16 status;
    };
    const auto s = GENERATE(values<setting>({{0, 0x1c, errc::status, 0x1c},
                                             {0, 0x01, errc::status, 0x01},
                                             {0x03, 0x00, errc::class_status, 0x0300},
                                             {0x7f, 0x0c, errc::status, 0x7f0c}}));
    rig r([&](const packet& p) { return answer_with_status(p, s.high, s.low); });
    const mad::mad_error e = error_of(r.schedule, route(1));
    CHECK(e.code == s.code);
    CHECK(e.status == s.status);
    CHECK(e.attempts == (s.status == 0x01 ? 6 : 1)); // a request is retried after BUSY
}

TEST_CASE("an error contains request, reply and path") {
    rig r([](const packet& p) { return answer_with_status(p, 0, 0x1c); });
    const mad::mad_error e = error_of(r.schedule, route(1, 4));
    REQUIRE(e.detail);
    CHECK(e.detail->path == mad::any_path{route(1, 4)});
    CHECK(std::equal(e.detail->request.begin(), e.detail->request.begin() + 8, r.net.taken()[0].bytes.begin()));
    CHECK(std::equal(e.detail->request.begin() + 16, e.detail->request.end(), r.net.taken()[0].bytes.begin() + 16));
    REQUIRE(e.detail->reply.size() == 256);
    CHECK(e.detail->reply[5] == 0x1c);
    CHECK(e.method == iba::Method::Get);
    CHECK(e.attributeID == 0x11);
    CHECK(e.attributeModifier == 3);
}

TEST_CASE("an RPC on a path without a LID fails, and nothing is sent") {
    rig r;
    mad::IBPath to;
    to.DGID = iba::gid(iba::link_local_prefix, iba::guid{0x1234});
    const auto info = sync_wait(r.schedule, r.schedule.SubnGet<smp::NodeInfo>(to));
    REQUIRE(!info);
    CHECK(info.error().code == errc::incomplete_path);
    CHECK(info.error().attempts == 0);
    CHECK_THAT(mad::to_string(info.error()), Catch::Contains("was not sent to") && Catch::Contains("has no DLID"));
    CHECK(r.net.taken().empty());
    to.DLID = iba::lid{2};
    CHECK(sync_wait(r.schedule, r.schedule.SubnGet<smp::NodeInfo>(to)));

    // RoCE uses only GIDs, in a GRH.
    to.DLID = iba::lid{};
    to.has_grh = true;
    CHECK(sync_wait(r.schedule, r.schedule.SubnGet<smp::NodeInfo>(to)));
    to.DGID = {};
    CHECK(sync_wait(r.schedule, r.schedule.SubnGet<smp::NodeInfo>(to)).error().code == errc::incomplete_path);
}

TEST_CASE("a request that the transport rejects fails with the errno of the transport") {
    rig r([](const packet&) { return refused(EINVAL); });
    const mad::mad_error e = error_of(r.schedule);
    CHECK(e.code == errc::send_failed);
    CHECK(e.sys_errno == EINVAL);
}

TEST_CASE("all pending and later RPCs fail when the transport fails") {
    rig r(silence, {.max_outstanding = 2});
    std::vector<job<bool>> jobs;
    for (u32 i = 0; i < 5; ++i) jobs.push_back(r.schedule.queue(send_query(r.schedule, route_to(i))));
    r.net.inject(failure(1ms, ENODEV));
    r.net.set_script([](const packet&) { return refused(ENODEV); });
    const auto join = [](std::vector<job<bool>>& all) -> task<int> {
        int answers = 0;
        for (job<bool>& j : all) answers += co_await j;
        co_return answers;
    };
    CHECK(sync_wait(r.schedule, join(jobs)) == 0);
    CHECK(r.schedule.transport_failed());
    CHECK(r.net.now().time_since_epoch() == 1ms);
    CHECK(error_of(r.schedule).sys_errno == ENODEV);
}

TEST_CASE("an RPC in flight reports a failed transport") {
    rig r(silence);
    r.net.inject(failure(1ms, ENODEV));
    const mad::mad_error e = error_of(r.schedule);
    CHECK(e.code == errc::transport_failed);
    CHECK(e.sys_errno == ENODEV);
}

TEST_CASE("accessing the missing value or error of a result aborts with a message") {
    rig r(silence, {.timeout = 10ms});
    const auto failed = sync_wait(r.schedule, r.schedule.SubnGet<smp::NodeInfo>(route(1, 2), 3));
    REQUIRE(!failed);
    CHECK(last_words([&] { static_cast<void>(failed.value()); }) ==
          "comad: the value of a failed result was accessed: " + mad::to_string(failed.error()));
    CHECK(last_words([&] {
              static_cast<void>(iba::result<int>(iba::error{iba::errc::unreadable, "no number"}).value());
          }) == "comad: the value of a failed result was accessed: no number");
    CHECK(last_words([] { static_cast<void>(mad::result<int>(3).error()); }) ==
          "comad: the error of a successful result was accessed");
}

TEST_CASE("a result holds either a value or an error, and errors are not copyable") {
    static_assert(!std::is_copy_constructible_v<mad::mad_error>);
    static_assert(std::is_nothrow_move_constructible_v<mad::mad_error>);
    static_assert(
        std::is_same_v<decltype(sync_wait(std::declval<MADSchedule&>(), std::declval<coro::rpc<smp::NodeInfo>>())),
                       mad::result<smp::NodeInfo>>);
    rig r;
    auto info = sync_wait(r.schedule, r.schedule.SubnGet<smp::NodeInfo>(IBDRPath{}));
    CHECK(info.has_value());
    CHECK(!info.has_error());
}
