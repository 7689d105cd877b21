// SPDX-License-Identifier: MIT
// sa_failover_test.cpp - the SA moves to another port, for example when a standby subnet manager takes over (IBA
// 14.4.1), and sa::client follows it. A port without an SA replies like Linux: not at all, or with "method or attribute
// not supported" (generate_unmatched_resp() in drivers/infiniband/core/mad.c).
#include "library/coro_rig.hpp"
#include <comad/iba.hpp>
#include <comad/sa/client.hpp>
#include <comad/sa/subscription.hpp>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace sa_failover_test {

using namespace comad;
using namespace comad::test;
using iba::sa::NodeRecord;

namespace {

constexpr iba::lid local_lid{2}, first_sa{1}, second_sa{4}, redirected_lid{7};
constexpr u8 class_sa = 0x03, class_directed = 0x81;

mad::IBPath path_to(iba::lid LID) {
    mad::IBPath path;
    path.DLID = LID;
    return path;
}

/// How a LID handles a request to the SA.
enum class SA { answers, silent, unsupported, denied, redirects };

struct failover_rig {
    fate operator()(const packet& p) {
        if (p.bytes[1] == class_directed) return own_sma(p);
        for (const iba::lid LID : {first_sa, second_sa, redirected_lid})
            if (p.destination == mad::destination_key(mad::any_path(path_to(LID)))) return at(LID, p);
        return dropped();
    }
    fate at(iba::lid LID, const packet& p) {
        requested.push_back(LID);
        const SA here = LID == first_sa ? first : LID == second_sa ? second : redirected;
        if (here == SA::silent) return dropped();
        std::vector<u8> reply(p.bytes.begin(), p.bytes.end());
        reply[3] = 0x81;                              // GetResp, also for a Set
        if (here == SA::unsupported) reply[5] = 0x0c; // IBA 13.4.7: code 3 in bits 2 to 4
        if (here == SA::denied) reply[4] = 7;         // IBA 15.2.2: ERR_REQ_DENIED
        if (here == SA::redirects) {
            reply[5] = 0x02;
            iba::ClassPortInfo info;
            info.redirectLID = redirected_lid;
            info.redirectQP = 1;
            info.redirectQKey = 0x80010000;
            iba::encode(info, reply.data() + 56);
        }
        return {{}, {arrival{round_trip, reply}}};
    }
    fate own_sma(const packet& p) {
        ++smps;
        std::vector<u8> reply(p.bytes.begin(), p.bytes.end());
        reply[3] |= 0x80;
        reply[4] |= 0x80;
        iba::smp::PortInfo info;
        info.LID = lid_by_sma;
        info.masterSMLID = sm_by_sma;
        iba::encode(info, reply.data() + 64);
        return {{}, {arrival{round_trip, reply}}};
    }
    /// Makes the client read the port with a reader, as it would from sysfs.
    void use_reader() {
        client.set_port_reader([this]() -> task<mad::result<sa::local_port>> { return read(); });
    }
    task<mad::result<sa::local_port>> read() {
        ++reads;
        co_return now;
    }
    mad::result<NodeRecord> send_query() {
        return sync_wait(r.schedule, r.schedule.SubnAdmGet(iba::query<NodeRecord>{}));
    }

    SA first = SA::answers, second = SA::answers, redirected = SA::answers;
    iba::lid lid_by_sma = local_lid, sm_by_sma = first_sa;
    std::vector<iba::lid> requested; ///< LIDs to which requests to the SA were sent, one per attempt
    unsigned smps = 0, reads = 0;
    rig r{[this](const packet& p) { return (*this)(p); }};
    sa::local_port now{local_lid, {}, path_to(first_sa)};
    sa::client client{r.schedule, now};
};

} // namespace

TEST_CASE("a request that the old SA rejects is sent to the current SA of the port") {
    failover_rig s;
    s.first = GENERATE(SA::silent, SA::unsupported, SA::denied);
    const bool has_reader = GENERATE(true, false); // otherwise the client queries the SMA of the port
    if (has_reader) s.use_reader();
    s.now.sa_path = path_to(second_sa);
    s.now.sa_path.SL = 3;
    s.sm_by_sma = second_sa;
    std::vector<iba::lid> reported;
    s.client.on_port_change([&](const sa::local_port& was, const sa::local_port& is) {
        reported = {was.sa_path.DLID, is.sa_path.DLID};
    });

    CHECK(s.send_query().has_value());
    CHECK(s.requested.front() == first_sa);
    CHECK(s.requested.back() == second_sa);
    CHECK(reported == std::vector{first_sa, second_sa});
    CHECK(s.client.local().sa_path.DLID == second_sa);
    if (has_reader) CHECK(s.r.schedule.sa_path().SL == 3);
    CHECK(s.reads == (has_reader ? 1 : 0));
    CHECK(s.smps == (has_reader ? 0 : 1));

    s.requested.clear();
    CHECK(s.send_query().has_value());
    CHECK(s.requested == std::vector{second_sa}); // from then on without a detour
}

TEST_CASE("a subscription is made at the SA that took over") {
    failover_rig s;
    s.use_reader();
    s.first = SA::silent;
    s.now.sa_path = path_to(second_sa);
    CHECK(sync_wait(s.r.schedule, sa::subscribe(s.r.schedule)).has_value());
    CHECK(s.requested.back() == second_sa);
}

TEST_CASE("an SA reply without records does not start a failover") {
    failover_rig s;
    s.use_reader();
    s.r.net.set_script([](const packet& p) {
        std::vector<u8> reply(p.bytes.begin(), p.bytes.end());
        reply[3] |= 0x80;
        reply[4] = 3; // IBA 15.2.2: ERR_NO_RECORDS
        return fate{{}, {arrival{round_trip, reply}}};
    });
    const auto answer = s.send_query();
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().code == errc::class_status);
    CHECK(s.reads == 0);
}

TEST_CASE("port queries back off while an SA rejects requests and the port names no other SA") {
    failover_rig s;
    s.use_reader();
    s.first = SA::unsupported;
    const auto query_for_5_minutes = [](failover_rig& in) -> task<unsigned> {
        unsigned refused = 0;
        for (int tenth = 0; tenth < 3000; ++tenth) {
            auto answer = co_await in.r.schedule.SubnAdmGet(iba::query<NodeRecord>{});
            refused += !answer && answer.error().code == errc::status;
            co_await in.r.schedule.pause(100ms);
        }
        co_return refused;
    };
    CHECK(sync_wait(s.r.schedule, query_for_5_minutes(s)) == 3000);
    // At 0, 1, 3, 7, 15, 31 and 63 s, then every 32 s: 95, 127, ... 287.
    CHECK(s.reads == 14);
    s.now.sa_path = path_to(second_sa);
    REQUIRE(sync_wait(s.r.schedule, s.client.refresh_port()).value());
    CHECK(s.send_query().has_value());
    CHECK(s.requested.back() == second_sa);
}

TEST_CASE("concurrent failures read the port once, and each request is sent once more") {
    failover_rig s;
    s.first = SA::silent;
    s.sm_by_sma = second_sa;
    const auto query_one = [](failover_rig& in) -> task<bool> {
        auto answer = co_await in.r.schedule.SubnAdmGet(iba::query<NodeRecord>{});
        co_return answer.has_value();
    };
    const auto query_many = [&query_one](failover_rig& in) -> task<unsigned> {
        std::vector<job<bool>> all;
        for (int i = 0; i < 20; ++i) all.push_back(in.r.schedule.queue(query_one(in)));
        unsigned answered = 0;
        for (auto& one : all) answered += co_await one;
        co_return answered;
    };
    CHECK(sync_wait(s.r.schedule, query_many(s)) == 20);
    CHECK(s.smps == 1);
    CHECK(std::count(s.requested.begin(), s.requested.end(), second_sa) == 20);
}

TEST_CASE("failover never replaces an SA path that the program set") {
    failover_rig s;
    s.use_reader();
    s.now.sa_path = path_to(second_sa);
    s.redirected = SA::silent;
    s.r.schedule.set_sa_path(path_to(redirected_lid));
    CHECK_FALSE(s.send_query().has_value());
    CHECK(s.r.schedule.sa_path().DLID == redirected_lid);
    CHECK(std::count(s.requested.begin(), s.requested.end(), second_sa) == 0);
}

TEST_CASE("a request with its own path is not sent to another SA") {
    failover_rig s;
    s.use_reader();
    s.now.sa_path = path_to(second_sa);
    s.redirected = SA::silent;
    const mad::IBPath own = path_to(redirected_lid);
    CHECK_FALSE(sync_wait(s.r.schedule, s.r.schedule.SubnAdmGet(iba::query<NodeRecord>{}, own)).has_value());
    CHECK(s.reads == 0);
}

TEST_CASE("the redirecting SA is queried again when its redirection target becomes unresponsive") {
    failover_rig s;
    s.use_reader();
    s.first = SA::redirects;
    REQUIRE(s.send_query().has_value());
    s.first = SA::answers;
    s.redirected = SA::silent;
    s.requested.clear();
    CHECK(s.send_query().has_value());
    CHECK(s.requested.front() == redirected_lid);
    CHECK(s.requested.back() == first_sa);
    s.requested.clear();
    CHECK(s.send_query().has_value());
    CHECK(s.requested == std::vector{first_sa});
}

TEST_CASE("failover needs a readable port with a LID and a subnet manager") {
    failover_rig s;
    s.first = SA::silent;
    SECTION("port without a subnet manager") { s.now.sa_path = {}; }
    SECTION("port without a LID") {
        s.now.sa_path = path_to(second_sa);
        s.now.LID = {};
    }
    s.use_reader();
    SECTION("port reader that throws") {
        s.client.set_port_reader([]() -> task<mad::result<sa::local_port>> { throw std::runtime_error("no device"); });
    }
    SECTION("port reader that returns an error") {
        s.client.set_port_reader([]() -> task<mad::result<sa::local_port>> {
            mad::mad_error why;
            why.code = errc::transport_failed;
            co_return why;
        });
    }
    const auto answer = s.send_query();
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().code == errc::timed_out);
    CHECK(s.r.schedule.sa_path().DLID == first_sa);
    CHECK(s.client.local().LID == local_lid);
}

TEST_CASE("path queries use the new LID of the port, and cached paths of the old LID are dropped") {
    failover_rig s;
    s.use_reader();
    mad::IBPath target = path_to(iba::lid{9});
    REQUIRE(sync_wait(s.r.schedule, s.client.resolve_path(target)).has_value());
    REQUIRE(sync_wait(s.r.schedule, s.client.resolve_path(target)).has_value());
    CHECK(s.requested.size() == 1);
    s.now.LID = iba::lid{12};
    CHECK(sync_wait(s.r.schedule, s.client.refresh_port()).value());
    CHECK_FALSE(sync_wait(s.r.schedule, s.client.refresh_port()).value()); // nothing has changed
    const auto path = sync_wait(s.r.schedule, s.client.resolve_path(target));
    REQUIRE(path.has_value());
    CHECK(s.requested.size() == 2);
    CHECK(value(path.value().SLID) == 12); // the SA of this test returns the values of the request
}

TEST_CASE("a request to the new SA carries the SM_Key of the port of the new SA") {
    failover_rig s;
    s.use_reader();
    mad::port_keys keys;
    keys.set_default(mad::key_kind::SMKey, 0x5a);
    s.client.set_keys(&keys);
    REQUIRE(sync_wait(s.r.schedule, s.client.take_sm_key()));
    s.first = SA::silent;
    s.now.sa_path = path_to(second_sa);
    u64 sent_key = 0;
    s.r.net.set_script([&](const packet& p) {
        sent_key = iba::load_be<u64>(p.bytes.data() + 36); // IBA 15.2.1.1
        return s(p);
    });
    CHECK(s.send_query().has_value());
    CHECK(s.requested.back() == second_sa);
    CHECK(sent_key == 0x5a);
}

TEST_CASE("a request that is canceled during failover ends as canceled") {
    failover_rig s;
    s.first = SA::unsupported;
    s.client.set_port_reader([&s]() -> task<mad::result<sa::local_port>> {
        return [](failover_rig& in) -> task<mad::result<sa::local_port>> {
            co_await in.r.schedule.pause(1h);
            co_return in.now;
        }(s);
    });
    const auto query_one = [](failover_rig& in) -> task<errc> {
        auto answer = co_await in.r.schedule.SubnAdmGet(iba::query<NodeRecord>{});
        co_return answer ? errc::status : answer.error().code;
    };
    const auto cancel_it = [&query_one](failover_rig& in) -> task<errc> {
        scope limited(co_await coro::current_scope{});
        job<errc> query = limited.queue(query_one(in));
        co_await in.r.schedule.pause(1s);
        limited.cancel();
        co_return co_await query;
    };
    CHECK(sync_wait(s.r.schedule, cancel_it(s)) == errc::cancelled);
}

} // namespace sa_failover_test
